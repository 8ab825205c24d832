import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {homedir} from 'node:os';
import {dirname, join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, onTestFinished, test} from 'vitest';
import {fileSystemContract} from '../../test/contracts/file-system.ts';
import {jailedFileSystem} from '../../test/support/jailed-file-system.ts';
import {openTestWorkspace} from '../../test/support/open-test-workspace.ts';
import {openWorkspaceForTest} from '../../test/support/open-workspace-for-test.ts';
import {codeOf, unwrap} from '../../test/support/outcome.ts';
import {needs} from '../../test/support/parts.ts';
import {pretendDeadline} from '../../test/support/pretend-deadline.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {systemClock} from '../core/clock.ts';
import {fail} from '../core/result.ts';
import {errorCode} from '../system/errors.ts';
import {desktopOpener, openOnDesktop, showInPager} from './desktop.ts';
import {type FileSystem, globFiles, InMemoryFileSystem} from './memory-workspace.ts';
import {contentHash} from './open-file.ts';
import {nodeProcessRunner, type ProcessEnd, type ProcessRequest} from './process-runner.ts';
import {Utf8Check} from './range-window.ts';
import {ReadTracker} from './read-tracker.ts';
import {
  attempt,
  fileNotFound,
  fileTooLarge,
  ioFailure,
  MAX_WHOLE_FILE_BYTES,
  notADirectory,
  notAFile,
  notRead,
  staleRead,
  symlinkBlocked,
} from './refusals.ts';
import {compileGlob} from './walk/glob.ts';
import {walkTree} from './walk/walk-tree.ts';
import type {WorkspacePath} from './workspace-path.ts';

test('policy: a file is opened on a desktop, by the program of the system, and never in CI', () => {
  const of = (platform: NodeJS.Platform, env: Record<string, string>) => desktopOpener({platform, env})?.[0];
  expect(of('linux', {DISPLAY: ':0'})).toBe('xdg-open');
  expect(of('linux', {WAYLAND_DISPLAY: 'wayland-0'})).toBe('xdg-open');
  expect(of('linux', {DISPLAY: ''})).toBeUndefined();
  expect(of('darwin', {})).toBe('open');
  expect(of('win32', {})).toBe('rundll32');
  expect(of('darwin', {CI: 'true'})).toBeUndefined();
  expect(of('linux', {DISPLAY: ':0', CI: '1'})).toBeUndefined();
  expect(of('linux', {DISPLAY: ':0', CI: 'false'})).toBe('xdg-open');
});

test('policy: the program gets the file, and the answer says so', needs('Linux'), async () => {
  // Not below the directory for temporary files: others may write there, so nothing in it is run.
  const directory = mkdtempSync(join(homedir(), '.forge-desktop-'));
  onTestFinished(() => rmSync(directory, {recursive: true, force: true}));
  const opener = join(directory, 'xdg-open');
  writeFileSync(opener, `#!/bin/sh\nprintf '%s' "$1" > ${directory}/opened\n`);
  chmodSync(opener, 0o755);
  const desktop = {platform: 'linux', env: {DISPLAY: ':0', PATH: directory}} as const;
  expect(await openOnDesktop('/a report.html', desktop, [])).toBe(true);
  const opened = join(directory, 'opened');
  await expect.poll(() => existsSync(opened) && readFileSync(opened, 'utf8')).toBe('/a report.html');
  expect(await openOnDesktop('/a', {...desktop, env: {DISPLAY: ':0', PATH: ''}}, [])).toBe(false);
  expect(await openOnDesktop('/a', {...desktop, env: {PATH: directory}}, [])).toBe(false);
});

/** A pager that writes down what it was given. */
function pager(name = 'less', script = 'echo "$LESS $*" >"$SEEN"; cat >>"$SEEN"') {
  const directory = join(temporaryDirectory(), 'bin');
  mkdirSync(directory);
  const program = join(directory, name);
  writeFileSync(program, `#!/bin/sh\n${script}\n`);
  chmodSync(program, 0o755);
  const seen = join(temporaryDirectory(), 'seen');
  const show = (env: Record<string, string> = {}, untrustedTrees: readonly string[] = [], text = 'a\nb\n') =>
    showInPager(text, {env: {PATH: `${directory}:/usr/bin:/bin`, SEEN: seen, ...env}, untrustedTrees}, []);
  return {directory, program, show, seen: () => (existsSync(seen) ? readFileSync(seen, 'utf8') : undefined)};
}

test('policy: a text goes to less, which ends where it fits and leaves it on the screen', async () => {
  const {show, seen} = pager();
  expect(await show()).toBe(true);
  expect(seen()).toBe('FRX \na\nb\n');
});

test('policy: PAGER is a program and its arguments, and no line for a shell', async () => {
  const {show, seen, program} = pager('forge-pager');
  expect(await show({PAGER: 'forge-pager -a  $(id)', LESS: 'i'})).toBe(true);
  expect(seen()).toBe('i -a $(id)\na\nb\n');
  expect(await show({PAGER: program})).toBe(true);
  expect(await show({PAGER: 'no-such-program'})).toBe(false);
});

test.each(['', 'cat', ' '])('policy: PAGER=%j is none', async PAGER => {
  const {show, seen} = pager();
  expect(await show({PAGER})).toBe(false);
  expect(seen()).toBeUndefined();
});

test('review R3: no pager is taken from the directory that is worked in', async () => {
  const {show, seen, directory, program} = pager('forge-pager');
  expect(await show({PAGER: 'forge-pager'}, [directory])).toBe(false);
  expect(await show({PAGER: program}, [directory])).toBe(false);
  expect(seen()).toBeUndefined();
});

test('policy: a user who leaves the pager before the end is no failure', async () => {
  const {show} = pager('less', 'exit 0');
  expect(await show({}, [], 'line\n'.repeat(1_000_000))).toBe(true);
});

fileSystemContract('in memory', async files => new InMemoryFileSystem(files));

test('ADR 08: a host seeds it and looks at what became of the files', async () => {
  const files = new InMemoryFileSystem({'/workspace/a.txt': '\ufeffa', 'b/c.txt': 'c'});
  expect(files.text('a.txt')).toBe('\ufeffa');
  await files.writeFile(unwrap(files.resolveForWrite('b/c.txt')), new TextEncoder().encode('changed'));
  expect(files.text('b/c.txt')).toBe('changed');
  expect(files.text('none')).toBeUndefined();
  expect([...files.files.keys()]).toEqual(['a.txt', 'b/c.txt']);
  expect(() => new InMemoryFileSystem({'../x': ''})).toThrow('outside the workspace');
});

const files = new InMemoryFileSystem({'src/b.ts': '', 'src/a.ts': '', 'src/deep/c.ts': '', 'readme.md': ''});

test('ADR 08: a host globs a file system in memory, in bytewise order', async () => {
  expect(await globFiles(files, '*.ts')).toEqual({
    ok: true,
    value: ['src/a.ts', 'src/b.ts', 'src/deep/c.ts'],
  });
  expect(await globFiles(files, '/*.ts', 'src')).toEqual({ok: true, value: ['src/a.ts', 'src/b.ts']});
});

test('ADR 08: a wrong pattern and a root outside are refused', async () => {
  expect(await globFiles(files, '{a,b')).toMatchObject({error: {code: 'invalid_params'}});
  expect(await globFiles(files, '*', '../x')).toMatchObject({error: {code: 'path_escape'}});
});

test('ADR 08: the scan of a file system and the walk find the same files', {tags: 'slow'}, async () => {
  const name = fc.constantFrom(
    'a',
    'b',
    '.h',
    'a.ts',
    '\u00e9',
    '\u{1f600}',
    '\uffee',
    '-x',
    'a b',
    '.git',
    '.GIT',
    '[',
  );
  const path = fc.array(name, {minLength: 1, maxLength: 4}).map(parts => parts.join('/'));
  const globs = fc.constantFrom(
    '**',
    '*.ts',
    'a/**',
    '!a',
    '!*.ts',
    '/*',
    '**/b',
    '{a,b}/*',
    '?',
    '[a-b]',
    '-x',
    '.*',
    '\\[',
    '!b/',
    'a b',
  );
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(path, {maxLength: 10}),
      globs,
      fc.constantFrom('.', 'a'),
      async (paths, text, rootName) => {
        const files = paths.filter(one => !paths.some(other => other.startsWith(`${one}/`)));
        const from = files.some(file => file.startsWith('a/')) ? rootName : '.';
        const tree = {...Object.fromEntries(files.map(file => [file, ''])), '.gitignore': 'a\n*.ts\n'};
        const {session} = await openTestWorkspace(tree);
        const root = unwrap(session.workspace.resolve(from));
        const glob = unwrap(compileGlob(text, 'pattern'));
        const prefix = from === '.' ? '' : 'a/';
        const scanned = unwrap(await globFiles(new InMemoryFileSystem(tree), text, from));
        const walked = unwrap(await walkTree(session.workspace, root, {glob, maxFiles: 1000}));
        expect(walked.files.map(file => prefix + file)).toEqual(scanned);
      },
    ),
    {numRuns: 40},
  );
});

async function onDisk(
  files: Readonly<Record<string, string | Uint8Array>>,
  root = temporaryDirectory(),
): Promise<FileSystem> {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), {recursive: true});
    writeFileSync(join(root, path), content);
    chmodSync(join(root, path), 0o644);
  }
  return jailedFileSystem(openWorkspaceForTest(root));
}

fileSystemContract('in the jail', files => onDisk(files));

test('Tool API, list_files: symbolic links are left out, and not followed', async () => {
  const root = temporaryDirectory();
  const files = await onDisk({'a/f': 'x'}, root);
  symlinkSync('a', join(root, 'link'));
  symlinkSync('f', join(root, 'a/g'));
  expect(unwrap(await files.listFiles(unwrap(files.resolve('.'))))).toEqual(['a/f']);
  expect(codeOf(await files.listFiles(unwrap(files.resolve('link'))))).toBe('symlink_blocked');
});

test('policy: what takes long ends when its time is spent', async () => {
  const files = await onDisk({f: 'x'});
  const deadline = pretendDeadline({spent: true, failure: () => fail('timeout', 'spent')});
  const path = unwrap(files.resolveForWrite('f'));
  expect(codeOf(await files.listFiles(unwrap(files.resolve('.')), deadline))).toBe('timeout');
  expect(codeOf(await files.readFile(path, {deadline}))).toBe('timeout');
  expect(codeOf(await files.writeFile(path, new Uint8Array(), {expected: 'absent', deadline}))).toBe(
    'stale_read',
  );
});

const runner = nodeProcessRunner(systemClock);

async function run(
  script: string,
  request: Partial<ProcessRequest> = {},
): Promise<{end: ProcessEnd; stdout: string}> {
  const parts: Uint8Array[] = [];
  const end = await runner.run({
    command: '/bin/sh',
    args: ['-c', script],
    cwd: '/',
    onStdout: part => {
      parts.push(part);
      return true;
    },
    maxStdoutBytes: 1_000_000,
    signal: new AbortController().signal,
    ...request,
  });
  return {end, stdout: Buffer.concat(parts).toString()};
}

/** Waits for what another process does; ends, as the test has a time-out. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(resume => setTimeout(resume, 5));
}

function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe('node-process-runner', () => {
  test('policy: arguments reach the program as they are, without a shell', async () => {
    const {stdout} = await run('', {command: '/bin/echo', args: ['$HOME; `id`', '*', '-n --x']});
    expect(stdout).toBe('$HOME; `id` * -n --x\n');
  });

  test('policy: nothing of our environment is inherited', async () => {
    const {stdout} = await run('', {command: '/usr/bin/env', args: []});
    expect(stdout).toBe('');
    expect((await run('', {command: '/usr/bin/env', args: [], env: {A: 'b'}})).stdout).toBe('A=b\n');
  });

  test('gives back exit code, stdout and stderr', async () => {
    const {end, stdout} = await run('echo out; echo err >&2; exit 3');
    expect(stdout).toBe('out\n');
    expect(end).toEqual({end: 'exited', exitCode: 3, stderr: 'err\n'});
    expect((await run('kill -9 $$')).end).toMatchObject({end: 'exited', exitCode: null});
  });

  test('stdin is closed where none is given, and fed block by block where it is', async () => {
    expect((await run('', {command: '/bin/cat', args: []})).end).toMatchObject({exitCode: 0});
    async function* blocks() {
      for (let block = 0; block < 100; block += 1) yield Buffer.alloc(10_000, block);
    }
    let bytes = 0;
    await run('', {
      command: '/bin/cat',
      args: [],
      stdin: blocks(),
      onStdout: part => {
        bytes += part.length;
        return true;
      },
      maxStdoutBytes: 2_000_000,
    });
    expect(bytes).toBe(1_000_000);
  });

  test('a program that ends before it has read everything is no error, and its feeder is ended', async () => {
    let closed = false;
    async function* endless() {
      try {
        for (;;) yield Buffer.alloc(65_536);
      } finally {
        closed = true;
      }
    }
    const {end} = await run('exit 0', {stdin: endless()});
    expect(end).toMatchObject({end: 'exited', exitCode: 0});
    expect(closed).toBe(true);
  });

  test('a bug in the feeder is thrown, and the program is ended', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('a');
      throw new TypeError('broken');
    }
    await expect(run('', {command: '/bin/cat', args: [], stdin: broken()})).rejects.toThrow('broken');
  });

  test('a bug in the reader is thrown', async () => {
    const broken = () => {
      throw new TypeError('broken');
    };
    await expect(run('echo a; exec sleep 60', {onStdout: broken})).rejects.toThrow('broken');
  });

  test('ends the program when the reader has enough, and when there is too much', async () => {
    const endless = 'while :; do echo 0123456789; done';
    expect((await run(endless, {onStdout: () => false})).end).toEqual({end: 'stopped'});
    expect((await run(endless, {maxStdoutBytes: 1000})).end).toEqual({end: 'capped'});
  });

  test('stderr is kept to its first 16 KiB', async () => {
    const {end} = await run('i=0; while [ $i -lt 5000 ]; do echo 0123456789 >&2; i=$((i+1)); done');
    expect(end.end === 'exited' && end.stderr.length).toBe(16_384);
  });

  test('an abort ends the program and what it started', async () => {
    const directory = temporaryDirectory();
    const controller = new AbortController();
    const running = run('sleep 60 & echo $! > child; wait', {cwd: directory, signal: controller.signal});
    const path = join(directory, 'child');
    await until(() => existsSync(path) && readFileSync(path, 'utf8').endsWith('\n'));
    controller.abort();
    expect((await running).end).toEqual({end: 'aborted'});
    const child = Number(readFileSync(path, 'utf8'));
    await until(() => !isAlive(child));
    expect((await run('true', {signal: controller.signal})).end).toEqual({end: 'aborted'});
  });

  test('a background process that holds stdout neither delays the end nor outlives it', async () => {
    const {end, stdout} = await run('sleep 60 & echo $!');
    expect(end).toMatchObject({end: 'exited', exitCode: 0});
    await until(() => !isAlive(Number(stdout)));
  });

  test('a program that is not there, or may not be run, is a value', async () => {
    expect((await run('', {command: '/nowhere/rg'})).end).toEqual({end: 'not_started', error: 'ENOENT'});
    expect((await run('', {command: '/etc/passwd'})).end).toEqual({end: 'not_started', error: 'EACCES'});
    expect((await run('', {command: '/nowhere/rg', stdin: [Buffer.from('a')]})).end).toMatchObject({
      error: 'ENOENT',
    });
    expect((await run('', {cwd: '/nowhere'})).end).toMatchObject({end: 'not_started'});
  });
});

function check(blocks: readonly Uint8Array[]): number | undefined {
  const text = new Utf8Check();
  for (const block of blocks) text.add(block);
  text.finish();
  return text.invalidAt;
}

const cut = (bytes: Uint8Array, size: number): Uint8Array[] =>
  Array.from({length: Math.ceil(bytes.length / size)}, (_, at) => bytes.subarray(at * size, (at + 1) * size));

test.each([
  ['a', [0x61], undefined],
  ['nothing', [], undefined],
  ['a four-byte character', [0xf0, 0x9f, 0x98, 0x80], undefined],
  ['a BOM', [0xef, 0xbb, 0xbf], undefined],
  ['a NUL', [0x61, 0x00], 1],
  ['a lone continuation', [0x61, 0x80], 1],
  ['an overlong slash', [0x61, 0xc0, 0xaf], 1],
  ['an overlong three-byte form', [0xe0, 0x80, 0xaf], 0],
  ['a surrogate', [0x61, 0x62, 0xed, 0xa0, 0x80], 2],
  ['above U+10FFFF', [0xf4, 0x90, 0x80, 0x80], 0],
  ['a character cut off at the end', [0x61, 0xe2, 0x82], 1],
  ['a character cut off inside', [0xe2, 0x82, 0x61], 0],
  ['UTF-16', [0xff, 0xfe, 0x61, 0x00], 0],
] as const)('ruling W5: strict UTF-8, whatever the blocks: %s', (_, bytes, expected) => {
  for (const size of [1, 2, 3, 64])
    expect(check(cut(Uint8Array.from(bytes), size)), `blocks of ${size}`).toBe(expected);
});

test('ruling W5: agrees with the decoder of the platform on arbitrary bytes', () => {
  const byte = fc.constantFrom(0x41, 0x80, 0xbf, 0xc2, 0xe0, 0xa0, 0xed, 0x9f, 0xf0, 0x90, 0xf4, 0x8f, 0xff);
  fc.assert(
    fc.property(fc.array(byte, {maxLength: 12}), fc.integer({min: 1, max: 5}), (raw, size) => {
      const bytes = Uint8Array.from(raw);
      let valid = true;
      try {
        new TextDecoder('utf-8', {fatal: true}).decode(bytes);
      } catch {
        valid = false;
      }
      const at = check(cut(bytes, size));
      expect(at === undefined).toBe(valid);
      if (at !== undefined)
        expect(() => new TextDecoder('utf-8', {fatal: true}).decode(bytes.subarray(0, at))).not.toThrow();
    }),
    {numRuns: 500},
  );
});

test('ruling W6: what was not read has no basis; the last read or write of one counts', () => {
  const tracker = new ReadTracker();
  const path = 'a.txt' as WorkspacePath;
  const [one, two] = [contentHash(Buffer.from('1')), contentHash(Buffer.from('2'))];
  expect(tracker.baseVersion(path)).toMatchObject({ok: false, error: {code: 'not_read', details: {path}}});
  tracker.record(path, one);
  tracker.record(path, two);
  expect(tracker.baseVersion(path)).toEqual({ok: true, value: two});
  expect(tracker.baseVersion('b.txt' as WorkspacePath).ok).toBe(false);
  expect(new ReadTracker().baseVersion(path).ok).toBe(false);
  tracker.forget(path);
  expect(tracker.baseVersion(path).ok).toBe(false);
});

test.each(
  // biome-ignore format: a case is a line
  [
    [fileNotFound('a'), 'file_not_found', 'There is no "a". Look it up with list_files or glob.'],
    [notADirectory('a'), 'file_not_found', '"a" is not a directory. Name the directory it is in.'],
    [notAFile('a', 'fifo'), 'not_a_file', '"a" is a fifo. Name a regular file.'],
    [notAFile('a', 'hard_linked'), 'not_a_file', '"a" has several hard links, and such files are not written. Name a regular file.'],
    [symlinkBlocked('a', 'a'), 'symlink_blocked', '"a" is a symbolic link. Use the path of the real file.'],
    [symlinkBlocked('a/b', 'a'), 'symlink_blocked', '"a/b" goes through the symbolic link "a". Use the path of the real file.'],
    [staleRead('a'), 'stale_read', '"a" changed since it was read in this session. Read it again and base the change on that.'],
    [notRead('a'), 'not_read', '"a" was not read in this session, so it may not be changed. Call read_file on it first.'],
    [fileTooLarge('a', 40_000_000), 'file_too_large', `The new content of "a" has 40000000 bytes, more than the ${MAX_WHOLE_FILE_BYTES} that are written at once. Use run for a file of that size.`],
  ],
)('policy: a refusal says what, with which path, and what to do (%#)', ({error}, code, message) => {
  expect(error).toMatchObject({code, message});
});

test('Tool API: the details of a refusal name the path, and what is known of it', () => {
  expect(fileNotFound('a').error.details).toEqual({path: 'a'});
  expect(notADirectory('a').error.details).toEqual({path: 'a'});
  expect(notAFile('a', 'fifo').error.details).toEqual({path: 'a', kind: 'fifo'});
  expect(symlinkBlocked('a/b', 'a').error.details).toEqual({path: 'a/b', component: 'a'});
  expect(staleRead('a').error.details).toEqual({path: 'a'});
  expect(notRead('a').error.details).toEqual({path: 'a'});
  expect(fileTooLarge('a', 1).error.details).toEqual({path: 'a', size: 1, max_bytes: MAX_WHOLE_FILE_BYTES});
});

/** What Node throws for a failed system call. */
const systemError = (code: string): Error => Object.assign(new Error(code), {code, syscall: 'open'});

test.each([
  ['ENOENT', {code: 'file_not_found', details: {path: 'a'}}],
  ['ENOTDIR', {code: 'file_not_found', details: {path: 'a'}}],
  ['ELOOP', {code: 'symlink_blocked', details: {path: 'a', component: 'a'}}],
  ['EISDIR', {code: 'not_a_file', details: {path: 'a', kind: 'directory'}}],
  [
    'ENOSPC',
    {
      code: 'io_error',
      message: 'Could not write "a": ENOSPC. Check permissions and free space.',
      details: {path: 'a', error: 'ENOSPC', operation: 'write'},
    },
  ],
])('policy: an error of the system is a failure: %s', async (code, error) => {
  expect(ioFailure(systemError(code), 'a', 'write')).toMatchObject({ok: false, error});
  const work = () => Promise.reject(systemError(code));
  expect(await attempt('a', 'write', work)).toMatchObject({ok: false, error});
});

test.each([
  ['a TypeError', new TypeError('x')],
  ['an error with a code that no system call set', Object.assign(new Error('x'), {code: 'ERR_X'})],
  ['an error without a code', Object.assign(new Error('x'), {syscall: 'open'})],
  ['a code that is a number', Object.assign(new Error('x'), {code: 1, syscall: 'open'})],
  ['what is no error', {code: 'ENOENT', syscall: 'open'}],
])('policy: a bug is thrown on: %s', async (_, bug) => {
  expect(errorCode(bug)).toBeUndefined();
  const thrown = await attempt('a', 'read', () => Promise.reject(bug)).catch(error => ({error}));
  expect(thrown).toEqual({error: bug});
});

test('what goes well is handed on', async () => {
  expect(await attempt('a', 'read', async () => 1)).toEqual({ok: true, value: 1});
});
