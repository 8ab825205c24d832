import {execFileSync} from 'node:child_process';
import {linkSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {jailedPlace, readAt, writeAt} from '../../../test/support/jailed-place.ts';
import {openWorkspaceForTest} from '../../../test/support/open-workspace-for-test.ts';
import {codeOf, unwrap} from '../../../test/support/outcome.ts';
import {contentHash} from '../content-hash.ts';
import {hashOpenFile} from '../open-file.ts';
import {type HoldEntry, handleByDescriptor, handleByName} from './entry-handle.ts';
import {openWorkspace, type Workspace} from './jail.ts';

const HOLDS: readonly (readonly [string, HoldEntry])[] = [
  ['by descriptor (Linux)', handleByDescriptor],
  ['by name (elsewhere)', handleByName],
];

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Every name and content below a directory. */
const snapshot = (directory: string): string =>
  execFileSync('find', [directory, '-printf', '%P %y %s %m %l\n'], {encoding: 'utf8'})
    .split('\n')
    .sort()
    .join('\n');

/** What the refusal to open a file tells. */
async function readDetails(workspace: Workspace, path: string): Promise<unknown> {
  const file = await workspace.openFile(unwrap(workspace.resolve(path)));
  if (file.ok) await file.value.close();
  return file.ok ? 'opened' : file.error.details;
}

const openDescriptors = (): number => readdirSync('/proc/self/fd').length;

describe.each(HOLDS)('ruling W1: containment, entries held %s', (_, holdEntry) => {
  test('files inside are read, relative and absolute', async () => {
    const {workspace, root} = await jailedPlace(holdEntry);
    expect(await readAt(workspace, 'a/b/c/file.txt')).toBe('inside\n');
    expect(await readAt(workspace, join(root, 'a/b/c/file.txt'))).toBe('inside\n');
    expect(await readAt(workspace, 'a/../top.txt')).toBe('top\n');
    expect(await readAt(workspace, '.git/config')).toBe('[core]\n');
  });

  test('what is outside is not', async () => {
    const {workspace, outside} = await jailedPlace(holdEntry);
    for (const path of [
      '../work2/secret.txt',
      join(outside, 'secret.txt'),
      '/etc/passwd',
      'a/../../work2/secret.txt',
    ]) {
      expect(await readAt(workspace, path), path).toBe('path_escape');
      expect(await writeAt(workspace, path), path).toBe('path_escape');
    }
    expect(await readAt(workspace, 'missing.txt')).toBe('file_not_found');
    expect(await readAt(workspace, 'top.txt/x')).toBe('file_not_found');
    expect(await readAt(workspace, 'A/B/C/FILE.TXT')).toBe('file_not_found');
    expect(await readAt(workspace, 'a\0b')).toBe('invalid_params');
    expect(await readAt(workspace, 'n'.repeat(256))).toBe('invalid_params');
  });

  test('a link is never followed, at any depth, wherever it leads', async () => {
    const {workspace, root, outside} = await jailedPlace(holdEntry);
    const before = snapshot(outside);
    symlinkSync(outside, join(root, 'out'));
    symlinkSync(outside, join(root, 'a/out'));
    symlinkSync('../../../work2', join(root, 'a/b/out'));
    symlinkSync(join(outside, 'secret.txt'), join(root, 'a/b/c/secret'));
    symlinkSync('file.txt', join(root, 'a/b/c/inside'));
    symlinkSync('b', join(root, 'a/inside'));
    symlinkSync('loop', join(root, 'loop'));
    symlinkSync('nowhere', join(root, 'dangling'));
    symlinkSync('/proc/self/root', join(root, 'host'));
    symlinkSync('/proc/self/cwd', join(root, 'cwd'));
    const links = [
      'out/secret.txt',
      'a/out/secret.txt',
      'a/b/out/secret.txt',
      'a/b/c/secret',
      'a/b/c/inside',
      'a/inside/c/file.txt',
      'loop',
      'loop/x',
      'dangling',
      'host/etc/passwd',
      'cwd/package.json',
    ];
    for (const path of links) {
      expect(await readAt(workspace, path), path).toBe('symlink_blocked');
      expect(await writeAt(workspace, path), path).toBe('symlink_blocked');
      expect(codeOf(await workspace.remove(unwrap(workspace.resolveForWrite(path)))), path).toBe(
        'symlink_blocked',
      );
    }
    expect(await writeAt(workspace, 'out/new/deep/file')).toBe('symlink_blocked');
    for (const path of ['a/out/new', 'a/out/new/deep']) {
      const staged = await workspace.stage(unwrap(workspace.resolveForWrite(path)), bytes('x'));
      expect(staged).toMatchObject({error: {details: {path, component: 'a/out'}}});
    }
    expect(codeOf(workspace.openDirectory(unwrap(workspace.resolve('out'))))).toBe('symlink_blocked');
    expect(unwrap(workspace.inspect(unwrap(workspace.resolve('out')))).kind).toBe('symlink');
    expect(await readDetails(workspace, 'a/b/out/secret.txt')).toEqual({
      path: 'a/b/out/secret.txt',
      component: 'a/b/out',
    });
    expect(await readDetails(workspace, 'loop')).toEqual({path: 'loop', component: 'loop'});
    expect(snapshot(outside)).toBe(before);
  });

  test('FIFOs, sockets, devices and directories are refused without blocking', async () => {
    const {workspace, root} = await jailedPlace(holdEntry);
    execFileSync('mkfifo', [join(root, 'fifo')]);
    const server = createServer();
    await new Promise<void>(resolve => server.listen(join(root, 'socket'), resolve));
    onTestFinished(() => void server.close());
    for (const path of ['fifo', 'socket', 'a']) {
      expect(await readAt(workspace, path), path).toBe('not_a_file');
      expect(await writeAt(workspace, path), path).toBe('not_a_file');
    }
    expect(await readAt(workspace, 'fifo/x')).toBe('file_not_found');
    expect(await readDetails(workspace, 'fifo')).toEqual({path: 'fifo', kind: 'fifo'});
    expect(await readDetails(workspace, 'socket')).toEqual({path: 'socket', kind: 'socket'});
    expect(await readDetails(workspace, 'a')).toEqual({path: 'a', kind: 'directory'});
    const host = openWorkspaceForTest('/', {holdEntry});
    expect(await readDetails(host, '/dev/zero')).toEqual({path: 'dev/zero', kind: 'device'});
    expect(await readAt(host, '/dev/zero')).toBe('not_a_file');
    expect(await writeAt(host, '/dev/null')).toBe('not_a_file');
    expect(await readAt(host, '/proc/self/root/etc/passwd')).toBe('symlink_blocked');
    expect(await readAt(host, '/proc/self/cwd/package.json')).toMatch('symlink_blocked');
    expect(await readAt(host, '/proc/self/fd/0')).toBe('symlink_blocked');
  });

  test('a hard-linked file is read and not written', async () => {
    const {workspace, root, outside} = await jailedPlace(holdEntry);
    linkSync(join(outside, 'secret.txt'), join(root, 'hard.txt'));
    expect(await readAt(workspace, 'hard.txt')).toBe('secret\n');
    expect(await writeAt(workspace, 'hard.txt')).toBe('not_a_file');
    expect(await workspace.stage(unwrap(workspace.resolveForWrite('hard.txt')), bytes('x'))).toMatchObject({
      error: {details: {path: 'hard.txt', kind: 'hard_linked'}},
    });
    expect(codeOf(await workspace.remove(unwrap(workspace.resolveForWrite('hard.txt'))))).toBe('not_a_file');
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('secret\n');
    expect(readdirSync(root).sort()).toEqual(['.git', 'a', 'hard.txt', 'top.txt']);
  });

  test('ruling W11: nothing is written in .git, in any spelling', async () => {
    const {workspace, root} = await jailedPlace(holdEntry);
    const before = snapshot(join(root, '.git'));
    for (const path of [
      '.git/config',
      '.git/hooks/pre-commit',
      '.GIT/x',
      '.git /x',
      '.g\u200cit/x',
      'a/.git/x',
      '.git',
    ]) {
      expect(await writeAt(workspace, path), path).toBe('path_escape');
    }
    expect(snapshot(join(root, '.git'))).toBe(before);
    expect(readdirSync(root).sort()).toEqual(['.git', 'a', 'top.txt']);
  });

  test('directories: entries by kind, children by name only', async () => {
    const {workspace, root} = await jailedPlace(holdEntry);
    symlinkSync('a', join(root, 'link'));
    writeFileSync(join(root, '\ufffd'), '');
    writeFileSync(Buffer.from(`${root}/\xff`, 'latin1'), '');
    const directory = unwrap(workspace.openDirectory(unwrap(workspace.resolve('.'))));
    const entries = unwrap(await directory.entries());
    expect(entries.map(entry => `${entry.kind} ${entry.name}`).sort()).toEqual([
      'directory .git',
      'directory a',
      'file top.txt',
      'file \ufffd',
      'symlink link',
    ]);
    const child = unwrap(directory.openDirectory('a'));
    expect(child.path).toBe('a');
    expect(codeOf(directory.openDirectory('link'))).toBe('symlink_blocked');
    expect(codeOf(directory.openDirectory('top.txt'))).toBe('file_not_found');
    expect(codeOf(await directory.openFile('none'))).toBe('file_not_found');
    const file = unwrap(await directory.openFile('top.txt'));
    expect(unwrap(await hashOpenFile(file))).toBe(contentHash(bytes('top\n')));
    await file.close();
    expect(() => child.openDirectory('..')).toThrow(TypeError);
    await expect(child.openFile('../top.txt')).rejects.toThrow(TypeError);
    child.close();
    directory.close();
  });

  test('every descriptor is closed, after successes and failures', async () => {
    const {workspace, root, outside} = await jailedPlace(holdEntry);
    symlinkSync(outside, join(root, 'out'));
    await readAt(workspace, 'top.txt');
    await writeAt(workspace, 'warm/up.txt');
    const before = openDescriptors();
    for (const path of [
      'top.txt',
      'a',
      'none/x',
      'out/x',
      'top.txt/x',
      'a/b/c/file.txt',
      '.git/x',
      'n/e/w',
    ]) {
      await readAt(workspace, path);
      await writeAt(workspace, path);
      const parsed = workspace.resolve(path);
      if (parsed.ok) {
        workspace.inspect(parsed.value);
        const directory = workspace.openDirectory(parsed.value);
        if (directory.ok) directory.value.close();
      }
    }
    const to = (path: string) => unwrap(workspace.resolveForWrite(path));
    expect(codeOf(await workspace.remove(to('n/e/w')))).toBe('ok');
    expect(codeOf(await workspace.remove(to('n/e/w')))).toBe('file_not_found');
    expect(codeOf(await workspace.remove(to('a')))).toBe('not_a_file');
    const deep = unwrap(await workspace.stage(to('p/q/x'), bytes('x')));
    expect(deep.created).toEqual(['p', 'p/q']);
    deep.discard();
    expect(codeOf(await workspace.stage(to('out/x'), bytes('x')))).toBe('symlink_blocked');
    workspace.removeDirectory(to('p/q'));
    workspace.removeDirectory(to('p'));
    workspace.removeDirectory(to('p'));
    workspace.removeDirectory(to('p/q'));
    workspace.removeDirectory(to('a'));
    const held = unwrap(workspace.openDirectory(unwrap(workspace.resolve('.'))));
    for (const name of ['a', 'top.txt', 'out', 'none']) {
      const child = held.openDirectory(name);
      if (child.ok) child.value.close();
      const file = await held.openFile(name);
      if (file.ok) await file.value.close();
    }
    held.close();
    const staged = unwrap(await workspace.stage(unwrap(workspace.resolveForWrite('x/y')), bytes('x')));
    staged.discard();
    staged.discard();
    expect(openDescriptors()).toBe(before);
  });
});

test('policy: a root may be given by a link; it must be a directory that is there', async () => {
  const {root, outside} = await jailedPlace();
  symlinkSync(root, join(outside, 'alias'));
  const workspace = openWorkspaceForTest(join(outside, 'alias'));
  expect(workspace.root).toBe(root);
  expect(await readAt(workspace, join(outside, 'alias/top.txt'))).toBe('top\n');
  expect(openWorkspace(join(root, 'none'))).toMatchObject({
    error: {code: 'file_not_found', details: {path: join(root, 'none')}},
  });
  const file = join(root, 'top.txt');
  expect(openWorkspace(file)).toMatchObject({
    error: {
      code: 'not_a_file',
      message: `The workspace root "${file}" is not a directory. Name a directory.`,
      details: {path: file, kind: 'file'},
    },
  });
});

test('ruling W1: where nothing else is said, a directory on Linux is held by descriptor', async () => {
  const {root, outside} = await jailedPlace();
  const workspace = openWorkspaceForTest(root);
  const directory = unwrap(workspace.openDirectory(unwrap(workspace.resolve('a'))));
  renameSync(join(root, 'a'), join(root, 'moved'));
  symlinkSync(outside, join(root, 'a'));
  expect(unwrap(await directory.entries())).toEqual([{name: 'b', kind: 'directory'}]);
  directory.close();
});

test('policy: a root that cannot be held is refused with the reason, and let go', async () => {
  const {root} = await jailedPlace();
  const before = openDescriptors();
  /** Holds the root, and fails below it: no /proc, or no leave to enter. */
  const below =
    (error: Error): HoldEntry =>
    address => {
      if (address === root) return handleByDescriptor(address);
      throw error;
    };
  const denied = Object.assign(new Error('x'), {code: 'EACCES', syscall: 'open'});
  expect(openWorkspace(root, {holdEntry: below(denied)})).toMatchObject({
    error: {
      code: 'io_error',
      message: `Could not open the workspace "${root}": EACCES. It has to be readable, and /proc mounted on Linux.`,
      details: {path: root, error: 'EACCES', operation: 'open'},
    },
  });
  const lost = Object.assign(new Error('x'), {code: 'ENOENT', syscall: 'open'});
  expect(openWorkspace(root, {holdEntry: below(lost)})).toMatchObject({
    error: {code: 'io_error', details: {path: root, error: 'ENOENT', operation: 'open'}},
  });
  expect(openWorkspace(`${root}/none`)).toMatchObject({error: {code: 'file_not_found'}});
  const bug = new TypeError('x');
  expect(() => openWorkspace(root, {holdEntry: below(bug)})).toThrow(bug);
  expect(openDescriptors()).toBe(before);
});
