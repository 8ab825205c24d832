import fs, {
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {syncBuiltinESMExports} from 'node:module';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import {appeared, changedSettings, RepositoryWatch, type Snapshot} from './repository-watch.ts';

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

/** Puts another function in the place of one of Node's, until the test ends. */
function replaced(
  name: 'readdirSync' | 'openSync',
  stand: (call: (...args: never[]) => unknown, path: string) => unknown,
) {
  const original = fs[name] as (...args: unknown[]) => unknown;
  const spy = vi
    .spyOn(fs, name)
    .mockImplementation(((...args: unknown[]) => stand(() => original(...args), String(args[0]))) as never);
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  return spy;
}

const refusal = Object.assign(new Error('EACCES'), {code: 'EACCES', syscall: 'open'});

describe('a look at a workspace', () => {
  /** A clock whose monotonic time is the next of these each time, and then the last. */
  const clockOf = (...times: number[]) => ({
    ...systemClock,
    monotonic: () => (times.length > 1 ? times.shift() : times[0]) ?? 0,
  });

  test('policy: of a workspace that is not there nothing is known', async () => {
    const gone = new RepositoryWatch('/nonexistent/workspace', {...systemClock, now: () => 7});
    expect(await gone.look()).toMatchObject({repositories: new Map(), complete: false, takenAt: 7});
  });

  test('policy: every directory that is held is let go', async () => {
    const {at, news} = open();
    mkdirSync(at('a/b/c'), {recursive: true});
    const held = () => readdirSync('/proc/self/fd').length;
    const before = held();
    await news();
    expect(held()).toBe(before);
  });

  test('policy: a look goes 100 directories deep, and not to what has none', async () => {
    const {at, news} = open();
    mkdirSync(at(...Array<string>(100).fill('d')), {recursive: true});
    expect((await news()).complete).toBe(true);
    mkdirSync(at(...Array<string>(101).fill('d')), {recursive: true});
    expect((await news()).complete).toBe(false);
  });

  test('policy: a look takes a quarter of a second', async () => {
    const {at} = open();
    mkdirSync(at('a'));
    const lookAt = (ms: number) => new RepositoryWatch(at(), clockOf(0, 0, ms)).look();
    expect((await lookAt(249)).complete).toBe(true);
    expect((await lookAt(250)).complete).toBe(false);
  });

  test('policy: others are answered every 10 ms', async () => {
    const {at} = open();
    for (const name of ['a', 'b', 'c', 'd']) mkdirSync(at(name));
    const yields = vi.spyOn(globalThis, 'setImmediate');
    const count = async (...times: number[]) => {
      yields.mockClear();
      await new RepositoryWatch(at(), clockOf(...times)).look();
      return yields.mock.calls.length;
    };
    expect(await count(0)).toBe(0);
    expect(await count(0, 0, 9)).toBe(0);
    expect(await count(0, 0, 10, 10, 19, 19, 19)).toBe(1);
    expect(await count(0, 0, 10, 10, 20, 20, 29, 29)).toBe(2);
    // Not once the time is up.
    expect(await count(0, 0, 300)).toBe(0);
  });

  test('policy: what was listed is read again only where it has changed since, or may have', async () => {
    const {workspace} = open();
    const changed = Number(statSync(workspace, {bigint: true}).ctimeNs / 1_000_000n);
    let now = changed + 100;
    const watch = new RepositoryWatch(workspace, {...clockOf(0), now: () => now});
    const reads = replaced('readdirSync', call => call());
    const count = async () => {
      reads.mockClear();
      await watch.look();
      return reads.mock.calls.length;
    };
    expect([await count(), await count()]).toEqual([1, 1]);
    now += 1;
    expect([await count(), await count()]).toEqual([1, 0]);
  });

  test('policy: what was listed of one directory is not taken for another', async () => {
    const {at, workspace} = open();
    mkdirSync(at('a/made/.git'), {recursive: true});
    mkdirSync(at('b/c'), {recursive: true});
    const watch = new RepositoryWatch(workspace, {...clockOf(0), now: () => Date.now() + 1000});
    for (const _ of [1, 2, 3]) {
      const {repositories, complete} = await watch.look();
      expect([[...repositories.keys()], complete]).toEqual([['a/made'], true]);
    }
  });

  test('policy: what is closed to us is left out, and a bug is thrown', async () => {
    const {at} = open();
    for (const name of ['closed', 'open']) mkdirSync(at(name, 'made/.git'), {recursive: true});
    const opening = replaced('openSync', (call, path) => {
      if (path.endsWith('/closed')) throw refusal;
      return call();
    });
    const watch = new RepositoryWatch(at(), systemClock);
    expect([...(await watch.look()).repositories.keys()]).toEqual(['open/made']);
    opening.mockRestore();
    syncBuiltinESMExports();
    replaced('openSync', (call, path) => {
      if (path.endsWith('/closed')) throw new Error('A bug.');
      return call();
    });
    await expect(watch.look()).rejects.toThrow('A bug.');
  });

  test('policy: what cannot be listed has nothing in it, and a bug is thrown', async () => {
    const {at} = open();
    mkdirSync(at('made/.git'), {recursive: true});
    bare(at('bare.git'));
    let error: Error = refusal;
    replaced('readdirSync', () => {
      throw error;
    });
    const watch = new RepositoryWatch(at(), systemClock);
    expect(await watch.look()).toMatchObject({repositories: new Map(), complete: true});
    error = new Error('A bug.');
    await expect(watch.look()).rejects.toThrow('A bug.');
  });

  test('review R7: only a directory that git takes for one is a bare repository, and nothing in .git is looked at', async () => {
    const {at} = open();
    bare(at('bare.git'));
    mkdirSync(at('half/objects'), {recursive: true});
    writeFileSync(at('half/HEAD'), '');
    mkdirSync(at('made/.git/modules/inner/.git'), {recursive: true});
    writeFileSync(at('file'), '');
    const {repositories} = await new RepositoryWatch(at(), systemClock).look();
    expect([...repositories.keys()].sort()).toEqual(['bare.git', 'made']);
    const {ctimeNs} = statSync(at('made'), {bigint: true});
    expect(repositories.get('made')).toBe(Number(ctimeNs / 1_000_000n));
  });
});

describe('conformance V6: what git executes or is configured by, below the root', () => {
  /** The files that have changed since the last call. */
  function openGit() {
    const {at, workspace} = open();
    const watch = new RepositoryWatch(workspace, systemClock);
    let last: Snapshot | undefined;
    const changes = async () => {
      const now = await watch.look();
      const {paths, complete} = changedSettings(last ?? now, now);
      last = now;
      expect(complete).toBe(true);
      return paths;
    };
    const put = (path: string, content = 'x') => {
      mkdirSync(join(at(path), '..'), {recursive: true});
      writeFileSync(at(path), content);
    };
    return {at, put, changes};
  }

  test('conformance V6: of a repository that was there, each file that changed, came or went', async () => {
    const {at, put, changes} = openGit();
    for (const name of [
      'HEAD',
      'config',
      'index',
      'hooks/pre-push',
      'info/exclude',
      'objects/aa/1',
      'refs/heads/main',
    ])
      put(`a/sub/.git/${name}`);
    expect(await changes()).toEqual([]);
    expect(await changes()).toEqual([]);
    for (const name of ['HEAD', 'index', 'zz', 'objects/aa/2', 'refs/heads/main', 'hooks/pre-commit.sample'])
      put(`a/sub/.git/${name}`, 'y');
    expect(await changes()).toEqual([]);
    // As long as before, and with the time that it had.
    const {atime, mtime} = statSync(at('a/sub/.git/config'));
    put('a/sub/.git/config', 'z');
    utimesSync(at('a/sub/.git/config'), atime, mtime);
    put('a/sub/.git/hooks/pre-commit');
    rmSync(at('a/sub/.git/info/exclude'));
    put('a/sub/.git/modules/group/inner/config');
    put('a/sub/.git/modules/group/inner/hooks/post-merge');
    put('a/sub/.git/worktrees/one/commondir');
    expect(await changes()).toEqual(
      [
        ...['config', 'hooks/pre-commit', 'info/exclude', 'modules/group/inner/config'],
        ...['modules/group/inner/hooks/post-merge', 'worktrees/one/commondir'],
      ].map(name => `a/sub/.git/${name}`),
    );
  });

  test('conformance V6: of a new one, a bare one, and one that a file or link points to', async () => {
    const {at, put, changes} = openGit();
    put('file/.git', 'gitdir: ../x');
    await changes();
    bare(at('bare.git'));
    put('bare.git/config');
    put('new/.git/config');
    put('file/.git', 'gitdir: ../y');
    mkdirSync(at('link'));
    symlinkSync('../bare.git', at('link/.git'));
    mkdirSync(at('hooks'));
    mkdirSync(at('linked/.git'), {recursive: true});
    symlinkSync('../../hooks', at('linked/.git/hooks'));
    expect(await changes()).toEqual([
      ...['bare.git/config', 'file/.git', 'link/.git', 'linked/.git/hooks', 'new/.git/config'],
    ]);
  });

  test('conformance V6: the repository of the root is a mount, and not looked at', async () => {
    const {put, changes} = openGit();
    put('.git/config');
    await changes();
    put('.git/config', 'y');
    expect(await changes()).toEqual([]);
  });

  test('policy: two hundred are named', async () => {
    const {at, put} = openGit();
    const watch = new RepositoryWatch(at(), systemClock);
    const before = await watch.look();
    for (let index = 0; index < 201; index++) put(`r/.git/hooks/h${index}`);
    const found = changedSettings(before, await watch.look());
    expect([found.paths.length, found.complete]).toEqual([200, false]);
  });
});

describe('what has appeared between two looks', () => {
  const snapshot = (names: Readonly<Record<string, number>>, complete = true): Snapshot => ({
    ...{repositories: new Map(Object.entries(names)), settings: new Map(), complete, takenAt: 1000},
  });

  test('review R7: what was not there, in order', () => {
    expect(appeared(snapshot({a: 1}), snapshot({c: 2, a: 3, b: 1}))).toEqual({
      ...{paths: ['b', 'c'], complete: true},
    });
    for (const [before, after] of [
      [true, false],
      [false, true],
    ])
      expect(appeared(snapshot({}, before), snapshot({}, after)).complete).toBe(false);
  });

  test('review R7: after a look at a part, what is older than that look may be old', () => {
    const after = snapshot({old: 900, recent: 901, later: 1001});
    expect(appeared(snapshot({}, false), after).paths).toEqual(['later', 'recent']);
    expect(appeared(snapshot({}), after).paths).toEqual(['later', 'old', 'recent']);
  });

  test('policy: twenty are named', () => {
    const names = (count: number) =>
      Object.fromEntries(Array.from({length: count}, (_, at) => [`r${at + 10}`, 1]));
    expect(appeared(snapshot({}), snapshot(names(20)))).toMatchObject({complete: true});
    const {paths, complete} = appeared(snapshot({}), snapshot(names(21)));
    expect({last: paths.at(-1), length: paths.length, complete}).toEqual({
      last: 'r29',
      length: 20,
      complete: false,
    });
  });
});
