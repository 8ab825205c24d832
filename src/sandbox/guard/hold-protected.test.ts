import {execFileSync} from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import {unwrap} from '../../../test/support/outcome.ts';
import {needs} from '../../../test/support/parts.ts';
import {pretendPlatform} from '../../../test/support/pretend-platform.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {HeldDirectory, holdDirectory} from './held-directory.ts';
import {
  type GuardedMount,
  giveToOwner,
  guardedMount,
  holdProtected,
  isPlaceHolder,
  makePlaceHolder,
  type PlaceHolder,
  readEntry,
  removePlaceHolder,
} from './hold-protected.ts';

function holding(workspace: string, paths: readonly string[], already: readonly GuardedMount[] = []) {
  const root = new HeldDirectory(workspace);
  onTestFinished(() => root.close());
  return holdProtected(
    root,
    workspace,
    paths.map(path => join(workspace, path)),
    already,
  );
}

function partsOf(workspace: string, paths: readonly string[], already?: readonly GuardedMount[]) {
  return unwrap(holding(workspace, paths, already)).map(
    ({path, writable}) => `${path} ${writable ? 'rw' : 'ro'}`,
  );
}

function sentenceOf(workspace: string, paths: readonly string[], already?: readonly GuardedMount[]): string {
  const held = holding(workspace, paths, already);
  return held.ok ? 'ok' : held.error.message;
}

const mountOf = (path: string, writable: boolean): GuardedMount => ({path, writable, place: '', version: ''});

describe('holdProtected', () => {
  test('review R9: what lies outside is out of reach, also where it begins with dots', () => {
    const workspace = temporaryDirectory();
    mkdirSync(join(workspace, '..x'));
    expect(partsOf(workspace, ['../y', '../../y/z', '..x'])).toEqual(['..x ro']);
  });

  test('review R9: the workspace, and what is around it, is refused', () => {
    const workspace = temporaryDirectory();
    for (const path of ['', '..', '../..']) {
      expect(sentenceOf(workspace, [path])).toBe(
        `The protected path "${join(workspace, path)}" is the workspace "${workspace}" or contains it, so commands could write nothing or rewrite what runs them. Nothing was run. To fix it: install the package and its settings outside of the workspace, or work in a copy of the tree.`,
      );
    }
  });

  test('review R9: below what is for reading nothing is held, whatever comes first', () => {
    const workspace = temporaryDirectory();
    mkdirSync(join(workspace, 'a/b'), {recursive: true});
    writeFileSync(join(workspace, 'a/b/c'), '');
    expect(partsOf(workspace, ['a/b/c', 'a'])).toEqual(['a ro']);
    // Not made either.
    expect(partsOf(workspace, ['a/x/y'], [mountOf('a', false)])).toEqual(['a ro']);
    expect(existsSync(join(workspace, 'a/x'))).toBe(false);
  });

  test('review R9: what is held for reading already stays so where something below it is to be held', () => {
    const workspace = temporaryDirectory();
    mkdirSync(join(workspace, 'a/b'), {recursive: true});
    expect(partsOf(workspace, ['a', 'a/b'])).toEqual(['a ro']);
    expect(partsOf(workspace, ['a/b'], [mountOf('a', true)])).toEqual(['a rw', 'a/b ro']);
    // In the order of their names, so that outer ones come first.
    mkdirSync(join(workspace, '0'));
    expect(partsOf(workspace, ['a/b', '0'], [mountOf('.git', false)])).toEqual([
      '.git ro',
      '0 ro',
      'a rw',
      'a/b ro',
    ]);
  });

  test('review R8: of two that are missing the first one does not open what the second one closes', () => {
    const workspace = temporaryDirectory();
    expect(partsOf(workspace, ['a/b', 'a/c/d'])).toEqual(['a ro']);
    expect(existsSync(join(workspace, 'a/c'))).toBe(false);
    expect(existsSync(join(workspace, 'a/b'))).toBe(false);
    expect(statSync(join(workspace, 'a')).mode & 0o777).toBe(0o755);
  });

  test('review R9: a name that begins like one that is for reading is held as well', () => {
    const workspace = temporaryDirectory();
    for (const name of ['a', 'ab']) mkdirSync(join(workspace, name));
    expect(partsOf(workspace, ['a', 'ab'])).toEqual(['a ro', 'ab ro']);
  });

  test('review R8: what is made is no directory that others write to, however loose the umask is', () => {
    const workspace = temporaryDirectory();
    const umask = process.umask(0);
    onTestFinished(() => {
      process.umask(umask);
    });
    partsOf(workspace, ['a/b']);
    expect(statSync(join(workspace, 'a')).mode & 0o777).toBe(0o755);
  });

  test('review R8: a directory that another process makes at the same moment is taken as it is', () => {
    const workspace = temporaryDirectory();
    mkdirSync(join(workspace, 'a'));
    const root = new HeldDirectory(workspace);
    onTestFinished(() => root.close());
    let looks = 0;
    const look = (name: string) => (looks++ === 0 ? undefined : root.look(name));
    const late = Object.assign(Object.create(root), {look});
    const mounts = unwrap(holdProtected(late, workspace, [join(workspace, 'a/b')], []));
    expect(mounts).toMatchObject([{path: 'a', writable: false}]);
  });

  test('policy: what the system refuses to make is thrown', () => {
    // Nobody makes a directory in this one.
    expect(() => holding('/proc/self/fdinfo', ['a/b'])).toThrow(/^(EPERM|EACCES|ENOENT)/);
  });

  test('review R8: in the root nothing can be kept that is missing', () => {
    const workspace = temporaryDirectory();
    expect(sentenceOf(workspace, ['policy'])).toBe(
      `The protected path "${workspace}/policy" is missing, and commands must be able to write to the directory it would lie in. Nothing was run. To fix it: create it, or choose a place outside of the workspace or in a directory below it.`,
    );
  });

  test('review R9: a way through a link or a file is refused, and so is a link itself', () => {
    const workspace = temporaryDirectory();
    mkdirSync(join(workspace, 'a'));
    writeFileSync(join(workspace, 'a/file'), '');
    symlinkSync('a', join(workspace, 'link'));
    for (const [path, part] of [
      ['link/file', 'link'],
      ['a/file/x', 'a/file'],
      ['link', 'link'],
    ] as const) {
      expect(sentenceOf(workspace, [path])).toBe(
        `The protected path "${workspace}/${path}" leads through "${part}", which is a symbolic link or no directory. Nothing was run. To fix it: create it as a regular file, or move it out of the workspace.`,
      );
    }
  });

  test('review R8: what root makes belongs to whom the directory does', needs('root'), () => {
    const workspace = temporaryDirectory();
    chownSync(workspace, 1001, 1002);
    partsOf(workspace, ['a/b/c']);
    for (const path of ['a', 'a/b']) {
      const {uid, gid} = statSync(join(workspace, path));
      expect({uid, gid}).toEqual({uid: 1001, gid: 1002});
    }
  });
});

const FILE: PlaceHolder = {name: 'file', content: 'kept\n'};
const DIRECTORY: PlaceHolder = {name: 'directory', content: undefined};

function hold(path = temporaryDirectory()) {
  const held = new HeldDirectory(path);
  onTestFinished(() => held.close());
  return {path, held};
}

/** What a sentence of the system begins with. */
function codeOfThrown(work: () => unknown): string {
  try {
    work();
    return 'none';
  } catch (error) {
    return String(error instanceof Error && 'code' in error ? error.code : error);
  }
}

describe('makePlaceHolder', () => {
  test('W11: it makes what is missing, and leaves what is there', () => {
    const {path, held} = hold();
    expect([FILE, DIRECTORY].map(holder => makePlaceHolder(held, holder))).toEqual([true, true]);
    expect(readFileSync(join(path, 'file'), 'utf8')).toBe('kept\n');
    expect(statSync(join(path, 'file')).mode & 0o777).toBe(0o644);
    expect(statSync(join(path, 'directory')).isDirectory()).toBe(true);
    expect(statSync(join(path, 'directory')).mode & 0o777).toBe(0o755);
    writeFileSync(join(path, 'file'), 'mine');
    expect([FILE, DIRECTORY].map(holder => makePlaceHolder(held, holder))).toEqual([false, false]);
    expect(readFileSync(join(path, 'file'), 'utf8')).toBe('mine');
  });

  test('review R2: a link that leads nowhere is not followed', () => {
    const {path, held} = hold();
    const elsewhere = join(temporaryDirectory(), 'new');
    symlinkSync(elsewhere, join(path, 'file'));
    symlinkSync(elsewhere, join(path, 'directory'));
    expect([FILE, DIRECTORY].map(holder => makePlaceHolder(held, holder))).toEqual([false, false]);
    expect(existsSync(elsewhere)).toBe(false);
  });

  test('policy: what the system refuses is thrown', () => {
    const {held} = hold();
    const below = {name: 'missing/file', content: 'x'};
    expect(codeOfThrown(() => makePlaceHolder(held, below))).toBe('ENOENT');
    expect(codeOfThrown(() => makePlaceHolder(held, {...below, content: undefined}))).toBe('ENOENT');
  });

  test('W11: others may read what it makes, and not write to it, however loose the umask is', () => {
    const {path, held} = hold();
    const umask = process.umask(0);
    onTestFinished(() => {
      process.umask(umask);
    });
    for (const holder of [FILE, DIRECTORY]) makePlaceHolder(held, holder);
    expect(statSync(join(path, 'file')).mode & 0o777).toBe(0o644);
    expect(statSync(join(path, 'directory')).mode & 0o777).toBe(0o755);
  });

  test('W11: half of a file would not be known again, so none stays', () => {
    const {path, held} = hold();
    vi.spyOn(process, 'getuid').mockReturnValue(0);
    // Nobody has such a number, so it cannot be given to its owner.
    const owned = Object.assign(Object.create(held), {info: {uid: 2n ** 40n, gid: 0n}});
    expect(codeOfThrown(() => makePlaceHolder(owned, FILE))).toBe('ERR_OUT_OF_RANGE');
    expect(existsSync(join(path, 'file'))).toBe(false);
  });

  test('policy: who is not root gives nothing to the owner', needs('root'), () => {
    const path = temporaryDirectory();
    chownSync(path, 1001, 1002);
    const {held} = hold(path);
    vi.spyOn(process, 'getuid').mockReturnValue(1000);
    for (const holder of [FILE, DIRECTORY]) {
      makePlaceHolder(held, holder);
      expect(statSync(join(path, holder.name)).uid).toBe(0);
    }
  });

  test('W11: as root it makes them for the owner of the directory', needs('root'), () => {
    const path = temporaryDirectory();
    chownSync(path, 1001, 1002);
    const {held} = hold(path);
    for (const holder of [FILE, DIRECTORY]) {
      makePlaceHolder(held, holder);
      const {uid, gid} = statSync(join(path, holder.name));
      expect({uid, gid}).toEqual({uid: 1001, gid: 1002});
    }
  });

  test('review R2: what is given to the owner is no link, and no file', needs('root'), () => {
    const {path, held} = hold();
    const elsewhere = temporaryDirectory();
    symlinkSync(elsewhere, join(path, 'link'));
    chownSync(elsewhere, 1003, 1003);
    giveToOwner(held, 'link');
    giveToOwner(held, 'missing');
    expect(statSync(elsewhere).uid).toBe(1003);
  });
});

describe('readEntry', () => {
  test('policy: the beginning of a regular file, and of nothing else', () => {
    const {path, held} = hold();
    writeFileSync(join(path, 'file'), 'abcdef');
    symlinkSync('file', join(path, 'link'));
    mkdirSync(join(path, 'directory'));
    execFileSync('mkfifo', [join(path, 'fifo')]);
    const read = (name: string, most: number) => readEntry(held, name, most);
    expect(read('file', 3)).toBe('abc');
    expect(read('file', 100)).toBe('abcdef');
    // A FIFO is not waited for.
    expect(['link', 'directory', 'fifo', 'missing'].map(name => read(name, 9))).toEqual(
      Array(4).fill(undefined),
    );
  });
});

describe('removePlaceHolder', () => {
  test('review R2: it removes what is as it was made, and nothing that another process has filled', () => {
    const {path, held} = hold();
    const [file, directory] = [join(path, 'file'), join(path, 'directory')];
    for (const [content, isGone] of [
      ['kept\n', true],
      ['kept\nmore', false],
      ['kept', false],
    ] as const) {
      writeFileSync(file, content);
      expect(isPlaceHolder(held, FILE)).toBe(isGone);
      removePlaceHolder(held, FILE);
      expect(existsSync(file)).toBe(!isGone);
    }
    mkdirSync(directory);
    writeFileSync(join(directory, 'mine'), '');
    removePlaceHolder(held, DIRECTORY);
    expect(existsSync(join(directory, 'mine'))).toBe(true);
    execFileSync('rm', [join(directory, 'mine')]);
    expect(isPlaceHolder(held, DIRECTORY)).toBe(false);
    removePlaceHolder(held, DIRECTORY);
    expect(existsSync(directory)).toBe(false);
    removePlaceHolder(held, DIRECTORY);
  });

  test('policy: a bug is no refusal of the system, and is thrown', () => {
    const {held} = hold();
    const at = (): never => {
      throw new Error('a bug');
    };
    const broken = Object.assign(Object.create(held), {at});
    expect(() => removePlaceHolder(broken, DIRECTORY)).toThrow('a bug');
    expect(() => readEntry(broken, 'file', 9)).toThrow('a bug');
  });
});

describe('HeldDirectory', () => {
  test('review R4: it stays the same directory, whatever its name leads to', () => {
    const parent = temporaryDirectory();
    mkdirSync(join(parent, 'a/inside'), {recursive: true});
    const {held} = hold(join(parent, 'a'));
    execFileSync('mv', [join(parent, 'a'), join(parent, 'b')]);
    mkdirSync(join(parent, 'a'));
    expect(held.look('inside')?.isDirectory()).toBe(true);
    expect(held.look('missing')).toBeUndefined();
    expect(held.info.ino).toBe(statSync(join(parent, 'b'), {bigint: true}).ino);
  });

  test('policy: a link, a file and nothing are no directory; one that is closed to us can be held', () => {
    const {path} = hold();
    writeFileSync(join(path, 'file'), '');
    symlinkSync('.', join(path, 'link'));
    mkdirSync(join(path, 'closed'));
    chmodSync(join(path, 'closed'), 0);
    for (const name of ['file', 'link', 'missing']) expect(holdDirectory(join(path, name))).toBeUndefined();
    const closed = holdDirectory(join(path, 'closed'));
    expect(closed?.info.isDirectory()).toBe(true);
    const address = closed?.address ?? '';
    expect(existsSync(address)).toBe(true);
    closed?.close();
    expect(existsSync(address)).toBe(false);
  });

  test('policy: a way that goes in a circle leads to no directory', () => {
    const {path} = hold();
    symlinkSync('loop', join(path, 'loop'));
    expect(holdDirectory(join(path, 'loop/below'))).toBeUndefined();
  });

  test('policy: elsewhere than on Linux a directory is held by its name', () => {
    const {path} = hold();
    pretendPlatform('darwin');
    const held = new HeldDirectory(path);
    expect(held.at('name')).toBe(join(path, 'name'));
    expect(held.info).toEqual(statSync(path, {bigint: true}));
    held.close();
    expect(existsSync(path)).toBe(true);
  });

  test('policy: what else the system refuses is thrown', () => {
    expect(codeOfThrown(() => holdDirectory(`/${'x'.repeat(300)}`))).toBe('ENAMETOOLONG');
  });
});

test('review R4: a workspace is told from one that has taken over its inode, and stays the same with what is made in it', () => {
  const workspace = temporaryDirectory();
  const mount = (change = {}) =>
    guardedMount('', Object.assign(statSync(workspace, {bigint: true}), change), true);
  const before = mount();
  mkdirSync(join(workspace, 'new'));
  expect(mount()).toEqual(before);
  expect(mount({birthtimeNs: 1n}).version).not.toBe(before.version);
});
