import {mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import {appeared, RepositoryWatch, type Snapshot} from './repository-watch.ts';

function bare(directory: string): void {
  mkdirSync(join(directory, 'objects'), {recursive: true});
  mkdirSync(join(directory, 'refs'));
  writeFileSync(join(directory, 'HEAD'), 'ref: refs/heads/main\n');
}

function open() {
  const workspace = temporaryDirectory();
  const watch = new RepositoryWatch(workspace, systemClock);
  let last: Snapshot | undefined;
  return {
    workspace,
    at: (...names: readonly string[]) => join(workspace, ...names),
    /** What has appeared since the last call. */
    news: async () => {
      const now = await watch.look();
      const news = appeared(last ?? now, now);
      last = now;
      return news;
    },
  };
}

describe('RepositoryWatch', () => {
  test('review R7: .git of any kind and bare repositories are found, wherever they appear', async () => {
    const {at, news} = open();
    mkdirSync(at('was/.git'), {recursive: true});
    mkdirSync(at('a/b'), {recursive: true});
    expect(await news()).toEqual({paths: [], complete: true});
    mkdirSync(at('a/b/c/.git'), {recursive: true});
    mkdirSync(at('file'));
    writeFileSync(at('file/.git'), 'gitdir: x');
    mkdirSync(at('link'));
    symlinkSync('/nowhere', at('link/.git'));
    bare(at('a/bare.git'));
    bare(at());
    expect(await news()).toEqual({paths: ['.', 'a/b/c', 'a/bare.git', 'file', 'link'], complete: true});
    expect(await news()).toEqual({paths: [], complete: true});
  });

  test('W11: a directory .git that appears in the root is said, and no file that holds its place', async () => {
    const {at, news} = open();
    await news();
    writeFileSync(at('.git'), 'gitdir: /nonexistent\n');
    expect((await news()).paths).toEqual([]);
    rmSync(at('.git'));
    mkdirSync(at('.git'));
    expect((await news()).paths).toEqual(['.']);
    expect((await news()).paths).toEqual([]);
  });

  test('policy: a listing that is kept is none of a directory that has changed since', async () => {
    const {at, news} = open();
    mkdirSync(at('d'));
    const past = new Date(Date.now() - 60_000);
    utimesSync(at('d'), past, past);
    await news();
    for (const name of ['one', 'two', 'three']) {
      mkdirSync(at('d', name, '.git'), {recursive: true});
      expect((await news()).paths).toEqual([`d/${name}`]);
      mkdirSync(at('d', `${name}2`));
      writeFileSync(at('d', `${name}2/.git`), '');
      expect((await news()).paths).toEqual([`d/${name}2`]);
    }
    rmSync(at('d/one'), {recursive: true});
    renameSync(at('d/two'), at('d/moved'));
    expect((await news()).paths).toEqual(['d/moved']);
  });

  test('policy: links are not followed, not even in a circle', async () => {
    const {at, news} = open();
    const outside = temporaryDirectory();
    await news();
    mkdirSync(join(outside, 'repository/.git'), {recursive: true});
    symlinkSync(outside, at('out'));
    symlinkSync('.', at('circle'));
    expect(await news()).toEqual({paths: [], complete: true});
  });

  test('policy: a tree that is too deep, or closed to us, ends the look and not the call', {
    tags: 'slow',
  }, async () => {
    const {at, news} = open();
    await news();
    mkdirSync(at(...Array<string>(150).fill('d')), {recursive: true});
    expect(await news()).toEqual({paths: [], complete: false});
    rmSync(at('d'), {recursive: true});
    mkdirSync(at('closed'), {mode: 0o000});
    expect((await news()).paths).toEqual([]);
  });

  test('policy: a tree that is too large is said to be so, and many finds are capped', async () => {
    const {at, news} = open();
    await news();
    for (let index = 0; index < 25; index++) mkdirSync(at(`r${index}/.git`), {recursive: true});
    const found = await news();
    expect(found.paths).toHaveLength(20);
    expect(found.complete).toBe(false);
    let clock = 0;
    const hurried = new RepositoryWatch(at(), {...systemClock, monotonic: () => (clock += 100)});
    expect((await hurried.look()).complete).toBe(false);
  });
});
