import {expect, test} from 'vitest';
import {describeParsed} from '../../../../test/support/describe-parsed.ts';
import {atOnce, LINES_A_TURN} from '../../turns.ts';
import {beginPatchAt, parseBeginPatch} from '../parse-begin-patch.ts';

type Case = readonly [name: string, patch: string, outcome: readonly string[]];

test.each<Case>([
  [
    'everything',
    '*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@ def g():\n x\n-y\n+z\n*** Add File: c\n+one\n+\n*** Delete File: d\n*** Update File: e\n-two\n+TWO\n*** End of File\n*** End Patch\n',
    [
      '2 rename a => b',
      '4 @*  x\n|-y\n|+z\n',
      '8 create c -x',
      '8 @0 +one\n|+\n',
      '11 delete d whole',
      '12 modify e',
      '13 @* -two\n|+TWO\n',
    ],
  ],
  [
    'blanks behind its lines',
    '*** Begin Patch \t\n*** Delete File: x \t\n*** End Patch  \n',
    ['2 delete x whole'],
  ],
  ['CR behind its lines', '*** Begin Patch\r\n*** Delete File: x\r\n*** End Patch\r\n', ['2 delete x whole']],
  ['CR behind some lines', '*** Begin Patch\n*** Delete File: x\r\n*** End Patch\n', ['2 delete x whole']],
  ['blanks before a name', '*** Begin Patch\n*** Delete File: \t x\n*** End Patch\n', ['2 delete x whole']],
  [
    'words around',
    'Here:\n\n*** Begin Patch\n*** Delete File: x\n*** End Patch\nwords\n',
    ['4 delete x whole'],
  ],
  [
    'behind a diff',
    '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n*** Begin Patch\n*** Delete File: x\n*** End Patch\n',
    [
      '6: this form needs a "*** Begin Patch" line before it and an "*** End Patch" line behind it; only unified diffs are applied',
    ],
  ],
  [
    'behind a git line',
    'diff --git a/x b/x\n*** Begin Patch\n*** Delete File: x\n*** End Patch\n',
    [
      '1: the section has no hunks, so it changes nothing',
      '2: this form needs a "*** Begin Patch" line before it and an "*** End Patch" line behind it; only unified diffs are applied',
    ],
  ],
  [
    'cut off',
    '*** Begin Patch\n*** Delete File: x\n',
    ['2: the "*** End Patch" line is missing, so something may be cut off'],
  ],
  [
    'cut off in a hunk',
    '*** Begin Patch\n*** Update File: x\n@@\n-a\n+b',
    ['5: the "*** End Patch" line is missing, so something may be cut off'],
  ],
  [
    'only its beginning',
    '*** Begin Patch',
    ['1: the "*** End Patch" line is missing, so something may be cut off'],
  ],
  [
    'behind its end *** Delete File: y',
    '*** Begin Patch\n*** Delete File: x\n*** End Patch\n\n*** Delete File: y\n*** Delete File: y\n',
    ['5: it stands behind the "*** End Patch" line; put everything before it'],
  ],
  [
    'behind its end --- a/x',
    '*** Begin Patch\n*** Delete File: x\n*** End Patch\n\n--- a/x\n--- a/x\n',
    ['5: it stands behind the "*** End Patch" line; put everything before it'],
  ],
  [
    'behind its end diff --git a/x b/x',
    '*** Begin Patch\n*** Delete File: x\n*** End Patch\n\ndiff --git a/x b/x\ndiff --git a/x b/x\n',
    ['5: it stands behind the "*** End Patch" line; put everything before it'],
  ],
  [
    'behind its end words',
    '*** Begin Patch\n*** Delete File: x\n*** End Patch\n\nwords\nwords\n',
    ['2 delete x whole'],
  ],
  [
    'behind its end ***',
    '*** Begin Patch\n*** Delete File: x\n*** End Patch\n\n***\n***\n',
    ['2 delete x whole'],
  ],
  [
    'behind its end ---x',
    '*** Begin Patch\n*** Delete File: x\n*** End Patch\n\n---x\n---x\n',
    ['2 delete x whole'],
  ],
  ['empty', '*** Begin Patch\n*** End Patch\n', ['1: the text is not a unified diff']],
  ['blank lines alone', '*** Begin Patch\n\n  \n*** End Patch\n', ['1: the text is not a unified diff']],
  [
    'an unknown header',
    '*** Begin Patch\n*** Rename File: a\n*** Delete File: x\n*** End Patch\n',
    [
      '2: "*** Rename File: a" is not one of "*** Add File: PATH", "*** Update File: PATH" and "*** Delete File: PATH"',
    ],
  ],
  [
    'words between',
    '*** Begin Patch\nwords\n*** Delete File: x\n*** End Patch\n',
    ['2: "words" is not one of "*** Add File: PATH", "*** Update File: PATH" and "*** Delete File: PATH"'],
  ],
  ['no path', '*** Begin Patch\n*** Delete File: \n*** End Patch\n', ['2: the file name is missing']],
  [
    'a NUL in a path',
    '*** Begin Patch\n*** Delete File: a\u0000\n*** End Patch\n',
    ['2: the file name contains a NUL character'],
  ],
  ['a quoted path', '*** Begin Patch\n*** Delete File: "a\\tb"\n*** End Patch\n', ['2 delete a\tb whole']],
  [
    'a line of nothing',
    '*** Begin Patch\n*** Update File: x\ndef f():\n-a\n*** End Patch\n',
    ['3: "def f():" begins with none of " ", "-" and "+"; a context line begins with a blank'],
  ],
  [
    'stars in a section',
    '*** Begin Patch\n*** Update File: x\n*** what\n-a\n*** End Patch\n',
    ['3: "*** what" begins with none of " ", "-" and "+"; a context line begins with a blank'],
  ],
  [
    'a section without hunks',
    '*** Begin Patch\n*** Update File: x\n*** End Patch\n',
    ['2: the section has no hunks, so it changes nothing'],
  ],
  [
    'a section with blank lines alone',
    '*** Begin Patch\n*** Update File: x\n\n\n*** Delete File: y\n*** End Patch\n',
    ['2: the section has no hunks, so it changes nothing'],
  ],
  [
    'a hunk that changes nothing',
    '*** Begin Patch\n*** Update File: x\n@@\n a\n@@\n-b\n*** End Patch\n',
    ['3: the hunk has no "-" and no "+" line, so it changes nothing; leave it out'],
  ],
  [
    'an anchor without lines',
    '*** Begin Patch\n*** Update File: x\n@@ class A\n@@ def f\n-a\n@@\n*** End Patch\n',
    ['2 modify x', '4 @* -a\n'],
  ],
  [
    'a blank line in a hunk',
    '*** Begin Patch\n*** Update File: x\n@@\n a\n\n-b\n+c\n\n@@\n-d\n*** End Patch\n',
    ['2 modify x', '3 @*  a\n| \n|-b\n|+c\n', '9 @* -d\n'],
  ],
  [
    'blank lines before a hunk',
    '*** Begin Patch\n*** Update File: x\n\n@@\n-b\n*** End Patch\n',
    ['2 modify x', '4 @* -b\n'],
  ],
  [
    'blank lines behind a hunk',
    '*** Begin Patch\n*** Update File: x\n-b\n\n\n*** Delete File: y\n*** End Patch\n',
    ['2 modify x', '3 @* -b\n', '6 delete y whole'],
  ],
  [
    'End of File with blanks',
    '*** Begin Patch\n*** Update File: x\n-b\n*** End of File  \n*** End Patch\n',
    ['2 modify x', '3 @* -b\n'],
  ],
  [
    'End of File in the middle',
    '*** Begin Patch\n*** Update File: x\n-b\n*** End of File\n@@\n-c\n*** End Patch\n',
    ['2 modify x', '3 @* -b\n', '5 @* -c\n'],
  ],
  [
    'a move without a change',
    '*** Begin Patch\n*** Update File: x\n*** Move to: y\n*** End Patch\n',
    ['2 rename x => y'],
  ],
  [
    'a move to itself',
    '*** Begin Patch\n*** Update File: x\n*** Move to: x\n-a\n*** End Patch\n',
    ['2 modify x', '4 @* -a\n'],
  ],
  [
    'a move to itself without a change',
    '*** Begin Patch\n*** Update File: x\n*** Move to: x\n*** End Patch\n',
    ['2: the section has no hunks, so it changes nothing'],
  ],
  [
    'a move to nothing',
    '*** Begin Patch\n*** Update File: x\n*** Move to: \n-a\n*** End Patch\n',
    ['3: the file name is missing'],
  ],
  [
    'a move behind lines',
    '*** Begin Patch\n*** Update File: x\n-a\n*** Move to: y\n*** End Patch\n',
    ['4: "*** Move to: y" begins with none of " ", "-" and "+"; a context line begins with a blank'],
  ],
  [
    'blanks before the name of a move',
    '*** Begin Patch\n*** Update File: x\n*** Move to: \t y \t\n*** End Patch\n',
    ['2 rename x => y'],
  ],
  [
    'a new file',
    '*** Begin Patch\n*** Add File: x\n+a\n\n\n*** Delete File: y\n*** End Patch\n',
    ['2 create x -x', '2 @0 +a\n', '6 delete y whole'],
  ],
  ['an empty new file', '*** Begin Patch\n*** Add File: x\n*** End Patch\n', ['2 create x -x']],
  [
    'a new file without +',
    '*** Begin Patch\n*** Add File: x\n+a\nb\n+c\n*** End Patch\n',
    ['4: each line of a new file begins with "+"'],
  ],
  [
    'a blank line of a new file without +',
    '*** Begin Patch\n*** Add File: x\n+a\n\n+c\n*** End Patch\n',
    ['4: each line of a new file begins with "+"'],
  ],
  [
    'a deletion with lines',
    '*** Begin Patch\n*** Delete File: x\n-a\n*** End Patch\n',
    ['3: a deletion has no lines'],
  ],
  [
    'a deletion with blank lines',
    '*** Begin Patch\n*** Delete File: x\n\n\n*** Delete File: y\n*** End Patch\n',
    ['2 delete x whole', '5 delete y whole'],
  ],
  [
    'what looks like its end in content',
    '*** Begin Patch\n*** Update File: x\n-*** End Patch\n+*** Add File: y\n*** End Patch\n',
    ['2 modify x', '3 @* -*** End Patch\n|+*** Add File: y\n'],
  ],
  [
    'its end with words',
    '*** Begin Patch\n*** Delete File: x\n*** End Patch now\n',
    ['3: a deletion has no lines', '3: the "*** End Patch" line is missing, so something may be cut off'],
  ],
  [
    'bytes that are no blanks at the end of a name',
    '*** Begin Patch\n*** Delete File: voilà\n*** End Patch\n',
    ['2 delete voilà whole'],
  ],
  [
    'a CR within a name',
    '*** Begin Patch\n*** Delete File: x\ry\n*** Update File: x\n*** Move to: y\rz\n-a\n+b\n*** End Patch\n',
    [
      '2: "*** Delete File: x\\ry" is not one of "*** Add File: PATH", "*** Update File: PATH" and "*** Delete File: PATH"',
      '4: "*** Move to: y\\rz" begins with none of " ", "-" and "+"; a context line begins with a blank',
    ],
  ],
  [
    'what looks like a move in a line that stays',
    '*** Begin Patch\n*** Update File: x\n *** Move to: y\n-a\n+b\n*** End Patch\n',
    ['2 modify x', '3 @*  *** Move to: y\n|-a\n|+b\n'],
  ],
])('W7: the whole outcome of a Begin Patch: %s', (_, patch, outcome) => {
  expect(describeParsed(patch)).toEqual(outcome);
});

test('policy: a section that cannot be read is none', () => {
  const problems: number[] = [];
  const lines = ['*** Begin Patch', '*** Update File: x', 'word', '*** Delete File: y', '*** End Patch'];
  const sections = atOnce(parseBeginPatch(lines, 0, line => problems.push(line)));
  expect([sections.map(({path}) => path), problems]).toEqual([['y'], [3]]);
});

test('review R12: others have their turns while the beginning of a Begin Patch is looked for', () => {
  const search = (lines: number) => beginPatchAt(Array.from({length: lines}, () => 'x'));
  expect(search(LINES_A_TURN).next()).toEqual({done: false, value: undefined});
  expect(search(LINES_A_TURN - 1).next()).toEqual({done: true, value: undefined});
});
