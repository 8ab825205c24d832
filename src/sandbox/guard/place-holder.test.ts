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
import {pretendPlatform} from '../../../test/support/pretend-platform.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {HeldDirectory, holdDirectory} from './held-directory.ts';
import {
  giveToOwner,
  isPlaceHolder,
  makePlaceHolder,
  type PlaceHolder,
  readEntry,
  removePlaceHolder,
} from './place-holder.ts';

const FILE: PlaceHolder = {name: 'file', content: 'kept\n'};
const DIRECTORY: PlaceHolder = {name: 'directory', content: undefined};
const isRoot = process.getuid?.() === 0;

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

  test.runIf(isRoot)('policy: who is not root gives nothing to the owner', () => {
    const path = temporaryDirectory();
    chownSync(path, 1001, 1002);
    const {held} = hold(path);
    vi.spyOn(process, 'getuid').mockReturnValue(1000);
    for (const holder of [FILE, DIRECTORY]) {
      makePlaceHolder(held, holder);
      expect(statSync(join(path, holder.name)).uid).toBe(0);
    }
  });

  test.runIf(isRoot)('W11: as root it makes them for the owner of the directory', () => {
    const path = temporaryDirectory();
    chownSync(path, 1001, 1002);
    const {held} = hold(path);
    for (const holder of [FILE, DIRECTORY]) {
      makePlaceHolder(held, holder);
      const {uid, gid} = statSync(join(path, holder.name));
      expect({uid, gid}).toEqual({uid: 1001, gid: 1002});
    }
  });

  test.runIf(isRoot)('review R2: what is given to the owner is no link, and no file', () => {
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
