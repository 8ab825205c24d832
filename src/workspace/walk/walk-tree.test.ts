import {execFileSync} from 'node:child_process';
import {mkdirSync, readdirSync, symlinkSync} from 'node:fs';
import {join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {type TestFiles, writeFiles} from '../../../test/support/open-test-workspace.ts';
import {openWorkspaceForTest} from '../../../test/support/open-workspace-for-test.ts';
import {codeOf, unwrap} from '../../../test/support/outcome.ts';
import {pretendDeadline} from '../../../test/support/pretend-deadline.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {fail} from '../../core/result.ts';
import {compileGlob} from './glob.ts';
import {bytewise, TreeWalk} from './tree-walk.ts';
import {type WalkOptions, walkTree} from './walk-tree.ts';

async function walk(
  files: TestFiles,
  {
    in: root = '.',
    at = temporaryDirectory(),
    ...options
  }: Partial<WalkOptions> & {in?: string; at?: string} = {},
) {
  writeFiles(at, files);
  const workspace = openWorkspaceForTest(at);
  return walkTree(workspace, unwrap(workspace.resolve(root)), {maxFiles: 1000, ...options});
}

/** What list_files leaves out on request. */
const VISIBLE = {ignored: 'left-out', leaveOutHidden: true} as const;

const FILES = {
  'a/x': '',
  'a-b': '',
  'a.b': '',
  ab: '',
  '.hidden/h': '',
  'src/\u{1f600}': '',
  'src/\uffee': '',
  '.git/config': '',
  'sub/.GIT/config': '',
  'worktree/.git': 'gitdir: x',
};

describe('walk-tree', () => {
  test('ruling W3: files only, all levels, in the bytewise order of their paths, without .git', async () => {
    expect(unwrap(await walk(FILES)).files).toEqual([
      '.hidden/h',
      'a-b',
      'a.b',
      'a/x',
      'ab',
      'src/\uffee',
      'src/\u{1f600}',
    ]);
    expect(unwrap(await walk(FILES, {in: 'src'}))).toMatchObject({files: ['\uffee', '\u{1f600}'], total: 2});
  });

  test('ruling W3: counts the files that are beyond the limit', async () => {
    const many = Object.fromEntries(Array.from({length: 150}, (_, at) => [`d${at % 7}/f${at}`, '']));
    const {files, total} = unwrap(await walk(many, {maxFiles: 10}));
    expect(total).toBe(150);
    expect(files).toEqual(Object.keys(many).sort(bytewise).slice(0, 10));
  });

  test('ruling W3: a root that is missing, or no directory', async () => {
    expect(codeOf(await walk(FILES, {in: 'none'}))).toBe('file_not_found');
    expect(codeOf(await walk(FILES, {in: 'ab'}))).toBe('file_not_found');
  });

  test('Tool API: links are left out, and not followed', async () => {
    const root = temporaryDirectory();
    const outside = temporaryDirectory();
    writeFiles(outside, {secret: ''});
    writeFiles(root, {'d/f': ''});
    symlinkSync(outside, join(root, 'to-directory'));
    symlinkSync(join(outside, 'secret'), join(root, 'to-file'));
    symlinkSync('d', join(root, 'inside'));
    execFileSync('mkfifo', [join(root, 'fifo')]);
    expect(unwrap(await walk({}, {at: root})).files).toEqual(['d/f']);
    expect(codeOf(await walk({}, {at: root, in: 'to-directory'}))).toBe('symlink_blocked');
  });

  test('ruling W3: respect_gitignore leaves out ignored and hidden files, by the files above the root too', async () => {
    const files = {
      '.gitignore': '*.log\nbuild/\n/sub/x\n',
      'sub/.gitignore': '!keep.log\n',
      'a.log': '',
      'build/a': '',
      'sub/keep.log': '',
      'sub/x': '',
      'sub/y': '',
      '.env': '',
      '.config/z': '',
    };
    const at = temporaryDirectory();
    expect(unwrap(await walk(files, {at})).total).toBe(9);
    expect(unwrap(await walk(files, {at, ...VISIBLE})).files).toEqual(['sub/keep.log', 'sub/y']);
    expect(unwrap(await walk(files, {at, ...VISIBLE, in: 'sub'})).files).toEqual(['keep.log', 'y']);
    expect(unwrap(await walk(files, {at, ...VISIBLE, in: 'build'})).files).toEqual(['a']);
  });

  test('ruling W2: a glob holds below the root of the walk', async () => {
    const glob = (text: string) => unwrap(compileGlob(text, 'glob'));
    const files = {'src/a.ts': '', 'src/deep/b.ts': '', 'src/c.md': '', 'd.ts': ''};
    expect(unwrap(await walk(files, {in: 'src', glob: glob('/*.ts')})).files).toEqual(['a.ts']);
    expect(unwrap(await walk(files, {glob: glob('*.ts')})).files).toEqual([
      'd.ts',
      'src/a.ts',
      'src/deep/b.ts',
    ]);
    expect(unwrap(await walk(files, {glob: glob('!src')})).files).toEqual(['d.ts']);
  });

  describe('ruling W3: what lies deeper than asked for, or is ignored, is folded', () => {
    const TREE = {
      '.gitignore': 'build/\n',
      'a/1': '',
      'a/b/2': '',
      'a/b/3': '',
      'a/b/build/4': '',
      'build/5': '',
      'build/c/6': '',
      'd/7': '',
      '8': '',
    };
    const folded = (found: Record<string, [number, boolean]>) =>
      new Map(Object.entries(found).map(([path, [files, isIgnored]]) => [path, {files, isIgnored}]));

    test.each<[string, Partial<WalkOptions>, unknown]>(
      // biome-ignore format: a case is a line
      [
        ['neither', {}, {files: ['.gitignore', '8', 'a/1', 'a/b/2', 'a/b/3', 'a/b/build/4', 'build/5', 'build/c/6', 'd/7'], shallow: 9, ownFiles: ['.gitignore', '8', 'a/1', 'a/b/2', 'a/b/3', 'a/b/build/4', 'build/5', 'build/c/6', 'd/7'], folded: folded({})}],
        ['one name deep', {depth: 1}, {files: ['.gitignore', '8'], shallow: 2, ownFiles: ['.gitignore', '8'], folded: folded({'a/': [4, false], 'build/': [2, false], 'd/': [1, false]})}],
        ['two names deep', {depth: 2}, {files: ['.gitignore', '8', 'a/1', 'build/5', 'd/7'], shallow: 5, ownFiles: ['.gitignore', '8', 'a/1', 'build/5', 'd/7'], folded: folded({'a/b/': [3, false], 'build/c/': [1, false]})}],
        [
          'ignored',
          {ignored: 'marked'},
          {
            files: ['.gitignore', '8', 'a/1', 'a/b/2', 'a/b/3', 'a/b/build/4', 'build/5', 'build/c/6', 'd/7'],
            shallow: 9,
            ownFiles: ['.gitignore', '8', 'a/1', 'a/b/2', 'a/b/3', 'd/7'],
            folded: folded({'a/b/build/': [1, true], 'build/': [2, true]}),
          },
        ],
        [
          'ignored, and two names deep: the outer one of both',
          {ignored: 'marked', depth: 2},
          {
            files: ['.gitignore', '8', 'a/1', 'build/5', 'd/7'],
            shallow: 5,
            ownFiles: ['.gitignore', '8', 'a/1', 'd/7'],
            folded: folded({'a/b/': [3, false], 'build/': [2, true]}),
          },
        ],
        ['and no more files than asked for', {ignored: 'marked', maxFiles: 3}, {files: ['.gitignore', '8', 'a/1'], shallow: 9, ownFiles: ['.gitignore', '8', 'a/1']}],
      ],
    )('%s', async (_, options, expected) => {
      expect(unwrap(await walk(TREE, options))).toMatchObject({
        total: 9,
        ignoredFiles: 0,
        ...(expected as object),
      });
    });

    test('and what is counted is told', async () => {
      expect(unwrap(await walk(TREE, {ignored: 'counted', depth: 1}))).toMatchObject({
        files: ['.gitignore', '8'],
        total: 6,
        shallow: 2,
        ignoredFiles: 3,
      });
    });
  });

  test('a directory that may not be read is passed over, unless it is the root', async () => {
    const at = temporaryDirectory();
    writeFiles(at, {'a/x': '', b: ''});
    const workspace = openWorkspaceForTest(at);
    const [root, a] = ['.', 'a'].map(path => unwrap(workspace.resolve(path)));
    if (root === undefined || a === undefined) throw new Error('Expected two paths');
    const failing = (error: string) => {
      const refused = fail('io_error', error, {error});
      const openDirectory: typeof workspace.openDirectory = path => {
        const opened = path === a ? refused : workspace.openDirectory(path);
        return opened.ok ? {ok: true, value: {...opened.value, openDirectory: () => refused}} : opened;
      };
      return {...workspace, openDirectory};
    };
    const guarded = failing('EACCES');
    // A disk that fails, or want of descriptors, is no shorter list.
    expect(codeOf(await walkTree(failing('EMFILE'), root, {maxFiles: 10}))).toBe('io_error');
    expect(unwrap(await walkTree(guarded, root, {maxFiles: 10})).files).toEqual(['b']);
    expect(codeOf(await walkTree(guarded, a, {maxFiles: 10}))).toBe('io_error');
  });

  test('Tool API: ends at its deadline', async () => {
    const deadline = pretendDeadline({spent: true, failure: () => fail('timeout', 'late')});
    expect(codeOf(await walk(FILES, {deadline}))).toBe('timeout');
  });

  test('policy: depth costs no stack', {tags: 'slow'}, async () => {
    const at = temporaryDirectory();
    const path = Array.from({length: 500}, () => 'd').join('/');
    mkdirSync(join(at, path), {recursive: true});
    writeFiles(at, {[`${path}/f`]: ''});
    expect(unwrap(await walk({}, {at})).files).toEqual([`${path}/f`]);
  });

  test('policy: depth costs no descriptors, and what lies beside a deep tree is there too', {
    tags: 'stress',
  }, async () => {
    const at = temporaryDirectory();
    const depth = 200;
    const level = (names: number): string => 'd/'.repeat(names);
    writeFiles(
      at,
      Object.fromEntries(Array.from({length: depth}, (_, names) => [`${level(names)}z`, '']).reverse()),
    );
    const workspace = openWorkspaceForTest(at);
    const descriptors = () => readdirSync('/proc/self/fd').length;
    const before = descriptors();
    const walk = new TreeWalk(workspace, unwrap(workspace.resolve('.')), {});
    const seen: string[] = [];
    let most = 0;
    for await (const {prefix, names} of walk.runs()) {
      seen.push(...names.map(name => `${prefix}${name}`));
      most = Math.max(most, descriptors() - before);
    }
    expect(seen).toEqual(Array.from({length: depth}, (_, at) => `${level(depth - 1 - at)}z`));
    expect(most).toBeLessThanOrEqual(65);
    expect(descriptors()).toBe(before);
  });

  test('policy: a caller that stops early leaves nothing open', async () => {
    const at = temporaryDirectory();
    writeFiles(at, {'a/b/c/f': '', 'a/b/g': '', z: ''});
    const workspace = openWorkspaceForTest(at);
    const before = readdirSync('/proc/self/fd').length;
    for await (const _ of new TreeWalk(workspace, unwrap(workspace.resolve('.')), {}).runs()) break;
    expect(readdirSync('/proc/self/fd').length).toBe(before);
  });

  test('ruling W3: the order is that of sorted paths, whatever the tree', {tags: 'slow'}, async () => {
    const name = fc.constantFrom('a', 'b', 'a-', 'a.', 'a0', '\u00e9', '\u{1f600}', '\uffee');
    const path = fc.array(name, {minLength: 1, maxLength: 4}).map(parts => parts.join('/'));
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(path, {maxLength: 12}), async paths => {
        const files = paths.filter(one => !paths.some(other => other.startsWith(`${one}/`)));
        const walked = unwrap(await walk(Object.fromEntries(files.map(file => [file, '']))));
        expect(walked.files).toEqual(
          files.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
        );
      }),
      {numRuns: 40},
    );
  });
});
