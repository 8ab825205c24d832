import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {describe, expect, test} from 'vitest';
import {compileSources} from '../../test/support/compile-sources.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {systemClock} from '../core/clock.ts';
import {lockHolder, takeFileLock} from './file-lock.ts';
import {ownIdentity} from './process-identity.ts';

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
