import {expect, test} from 'vitest';
import {describeOverlay, type OverlayPlace} from '../../../test/support/describe-overlay.ts';

type Case = readonly [name: string, place: OverlayPlace, patch: string, outcome: readonly unknown[]];

test.each<Case>(
  // biome-ignore format: a case is a line
  [
    ['a hunk where it says', {files: {x: 'a\nb\nc\n'}}, '--- a/x\n+++ b/x\n@@ -2 +2 @@\n-b\n+B\n', ['modify x 644 a\nB\nc\n']],
    ['a hunk at the beginning and one at the end', {files: {x: 'a\nb\nc\n'}}, '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n@@ -3 +3 @@\n-c\n+C\n', ['modify x 644 A\nb\nC\n']],
    ['hunks side by side', {files: {x: 'a\nb\nc\n'}}, '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n@@ -2 +2 @@\n-b\n+B\n', ['modify x 644 A\nB\nc\n']],
    ['a hunk further down', {files: {x: 'n\nn\na\nb\n'}}, '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n', ['modify x 644 n\nn\na\nB\n', 'hunk 1 of x at 3 (2)']],
    ['a hunk further up', {files: {x: 'a\nb\n'}}, '--- a/x\n+++ b/x\n@@ -7,2 +7,2 @@\n a\n-b\n+B\n', ['modify x 644 a\nB\n', 'hunk 1 of x at 1 (-6)']],
    ['a hunk at line 0', {files: {x: 'a\nb\n'}}, '--- a/x\n+++ b/x\n@@ -0 +0 @@\n-a\n+A\n', ['modify x 644 A\nb\n']],
    ['two hunks that moved', {files: {x: 'n\na\nb\nc\n'}}, '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n@@ -3 +3 @@\n-c\n+C\n', ['modify x 644 n\nA\nb\nC\n', 'hunk 1 of x at 2 (1)', 'hunk 2 of x at 4 (1)']],
    ['an exact line number beside one that is off', {files: {x: 'new\na\nb\nx\nc\nx\n'}}, '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n@@ -4 +4 @@\n-x\n+X\n', ['modify x 644 new\nA\nb\nX\nc\nx\n', 'hunk 1 of x at 2 (1)']],
    ['as many hunks as places', {files: {x: 'n\nx\na\nx\n'}}, '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+1\n@@ -3 +3 @@\n-x\n+2\n', ['modify x 644 n\n1\na\n2\n', 'hunk 1 of x at 2 (1)', 'hunk 2 of x at 4 (1)']],
    ['the place that is left between two hunks', {files: {x: 'x\na\nx\nb\nx\n'}}, '--- a/x\n+++ b/x\n@@ -2 +2 @@\n-a\n+A\n@@ -9 +9 @@\n-x\n+X\n@@ -4 +4 @@\n-b\n+B\n', ['modify x 644 x\nA\nX\nB\nx\n', 'hunk 2 of x at 3 (-6)']],
    ['an addition without line numbers', {files: {x: 'a\nb\n'}}, '*** Begin Patch\n*** Update File: x\n+x\n*** End Patch\n', ['modify x 644 a\nb\nx\n']],
    ['an addition without line numbers to an open end', {files: {x: 'a\nb'}}, '*** Begin Patch\n*** Update File: x\n@@\n-a\n+A\n@@\n+x\n*** End Patch\n', ['modify x 644 A\nb\nx\n']],
    ['twice, where it says', {files: {x: 'z\na\nb\na\nb\n'}}, '--- a/x\n+++ b/x\n@@ -4,2 +4,2 @@\n a\n-b\n+B\n', ['modify x 644 z\na\nb\na\nB\n']],
    ['a file that changed, once', {files: {x: 'b\na\n'}, numbers: 'changed'}, '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n', ['modify x 644 b\nA\n', 'hunk 1 of x at 2 (1)']],
    ['a file that is as it was read', {files: {x: 'a\nb\na\n'}, numbers: 'as_read'}, '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n', ['modify x 644 A\nb\na\n']],
    ['an addition at the end', {files: {x: 'a\nb\n'}}, '--- a/x\n+++ b/x\n@@ -2,0 +3 @@\n+x\n', ['modify x 644 a\nb\nx\n']],
    ['an addition to an empty file', {files: {x: ''}}, '--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+x\n', ['modify x 644 x\n']],
    ['an addition to a file that was read', {files: {x: 'a\nb\n'}, numbers: 'as_read'}, '--- a/x\n+++ b/x\n@@ -1,0 +2 @@\n+x\n', ['modify x 644 a\nx\nb\n']],
    ['an addition before a file that was read', {files: {x: 'a\nb\n'}, numbers: 'as_read'}, '--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+x\n', ['modify x 644 x\na\nb\n']],
    ['an addition at the end of a file that was read', {files: {x: 'a\nb\n'}, numbers: 'as_read'}, '--- a/x\n+++ b/x\n@@ -2,0 +3 @@\n+x\n', ['modify x 644 a\nb\nx\n']],
    ['an addition before an unterminated line', {files: {x: 'a\nb'}, numbers: 'as_read'}, '--- a/x\n+++ b/x\n@@ -1,0 +2 @@\n+x\n', ['modify x 644 a\nx\nb']],
    ['a last line without newline', {files: {x: 'a\nb\n'}}, '--- a/x\n+++ b/x\n@@ -2 +2 @@\n-b\n+x\n\\ No newline at end of file\n', ['modify x 644 a\nx']],
    ['a newline comes', {files: {x: 'a\nb'}}, '--- a/x\n+++ b/x\n@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+b\n', ['modify x 644 a\nb\n']],
    ['the last line without newline, changed', {files: {x: 'one\ntwo'}}, '*** Begin Patch\n*** Update File: x\n one\n-two\n+2\n*** End Patch\n', ['modify x 644 one\n2\n']],
    ['without newline, added', {files: {x: 'one\ntwo'}}, '*** Begin Patch\n*** Update File: x\n two\n+three\n*** End Patch\n', ['modify x 644 one\ntwo\nthree\n']],
    ['without newline, removed', {files: {x: 'one\ntwo'}}, '*** Begin Patch\n*** Update File: x\n one\n-two\n*** End Patch\n', ['modify x 644 one\n']],
    ['without newline, before it', {files: {x: 'one\ntwo'}}, '*** Begin Patch\n*** Update File: x\n-one\n+1\n two\n*** End Patch\n', ['modify x 644 1\ntwo']],
    ['without newline, replaced by two', {files: {x: 'one\ntwo'}}, '*** Begin Patch\n*** Update File: x\n-two\n+2\n+3\n*** End Patch\n', ['modify x 644 one\n2\n3\n']],
    ['without newline, all gone', {files: {x: 'two'}}, '*** Begin Patch\n*** Update File: x\n-two\n*** End Patch\n', ['modify x 644 ']],
    ['without newline, not at the end', {files: {x: 'x\ny'}}, '*** Begin Patch\n*** Update File: x\n-x\n+z\n*** End Patch\n', ['modify x 644 z\ny']],
    ['without newline, something before', {files: {x: 'x\ny'}}, '*** Begin Patch\n*** Update File: x\n-y\n+z\n+w\n*** End Patch\n', ['modify x 644 x\nz\nw\n']],
    ['CRLF without newline', {files: {x: 'a\r\nb'}}, '*** Begin Patch\n*** Update File: x\n-b\n+c\n+d\n*** End Patch\n', ['modify x 644 a\r\nc\r\nd\r\n']],
    ['CRLF without newline, an addition', {files: {x: 'a\r\nb'}}, '*** Begin Patch\n*** Update File: x\n b\n+c\n*** End Patch\n', ['modify x 644 a\r\nb\r\nc\r\n']],
    ['without newline, changed and kept', {files: {x: 'a\nb\nc'}}, '*** Begin Patch\n*** Update File: x\n-b\n+B\n c\n*** End Patch\n', ['modify x 644 a\nB\nc']],
    ['without newline, context then addition then nothing', {files: {x: 'a\nb\nc'}}, '*** Begin Patch\n*** Update File: x\n b\n+x\n c\n*** End Patch\n', ['modify x 644 a\nb\nx\nc']],
    ['LF for CRLF', {files: {x: 'a\r\nb\r\n'}}, '--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n a\n-b\n+B\n+C\n', ['modify x 644 a\r\nB\r\nC\r\n']],
    ['LF for CRLF without a last newline', {files: {x: 'a\r\nb'}}, '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+B\n\\ No newline at end of file\n', ['modify x 644 a\r\nB']],
    ['CRLF for CRLF', {files: {x: 'a\r\nb\r\n'}}, '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+B\r\n', ['modify x 644 a\r\nB\r\n']],
    ['only the first line is LF', {files: {x: 'a\nb\r\n'}}, '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n', ['modify x 644 A\nb\r\n']],
    ['only the last line is LF', {files: {x: 'a\r\nb\n'}}, '--- a/x\n+++ b/x\n@@ -2 +2 @@\n-b\n+B\n', ['modify x 644 a\r\nB\n']],
    ['once, without numbers', {files: {x: 'a\nb\n'}}, '*** Begin Patch\n*** Update File: x\n-b\n+B\n*** End Patch\n', ['modify x 644 a\nB\n']],
    ['a creation', {files: {}}, '--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n', ['create n - x\n']],
    ['an executable creation', {files: {}}, 'diff --git a/n b/n\nnew file mode 100755\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n', ['create n 755 x\n']],
    ['an empty creation', {files: {}}, 'diff --git a/n b/n\nnew file mode 100644\n', ['create n - ']],
    ['a creation and a change', {files: {}}, '--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n--- a/n\n+++ b/n\n@@ -1 +1 @@\n-x\n+y\n', ['create n - y\n']],
    ['a creation and a deletion', {files: {}}, '--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n', []],
    ['a deletion', {files: {x: 'a\n'}}, '--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n', ['delete x']],
    ['a deletion of an empty file', {files: {x: ''}}, 'diff --git a/x b/x\ndeleted file mode 100644\n', ['delete x']],
    ['a deletion by name', {files: {x: 'a\n'}}, '*** Begin Patch\n*** Delete File: x\n*** End Patch\n', ['delete x']],
    ['a deletion and a creation', {files: {'x+x': 'a\n'}}, '--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\n', ['modify x 644 x\n']],
    ['a deletion and the same creation', {files: {x: 'a\n'}}, '--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n', []],
    ['a rename', {files: {x: 'a\n'}}, 'diff --git a/x b/y\nrename from x\nrename to y\n', ['rename x => y 644 a\n']],
    ['a rename with a change', {files: {x: 'a\n'}}, 'diff --git a/x b/y\nrename from x\nrename to y\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n', ['rename x => y 644 b\n']],
    ['a rename with the bit', {files: {x: 'a\n'}}, 'diff --git a/x b/y\nold mode 100644\nnew mode 100755\nrename from x\nrename to y\n', ['rename x => y 755 a\n']],
    ['a rename and a change of the new name', {files: {x: 'a\n'}}, 'diff --git a/x b/y\nrename from x\nrename to y\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n', ['rename x => y 644 b\n']],
    [
      'a rename and a new file under the old name',
      {files: {x: 'a\n'}},
      'diff --git a/x b/y\nrename from x\nrename to y\ndiff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\n',
      ['create y 644 a\n', 'modify x 644 x\n'],
    ],
    ['a rename there and back', {files: {x: 'a\n'}}, 'diff --git a/x b/y\nrename from x\nrename to y\ndiff --git a/y b/x\nrename from y\nrename to x\n', []],
    ['a rename in two steps', {files: {x: 'a\n'}}, 'diff --git a/x b/y\nrename from x\nrename to y\ndiff --git a/y b/z\nrename from y\nrename to z\n', ['rename x => z 644 a\n']],
    ['a swap', {files: {x: 'a\n', y: 'b\n'}}, 'diff --git a/x b/t\nrename from x\nrename to t\ndiff --git a/y b/x\nrename from y\nrename to x\ndiff --git a/t b/y\nrename from t\nrename to y\n', ['modify x 644 b\n', 'modify y 644 a\n']],
    ['a rename onto a deleted file', {files: {x: 'a\n', y: 'b\n'}}, '*** Begin Patch\n*** Delete File: y\n*** Update File: x\n*** Move to: y\n*** End Patch\n', ['modify y 644 a\n', 'delete x']],
    ['the bit alone', {files: {x: 'a\n'}}, 'diff --git a/x b/x\nold mode 100644\nnew mode 100755\n', ['modify x 755 a\n']],
    ['the bit goes', {files: {'x+x': 'a\n'}}, 'diff --git a/x b/x\nold mode 100755\nnew mode 100644\n', ['modify x 644 a\n']],
    ['the bit that is there', {files: {'x+x': 'a\n'}}, 'diff --git a/x b/x\nold mode 100644\nnew mode 100755\n', []],
    ['the bit of a new file', {files: {}}, '--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\ndiff --git a/n b/n\nold mode 100644\nnew mode 100755\n', ['create n 755 x\n']],
    ['a change and its reverse', {files: {x: 'a\n'}}, '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-b\n+a\n', []],
    ['two changes of a file', {files: {x: 'a\nb\n'}}, '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n--- a/x\n+++ b/x\n@@ -2 +2 @@\n-b\n+B\n', ['modify x 644 A\nB\n']],
  ],
)('W7: what a patch makes of files: %s', async (_, place, patch, outcome) => {
  expect(await describeOverlay(patch, place)).toEqual(outcome);
});

test.each<Case>(
  // biome-ignore format: a case is a line
  [
    [
      'after an offset a line number that fits there as well is not trusted',
      {files: {x: 'new\na\nb\nx\nx\nx\n'}},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n@@ -4 +4 @@\n-x\n+X\n',
      [
        'patch_hunk_fail: Hunk 2 of "x" (patch line 6): its old lines occur more than once (at lines 4, 5, 6); another hunk is off by 1; add context or correct its line number. Nothing was written.',
        {
          problems: [{path: 'x', hunk: 2, patch_line: 6, stated_line: 4, hint: 'ambiguous', places: [4, 5, 6]}],
        },
      ],
    ],
    [
      'twice, and not where it says',
      {files: {x: 'z\na\nb\na\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): its old lines occur more than once (at lines 2, 4); add context or correct its line number. Nothing was written.',
        {problems: [{path: 'x', hunk: 1, patch_line: 3, stated_line: 1, hint: 'ambiguous', places: [2, 4]}]},
      ],
    ],
    [
      'seven times',
      {files: {x: 'z\na\na\na\na\na\na\na\n'}},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): its old lines occur more than once (at lines 2, 3, 4, 5, 6, 7); add context or correct its line number. Nothing was written.',
        {
          problems: [
            {path: 'x', hunk: 1, patch_line: 3, stated_line: 1, hint: 'ambiguous', places: [2, 3, 4, 5, 6, 7]},
          ],
        },
      ],
    ],
    [
      'six times',
      {files: {x: 'z\na\na\na\na\na\na\n'}},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): its old lines occur more than once (at lines 2, 3, 4, 5, 6, 7); add context or correct its line number. Nothing was written.',
        {
          problems: [
            {path: 'x', hunk: 1, patch_line: 3, stated_line: 1, hint: 'ambiguous', places: [2, 3, 4, 5, 6, 7]},
          ],
        },
      ],
    ],
    [
      'a file that changed, at the line it states',
      {files: {x: 'a\nb\na\n'}, numbers: 'changed'},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): its old lines occur more than once (at lines 1, 3); the file changed since it was read, so its line numbers do not count: read it again or add context. Nothing was written.',
        {problems: [{path: 'x', hunk: 1, patch_line: 3, stated_line: 1, hint: 'ambiguous', places: [1, 3]}]},
      ],
    ],
    [
      'an overlap',
      {files: {x: 'a\nb\nc\n'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -2,2 +2,2 @@\n b\n-c\n+C\n',
      [
        'patch_hunk_fail: Hunk 2 of "x" (patch line 7): it belongs at line 2, before the end of an earlier hunk; hunks go from top to bottom. Nothing was written.',
        {problems: [{path: 'x', hunk: 2, patch_line: 7, stated_line: 2}]},
      ],
    ],
    [
      'hunks in the wrong order',
      {files: {x: 'a\nb\nc\n'}},
      '--- a/x\n+++ b/x\n@@ -3 +3 @@\n-c\n+C\n@@ -1 +1 @@\n-a\n+A\n',
      [
        'patch_hunk_fail: Hunk 2 of "x" (patch line 6): it belongs at line 1, before the end of an earlier hunk; hunks go from top to bottom. Nothing was written.',
        {problems: [{path: 'x', hunk: 2, patch_line: 6, stated_line: 1}]},
      ],
    ],
    [
      'an addition without context',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1,0 +2 @@\n+x\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): it only adds lines and has no context, so its place cannot be verified; read the file first, or add the lines around it. Nothing was written.',
        {problems: [{path: 'x', hunk: 1, patch_line: 3, stated_line: 2}]},
      ],
    ],
    [
      'an addition behind the end',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -3,0 +4 @@\n+x\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): it only adds lines and has no context, so its place cannot be verified; read the file first, or add the lines around it. Nothing was written.',
        {problems: [{path: 'x', hunk: 1, patch_line: 3, stated_line: 4}]},
      ],
    ],
    [
      'an addition before a file',
      {files: {x: 'a\n'}},
      '--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+x\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): it only adds lines and has no context, so its place cannot be verified; read the file first, or add the lines around it. Nothing was written.',
        {problems: [{path: 'x', hunk: 1, patch_line: 3, stated_line: 1}]},
      ],
    ],
    [
      'an addition behind the end of a file that was read',
      {files: {x: 'a\nb\n'}, numbers: 'as_read'},
      '--- a/x\n+++ b/x\n@@ -3,0 +4 @@\n+x\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): it only adds lines and has no context, so its place cannot be verified; read the file first, or add the lines around it. Nothing was written.',
        {problems: [{path: 'x', hunk: 1, patch_line: 3, stated_line: 4}]},
      ],
    ],
    [
      'an addition at the end of a file that changed',
      {files: {x: 'a\nb\n'}, numbers: 'changed'},
      '--- a/x\n+++ b/x\n@@ -2,0 +3 @@\n+x\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): it only adds lines and has no context, so its place cannot be verified; read the file first, or add the lines around it. Nothing was written.',
        {problems: [{path: 'x', hunk: 1, patch_line: 3, stated_line: 3}]},
      ],
    ],
    [
      'an addition in a file that changed',
      {files: {x: 'a\nb\n'}, numbers: 'changed'},
      '--- a/x\n+++ b/x\n@@ -1,0 +2 @@\n+x\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): it only adds lines and has no context, so its place cannot be verified; read the file first, or add the lines around it. Nothing was written.',
        {problems: [{path: 'x', hunk: 1, patch_line: 3, stated_line: 2}]},
      ],
    ],
    [
      'an addition that contradicts itself',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -2,3 +2,4 @@\n+x\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): it only adds lines and has no context, so its place cannot be verified; read the file first, or add the lines around it. Nothing was written.',
        {problems: [{path: 'x', hunk: 1, patch_line: 3, stated_line: 1}]},
      ],
    ],
    [
      'an addition that contradicts itself, to a file that was read',
      {files: {x: 'a\nb\n'}, numbers: 'as_read'},
      '--- a/x\n+++ b/x\n@@ -2,3 +2,4 @@\n+x\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): it only adds lines and has no context, so its place cannot be verified; read the file first, or add the lines around it. Nothing was written.',
        {problems: [{path: 'x', hunk: 1, patch_line: 3, stated_line: 1}]},
      ],
    ],
    [
      'an addition after an offset, to a file that was read',
      {files: {x: 'n\na\nb\n'}, numbers: 'as_read'},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n@@ -2,0 +3 @@\n+x\n',
      [
        'patch_hunk_fail: Hunk 2 of "x" (patch line 6): it only adds lines and has no context, so its place cannot be verified; read the file first, or add the lines around it. Nothing was written.',
        {problems: [{path: 'x', hunk: 2, patch_line: 6, stated_line: 3}]},
      ],
    ],
    [
      'an addition behind an unterminated line',
      {files: {x: 'a'}},
      '--- a/x\n+++ b/x\n@@ -1,0 +2 @@\n+x\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): the last line of the file has no newline, so nothing can be added behind it without that line. Nothing was written.',
        {problems: [{path: 'x', hunk: 1, patch_line: 3, stated_line: 2}]},
      ],
    ],
    [
      'a bare addition',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@\n+x\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): it only adds lines and has neither context nor line numbers; add the lines around it. Nothing was written.',
        {problems: [{path: 'x', hunk: 1, patch_line: 3}]},
      ],
    ],
    [
      'a line without newline in the middle',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+x\n\\ No newline at end of file\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): it says that its last line ends the file without a newline, but the file goes on behind line 1. Nothing was written.',
        {problems: [{path: 'x', hunk: 1, patch_line: 3, stated_line: 1}]},
      ],
    ],
    [
      'a newline too much',
      {files: {x: 'a\nb'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 2 is "b", but the hunk expects "b"; they differ in the newline at the end of the file: "\\ No newline at end of file" says there is none. Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: 'final_newline',
              nearest_line: 1,
              expected: ['a', 'b'],
              found: ['a', 'b'],
            },
          ],
        },
      ],
    ],
    [
      'a newline too few',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 2 is "b", but the hunk expects "b"; they differ in the newline at the end of the file: "\\ No newline at end of file" says there is none. Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: 'final_newline',
              nearest_line: 1,
              expected: ['a', 'b'],
              found: ['a', 'b'],
            },
          ],
        },
      ],
    ],
    [
      'without newline, twice',
      {files: {x: 'x\ny\nx'}},
      '*** Begin Patch\n*** Update File: x\n-x\n+z\n*** End Patch\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): its old lines occur more than once (at lines 1, 3); add context until they occur once. Nothing was written.',
        {problems: [{path: 'x', hunk: 1, patch_line: 3, hint: 'ambiguous', places: [1, 3]}]},
      ],
    ],
    [
      'an empty file, without numbers',
      {files: {x: ''}},
      '*** Begin Patch\n*** Update File: x\n-a\n+b\n*** End Patch\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): the file is empty. Nothing was written.',
        {problems: [{path: 'x', hunk: 1, patch_line: 3, hint: 'empty_file'}]},
      ],
    ],
    [
      'LF for mixed endings',
      {files: {x: 'a\r\nb\nc\n'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 1 is "a\\r", but the hunk expects "a"; they differ in line endings (CRLF and LF are mixed). Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: 'line_endings',
              nearest_line: 1,
              expected: ['a', 'b'],
              found: ['a\r', 'b', 'c'],
            },
          ],
        },
      ],
    ],
    [
      'one CRLF in a patch for CRLF',
      {files: {x: 'a\r\nb\r\n'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\r\n-b\n+B\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 2 is "b\\r", but the hunk expects "b"; they differ in line endings (CRLF and LF are mixed). Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: 'line_endings',
              nearest_line: 1,
              expected: ['a\r', 'b'],
              found: ['a\r', 'b\r'],
            },
          ],
        },
      ],
    ],
    [
      'CRLF for LF',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+B\r\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 1 is "a", but the hunk expects "a\\r"; they differ in line endings (CRLF and LF are mixed). Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: 'line_endings',
              nearest_line: 1,
              expected: ['a\r', 'b\r'],
              found: ['a', 'b'],
            },
          ],
        },
      ],
    ],
    [
      'an LF line before',
      {files: {x: 'a\nb\r\nc\r\n'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 2 is "b\\r", but the hunk expects "b"; they differ in line endings (CRLF and LF are mixed). Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: 'line_endings',
              nearest_line: 1,
              expected: ['a', 'b'],
              found: ['a', 'b\r', 'c\r'],
            },
          ],
        },
      ],
    ],
    [
      'nothing of it is there',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -9 +9 @@\n-q\n+Q\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): none of its context or "-" lines occurs in the file, which has 2 lines. Nothing was written.',
        {problems: [{path: 'x', hunk: 1, patch_line: 3, stated_line: 9, hint: null, expected: ['q']}]},
      ],
    ],
    [
      'nothing of it is there, where it says',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-q\n+Q\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 1 is "a", but the hunk expects "q". Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: null,
              nearest_line: 1,
              expected: ['q'],
              found: ['a', 'b'],
            },
          ],
        },
      ],
    ],
    [
      'nothing of it is there, in the last line',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -2 +2 @@\n-q\n+Q\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 2 is "b", but the hunk expects "q". Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 2,
              hint: null,
              nearest_line: 2,
              expected: ['q'],
              found: ['b'],
            },
          ],
        },
      ],
    ],
    [
      'an empty file',
      {files: {x: ''}},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): the file is empty. Nothing was written.',
        {problems: [{path: 'x', hunk: 1, patch_line: 3, stated_line: 1, hint: 'empty_file'}]},
      ],
    ],
    [
      'one line is another',
      {files: {x: 'a\nb\nc\n'}},
      '--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n x\n-c\n+C\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 2 is "b", but the hunk expects "x". Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: null,
              nearest_line: 1,
              expected: ['a', 'x', 'c'],
              found: ['a', 'b', 'c'],
            },
          ],
        },
      ],
    ],
    [
      'the file ends before',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n b\n-c\n+C\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): the file ends at line 2, but the hunk expects "c" in line 3. Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: null,
              nearest_line: 1,
              expected: ['a', 'b', 'c'],
              found: ['a', 'b'],
            },
          ],
        },
      ],
    ],
    [
      'white space',
      {files: {x: '\tif x:\n\t\ty\n'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n     if x:\n-        y\n+        z\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 1 is "\\tif x:", but the hunk expects "    if x:"; they differ in white space. Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: 'white_space',
              nearest_line: 1,
              expected: ['    if x:', '        y'],
              found: ['\tif x:', '\t\ty'],
            },
          ],
        },
      ],
    ],
    [
      'a tab for a blank',
      {files: {x: 'a b\n'}},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\tb\n+c\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 1 is "a b", but the hunk expects "a\\tb"; they differ in white space. Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: 'white_space',
              nearest_line: 1,
              expected: ['a\tb'],
              found: ['a b'],
            },
          ],
        },
      ],
    ],
    [
      'a newline too much, explained',
      {files: {x: 'a\nb'}},
      '--- a/x\n+++ b/x\n@@ -2 +2 @@\n-b\n+B\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 2 is "b", but the hunk expects "b"; they differ in the newline at the end of the file: "\\ No newline at end of file" says there is none. Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 2,
              hint: 'final_newline',
              nearest_line: 2,
              expected: ['b'],
              found: ['b'],
            },
          ],
        },
      ],
    ],
    [
      'line endings',
      {files: {x: 'a\r\nb\nc\n'}},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 1 is "a\\r", but the hunk expects "a"; they differ in line endings (CRLF and LF are mixed). Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: 'line_endings',
              nearest_line: 1,
              expected: ['a'],
              found: ['a\r', 'b', 'c'],
            },
          ],
        },
      ],
    ],
    [
      'pasted line numbers',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n 1|a\n-2|b\n+2|B\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 1 is "a", but the hunk expects "1|a"; the hunk seems to contain line numbers; leave them out. Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: 'line_numbers',
              nearest_line: 1,
              expected: ['1|a', '2|b'],
              found: ['a', 'b'],
            },
          ],
        },
      ],
    ],
    [
      'pasted line numbers with a colon',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n   1:a\n-  2 :b\n+2|B\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 1 is "a", but the hunk expects "  1:a"; the hunk seems to contain line numbers; leave them out. Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: 'line_numbers',
              nearest_line: 1,
              expected: ['  1:a', '  2 :b'],
              found: ['a', 'b'],
            },
          ],
        },
      ],
    ],
    [
      'numbers in half of the lines',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n 1|a\n-b!\n+B\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 1 is "a", but the hunk expects "1|a". Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: null,
              nearest_line: 1,
              expected: ['1|a', 'b!'],
              found: ['a', 'b'],
            },
          ],
        },
      ],
    ],
    [
      'numbers in more than half',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n 1|a\n 2\tb\n-c!\n+B\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 1 is "a", but the hunk expects "1|a"; the hunk seems to contain line numbers; leave them out. Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: 'line_numbers',
              nearest_line: 1,
              expected: ['1|a', '2\tb', 'c!'],
              found: ['a', 'b'],
            },
          ],
        },
      ],
    ],
    [
      'a change made before',
      {files: {x: 'a\nB\nc\n'}},
      '--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 2 is "B", but the hunk expects "b"; the change seems to be there already. Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: 'already_applied',
              nearest_line: 1,
              expected: ['a', 'b', 'c'],
              found: ['a', 'B', 'c'],
            },
          ],
        },
      ],
    ],
    [
      'a removal made before',
      {files: {x: 'a\nc\n'}},
      '--- a/x\n+++ b/x\n@@ -1,3 +1,2 @@\n a\n-b\n c\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 2 is "c", but the hunk expects "b"; the change seems to be there already. Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: 'already_applied',
              nearest_line: 1,
              expected: ['a', 'b', 'c'],
              found: ['a', 'c'],
            },
          ],
        },
      ],
    ],
    [
      'a removal alone made before',
      {files: {x: 'a\n'}},
      '--- a/x\n+++ b/x\n@@ -1 +0,0 @@\n-b\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 1 is "a", but the hunk expects "b". Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: null,
              nearest_line: 1,
              expected: ['b'],
              found: ['a'],
            },
          ],
        },
      ],
    ],
    [
      'the nearest place, by most lines',
      {files: {x: 'a\nb\nz\na\nq\n'}},
      '--- a/x\n+++ b/x\n@@ -4,3 +4,3 @@\n a\n b\n-c\n+C\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 3 is "z", but the hunk expects "c". Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 4,
              hint: null,
              nearest_line: 1,
              expected: ['a', 'b', 'c'],
              found: ['a', 'b', 'z', 'a', 'q'],
            },
          ],
        },
      ],
    ],
    [
      'the nearest of two',
      {files: {x: 'a\nq\nz\nz\na\nq\n'}},
      '--- a/x\n+++ b/x\n@@ -4,2 +4,2 @@\n a\n-b\n+B\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 6 is "q", but the hunk expects "b". Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 4,
              hint: null,
              nearest_line: 5,
              expected: ['a', 'b'],
              found: ['a', 'q'],
            },
          ],
        },
      ],
    ],
    [
      'the nearest of two, above',
      {files: {x: 'a\nq\nz\nz\na\nq\n'}},
      '--- a/x\n+++ b/x\n@@ -2,2 +2,2 @@\n a\n-b\n+B\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 2 is "q", but the hunk expects "b". Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 2,
              hint: null,
              nearest_line: 1,
              expected: ['a', 'b'],
              found: ['a', 'q', 'z', 'z', 'a', 'q'],
            },
          ],
        },
      ],
    ],
    [
      'a hunk that begins above the file',
      {files: {x: 'b\nc\n'}},
      '--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n b\n-x\n+X\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 1 is "b", but the hunk expects "a". Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: null,
              nearest_line: 1,
              expected: ['a', 'b', 'x'],
              found: ['b', 'c'],
            },
          ],
        },
      ],
    ],
    [
      'a long hunk',
      {files: {x: '1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n'}},
      '--- a/x\n+++ b/x\n@@ -1,12 +1,12 @@\n 1\n 2\n 3\n 4\n five\n 6\n 7\n 8\n 9\n 10\n 11\n-12\n+!\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 5 is "5", but the hunk expects "five". Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: null,
              nearest_line: 1,
              expected: ['3', '4', 'five', '6', '7', '8', '9', '10'],
              found: ['3', '4', '5', '6', '7', '8', '9', '10'],
            },
          ],
        },
      ],
    ],
    [
      'blank lines say nothing',
      {files: {x: '\n\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -2,2 +2,2 @@\n \n-x\n+X\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 3 is "b", but the hunk expects "x". Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 2,
              hint: null,
              nearest_line: 2,
              expected: ['', 'x'],
              found: ['', 'b'],
            },
          ],
        },
      ],
    ],
    [
      'not there, without numbers',
      {files: {x: 'a\nb\n'}},
      '*** Begin Patch\n*** Update File: x\n-q\n+Q\n*** End Patch\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 1 is "a", but the hunk expects "q". Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              hint: null,
              nearest_line: 1,
              expected: ['q'],
              found: ['a', 'b'],
            },
          ],
        },
      ],
    ],
    [
      'ambiguous, without numbers',
      {files: {x: 'a\nb\na\n'}},
      '*** Begin Patch\n*** Update File: x\n-a\n+A\n*** End Patch\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): its old lines occur more than once (at lines 1, 3); add context until they occur once. Nothing was written.',
        {problems: [{path: 'x', hunk: 1, patch_line: 3, hint: 'ambiguous', places: [1, 3]}]},
      ],
    ],
    [
      'two hunks without numbers',
      {files: {x: 'a\nb\nc\n'}},
      '*** Begin Patch\n*** Update File: x\n@@\n-c\n+C\n@@\n-a\n+A\n*** End Patch\n',
      [
        'patch_hunk_fail: Hunk 2 of "x" (patch line 6): it belongs at line 1, before the end of an earlier hunk; hunks go from top to bottom. Nothing was written.',
        {problems: [{path: 'x', hunk: 2, patch_line: 6}]},
      ],
    ],
    [
      'ambiguous, bare',
      {files: {x: 'a\nb\na\n'}},
      '--- a/x\n+++ b/x\n@@\n-a\n+A\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): its old lines occur more than once (at lines 1, 3); add context until they occur once. Nothing was written.',
        {problems: [{path: 'x', hunk: 1, patch_line: 3, hint: 'ambiguous', places: [1, 3]}]},
      ],
    ],
    [
      'ambiguous in a file that changed',
      {files: {x: 'a\nb\na\n'}, numbers: 'changed'},
      '--- a/x\n+++ b/x\n@@ -2 +2 @@\n-a\n+A\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): its old lines occur more than once (at lines 1, 3); the file changed since it was read, so its line numbers do not count: read it again or add context. Nothing was written.',
        {problems: [{path: 'x', hunk: 1, patch_line: 3, stated_line: 2, hint: 'ambiguous', places: [1, 3]}]},
      ],
    ],
    [
      'a creation of what is there',
      {files: {n: 'a\n'}},
      '--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n',
      [
        'patch_hunk_fail: "n" exists already, so the patch cannot create it. Send a change of it instead. Nothing was written.',
        {problems: [{path: 'n', patch_line: 1}]},
      ],
    ],
    [
      'a creation twice',
      {files: {}},
      '--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n',
      [
        'patch_hunk_fail: "n" exists already, so the patch cannot create it. Send a change of it instead. Nothing was written.',
        {problems: [{path: 'n', patch_line: 5}]},
      ],
    ],
    [
      'a deletion of a part',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n',
      [
        'patch_hunk_fail: The deletion of "x" leaves 1 of its lines. Put the whole file into the hunk as "-" lines. Nothing was written.',
        {problems: [{path: 'x', patch_line: 1}]},
      ],
    ],
    [
      'a deletion without content',
      {files: {x: 'a\nb\n'}},
      'diff --git a/x b/x\ndeleted file mode 100644\n',
      [
        'patch_hunk_fail: The deletion of "x" leaves 2 of its lines. Put the whole file into the hunk as "-" lines. Nothing was written.',
        {problems: [{path: 'x', patch_line: 1}]},
      ],
    ],
    [
      'a deletion of nothing',
      {files: {}},
      '*** Begin Patch\n*** Delete File: x\n*** End Patch\n',
      [
        'file_not_found: There is no "x" (patch line 2). Look the path up with list_files or glob; a new file needs "--- /dev/null". Nothing was written.',
        {path: 'x'},
      ],
    ],
    [
      'a deletion twice',
      {files: {x: 'a\n'}},
      '*** Begin Patch\n*** Delete File: x\n*** Delete File: x\n*** End Patch\n',
      [
        'file_not_found: An earlier section removed "x" (patch line 3). Look the path up with list_files or glob; a new file needs "--- /dev/null". Nothing was written.',
        {path: 'x'},
      ],
    ],
    [
      'a rename onto a file',
      {files: {x: 'a\n', y: 'b\n'}},
      'diff --git a/x b/y\nrename from x\nrename to y\n',
      [
        'patch_hunk_fail: "y" exists already, so nothing can be renamed to it. Nothing was written.',
        {problems: [{path: 'y', patch_line: 1}]},
      ],
    ],
    [
      'a rename of nothing',
      {files: {}},
      'diff --git a/x b/y\nrename from x\nrename to y\n',
      [
        'file_not_found: There is no "x" (patch line 1). Look the path up with list_files or glob; a new file needs "--- /dev/null". Nothing was written.',
        {path: 'x'},
      ],
    ],
    ['a file in the way', {files: {d: 'a\n'}}, '--- /dev/null\n+++ b/d/x\n@@ -0,0 +1 @@\n+x\n', ['patch_hunk_fail: "d/x" cannot be created: "d" is a file. Nothing was written.', {problems: [{path: 'd/x', patch_line: 1}]}]],
    [
      'a file of the patch in the way',
      {files: {}},
      '--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+x\n--- /dev/null\n+++ b/d/x\n@@ -0,0 +1 @@\n+x\n',
      [
        'patch_hunk_fail: "d/x" cannot be created: "d" is a file. Nothing was written.',
        {problems: [{path: 'd/x', patch_line: 5}]},
      ],
    ],
    [
      'a directory of the patch in the way',
      {files: {}},
      '--- /dev/null\n+++ b/d/x\n@@ -0,0 +1 @@\n+x\n--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+x\n',
      [
        'patch_hunk_fail: "d" cannot be created: the patch has files below it. Nothing was written.',
        {problems: [{path: 'd', patch_line: 5}]},
      ],
    ],
    [
      'a deep directory of the patch in the way',
      {files: {}},
      '--- /dev/null\n+++ b/d/e/x\n@@ -0,0 +1 @@\n+x\n--- /dev/null\n+++ b/d/e\n@@ -0,0 +1 @@\n+x\n',
      [
        'patch_hunk_fail: "d/e" cannot be created: the patch has files below it. Nothing was written.',
        {problems: [{path: 'd/e', patch_line: 5}]},
      ],
    ],
    [
      'a rename below a file',
      {files: {x: 'a\n', d: 'b\n'}},
      'diff --git a/x b/d/x\nrename from x\nrename to d/x\n',
      [
        'patch_hunk_fail: "d/x" cannot be created: "d" is a file. Nothing was written.',
        {problems: [{path: 'd/x', patch_line: 1}]},
      ],
    ],
    ['a rename below itself', {files: {x: 'a\n'}}, 'diff --git a/x b/x/y\nrename from x\nrename to x/y\n', ['patch_hunk_fail: "x/y" cannot be created: "x" is a file. Nothing was written.', {problems: [{path: 'x/y', patch_line: 1}]}]],
    [
      'a file that goes makes room',
      {files: {d: 'a\n'}},
      '*** Begin Patch\n*** Delete File: d\n*** Add File: d/x\n+x\n*** End Patch\n',
      [
        'patch_hunk_fail: "d/x" cannot be created: "d" is a file. Nothing was written.',
        {problems: [{path: 'd/x', patch_line: 3}]},
      ],
    ],
    [
      'an addition to what an earlier section made, of a file that was read',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n--- a/x\n+++ b/x\n@@ -1,0 +2 @@\n+x\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 8): it only adds lines and has no context, so its place cannot be verified; read the file first, or add the lines around it. Nothing was written.',
        {problems: [{path: 'x', hunk: 1, patch_line: 8, stated_line: 2}]},
      ],
    ],
    [
      'an addition to what an earlier section made of a file that was read',
      {files: {x: 'a\nb\n'}, numbers: 'as_read'},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n--- a/x\n+++ b/x\n@@ -1,0 +2 @@\n+x\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 8): it only adds lines and has no context, so its place cannot be verified; read the file first, or add the lines around it. Nothing was written.',
        {problems: [{path: 'x', hunk: 1, patch_line: 8, stated_line: 2}]},
      ],
    ],
    [
      'an addition to a renamed file that was read',
      {files: {x: 'a\nb\n'}, numbers: 'as_read'},
      'diff --git a/x b/y\nrename from x\nrename to y\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1,0 +2 @@\n+n\n',
      [
        'patch_hunk_fail: Hunk 1 of "y" (patch line 7): it only adds lines and has no context, so its place cannot be verified; read the file first, or add the lines around it. Nothing was written.',
        {problems: [{path: 'y', hunk: 1, patch_line: 7, stated_line: 2}]},
      ],
    ],
    [
      'an addition to a new file',
      {files: {}, numbers: 'as_read'},
      '--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n--- a/n\n+++ b/n\n@@ -0,0 +1 @@\n+n\n',
      [
        'patch_hunk_fail: Hunk 1 of "n" (patch line 7): it only adds lines and has no context, so its place cannot be verified; read the file first, or add the lines around it. Nothing was written.',
        {problems: [{path: 'n', hunk: 1, patch_line: 7, stated_line: 1}]},
      ],
    ],
    [
      'a change of what is not there',
      {files: {}},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n',
      [
        'file_not_found: There is no "x" (patch line 1). Look the path up with list_files or glob; a new file needs "--- /dev/null". Nothing was written.',
        {path: 'x'},
      ],
    ],
    [
      'a change of what an earlier section removed',
      {files: {x: 'a\n'}},
      '*** Begin Patch\n*** Delete File: x\n*** Update File: x\n-a\n+b\n*** End Patch\n',
      [
        'file_not_found: An earlier section removed "x" (patch line 3). Look the path up with list_files or glob; a new file needs "--- /dev/null". Nothing was written.',
        {path: 'x'},
      ],
    ],
    [
      'what a failed section says of a file is enough',
      {files: {x: 'a\n'}},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-q\n+b\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-r\n+b\n',
      [
        'patch_hunk_fail: Hunk 1 of "x" (patch line 3): line 1 is "a", but the hunk expects "q". Nothing was written.',
        {
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: null,
              nearest_line: 1,
              expected: ['q'],
              found: ['a'],
            },
          ],
        },
      ],
    ],
    [
      'several failures',
      {files: {x: 'a\n', y: 'b\n'}},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-q\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-r\n+b\n--- a/none\n+++ b/none\n@@ -1 +1 @@\n-a\n+b\n',
      [
        'file_not_found: There is no "none" (patch line 11). Look the path up with list_files or glob; a new file needs "--- /dev/null". Hunk 1 of "x" (patch line 3): line 1 is "a", but the hunk expects "q". Hunk 1 of "y" (patch line 8): line 1 is "b", but the hunk expects "r"; the change seems to be there already. Nothing was written.',
        {
          path: 'none',
          problems: [
            {
              path: 'x',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: null,
              nearest_line: 1,
              expected: ['q'],
              found: ['a'],
            },
            {
              path: 'y',
              hunk: 1,
              patch_line: 8,
              stated_line: 1,
              hint: 'already_applied',
              nearest_line: 1,
              expected: ['r'],
              found: ['b'],
            },
            {path: 'none', patch_line: 11, code: 'file_not_found'},
          ],
        },
      ],
    ],
    [
      'a path that has to be quoted',
      {files: {'a "b"': 'a\n'}},
      '--- "a/a \\"b\\""\n+++ "b/a \\"b\\""\n@@ -1 +1 @@\n-q\n+b\n',
      [
        'patch_hunk_fail: Hunk 1 of "a \\"b\\"" (patch line 3): line 1 is "a", but the hunk expects "q". Nothing was written.',
        {
          problems: [
            {
              path: 'a "b"',
              hunk: 1,
              patch_line: 3,
              stated_line: 1,
              hint: null,
              nearest_line: 1,
              expected: ['q'],
              found: ['a'],
            },
          ],
        },
      ],
    ],
  ],
)('W7: why a patch does not apply, whole: %s', async (_, place, patch, outcome) => {
  expect(await describeOverlay(patch, place)).toEqual(outcome);
});

const hunks = (count: number): string =>
  `--- a/x\n+++ b/x\n${Array.from({length: count}, (_, at) => `@@ -${at + 1} +${at + 1} @@\n-q\n+Q\n`).join('')}`;

test('W7: twenty failed hunks are explained, and five problems named', async () => {
  const lines = Array.from({length: 30}, (_, at) => `l${at}\n`).join('');
  const [message, details] = await describeOverlay(hunks(22), {files: {x: lines}});
  const explained = (hunk: number): string =>
    `Hunk ${hunk} of "x" (patch line ${3 * hunk}): line ${hunk} is "l${hunk - 1}", but the hunk expects "q".`;
  const five = [1, 2, 3, 4, 5].map(explained).join(' ');
  expect(message).toBe(`patch_hunk_fail: ${five} 17 more problems. Nothing was written.`);
  const {problems} = details as {readonly problems: readonly {readonly message: string}[]};
  expect(problems).toHaveLength(22);
  expect(problems[19]?.message).toBe(explained(20));
  expect(problems[20]).toEqual({
    message: 'Hunk 21 of "x" (patch line 63): its old lines are not in the file.',
    path: 'x',
    hunk: 21,
    patch_line: 63,
    stated_line: 21,
  });
});

test('W7: one problem more than five is one problem', async () => {
  const [message] = await describeOverlay(hunks(6), {files: {x: 'a\n'.repeat(9)}});
  expect(message).toMatch(
    /^patch_hunk_fail: (Hunk \d of .*?"q"\. ){5}1 more problem\. Nothing was written\.$/,
  );
});

test('W7: fifty problems are listed', async () => {
  const [, details] = await describeOverlay(hunks(51), {files: {x: 'a\n'.repeat(60)}});
  expect((details as {readonly problems: unknown[]}).problems).toHaveLength(50);
});

test('W7: of a long line 160 characters are shown', async () => {
  const shownOf = async (length: number) => {
    const patch = `--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n ${'y'.repeat(length)}\n-b\n+B\n`;
    const [, details] = await describeOverlay(patch, {files: {x: 'z\nb\n'}});
    return (details as {readonly problems: readonly {readonly expected: readonly string[]}[]}).problems[0]
      ?.expected[0];
  };
  expect(await shownOf(160)).toBe('y'.repeat(160));
  expect(await shownOf(161)).toBe(`${'y'.repeat(160)}…`);
});

test('W7: a line that the file has more than 64 times says nothing of the place', async () => {
  const nearestOf = async (times: number) => {
    const patch = '--- a/x\n+++ b/x\n@@ -70,2 +70,2 @@\n a\n-c\n+C\n';
    const [, details] = await describeOverlay(patch, {
      files: {x: `z\nz\n${'a\n'.repeat(times)}b\nz\nz\nz\nz\n`},
    });
    return (details as {readonly problems: readonly {readonly nearest_line: number}[]}).problems[0]
      ?.nearest_line;
  };
  expect(await nearestOf(64)).toBe(66);
  expect(await nearestOf(65)).toBe(70);
});
