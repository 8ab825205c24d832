import {type ChildProcess, spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {delimiter, join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {describe, expect, test} from 'vitest';
import {compileSources} from '../../test/support/compile-sources.ts';
import {needs} from '../../test/support/parts.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {systemClock} from '../core/clock.ts';
import {createGroup} from './control-group.ts';
import {makeDirectories} from './directories.ts';
import {lockHolder, Mutex, takeFileLock} from './file-lock.ts';
import {findProgram, isProgramToTrust} from './find-program.ts';
import {holdOpen, livenessOf, ownIdentity, type ProcessFacts} from './process.ts';

const LIMITS = {memoryBytes: 1_048_576, processes: 1, cpus: 1};

/** Directories that are no control groups, so that nothing is set in them. */
function parentsAt(...paths: readonly string[]) {
  return {version: 1, parents: paths.map(path => ({path, controllers: []}))} as const;
}

test('policy: of a group that cannot be made in one of its places, nothing is left in the others', async () => {
  const place = temporaryDirectory();
  const missing = join(place, 'missing', 'missing');
  await expect(createGroup(parentsAt(place, missing), LIMITS, systemClock)).rejects.toThrow('ENOENT');
  expect(readdirSync(place)).toEqual([]);
});

test('policy: a group that cannot be asked for its memory has not run out of it', async () => {
  const place = temporaryDirectory();
  const group = await createGroup(parentsAt(place), LIMITS, systemClock);
  expect(await group.remove()).toBe(true);
  expect(existsSync(place)).toBe(true);
  expect(group.ranOutOfMemory()).toBe(false);
});

test('policy: what is missing is made for its owner, and what is there stays', async () => {
  const root = temporaryDirectory();
  const path = join(root, 'a', 'b', 'c');
  await Promise.all([makeDirectories(path), makeDirectories(path), makeDirectories(join(root, 'a', 'd'))]);
  await makeDirectories(path);
  expect(statSync(join(root, 'a')).mode & 0o777).toBe(0o700);
  expect(statSync(path).isDirectory()).toBe(true);
});

test('policy: a file in the way, or a place where none can be made, is an error at once', async () => {
  const root = temporaryDirectory();
  writeFileSync(join(root, 'file'), '');
  await expect(makeDirectories(join(root, 'file'))).rejects.toMatchObject({code: 'EEXIST'});
  await expect(makeDirectories(join(root, 'file', 'below'))).rejects.toMatchObject({code: 'ENOTDIR'});
  await expect(makeDirectories('/proc/nope/x')).rejects.toMatchObject({code: expect.stringMatching(/^E/)});
});

const clock = systemClock;

async function held(path: string): Promise<() => void> {
  const outcome = await takeFileLock(path, {clock});
  if (outcome.state !== 'held') throw new Error('Expected the lock to be free.');
  return outcome.release;
}

describe('a file lock', () => {
  test('policy: keeps others out until it is released, and leaves nothing', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'lock');
    const release = await held(path);
    expect(await takeFileLock(path, {clock})).toEqual({state: 'busy', holder: ownIdentity()});
    expect(lockHolder(path, clock)).toEqual(ownIdentity());
    const waiting = takeFileLock(path, {clock, waitMs: 5_000});
    release();
    expect(await waiting).toMatchObject({state: 'held'});
    rmSync(path);
    expect(readdirSync(directory)).toEqual([]);
  });

  test('policy: the wait ends with its signal', async () => {
    const path = join(temporaryDirectory(), 'lock');
    await held(path);
    const controller = new AbortController();
    const waiting = takeFileLock(path, {clock, waitMs: 60_000, signal: controller.signal});
    controller.abort();
    expect(await waiting).toMatchObject({state: 'busy'});
  });

  test.each([
    ['a dead process', {pid: 4_000_000}],
    ['an earlier process with our number', {started: 'other boot:1'}],
  ])('policy: the lock of %s is taken over', async (_, other) => {
    const path = join(temporaryDirectory(), 'lock');
    writeFileSync(path, JSON.stringify({...ownIdentity(), ...other}));
    expect(lockHolder(path, clock)).toBeUndefined();
    await held(path);
  });

  test.each([
    ['of another host', JSON.stringify({...ownIdentity(), host: 'elsewhere'})],
    ['of another PID namespace', JSON.stringify({...ownIdentity(), namespace: 'pid:[1]'})],
    ['that cannot be read', '{'],
  ])('policy: a lock %s counts as long as it is touched', async (_, content) => {
    const path = join(temporaryDirectory(), 'lock');
    writeFileSync(path, content);
    expect(await takeFileLock(path, {clock})).toMatchObject({state: 'busy'});
    const silent = clock.now() / 1000 - 21;
    utimesSync(path, silent, silent);
    await held(path);
  });

  test('policy: how long another host has been silent is told by the clock of the file system, not by ours', async () => {
    const path = join(temporaryDirectory(), 'lock');
    const content = JSON.stringify({...ownIdentity(), host: 'elsewhere'});
    writeFileSync(path, content);
    const hoursAhead = {...clock, now: () => clock.now() + 7_200_000};
    expect(lockHolder(path, hoursAhead)).toMatchObject({host: 'elsewhere'});
    const silent = clock.now() / 1000 - 21;
    utimesSync(path, silent, silent);
    const hoursBehind = {...clock, now: () => clock.now() - 7_200_000};
    expect(lockHolder(path, hoursBehind)).toBeUndefined();
    expect(readFileSync(path, 'utf8')).toBe(content);
  });

  test('policy: a process that died while it broke a lock keeps no other out', async () => {
    const path = join(temporaryDirectory(), 'lock');
    const dead = JSON.stringify({...ownIdentity(), pid: 4_000_000});
    for (const name of [path, `${path}.break`]) writeFileSync(name, dead);
    await held(path);
  });

  test('regression: a lock that cannot be removed is no failure of what it was for', async () => {
    const path = join(temporaryDirectory(), 'lock');
    const release = await held(path);
    const content = readFileSync(path, 'utf8');
    rmSync(path);
    // Reading it fails from now on.
    mkdirSync(path);
    expect(release).not.toThrow();
    rmSync(path, {recursive: true});
    writeFileSync(path, content);
    await held(path);
  });

  test('policy: four processes that add to one number lose nothing, though one is killed while it holds the lock', {
    tags: 'slow',
  }, async () => {
    const compiled = compileSources('src/core/clock.ts', 'src/system/file-lock.ts');
    const from = (path: string): string => JSON.stringify(pathToFileURL(join(compiled, 'src', path)).href);
    const program = join(compiled, 'adder.js');
    writeFileSync(
      program,
      `import {readFileSync, writeFileSync} from 'node:fs';
import {systemClock as clock} from ${from('core/clock.js')};
import {takeFileLock} from ${from('system/file-lock.js')};
const [path, number, dies] = process.argv.slice(2);
for (let left = 100; left > 0; left -= 1) {
  const lock = await takeFileLock(path, {clock, waitMs: 60_000});
  if (lock.state !== 'held') throw new Error('busy');
  if (dies === 'dies' && left === 50) process.kill(process.pid, 'SIGKILL');
  writeFileSync(number, String(Number(readFileSync(number, 'utf8')) + 1));
  lock.release();
}
`,
    );
    const directory = temporaryDirectory();
    const number = join(directory, 'number');
    writeFileSync(number, '0');
    const children = ['', '', '', 'dies'].map(dies =>
      spawn(process.execPath, [program, join(directory, 'lock'), number, dies], {stdio: 'inherit'}),
    );
    const ends = await Promise.all(children.map(child => once(child, 'exit')));
    expect(ends.map(([code, signal]) => code ?? signal)).toEqual([0, 0, 0, 'SIGKILL']);
    expect(readFileSync(number, 'utf8')).toBe('350');
  });
});

function place(...names: readonly string[]): string {
  const directory = join(temporaryDirectory(), ...names);
  mkdirSync(directory, {recursive: true});
  return directory;
}

function plant(directory: string, name = 'tool', mode = 0o755): string {
  const path = join(directory, name);
  writeFileSync(path, '#!/bin/sh\n');
  chmodSync(path, mode);
  return path;
}

describe('findProgram', () => {
  test('takes the first directory of PATH that has the program', async () => {
    const [one, two] = [place('one'), place('two')];
    plant(two);
    const path = [one, two].join(delimiter);
    expect(await findProgram('tool', {path, untrustedTrees: [], standard: []})).toBe(join(two, 'tool'));
    plant(one);
    expect(await findProgram('tool', {path, untrustedTrees: [], standard: []})).toBe(join(one, 'tool'));
  });

  test('R3: the directories of the system come before PATH', async () => {
    const [early, system] = [place('early'), place('system')];
    plant(early);
    plant(system);
    expect(await findProgram('tool', {path: early, untrustedTrees: [], standard: [system]})).toBe(
      join(system, 'tool'),
    );
  });

  test('R3: nothing in the workspace is run, by its own name or by a link into it', async () => {
    const workspace = place('work');
    const bin = join(workspace, 'node_modules', '.bin');
    mkdirSync(bin, {recursive: true});
    const planted = plant(bin);
    const linked = place('linked');
    symlinkSync(planted, join(linked, 'tool'));
    const linkedDirectory = join(place('links'), 'bin');
    symlinkSync(bin, linkedDirectory);
    // A link in the workspace that leads out can be pointed elsewhere at any time.
    const outside = plant(place('outside'), 'other');
    symlinkSync(outside, join(bin, 'other'));
    // A link outside that passes through one in the workspace.
    const chained = place('chained');
    symlinkSync(join(bin, 'other'), join(chained, 'other'));
    const path = [bin, linked, linkedDirectory, chained].join(delimiter);
    const places = {path, untrustedTrees: [workspace], standard: []};
    expect(await findProgram('tool', places)).toBeUndefined();
    expect(await findProgram('other', places)).toBeUndefined();
    // Without the bar each of them would be found.
    expect(await findProgram('tool', {...places, untrustedTrees: []})).toBe(planted);
  });

  test('skips relative and empty entries, directories and files that cannot be executed', async () => {
    const directory = place('bin');
    mkdirSync(join(directory, 'tool'));
    const flat = place('flat');
    plant(flat, 'tool', 0o644);
    const path = ['', '.', 'bin', directory, flat].join(delimiter);
    expect(await findProgram('tool', {path, untrustedTrees: [], standard: []})).toBeUndefined();
  });

  test('R3: skips what everybody may replace', async () => {
    const open = place('open');
    plant(open);
    chmodSync(open, 0o777);
    expect(await isProgramToTrust(join(open, 'tool'), [])).toBe(false);
    chmodSync(open, 0o755);
    expect(await isProgramToTrust(join(open, 'tool'), [])).toBe(true);
    chmodSync(join(open, 'tool'), 0o777);
    expect(await isProgramToTrust(join(open, 'tool'), [])).toBe(false);
  });

  test('R3: as root, skips what another user or group may replace', needs('root'), async () => {
    const directory = place('bin');
    const path = plant(directory);
    chownSync(path, 1000, 1000);
    expect(await isProgramToTrust(path, [])).toBe(false);
    chownSync(path, 0, 0);
    chownSync(directory, 1000, 1000);
    expect(await isProgramToTrust(path, [])).toBe(false);
    chownSync(directory, 0, 1000);
    chmodSync(directory, 0o775);
    expect(await isProgramToTrust(path, [])).toBe(false);
    chownSync(directory, 0, 50);
    expect(await isProgramToTrust(path, [])).toBe(true);
  });
});

test('policy: holders of one key come one after the other, in order; another key does not wait', async () => {
  const mutex = new Mutex();
  const order: string[] = [];
  const first = await mutex.take('a');
  const second = mutex.take('a').then(release => {
    order.push('second');
    return release;
  });
  const third = mutex.take('a').then(() => order.push('third'));
  const other = await mutex.take('b');
  order.push('other');
  expect(other).toBeDefined();
  first?.();
  (await second)?.();
  await third;
  expect(order).toEqual(['other', 'second', 'third']);
});

test('policy: a waiter that gives up lets no other in early', async () => {
  const mutex = new Mutex();
  const first = await mutex.take('a');
  const controller = new AbortController();
  const given = mutex.take('a', controller.signal);
  let entered = false;
  const third = mutex.take('a').then(() => {
    entered = true;
  });
  controller.abort();
  expect(await given).toBeUndefined();
  expect(entered).toBe(false);
  first?.();
  await third;
  expect(entered).toBe(true);
  expect(await mutex.take('a', AbortSignal.abort())).toBeUndefined();
});

const system: ProcessFacts = {
  readText: path => readFileSync(path, 'utf8'),
  readLink: path => readlinkSync(path),
  signal: pid => {
    process.kill(pid, 0);
  },
};

const failing = (code: string) => () => {
  throw Object.assign(new Error(code), {code, syscall: 'open'});
};

describe('whether a process still runs', () => {
  test('policy: this one does, and one that has ended does not', () => {
    expect(livenessOf(ownIdentity())).toBe('alive');
    const {pid} = spawnSync(process.execPath, ['-e', '']);
    expect(livenessOf({...ownIdentity(), pid})).toBe('gone');
  });

  test('policy: an earlier process with our number is gone', () => {
    expect(livenessOf({...ownIdentity(), started: 'other boot:1'})).toBe('gone');
  });

  test.each(['EMFILE', 'ENFILE', 'EACCES', 'ENOENT'])(
    'review B14: a living process is not called gone where it cannot be looked at (%s)',
    code => {
      expect(livenessOf(ownIdentity(), {...system, readText: failing(code)})).toBe('alive');
    },
  );

  test.each([
    ['Z', 1, 'gone'],
    ['X', 0, 'gone'],
    ['Z', 2, 'alive'],
    ['S', 1, 'alive'],
  ] as const)('W19: one in state %s with %i threads is %s', (state, threads, expected) => {
    const {pid, started} = ownIdentity();
    const [boot = '', start = ''] = started.split(':');
    const fields = [state, ...Array(16).fill('0'), String(threads), '0', start, '0'];
    const readText = (path: string): string =>
      path.endsWith('/stat') ? `${pid} (a) b) ${fields.join(' ')}` : `${boot}\n`;
    expect(livenessOf(ownIdentity(), {...system, readText})).toBe(expected);
  });

  test('policy: EPERM means that it is there', () => {
    expect(livenessOf(ownIdentity(), {...system, signal: failing('EPERM')})).toBe('alive');
    expect(livenessOf(ownIdentity(), {...system, signal: failing('ESRCH')})).toBe('gone');
  });

  test('policy: of another host or PID namespace nothing is known', () => {
    expect(livenessOf({...ownIdentity(), host: 'elsewhere'})).toBe('unknown');
    expect(livenessOf({...ownIdentity(), namespace: 'pid:[1]'})).toBe('unknown');
  });
});

test('policy: a child and each of its pipes that can keep our process keep it, or do not', () => {
  const calls: string[] = [];
  const handle = (name: string) => ({
    ref: () => calls.push(`${name} kept`),
    unref: () => calls.push(`${name} let go`),
  });
  const streams = [null, handle('input'), undefined, {unref: () => calls.push('half')}, 'text'];
  const others = [{ref: () => calls.push('half')}, handle('output')];
  const child = {...handle('child'), stdio: [...streams, ...others]} as unknown as ChildProcess;
  holdOpen(child, true);
  expect(calls.splice(0)).toEqual(['child kept', 'input kept', 'output kept']);
  holdOpen(child, false);
  expect(calls).toEqual(['child let go', 'input let go', 'output let go']);
});
