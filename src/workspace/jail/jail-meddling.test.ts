import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {jailedPlace} from '../../../test/support/jailed-place.ts';
import {openWorkspaceForTest} from '../../../test/support/open-workspace-for-test.ts';
import {codeOf, unwrap} from '../../../test/support/outcome.ts';
import {fail} from '../../core/failure/fail.ts';
import {contentHash} from '../content-hash.ts';
import type {WorkspacePath} from '../workspace-path.ts';
import {type HoldEntry, handleByDescriptor, handleByName} from './entry-handle.ts';
import {openHeldFile} from './jailed-file.ts';
import {jailedFileSystem} from './jailed-file-system.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

const systemError = (code: string): Error => Object.assign(new Error(code), {code, syscall: 'open'});

const openDescriptors = (): number => readdirSync('/proc/self/fd').length;

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
    const deadline = {spent: true, failure: () => fail('timeout', 'spent')};
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

  test('one that cannot be read fails the list, and is closed', async () => {
    const {workspace} = await meddledPlace(() => {});
    const before = openDescriptors();
    const files = jailedFileSystem({
      ...workspace,
      openDirectory: path => {
        const opened = workspace.openDirectory(path);
        if (!opened.ok || path !== 'a/b') return opened;
        return {ok: true, value: {...opened.value, entries: async () => fail('io_error', 'x', {path})}};
      },
    });
    expect(codeOf(await files.listFiles(unwrap(files.resolve('.'))))).toBe('io_error');
    expect(openDescriptors()).toBe(before);
  });
});
