import {execFileSync} from 'node:child_process';
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import {createServer} from 'node:net';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {jailedFileSystem} from '../../../test/support/jailed-file-system.ts';
import {jailedPlace, readAt, writeAt} from '../../../test/support/jailed-place.ts';
import {openWorkspaceForTest} from '../../../test/support/open-workspace-for-test.ts';
import {codeOf, unwrap} from '../../../test/support/outcome.ts';
import {pretendDeadline} from '../../../test/support/pretend-deadline.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {fail} from '../../core/result.ts';
import {contentHash, hashOpenFile} from '../open-file.ts';
import {asWritable, type WorkspacePath, type WritablePath} from '../workspace-path.ts';
import {type HoldEntry, handleByDescriptor, handleByName} from './entry-handle.ts';
import {openWorkspace, type Workspace} from './jail.ts';
import {openParent, openPath, openRoot, type RootHandle} from './open-path.ts';
import {openHeldFile, readSmallFile} from './read-entries.ts';

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
    // biome-ignore format: a list
    const links = [
      'out/secret.txt', 'a/out/secret.txt', 'a/b/out/secret.txt', 'a/b/c/secret', 'a/b/c/inside',
      'a/inside/c/file.txt', 'loop', 'loop/x', 'dangling', 'host/etc/passwd', 'cwd/package.json',
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

const systemError = (code: string): Error => Object.assign(new Error(code), {code, syscall: 'open'});

/** A workspace in which `meddle` comes before each look at an entry: its name, and how often it was looked at. */
async function meddledPlace(meddle: (name: string, look: number) => void) {
  const {root, outside} = await jailedPlace();
  const looks = new Map<string, number>();
  const holdEntry: HoldEntry = address => {
    const name = address.slice(address.lastIndexOf('/') + 1);
    const look = (looks.get(name) ?? 0) + 1;
    looks.set(name, look);
    meddle(name, look);
    return handleByDescriptor(address);
  };
  const workspace = openWorkspaceForTest(root, {holdEntry});
  return {
    root,
    outside,
    workspace,
    at: (path: string) => unwrap(workspace.resolve(path)),
    to: (path: string) => unwrap(workspace.resolveForWrite(path)),
  };
}

describe('writing', () => {
  test('a write that cannot look at its target leaves nothing behind', async () => {
    const {workspace, root, to} = await meddledPlace(name => {
      if (name === 'f') throw systemError('EACCES');
    });
    const before = openDescriptors();
    expect(await workspace.stage(to('x/y/f'), bytes('new'))).toMatchObject({
      error: {code: 'io_error', details: {path: 'x/y/f', error: 'EACCES', operation: 'write'}},
    });
    expect(readdirSync(root).sort()).toEqual(['.git', 'a', 'top.txt']);
    expect(openDescriptors()).toBe(before);
  });

  test('a new file gets what the umask leaves, and no mode has more than permission bits', async () => {
    const {workspace, root, to} = await meddledPlace(() => {});
    writeFileSync(join(root, 'plain'), '');
    for (const [path, mode] of [
      ['new', undefined],
      ['bits', 0o6755],
    ] as const) {
      const staged = unwrap(await workspace.stage(to(path), bytes('x'), {mode}));
      expect(unwrap(await staged.commit())).toBe('durable');
    }
    expect(statSync(join(root, 'new')).mode).toBe(statSync(join(root, 'plain')).mode);
    expect(statSync(join(root, 'bits')).mode & 0o7777).toBe(0o755);
  });

  test('what was committed stays when it is discarded, and cannot be committed again', async () => {
    const {workspace, root, to} = await meddledPlace(() => {});
    const before = openDescriptors();
    const staged = unwrap(await workspace.stage(to('x/f'), bytes('new')));
    expect(codeOf(await staged.commit())).toBe('ok');
    staged.discard();
    expect(readFileSync(join(root, 'x/f'), 'utf8')).toBe('new');
    await expect(staged.commit()).rejects.toThrow(
      new TypeError(`Expected a staged file to be committed once: ${staged.path}`),
    );
    expect(openDescriptors()).toBe(before);
  });

  test('what was discarded is let go: what others make in its place is theirs', async () => {
    const {workspace, root, to} = await meddledPlace(() => {});
    const staged = unwrap(await workspace.stage(to('x/f'), bytes('new')));
    staged.discard();
    mkdirSync(join(root, 'x'));
    staged.discard();
    expect(readdirSync(root)).toContain('x');
  });

  test('a missing file is not found, whatever was expected', async () => {
    const {workspace, to} = await meddledPlace(() => {});
    const hash = contentHash(bytes('x'));
    expect(codeOf(await workspace.remove(to('none'), hash))).toBe('file_not_found');
  });

  test('staged content that another process removed is not found, and its directories are removed', async () => {
    const {workspace, root, to} = await meddledPlace(() => {});
    const before = openDescriptors();
    const staged = unwrap(await workspace.stage(to('x/f'), bytes('new')));
    unlinkSync(join(root, staged.path));
    expect(codeOf(await staged.commit())).toBe('file_not_found');
    expect(readdirSync(root).sort()).toEqual(['.git', 'a', 'top.txt']);
    expect(openDescriptors()).toBe(before);
  });

  test('ruling W6: a target exchanged between the look at it and the reading of it is not replaced', async () => {
    // Looked at when it is staged, and twice when it is committed: what it is, and what it says.
    const place = await meddledPlace((name, look) => {
      if (name !== 'top.txt' || look !== 3) return;
      unlinkSync(join(place.root, name));
      symlinkSync(join(place.outside, 'secret.txt'), join(place.root, name));
    });
    const {workspace, root, outside, to} = place;
    const staged = unwrap(await workspace.stage(to('top.txt'), bytes('mine')));
    expect(codeOf(await staged.commit(contentHash(bytes('top\n'))))).toBe('symlink_blocked');
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('secret\n');
    expect(readdirSync(root).sort()).toEqual(['.git', 'a', 'top.txt']);
  });

  test('ruling W6: a target that cannot be read is not replaced', async () => {
    const {workspace, root, to} = await meddledPlace((name, look) => {
      if (name === 'top.txt' && look === 3) throw systemError('EACCES');
    });
    const before = openDescriptors();
    const staged = unwrap(await workspace.stage(to('top.txt'), bytes('mine')));
    expect(await staged.commit(contentHash(bytes('top\n')))).toMatchObject({
      error: {code: 'io_error', details: {path: 'top.txt', error: 'EACCES', operation: 'read'}},
    });
    expect(readFileSync(join(root, 'top.txt'), 'utf8')).toBe('top\n');
    expect(openDescriptors()).toBe(before);
  });

  test('policy: a target that is not read in time is not replaced', async () => {
    const {workspace, root, to} = await meddledPlace(() => {});
    const before = openDescriptors();
    const deadline = pretendDeadline({spent: true, failure: () => fail('timeout', 'spent')});
    const hash = contentHash(bytes('top\n'));
    const staged = unwrap(await workspace.stage(to('top.txt'), bytes('mine')));
    expect(codeOf(await staged.commit(hash, deadline))).toBe('timeout');
    expect(codeOf(await workspace.remove(to('top.txt'), hash, deadline))).toBe('timeout');
    expect(readFileSync(join(root, 'top.txt'), 'utf8')).toBe('top\n');
    expect(openDescriptors()).toBe(before);
  });
});

describe('writing where the system refuses', () => {
  /** No file system has a name of that length. */
  const NOWHERE = `/${'n'.repeat(256)}`;

  /** A workspace whose directory `a`, once it is held, leads nowhere from `breakDown` on. */
  async function brokenPlace() {
    const {root} = await jailedPlace();
    const real = new Map<string, string>();
    let broken = false;
    const holdEntry: HoldEntry = address => {
      const slash = address.lastIndexOf('/');
      const above = address.slice(0, slash);
      const entryHandle = handleByDescriptor(`${real.get(above) ?? above}${address.slice(slash)}`);
      if (!address.endsWith('/a')) return entryHandle;
      real.set(NOWHERE, entryHandle.address);
      return {
        ...entryHandle,
        get address() {
          return broken ? NOWHERE : entryHandle.address;
        },
      };
    };
    const workspace = openWorkspaceForTest(root, {holdEntry});
    writeFileSync(join(root, 'a/f'), 'old');
    return {
      root,
      workspace,
      at: (path: string) => unwrap(workspace.resolve(path)),
      to: (path: string) => unwrap(workspace.resolveForWrite(path)),
      breakDown: () => {
        broken = true;
      },
    };
  }

  const refused = (path: string, operation: string) => ({
    error: {code: 'io_error', details: {path, error: 'ENAMETOOLONG', operation}},
  });

  test('each operation says what it could not do', async () => {
    const {root, workspace, at, to, breakDown} = await brokenPlace();
    const before = openDescriptors();
    const staged = unwrap(await workspace.stage(to('a/f'), bytes('new')));
    const directory = unwrap(workspace.openDirectory(at('a')));
    breakDown();
    expect(await staged.commit()).toMatchObject(refused('a/f', 'replace'));
    expect(await directory.entries()).toMatchObject(refused('a', 'list'));
    expect(await workspace.stage(to('a/f'), bytes('new'))).toMatchObject(refused('a/f', 'write'));
    expect(await workspace.remove(to('a/f'))).toMatchObject(refused('a/f', 'remove'));
    expect(await workspace.stage(to('a/new/f'), bytes('new'))).toMatchObject(refused('a/new/f', 'reach'));
    directory.close();
    expect(openDescriptors()).toBe(before);
    expect(readFileSync(join(root, 'a/f'), 'utf8')).toBe('old');
    expect(readdirSync(join(root, 'a')).sort()).toEqual(['b', 'f']);
  });
});

describe('reading', () => {
  test('a held directory tells why an entry cannot be reached', async () => {
    const {workspace, at} = await meddledPlace(name => {
      if (name === 'b' || name === 'file.txt') throw systemError('EACCES');
      if (name === 'c') throw new TypeError('x');
    });
    const before = openDescriptors();
    const directory = unwrap(workspace.openDirectory(at('a')));
    const denied = (path: string) => ({
      error: {code: 'io_error', details: {path, error: 'EACCES', operation: 'open'}},
    });
    expect(directory.openDirectory('b')).toMatchObject(denied('a/b'));
    expect(await directory.openFile('file.txt')).toMatchObject(denied('a/file.txt'));
    expect(() => directory.openDirectory('c')).toThrow(new TypeError('x'));
    await expect(directory.openFile('c')).rejects.toThrow(new TypeError('x'));
    expect(directory.openDirectory('none')).toMatchObject({
      error: {code: 'file_not_found', details: {path: 'a/none'}},
    });
    directory.close();
    expect(openDescriptors()).toBe(before);
  });

  test('what is no directory, and what leads to one, are told apart', async () => {
    const {workspace, root, at} = await meddledPlace(() => {});
    symlinkSync('a', join(root, 'link'));
    expect(workspace.openDirectory(at('top.txt'))).toMatchObject({
      error: {code: 'file_not_found', message: expect.stringContaining('is not a directory')},
    });
    expect(workspace.openDirectory(at('link'))).toMatchObject({
      error: {code: 'symlink_blocked', details: {path: 'link', component: 'link'}},
    });
    expect(codeOf(workspace.openDirectory(at('none')))).toBe('file_not_found');
  });

  test('a directory held by name that is gone cannot be listed', async () => {
    const {root} = await jailedPlace();
    const workspace = openWorkspaceForTest(root, {holdEntry: handleByName});
    const directory = unwrap(workspace.openDirectory(unwrap(workspace.resolve('a'))));
    renameSync(join(root, 'a'), join(root, 'moved'));
    expect(await directory.entries()).toMatchObject({error: {code: 'file_not_found', details: {path: 'a'}}});
    directory.close();
  });

  test('a file held by name that was exchanged is not opened', async () => {
    const {root} = await jailedPlace();
    const entryHandle = handleByName(join(root, 'top.txt'));
    writeFileSync(join(root, 'other'), '');
    renameSync(join(root, 'other'), join(root, 'top.txt'));
    expect(await openHeldFile(entryHandle, 'top.txt' as WorkspacePath)).toMatchObject({
      error: {code: 'io_error', details: {path: 'top.txt', error: 'ESTALE', operation: 'open'}},
    });
  });

  test('an open file is described as it is held', async () => {
    const {workspace, root, at} = await meddledPlace(() => {});
    writeFileSync(join(root, 'f'), 'four', {mode: 0o640});
    const file = unwrap(await workspace.openFile(at('f')));
    expect(file.path).toBe('f');
    expect(file.info).toMatchObject({kind: 'file', size: 4, mode: 0o640, links: 1});
    await file.close();
  });
});

describe('listing', () => {
  test('a directory that goes while it is walked is left out', async () => {
    const {workspace, root} = await meddledPlace(name => {
      if (name === 'gone') throw systemError('ENOENT');
    });
    const before = openDescriptors();
    const files = jailedFileSystem(workspace);
    const gone = unwrap(files.resolveForWrite('gone/f'));
    mkdirSync(join(root, 'h'));
    writeFileSync(join(root, 'h/f'), '');
    renameSync(join(root, 'h'), join(root, 'gone'));
    expect(unwrap(await files.listFiles(unwrap(files.resolve('.'))))).toEqual(['a/b/c/file.txt', 'top.txt']);
    expect(codeOf(await files.listFiles(unwrap(files.resolve('gone'))))).toBe('file_not_found');
    expect(codeOf(await files.stat(gone))).toBe('file_not_found');
    expect(openDescriptors()).toBe(before);
  });
});

const WAYS_TO_HOLD: readonly (readonly [string, HoldEntry])[] = [
  ['by descriptor', handleByDescriptor],
  ['by name', handleByName],
];

describe.each(WAYS_TO_HOLD)('the root of a workspace, pinned %s', (how, holdEntry) => {
  test.each(['a link', 'another directory'])(
    'review R4: %s in its place gains nothing',
    async replacement => {
      const {workspace, root, outside} = await jailedPlace(holdEntry);
      writeFileSync(join(outside, 'top.txt'), 'secret\n');
      renameSync(root, `${root}-real`);
      if (replacement === 'a link') symlinkSync(outside, root);
      else renameSync(outside, root);

      const seen = await readAt(workspace, 'top.txt');
      expect(seen).toBe(how === 'by descriptor' ? 'top\n' : 'io_error');
      expect(await writeAt(workspace, 'planted')).toBe('io_error');
      expect(await writeAt(workspace, 'new/planted')).toBe('io_error');
      expect(codeOf(await workspace.remove(unwrap(workspace.resolveForWrite('top.txt'))))).toBe('io_error');
      expect(readdirSync(root).sort()).toEqual(['secret.txt', 'top.txt']);
      expect(readdirSync(`${root}-real`).sort()).toEqual(['.git', 'a', 'top.txt']);
    },
  );

  test('review R4: what changes something says that the root is another one, and what to do', async () => {
    const {workspace, root} = await jailedPlace(holdEntry);
    expect(workspace.verifyRoot()).toEqual({ok: true, value: undefined});
    renameSync(root, `${root}-real`);
    expect(workspace.verifyRoot()).toMatchObject({
      error: {
        code: 'io_error',
        message: expect.stringMatching(
          /work" was moved or replaced .* Put it back, or open a new session\.$/,
        ),
        details: {path: root, error: 'root_moved', operation: 'reach'},
      },
    });
    renameSync(`${root}-real`, root);
    expect(codeOf(workspace.verifyRoot())).toBe('ok');
    expect(await writeAt(workspace, 'new')).toBe('ok');
  });

  test('review R4: the identity is that of the directory', async () => {
    const {workspace, root} = await jailedPlace(holdEntry);
    const {dev, ino} = statSync(root, {bigint: true});
    expect(workspace.identity).toEqual({dev, ino});
  });

  test('a closed workspace leads nowhere, whatever gets its descriptor next', async () => {
    const {workspace, root, outside} = await jailedPlace(holdEntry);
    workspace.close();
    workspace.close();
    const other = unwrap(openWorkspace(outside, {holdEntry}));
    expect(await readAt(workspace, 'secret.txt')).toBe('io_error');
    expect(workspace.openDirectory(unwrap(workspace.resolve('.')))).toMatchObject({
      error: {
        code: 'io_error',
        message: expect.stringMatching(/work" is closed\. Open a new session\.$/),
        details: {path: root, error: 'closed', operation: 'reach'},
      },
    });
    expect(await readAt(workspace, 'top.txt')).toBe('io_error');
    expect(await writeAt(workspace, 'top.txt')).toBe('io_error');
    expect(readFileSync(join(root, 'top.txt'), 'utf8')).toBe('top\n');
    other.close();
  });
});

test.each(['dev', 'ino'] as const)('review R4: a root with another %s is another one', async part => {
  const {root} = await jailedPlace();
  // As where another file system is mounted on it, with directories of the same number.
  const holdEntry: HoldEntry = address => {
    const entryHandle = handleByDescriptor(address);
    const identity = entryHandle.identify();
    return {...entryHandle, identify: () => ({...identity, [part]: identity[part] + 1n})};
  };
  const workspace = unwrap(openWorkspace(root, {holdEntry}));
  expect(workspace.verifyRoot()).toMatchObject({error: {code: 'io_error', details: {error: 'root_moved'}}});
  workspace.close();
});

test('a root that the system does not let us hold once more is told with its reason', async () => {
  const {root} = await jailedPlace();
  let isFull = false;
  const holdEntry: HoldEntry = address => {
    if (isFull) throw Object.assign(new Error('EMFILE'), {code: 'EMFILE', syscall: 'open'});
    return handleByDescriptor(address);
  };
  const workspace = unwrap(openWorkspace(root, {holdEntry}));
  isFull = true;
  expect(workspace.openDirectory(unwrap(workspace.resolve('.')))).toMatchObject({
    error: {code: 'io_error', details: {path: root, error: 'EMFILE', operation: 'reach'}},
  });
  workspace.close();
});

test('an open workspace holds one descriptor, and none when it is closed', async () => {
  const {root} = await jailedPlace();
  const descriptors = () => readdirSync('/proc/self/fd').length;
  const before = descriptors();
  const workspaces = Array.from({length: 20}, () => unwrap(openWorkspace(root)));
  expect(descriptors()).toBe(before + 20);
  for (const workspace of workspaces) workspace.close();
  expect(descriptors()).toBe(before);
});

test('a root that is removed and made anew is another one', async () => {
  const {workspace, root} = await jailedPlace();
  rmSync(root, {recursive: true});
  mkdirSync(root);
  writeFileSync(join(root, 'top.txt'), 'new');
  expect(await readAt(workspace, 'top.txt')).toBe('file_not_found');
  expect(await writeAt(workspace, 'top.txt')).toBe('io_error');
});

const at = (path: string): WritablePath => unwrap(asWritable(path as WorkspacePath));

/** A fresh root whose entries are held as Linux does, but `meddle` comes first. */
function rootHandle(meddle: (name: string, root: string) => void = () => {}): RootHandle {
  const root = temporaryDirectory();
  const holdEntry: HoldEntry = address => {
    meddle(address.slice(address.lastIndexOf('/') + 1), root);
    return handleByDescriptor(address);
  };
  const opened = openRoot(root, holdEntry);
  onTestFinished(() => opened.close());
  return {root: opened, holdEntry};
}

describe('the directory above a path', () => {
  test('is made with those above it, and only where it is asked for', () => {
    const place = rootHandle();
    expect(openParent(place, at('a/b/f'))).toMatchObject({
      error: {code: 'file_not_found', details: {path: 'a/b/f'}},
    });
    const first = unwrap(openParent(place, at('a/b/f'), true));
    expect(first).toMatchObject({name: 'f', created: ['a', 'a/b']});
    first.directory.close();
    const second = unwrap(openParent(place, at('a/c/f'), true));
    expect(second).toMatchObject({name: 'f', created: ['a/c']});
    second.directory.close();
    const top = unwrap(openParent(place, at('f')));
    expect(top).toMatchObject({name: 'f', created: []});
    top.directory.close();
  });

  test('that another made in the meantime is used, and is not ours to remove', () => {
    const met = new Set<string>();
    const place = rootHandle((name, root) => {
      if (name !== 'a' || met.has(name)) return;
      met.add(name);
      // Looked for and not found; when it is to be made, it is there.
      const missing = Object.assign(new Error('x'), {code: 'ENOENT', syscall: 'open'});
      mkdirSync(join(root, 'a'));
      throw missing;
    });
    const parent = unwrap(openParent(place, at('a/b/f'), true));
    expect(parent.created).toEqual(['a/b']);
    parent.directory.close();
  });

  test('that another removes as soon as it is made is not found', () => {
    const place = rootHandle((name, root) => {
      if (name === 'a' && readdirSync(root).includes('a')) rmdirSync(join(root, 'a'));
    });
    const before = openDescriptors();
    expect(openParent(place, at('a/f'), true)).toMatchObject({error: {code: 'file_not_found'}});
    expect(openDescriptors()).toBe(before);
  });

  test('that cannot be made is a failure of the system', () => {
    const place = rootHandle((name, root) => {
      if (name === 'a') rmdirSync(root);
    });
    const before = openDescriptors();
    expect(openParent(place, at('a/f'), true)).toMatchObject({error: {code: 'file_not_found'}});
    expect(openDescriptors()).toBe(before);
  });

  test('is no file', () => {
    const place = rootHandle();
    writeFileSync(join(place.root.path, 'f'), '');
    const before = openDescriptors();
    for (const make of [false, true]) {
      expect(openParent(place, at('f/x'), make)).toMatchObject({error: {code: 'file_not_found'}});
      expect(openParent(place, at('f/x/y'), make)).toMatchObject({error: {code: 'file_not_found'}});
    }
    expect(openDescriptors()).toBe(before);
  });
});

describe('an error on the way', () => {
  const failing = (error: Error) =>
    rootHandle(name => {
      if (name === 'b') throw error;
    });

  test('of the system is a failure that names the path, and nothing stays open', () => {
    const place = failing(Object.assign(new Error('x'), {code: 'EACCES', syscall: 'open'}));
    const before = openDescriptors();
    mkdirSync(join(place.root.path, 'a'));
    expect(openPath(place, at('a/b/c'))).toMatchObject({
      error: {code: 'io_error', details: {path: 'a/b/c', error: 'EACCES', operation: 'reach'}},
    });
    expect(openDescriptors()).toBe(before);
  });

  test('that is a bug is thrown on, and nothing stays open', () => {
    const place = failing(new TypeError('x'));
    const before = openDescriptors();
    mkdirSync(join(place.root.path, 'a'));
    expect(() => openPath(place, at('a/b/c'))).toThrow(new TypeError('x'));
    expect(openDescriptors()).toBe(before);
  });
});

describe.each<readonly [string, HoldEntry]>([
  ['by descriptor', handleByDescriptor],
  ['by name', handleByName],
])('a file read at once, in a directory held %s', (_, holdEntry) => {
  function place() {
    const root = temporaryDirectory();
    mkdirSync(join(root, 'd'));
    const opened = openWorkspaceForTest(root, {holdEntry});
    const directory = unwrap(opened.openDirectory(unwrap(opened.resolve('d'))));
    return {root, directory, at: (name: string) => join(root, 'd', name)};
  }

  test.each([
    ['nothing', '', 0],
    ['less than there is room for', 'abc', 3],
    ['as much as there is room for', 'abcd', undefined],
    ['more', 'abcde', undefined],
  ])('ruling W1: with %s in it', (_, content, expected) => {
    const {directory, at} = place();
    writeFileSync(at('f'), content);
    const into = new Uint8Array(4);
    const before = openDescriptors();
    expect(directory.readSmallFile('f', into)).toEqual({ok: true, value: expected});
    expect(openDescriptors()).toBe(before);
    if (expected !== undefined) expect(Buffer.from(into).toString('utf8', 0, expected)).toBe(content);
  });

  test('ruling W1: what is no regular file is refused, and does not block', () => {
    const {root, directory, at} = place();
    writeFileSync(join(root, 'secret'), 'secret');
    symlinkSync('../secret', at('link'));
    execFileSync('mkfifo', [at('fifo')]);
    mkdirSync(at('below'));
    const before = openDescriptors();
    const refusal = (name: string) => {
      const read = directory.readSmallFile(name, new Uint8Array(64));
      return read.ok ? read.value : {code: read.error.code, ...read.error.details};
    };
    expect(refusal('fifo')).toMatchObject({code: 'not_a_file', path: 'd/fifo', kind: 'fifo'});
    expect(refusal('below')).toMatchObject({code: 'not_a_file', path: 'd/below', kind: 'directory'});
    expect(refusal('link')).toMatchObject({path: 'd/link'});
    expect(refusal('none')).toMatchObject({code: 'file_not_found', path: 'd/none'});
    expect(openDescriptors()).toBe(before);
  });

  test('ruling W1: a directory that became a link to another one is not read through', () => {
    const {root, directory, at} = place();
    writeFileSync(at('f'), 'inside');
    mkdirSync(join(root, 'other'));
    writeFileSync(join(root, 'other/f'), 'outside');
    renameSync(join(root, 'd'), join(root, 'moved'));
    symlinkSync('other', join(root, 'd'));
    const into = new Uint8Array(64);
    const before = openDescriptors();
    const read = directory.readSmallFile('f', into);
    if (holdEntry === handleByDescriptor) expect(read).toEqual({ok: true, value: 'inside'.length});
    else
      expect(read).toMatchObject({error: {code: 'io_error', details: {error: 'ESTALE', operation: 'read'}}});
    expect(Buffer.from(into).toString()).not.toContain('outside');
    expect(openDescriptors()).toBe(before);
  });

  test('a file that says it is empty is read to its end, if it fits', () => {
    const own = holdEntry(`/proc/${process.pid}`);
    const read = (room: number) =>
      readSmallFile(own, 'status', 'status' as WorkspacePath, new Uint8Array(room));
    expect(unwrap(read(64 * 1024))).toBeGreaterThan(100);
    expect(read(100)).toEqual({ok: true, value: undefined});
    expect(codeOf(read(64 * 1024))).toBe('ok');
    own.close();
  });
});
