import {describe, expect, test} from 'vitest';
import {unwrap} from '../../../test/support/outcome.ts';
import {pretendDeadline} from '../../../test/support/pretend-deadline.ts';
import {type Err, type Failure, fail, ok} from '../../core/result.ts';
import type {DirectoryEntry, OpenDirectory} from '../jail/read-entries.ts';
import type {OpenFile} from '../open-file.ts';
import {childPath, type WorkspacePath} from '../workspace-path.ts';
import {compileGlob} from './glob.ts';
import {bytewise, canSkip, type FileRun, sortBytewise, TreeWalk, type WalkRules} from './tree-walk.ts';

const ROOT = '.' as WorkspacePath;

const glob = (text: string) => unwrap(compileGlob(text, 'glob'));

/** A tree of files with their content, without a disk: which of it is held, and what refuses to be opened by its path. */
function treeOf(files: Readonly<Record<string, string>>) {
  const directories = new Map<string, Map<string, DirectoryEntry['kind']>>([['.', new Map()]]);
  for (const path of Object.keys(files)) {
    let above = ROOT;
    const names = path.split('/');
    for (const [at, name] of names.entries()) {
      const isFile = at === names.length - 1;
      directories.get(above)?.set(name, isFile ? 'file' : 'directory');
      above = childPath(above, name);
      if (!isFile && !directories.has(above)) directories.set(above, new Map());
    }
  }
  const state = {
    held: 0,
    most: 0,
    byPath: [] as string[],
    refused: new Map<string, Err<Failure>>(),
    unlisted: new Map<string, Err<Failure>>(),
  };
  const contentOf = async (path: WorkspacePath) => {
    const content = Buffer.from(files[path] ?? '');
    if (!(path in files)) return fail('file_not_found', path);
    const file: Pick<OpenFile, 'path' | 'read' | 'close'> & {info: Pick<OpenFile['info'], 'size'>} = {
      path,
      info: {size: content.length},
      read: async (into, position) => content.copy(into, 0, position),
      close: async () => {},
    };
    return ok(file as OpenFile);
  };
  const open = (path: WorkspacePath) => {
    const entries = directories.get(path);
    if (entries === undefined) return fail('file_not_found', path);
    state.held += 1;
    state.most = Math.max(state.most, state.held);
    let isOpen = true;
    const held = (): void => {
      if (!isOpen) throw new TypeError(`Expected ${path} to be held`);
    };
    const directory: OpenDirectory = {
      path,
      entries: async () => {
        held();
        const unlisted = state.unlisted.get(path);
        if (unlisted !== undefined) return unlisted;
        return ok([...entries].map(([name, kind]) => ({name, kind})));
      },
      openDirectory: name => {
        held();
        return open(childPath(path, name));
      },
      openFile: name => contentOf(childPath(path, name)),
      readSmallFile: () => ok(undefined),
      close: () => {
        held();
        isOpen = false;
        state.held -= 1;
      },
    };
    return ok(directory);
  };
  return {
    state,
    workspace: {
      resolve: (path: string) => ok(path as WorkspacePath),
      openFile: contentOf,
      openDirectory: (path: WorkspacePath) => {
        state.byPath.push(path);
        return state.refused.get(path) ?? open(path);
      },
    },
  };
}

const named = (from: number, to: number, path: (at: string) => string): Record<string, string> =>
  Object.fromEntries(
    Array.from({length: to - from}, (_, at) => [path(String(from + at).padStart(5, '0')), '']),
  );

async function runsOf(tree: ReturnType<typeof treeOf>, rules: WalkRules = {}, root = ROOT) {
  const walk = new TreeWalk(tree.workspace, root, rules);
  const runs: FileRun[] = [];
  for await (const run of walk.runs()) runs.push(run);
  const files = runs.flatMap(({prefix, names}) => names.map(name => `${prefix}${name}`));
  expect(tree.state.held).toBe(0);
  return {walk, runs, files};
}

describe('W3: the runs of a walk', () => {
  test('have a thousand files at most, and end at each directory', async () => {
    const {runs} = await runsOf(treeOf({...named(0, 2500, at => `f${at}`), 'f01200x/g': ''}));
    expect(runs.map(({prefix, names}) => [prefix, names.length])).toEqual([
      ['', 1000],
      ['', 201],
      ['f01200x/', 1],
      ['', 1000],
      ['', 299],
    ]);
  });

  test('are not empty where much is left out before them', async () => {
    const {runs} = await runsOf(treeOf(named(0, 3000, at => `f${at}`)), {glob: glob('f0[12]*')});
    expect(runs.map(({names}) => [names[0], names.length])).toEqual([
      ['f01000', 1],
      ['f01001', 1000],
      ['f02001', 999],
    ]);
    expect((await runsOf(treeOf(named(0, 3000, at => `f${at}`)), {glob: glob('x')})).runs).toEqual([]);
  });

  test('let others have their turn, once for each two thousand entries or so', async () => {
    const tree = treeOf(named(0, 4000, at => `d${at.slice(0, 2)}/f${at}`));
    let turns = 0;
    let next = setImmediate(function count() {
      turns += 1;
      next = setImmediate(count);
    });
    const {files} = await runsOf(tree);
    clearImmediate(next);
    expect(files).toHaveLength(4000);
    // Each is counted where it is listed and where it is taken.
    expect(turns).toBeGreaterThanOrEqual(3);
    expect(turns).toBeLessThanOrEqual(5);
  });

  test('end with the deadline, not with the next run', async () => {
    let spent = false;
    const deadline = pretendDeadline({
      get spent() {
        return spent;
      },
      failure: () => fail('timeout', 'late'),
    });
    const tree = treeOf({a: '', 'b/c': '', d: ''});
    const walk = new TreeWalk(tree.workspace, ROOT, {deadline});
    const seen: string[] = [];
    for await (const {names} of walk.runs()) {
      seen.push(...names);
      spent = true;
    }
    expect(seen).toEqual(['a']);
    expect(walk.failure?.error.code).toBe('timeout');
    expect(tree.state.held).toBe(0);
  });
});

describe('W3: a tree that is deeper than directories are held', () => {
  /** Files `a` and `z` in each of 70 directories, one in the other. */
  const deep = () =>
    treeOf(
      Object.assign(
        {},
        ...Array.from({length: 70}, (_, depth) => ({
          [`${'d/'.repeat(depth)}a`]: '',
          [`${'d/'.repeat(depth)}z`]: '',
        })),
      ),
    );

  test('those further up are let go, and opened again for what comes after', async () => {
    const tree = deep();
    const {files} = await runsOf(tree);
    expect(files).toHaveLength(140);
    // 64, and the one that is just entered.
    expect(tree.state.most).toBe(65);
    expect(tree.state.byPath).toEqual(['.', 'd/d/d/d/d', 'd/d/d/d', 'd/d/d', 'd/d', 'd', '.']);
  });

  test('what vanished meanwhile is passed over', async () => {
    const tree = deep();
    tree.state.refused.set('d/d', fail('io_error', 'd/d', {error: 'ESTALE'}));
    const {files, walk} = await runsOf(tree);
    expect(walk.failure).toBeUndefined();
    expect(files).toHaveLength(139);
    expect(files).not.toContain('d/d/z');
  });

  test('what vanished is passed over with all that is below it', async () => {
    const tree = treeOf({[`${'d/'.repeat(70)}a`]: '', 'd/d/e/f': '', 'd/g/h': ''});
    tree.state.refused.set('d/d', fail('file_not_found', 'd/d'));
    expect((await runsOf(tree)).files).toEqual([`${'d/'.repeat(70)}a`, 'd/g/h']);
  });

  test('what fails otherwise ends the walk', async () => {
    const tree = deep();
    tree.state.refused.set('d/d', fail('io_error', 'd/d', {error: 'EMFILE'}));
    const {files, walk} = await runsOf(tree);
    expect(walk.failure?.error.message).toBe('d/d');
    expect(files.at(-1)).toBe('d/d/d/z');
  });
});

describe('W3: a directory that cannot be listed', () => {
  test.each([
    ['EACCES', undefined, ['a', 'z'], 1],
    ['EPERM', undefined, ['a', 'z'], 1],
    ['ESTALE', undefined, ['a', 'z'], 0],
    ['EIO', 'io_error', ['a'], 0],
  ])('%s: is let go', async (error, code, expected, unreadable) => {
    const tree = treeOf({a: '', 'b/c': '', z: ''});
    tree.state.unlisted.set('b', fail('io_error', 'b', {error}));
    const {files, walk} = await runsOf(tree);
    expect(files).toEqual(expected);
    expect(walk.failure?.error.code).toBe(code);
    expect(walk.unreadable).toBe(unreadable);
  });

  test('fails the walk where it is the root', async () => {
    const tree = treeOf({a: ''});
    tree.state.unlisted.set('.', fail('io_error', '.', {error: 'EACCES'}));
    const {files, walk} = await runsOf(tree);
    expect(files).toEqual([]);
    expect(walk.failure?.error.code).toBe('io_error');
  });
});

describe('W3: ignored files', () => {
  const FILES = {
    '.gitignore': '*.log\nbuild/\n',
    'a.log': '',
    'build/.gitignore': 'deep/\n',
    'build/b.ts': '',
    'build/deep/c.ts': '',
    'build/deep/.gitignore': '!*\n',
    'src/d.ts': '',
    'src/e.log': '',
    'src/.gitignore': '!e.log\nbuilt/\n',
    'src/built/f.ts': '',
  };

  test.each<[NonNullable<WalkRules['ignored']> | undefined, readonly string[], number]>([
    [
      undefined,
      [
        '.gitignore',
        'a.log',
        'build/.gitignore',
        'build/b.ts',
        'build/deep/.gitignore',
        'build/deep/c.ts',
        'src/.gitignore',
        'src/built/f.ts',
        'src/d.ts',
        'src/e.log',
      ],
      0,
    ],
    ['left-out', ['.gitignore', 'src/.gitignore', 'src/d.ts', 'src/e.log'], 0],
    ['counted', ['.gitignore', 'src/.gitignore', 'src/d.ts', 'src/e.log'], 6],
  ])('%s', async (ignored, expected, count) => {
    const {files, walk, runs} = await runsOf(treeOf(FILES), {ignored});
    expect(files).toEqual(expected);
    expect(walk.ignoredFiles).toBe(count);
    expect(runs.map(({ignoredRoot}) => ignoredRoot).filter(Boolean)).toEqual([]);
  });

  test('counted: those that fit only', async () => {
    const {files, walk} = await runsOf(treeOf(FILES), {ignored: 'counted', glob: glob('*.ts')});
    expect(files).toEqual(['src/d.ts']);
    expect(walk.ignoredFiles).toBe(3);
  });

  test('marked: whole directories, each file by the outermost one it lies in', async () => {
    const {runs} = await runsOf(treeOf(FILES), {ignored: 'marked'});
    expect(runs.map(({prefix, names, ignoredRoot}) => [prefix, names, ignoredRoot])).toEqual([
      ['', ['.gitignore', 'a.log'], undefined],
      ['build/', ['.gitignore', 'b.ts'], 'build/'],
      ['build/deep/', ['.gitignore', 'c.ts'], 'build/'],
      ['src/', ['.gitignore'], undefined],
      ['src/built/', ['f.ts'], 'src/built/'],
      ['src/', ['d.ts', 'e.log'], undefined],
    ]);
  });

  test('by the files above the root of the walk, and not whether that root itself is ignored', async () => {
    const {files} = await runsOf(treeOf(FILES), {ignored: 'left-out'}, 'src' as WorkspacePath);
    expect(files).toEqual(['.gitignore', 'd.ts', 'e.log']);
    const below = await runsOf(treeOf(FILES), {ignored: 'left-out'}, 'build/deep' as WorkspacePath);
    expect(below.files).toEqual(['.gitignore', 'c.ts']);
  });

  test('by files in between, with nothing else beside them', async () => {
    const tree = () => treeOf({'a/.gitignore': '*.log\n', 'a/b/c/x.log': '', 'a/b/c/y': ''});
    const expected = ['y'];
    expect((await runsOf(tree(), {ignored: 'left-out'}, 'a/b/c' as WorkspacePath)).files).toEqual(expected);
    expect((await runsOf(tree(), {ignored: 'left-out'}, 'a/b' as WorkspacePath)).files).toEqual(['c/y']);
    expect((await runsOf(tree(), {ignored: 'left-out'})).files).toEqual(['a/.gitignore', 'a/b/c/y']);
  });

  test('a pattern for directories does not ignore a file of that name', async () => {
    const {files} = await runsOf(treeOf({'.gitignore': 'out/\n', 'a/out/x': '', out: ''}), {
      ignored: 'left-out',
    });
    expect(files).toEqual(['.gitignore', 'out']);
  });

  test('W2: a glob holds for the whole way from the root of the walk', async () => {
    const tree = {'a/b/c.ts': '', 'a/b/d/e.ts': '', 'b/c.ts': '', 'x/a/b/c.ts': ''};
    expect((await runsOf(treeOf(tree), {glob: glob('a/b/*.ts')})).files).toEqual(['a/b/c.ts']);
    expect((await runsOf(treeOf(tree), {glob: glob('!/a/b/d')})).files).toEqual([
      'a/b/c.ts',
      'b/c.ts',
      'x/a/b/c.ts',
    ]);
  });

  test('a name that begins with a dot is left out where that is asked for', async () => {
    const {files} = await runsOf(treeOf({...FILES, '.hidden/x': ''}), {
      leaveOutHidden: true,
      glob: glob('!build'),
    });
    expect(files).toEqual(['a.log', 'src/built/f.ts', 'src/d.ts', 'src/e.log']);
  });
});

const failure = (code: Failure['code'], error?: string): Failure => ({
  code,
  message: '',
  retryable: false,
  details: error === undefined ? {} : {error},
});

test('W3 what vanished or may not be read is passed over; a failing disk is no shorter list', () => {
  expect(canSkip(failure('file_not_found'))).toBe(true);
  expect(canSkip(failure('symlink_blocked'))).toBe(true);
  for (const error of ['EACCES', 'EPERM', 'ESTALE']) expect(canSkip(failure('io_error', error))).toBe(true);
  expect(canSkip(failure('io_error', 'EIO'))).toBe(false);
  expect(canSkip(failure('io_error', 'EMFILE'))).toBe(false);
});

const inBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

// In this order.
// biome-ignore format: a list
const NAMES = [
  '', 'A', 'a', 'a-', 'a/', 'ab', 'b', '\u{e9}', '\ud7ff', '\ue000', '\uffee', '\u{10000}', '\u{103fe}',
  '\u{103ff}', '\u{10400}', '\u{1f600}',
];

describe('ruling W3: paths are in the order of their bytes', () => {
  test.each(NAMES.flatMap((one, at) => NAMES.slice(at).map(other => [one, other])))(
    '%j, %j',
    (one, other) => {
      expect(Math.sign(bytewise(one, other))).toBe(inBytes(one, other));
      expect(bytewise(other, one)).toBe(-bytewise(one, other) + 0);
    },
  );

  test('some of which are beyond the other units, all of them, or none', () => {
    expect(sortBytewise(NAMES.toReversed())).toEqual(NAMES);
    expect(sortBytewise(['\u{1f600}', '\uffee'])).toEqual(['\uffee', '\u{1f600}']);
    expect(sortBytewise(['b', '\u{e9}', 'a'])).toEqual(['a', 'b', '\u{e9}']);
  });
});
