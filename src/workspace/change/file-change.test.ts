import {expect, test} from 'vitest';
import {stateOf} from '../../../test/support/state-of.ts';
import type {FailureCode} from '../../core/failure-codes.ts';
import {fail} from '../../core/result.ts';
import {atOnce} from '../open-file.ts';
import {hunkProblem, type PatchProblem, patchFailure, pathProblem} from '../patch/patch.ts';
import {diffStat, renderFileChange, renderUndo} from '../patch/unified.ts';
import type {WritablePath} from '../workspace-path.ts';
import {type FileChange, fileWrites, isExecutable, withExecutable} from './file-change.ts';

test.each<readonly [number | undefined, boolean | undefined, number | undefined]>([
  [undefined, undefined, undefined],
  [undefined, false, undefined],
  [undefined, true, 0o755],
  [0o644, undefined, 0o644],
  [0o644, false, 0o644],
  [0o644, true, 0o755],
  [0o640, true, 0o750],
  [0o600, true, 0o700],
  [0o755, true, 0o755],
  [0o755, false, 0o644],
  [0o711, false, 0o600],
  [0o100, undefined, 0o100],
])('W7: of the mode %o, with executable %s, comes %o', (mode, executable, expected) => {
  expect(withExecutable(mode, executable)).toBe(expected);
});

test('W7: a file is executable where its owner may execute it', () => {
  const of = (mode: number | undefined) => isExecutable({mode});
  expect([undefined, 0o644, 0o611, 0o100, 0o744].map(of)).toEqual([false, false, false, true, true]);
});

const path = 'x' as WritablePath;
const from = 'y' as WritablePath;
const owner = {uid: 1, gid: 2};
const old = stateOf('a\n', 0o640, owner);
const fresh = stateOf('b\n');
const none = undefined;

test('review B7: what is written of each change, whose it is, and under which name', () => {
  const shown = (change: FileChange) =>
    fileWrites([change]).map(write => {
      const side = (state: typeof write.old | typeof write.new) =>
        state && [Buffer.from(state.bytes).toString(), state.mode, state.owner];
      return [write.path, side(write.old), side(write.new)];
    });
  expect(shown({path, old: none, new: stateOf('b\n', undefined, owner)})).toEqual([
    ['x', undefined, ['b\n', undefined, owner]],
  ]);
  expect(shown({path, old, new: none})).toEqual([['x', ['a\n', 0o640, owner], undefined]]);
  expect(shown({path, old, new: fresh})).toEqual([
    ['x', ['a\n', 0o640, owner], ['b\n', undefined, undefined]],
  ]);
  expect(shown({path, from, old, new: stateOf('b\n', 0o640)})).toEqual([
    ['x', undefined, ['b\n', 0o640, owner]],
    ['y', ['a\n', 0o640, owner], undefined],
  ]);
});

// biome-ignore format: a case is a line
const CHANGES: readonly (readonly [FileChange, string, string])[] = [
  [{path, old: none, new: stateOf('b\n')}, 'diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n', 'diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n'],
  [{path, old: none, new: stateOf('', 0o755)}, 'diff --git a/x b/x\nnew file mode 100755\n', 'diff --git a/x b/x\ndeleted file mode 100755\n'],
  [
    {path, old: stateOf('a', 0o755), new: none},
    'diff --git a/x b/x\ndeleted file mode 100755\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n\\ No newline at end of file\n',
    'diff --git a/x b/x\nnew file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n',
  ],
  [
    {path, old: stateOf('a\n', 0o644), new: stateOf('b\n', 0o755)},
    'diff --git a/x b/x\nold mode 100644\nnew mode 100755\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n',
    'diff --git a/x b/x\nold mode 100755\nnew mode 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-b\n+a\n',
  ],
  [{path, old: stateOf('a\n', 0o755), new: stateOf('a\n', 0o644)}, 'diff --git a/x b/x\nold mode 100755\nnew mode 100644\n', 'diff --git a/x b/x\nold mode 100644\nnew mode 100755\n'],
  [{path: 'two words' as WritablePath, from, old, new: old}, 'diff --git a/y b/two words\nrename from y\nrename to two words\n', 'diff --git a/two words b/y\nrename from two words\nrename to y\n'],
  [
    {
      path: 'q"' as WritablePath,
      from: 'two words' as WritablePath,
      old,
      new: stateOf('b\n', 0o640),
    },
    'diff --git a/two words "b/q\\""\nrename from two words\nrename to "q\\""\n--- a/two words\t\n+++ "b/q\\""\n@@ -1 +1 @@\n-a\n+b\n',
    'diff --git "a/q\\"" b/two words\nrename from "q\\""\nrename to two words\n--- "a/q\\""\n+++ b/two words\t\n@@ -1 +1 @@\n-b\n+a\n',
  ],
];

test.each(CHANGES)('W7: the diff of a change, and the one that takes it back (%#)', (change, diff, undo) => {
  expect(atOnce(renderFileChange(change)).text).toBe(diff);
  expect(atOnce(renderUndo([change])).toString()).toBe(undo);
});

test('W7: hunks whose context would touch are one', () => {
  const numbered = Array.from({length: 30}, (_, at) => `${at + 1}\n`);
  const changed = (...at: readonly number[]) =>
    atOnce(
      renderFileChange({
        path,
        old: stateOf(numbered.join(''), 0o644),
        new: stateOf(numbered.map((line, index) => (at.includes(index + 1) ? 'x\n' : line)).join(''), 0o644),
      }),
    );
  const headers = (...at: readonly number[]) => changed(...at).text.match(/^@@.*/gm);
  expect(headers(10, 17)).toEqual(['@@ -7,14 +7,14 @@']);
  expect(headers(10, 18)).toEqual(['@@ -7,7 +7,7 @@', '@@ -15,7 +15,7 @@']);
  expect(headers(1)).toEqual(['@@ -1,4 +1,4 @@']);
  expect(headers(30)).toEqual(['@@ -27,4 +27,4 @@']);
  expect(changed(2, 28)).toMatchObject({
    added: 2,
    removed: 2,
    path: 'x',
    lines: [
      [2, 2],
      [28, 28],
    ],
  });
});

test('W7: lines that come and go are counted by file and in all', () => {
  const file = (name: string, added: number, removed: number) => ({
    path: name,
    text: '',
    added,
    removed,
    lines: [],
  });
  expect(diffStat([file('a', 1, 2), file('b', 10, 20)])).toEqual({
    files: [
      {path: 'a', added: 1, removed: 2, lines: []},
      {path: 'b', added: 10, removed: 20, lines: []},
    ],
    added: 11,
    removed: 22,
  });
});

const problem = (code: FailureCode, name = code): PatchProblem =>
  pathProblem(fail(code, `${name}.`, {path: name}).error, 7);

test.each<readonly [readonly [PatchProblem, ...PatchProblem[]], FailureCode]>([
  [[hunkProblem('h.', 3, []), problem('file_not_found'), problem('not_a_file')], 'not_a_file'],
  [[problem('not_a_file'), problem('symlink_blocked'), problem('path_escape')], 'path_escape'],
  [[problem('not_a_file'), problem('symlink_blocked')], 'symlink_blocked'],
  [[hunkProblem('h.', 3, []), problem('file_too_large')], 'file_too_large'],
  [[problem('file_too_large'), problem('file_not_found')], 'file_not_found'],
  [[problem('file_not_found', 'path_escape'), problem('file_not_found')], 'file_not_found'],
])('W7: of several problems the one that says most gives the code', (problems, code) => {
  const {error} = patchFailure(problems);
  expect(error.code).toBe(code);
  const told = problems.flatMap(({details}) => details);
  expect(error.details['problems']).toHaveLength(told.length);
  expect(error.details['problems']).toEqual(expect.arrayContaining(told));
});

test('W7: one problem with a path is a failure of its own, one with a hunk lists it', () => {
  expect(patchFailure([problem('file_not_found')]).error).toMatchObject({
    code: 'file_not_found',
    message: 'file_not_found. Nothing was written.',
    details: {path: 'file_not_found'},
  });
  expect(patchFailure([problem('file_not_found')]).error.details).not.toHaveProperty('problems');
  expect(patchFailure([hunkProblem('h.', 3, [{hunk: 1}])]).error).toMatchObject({
    code: 'patch_hunk_fail',
    message: 'h. Nothing was written.',
    details: {problems: [{hunk: 1}]},
  });
  expect(problem('file_not_found').details).toEqual([{path: 'file_not_found', message: 'file_not_found.'}]);
});
