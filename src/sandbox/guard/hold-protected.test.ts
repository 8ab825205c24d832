import {chownSync, existsSync, mkdirSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {unwrap} from '../../../test/support/outcome.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import type {GuardedMount} from './guarded-tree.ts';
import {HeldDirectory} from './held-directory.ts';
import {holdProtected} from './hold-protected.ts';

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

  test.runIf(process.getuid?.() === 0)(
    'review R8: what root makes belongs to whom the directory does',
    () => {
      const workspace = temporaryDirectory();
      chownSync(workspace, 1001, 1002);
      partsOf(workspace, ['a/b/c']);
      for (const path of ['a', 'a/b']) {
        const {uid, gid} = statSync(join(workspace, path));
        expect({uid, gid}).toEqual({uid: 1001, gid: 1002});
      }
    },
  );
});
