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
      ['patch_hunk_fail: Hunk 2 of "x" (patch line 6; at lines 4, 5, 6): the old lines occur more than once; another hunk is off by 1; add context or correct the line number. Nothing was written.', {problems: [{path: 'x', hunk: 2, patch_line: 6, places: [4, 5, 6]}]}],
    ],
    [
      'twice, and not where it says',
      {files: {x: 'z\na\nb\na\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; at lines 2, 4): the old lines occur more than once; add context or correct the line number. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, places: [2, 4]}]}],
    ],
    [
      'seven times',
      {files: {x: 'z\na\na\na\na\na\na\na\n'}},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; at lines 2, 3, 4, 5, 6, 7): the old lines occur more than once; add context or correct the line number. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, places: [2, 3, 4, 5, 6, 7]}]}],
    ],
    [
      'six times',
      {files: {x: 'z\na\na\na\na\na\na\n'}},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; at lines 2, 3, 4, 5, 6, 7): the old lines occur more than once; add context or correct the line number. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, places: [2, 3, 4, 5, 6, 7]}]}],
    ],
    [
      'a file that changed, at the line it states',
      {files: {x: 'a\nb\na\n'}, numbers: 'changed'},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; at lines 1, 3): the old lines occur more than once; the file changed since it was read, so its line numbers do not count: read it again or add context. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, places: [1, 3]}]}],
    ],
    [
      'an overlap',
      {files: {x: 'a\nb\nc\n'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -2,2 +2,2 @@\n b\n-c\n+C\n',
      ['patch_hunk_fail: Hunk 2 of "x" (patch line 7; belongs at line 2): that is before the end of an earlier hunk; hunks go from top to bottom. Nothing was written.', {problems: [{path: 'x', hunk: 2, patch_line: 7}]}],
    ],
    [
      'hunks in the wrong order',
      {files: {x: 'a\nb\nc\n'}},
      '--- a/x\n+++ b/x\n@@ -3 +3 @@\n-c\n+C\n@@ -1 +1 @@\n-a\n+A\n',
      ['patch_hunk_fail: Hunk 2 of "x" (patch line 6; belongs at line 1): that is before the end of an earlier hunk; hunks go from top to bottom. Nothing was written.', {problems: [{path: 'x', hunk: 2, patch_line: 6}]}],
    ],
    [
      'an addition without context',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1,0 +2 @@\n+x\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3): only added lines, without context, so the place cannot be verified; read the file first, or add the lines around them. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'an addition behind the end',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -3,0 +4 @@\n+x\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3): only added lines, without context, so the place cannot be verified; read the file first, or add the lines around them. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'an addition before a file',
      {files: {x: 'a\n'}},
      '--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+x\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3): only added lines, without context, so the place cannot be verified; read the file first, or add the lines around them. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'an addition behind the end of a file that was read',
      {files: {x: 'a\nb\n'}, numbers: 'as_read'},
      '--- a/x\n+++ b/x\n@@ -3,0 +4 @@\n+x\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3): only added lines, without context, so the place cannot be verified; read the file first, or add the lines around them. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'an addition at the end of a file that changed',
      {files: {x: 'a\nb\n'}, numbers: 'changed'},
      '--- a/x\n+++ b/x\n@@ -2,0 +3 @@\n+x\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3): only added lines, without context, so the place cannot be verified; read the file first, or add the lines around them. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'an addition in a file that changed',
      {files: {x: 'a\nb\n'}, numbers: 'changed'},
      '--- a/x\n+++ b/x\n@@ -1,0 +2 @@\n+x\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3): only added lines, without context, so the place cannot be verified; read the file first, or add the lines around them. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'an addition that contradicts itself',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -2,3 +2,4 @@\n+x\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3): only added lines, without context, so the place cannot be verified; read the file first, or add the lines around them. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'an addition that contradicts itself, to a file that was read',
      {files: {x: 'a\nb\n'}, numbers: 'as_read'},
      '--- a/x\n+++ b/x\n@@ -2,3 +2,4 @@\n+x\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3): only added lines, without context, so the place cannot be verified; read the file first, or add the lines around them. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'an addition after an offset, to a file that was read',
      {files: {x: 'n\na\nb\n'}, numbers: 'as_read'},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n@@ -2,0 +3 @@\n+x\n',
      ['patch_hunk_fail: Hunk 2 of "x" (patch line 6): only added lines, without context, so the place cannot be verified; read the file first, or add the lines around them. Nothing was written.', {problems: [{path: 'x', hunk: 2, patch_line: 6}]}],
    ],
    [
      'an addition behind an unterminated line',
      {files: {x: 'a'}},
      '--- a/x\n+++ b/x\n@@ -1,0 +2 @@\n+x\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3): the last line of the file has no newline, so nothing can be added behind it without that line. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'a bare addition',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@\n+x\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3): only added lines, with neither context nor line numbers; add the lines around them. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'a line without newline in the middle',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+x\n\\ No newline at end of file\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; ends at line 1): the last line should end the file without a newline, but the file goes on behind it. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'a newline too much',
      {files: {x: 'a\nb'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; nearest: lines 1-2): the old lines differ in the newline at the end of the file: "\\ No newline at end of file" says there is none. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, nearest_line: 1}]}],
    ],
    [
      'a newline too few',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; nearest: lines 1-2): the old lines differ in the newline at the end of the file: "\\ No newline at end of file" says there is none. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, nearest_line: 1}]}],
    ],
    [
      'without newline, twice',
      {files: {x: 'x\ny\nx'}},
      '*** Begin Patch\n*** Update File: x\n-x\n+z\n*** End Patch\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; at lines 1, 3): the old lines occur more than once; add context until they occur once. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, places: [1, 3]}]}],
    ],
    [
      'an empty file, without numbers',
      {files: {x: ''}},
      '*** Begin Patch\n*** Update File: x\n-a\n+b\n*** End Patch\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3): the file is empty. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'LF for mixed endings',
      {files: {x: 'a\r\nb\nc\n'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; nearest: lines 1-2): the old lines differ in line endings (the file has CRLF). Line 1 is "a\\r" in the file, "a" in the hunk. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, nearest_line: 1}]}],
    ],
    [
      'one CRLF in a patch for CRLF',
      {files: {x: 'a\r\nb\r\n'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\r\n-b\n+B\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; nearest: lines 1-2): the old lines differ in line endings (the file has CRLF). Line 2 is "b\\r" in the file, "b" in the hunk. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, nearest_line: 1}]}],
    ],
    [
      'CRLF for LF',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+B\r\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; nearest: lines 1-2): the old lines differ in white space at line ends. Line 1 is "a" in the file, "a\\r" in the hunk. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, nearest_line: 1}]}],
    ],
    [
      'an LF line before',
      {files: {x: 'a\nb\r\nc\r\n'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; nearest: lines 1-2): the old lines differ in line endings (the file has CRLF). Line 2 is "b\\r" in the file, "b" in the hunk. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, nearest_line: 1}]}],
    ],
    [
      'nothing of it is there',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -9 +9 @@\n-q\n+Q\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; expects "q"): the old lines are not in the file. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'nothing of it is there, where it says',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-q\n+Q\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; expects "q"): the old lines are not in the file. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'nothing of it is there, in the last line',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -2 +2 @@\n-q\n+Q\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; expects "q"): the old lines are not in the file. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'an empty file',
      {files: {x: ''}},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3): the file is empty. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'one line is another',
      {files: {x: 'a\nb\nc\n'}},
      '--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n x\n-c\n+C\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; nearest: lines 1-3): the old lines differ in the text. Line 2 is "b" in the file, "x" in the hunk. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, nearest_line: 1}]}],
    ],
    [
      'the file ends before',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n b\n-c\n+C\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; nearest: lines 1-2): the old lines differ in the text. The file ends before "c" of the hunk. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, nearest_line: 1}]}],
    ],
    [
      'white space',
      {files: {x: '\tif x:\n\t\ty\n'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n     if x:\n-        y\n+        z\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; nearest: lines 1-2): the old lines differ in tabs against spaces. Line 1 is "\\tif x:" in the file, "    if x:" in the hunk. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, nearest_line: 1}]}],
    ],
    [
      'a tab for a blank',
      {files: {x: 'a b\n'}},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\tb\n+c\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; nearest: line 1): the old lines differ in tabs against spaces. Line 1 is "a b" in the file, "a\\tb" in the hunk. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, nearest_line: 1}]}],
    ],
    [
      'a newline too much, explained',
      {files: {x: 'a\nb'}},
      '--- a/x\n+++ b/x\n@@ -2 +2 @@\n-b\n+B\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; nearest: line 2): the old lines differ in the newline at the end of the file: "\\ No newline at end of file" says there is none. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, nearest_line: 2}]}],
    ],
    [
      'line endings',
      {files: {x: 'a\r\nb\nc\n'}},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; nearest: line 1): the old lines differ in line endings (the file has CRLF). Line 1 is "a\\r" in the file, "a" in the hunk. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, nearest_line: 1}]}],
    ],
    [
      'pasted line numbers',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n 1|a\n-2|b\n+2|B\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; expects "1|a"): the old lines are not in the file; the hunk seems to contain line numbers, leave them out. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'pasted line numbers with a colon',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n   1:a\n-  2 :b\n+2|B\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; expects "  1:a"): the old lines are not in the file; the hunk seems to contain line numbers, leave them out. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'numbers in half of the lines',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n 1|a\n-b!\n+B\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; expects "1|a"): the old lines are not in the file. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'numbers in more than half',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n 1|a\n 2\tb\n-c!\n+B\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; expects "1|a"): the old lines are not in the file; the hunk seems to contain line numbers, leave them out. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'a change made before',
      {files: {x: 'a\nB\nc\n'}},
      '--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; nearest: lines 1-3): the old lines differ in the text; the change seems to be there already. Line 2 is "B" in the file, "b" in the hunk. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, nearest_line: 1}]}],
    ],
    [
      'a removal made before',
      {files: {x: 'a\nc\n'}},
      '--- a/x\n+++ b/x\n@@ -1,3 +1,2 @@\n a\n-b\n c\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; nearest: lines 1-2): the old lines differ in the text; the change seems to be there already. Line 2 is "c" in the file, "b" in the hunk. 1 line below differs too. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, nearest_line: 1}]}],
    ],
    [
      'a removal alone made before',
      {files: {x: 'a\n'}},
      '--- a/x\n+++ b/x\n@@ -1 +0,0 @@\n-b\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; expects "b"): the old lines are not in the file. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'the nearest place, by most lines',
      {files: {x: 'a\nb\nz\na\nq\n'}},
      '--- a/x\n+++ b/x\n@@ -4,3 +4,3 @@\n a\n b\n-c\n+C\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; nearest: lines 1-3): the old lines differ in the text. Line 3 is "z" in the file, "c" in the hunk. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, nearest_line: 1}]}],
    ],
    [
      'the nearest of two',
      {files: {x: 'a\nq\nz\nz\na\nq\n'}},
      '--- a/x\n+++ b/x\n@@ -4,2 +4,2 @@\n a\n-b\n+B\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; nearest: lines 5-6): the old lines differ in the text. Line 6 is "q" in the file, "b" in the hunk. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, nearest_line: 5}]}],
    ],
    [
      'the nearest of two, above',
      {files: {x: 'a\nq\nz\nz\na\nq\n'}},
      '--- a/x\n+++ b/x\n@@ -2,2 +2,2 @@\n a\n-b\n+B\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; nearest: lines 1-2): the old lines differ in the text. Line 2 is "q" in the file, "b" in the hunk. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, nearest_line: 1}]}],
    ],
    [
      'a hunk that begins above the file',
      {files: {x: 'b\nc\n'}},
      '--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n a\n b\n-x\n+X\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; expects "a"): the old lines are not in the file. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'a long hunk',
      {files: {x: '1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n'}},
      '--- a/x\n+++ b/x\n@@ -1,12 +1,12 @@\n 1\n 2\n 3\n 4\n five\n 6\n 7\n 8\n 9\n 10\n 11\n-12\n+!\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; expects "five"): the old lines are not in the file. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'blank lines say nothing',
      {files: {x: '\n\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -2,2 +2,2 @@\n \n-x\n+X\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; expects ""): the old lines are not in the file. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'not there, without numbers',
      {files: {x: 'a\nb\n'}},
      '*** Begin Patch\n*** Update File: x\n-q\n+Q\n*** End Patch\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; expects "q"): the old lines are not in the file. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'ambiguous, without numbers',
      {files: {x: 'a\nb\na\n'}},
      '*** Begin Patch\n*** Update File: x\n-a\n+A\n*** End Patch\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; at lines 1, 3): the old lines occur more than once; add context until they occur once. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, places: [1, 3]}]}],
    ],
    [
      'two hunks without numbers',
      {files: {x: 'a\nb\nc\n'}},
      '*** Begin Patch\n*** Update File: x\n@@\n-c\n+C\n@@\n-a\n+A\n*** End Patch\n',
      ['patch_hunk_fail: Hunk 2 of "x" (patch line 6; belongs at line 1): that is before the end of an earlier hunk; hunks go from top to bottom. Nothing was written.', {problems: [{path: 'x', hunk: 2, patch_line: 6}]}],
    ],
    [
      'ambiguous, bare',
      {files: {x: 'a\nb\na\n'}},
      '--- a/x\n+++ b/x\n@@\n-a\n+A\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; at lines 1, 3): the old lines occur more than once; add context until they occur once. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, places: [1, 3]}]}],
    ],
    [
      'ambiguous in a file that changed',
      {files: {x: 'a\nb\na\n'}, numbers: 'changed'},
      '--- a/x\n+++ b/x\n@@ -2 +2 @@\n-a\n+A\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; at lines 1, 3): the old lines occur more than once; the file changed since it was read, so its line numbers do not count: read it again or add context. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3, places: [1, 3]}]}],
    ],
    [
      'a creation of what is there',
      {files: {n: 'a\n'}},
      '--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n',
      ['patch_hunk_fail: "n" exists already, so the patch cannot create it. Send a change of it instead. Nothing was written.', {problems: [{path: 'n'}]}],
    ],
    [
      'a creation twice',
      {files: {}},
      '--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n',
      ['patch_hunk_fail: "n" exists already, so the patch cannot create it. Send a change of it instead. Nothing was written.', {problems: [{path: 'n'}]}],
    ],
    [
      'a deletion of a part',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n',
      ['patch_hunk_fail: The deletion of "x" leaves 1 of its lines. Put the whole file into the hunk as "-" lines. Nothing was written.', {problems: [{path: 'x'}]}],
    ],
    [
      'a deletion without content',
      {files: {x: 'a\nb\n'}},
      'diff --git a/x b/x\ndeleted file mode 100644\n',
      ['patch_hunk_fail: The deletion of "x" leaves 2 of its lines. Put the whole file into the hunk as "-" lines. Nothing was written.', {problems: [{path: 'x'}]}],
    ],
    [
      'a deletion of nothing',
      {files: {}},
      '*** Begin Patch\n*** Delete File: x\n*** End Patch\n',
      ['file_not_found: There is no "x" (patch line 2). Look the path up with list_files or glob; a new file needs "--- /dev/null". Nothing was written.', {path: 'x'}],
    ],
    [
      'a deletion twice',
      {files: {x: 'a\n'}},
      '*** Begin Patch\n*** Delete File: x\n*** Delete File: x\n*** End Patch\n',
      ['file_not_found: An earlier section removed "x" (patch line 3). Look the path up with list_files or glob; a new file needs "--- /dev/null". Nothing was written.', {path: 'x'}],
    ],
    [
      'a rename onto a file',
      {files: {x: 'a\n', y: 'b\n'}},
      'diff --git a/x b/y\nrename from x\nrename to y\n',
      ['patch_hunk_fail: "y" exists already, so nothing can be renamed to it. Nothing was written.', {problems: [{path: 'y'}]}],
    ],
    [
      'a rename of nothing',
      {files: {}},
      'diff --git a/x b/y\nrename from x\nrename to y\n',
      ['file_not_found: There is no "x" (patch line 1). Look the path up with list_files or glob; a new file needs "--- /dev/null". Nothing was written.', {path: 'x'}],
    ],
    ['a file in the way', {files: {d: 'a\n'}}, '--- /dev/null\n+++ b/d/x\n@@ -0,0 +1 @@\n+x\n', ['patch_hunk_fail: "d/x" cannot be created: "d" is a file. Nothing was written.', {problems: [{path: 'd/x'}]}]],
    [
      'a file of the patch in the way',
      {files: {}},
      '--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+x\n--- /dev/null\n+++ b/d/x\n@@ -0,0 +1 @@\n+x\n',
      ['patch_hunk_fail: "d/x" cannot be created: "d" is a file. Nothing was written.', {problems: [{path: 'd/x'}]}],
    ],
    [
      'a directory of the patch in the way',
      {files: {}},
      '--- /dev/null\n+++ b/d/x\n@@ -0,0 +1 @@\n+x\n--- /dev/null\n+++ b/d\n@@ -0,0 +1 @@\n+x\n',
      ['patch_hunk_fail: "d" cannot be created: the patch has files below it. Nothing was written.', {problems: [{path: 'd'}]}],
    ],
    [
      'a deep directory of the patch in the way',
      {files: {}},
      '--- /dev/null\n+++ b/d/e/x\n@@ -0,0 +1 @@\n+x\n--- /dev/null\n+++ b/d/e\n@@ -0,0 +1 @@\n+x\n',
      ['patch_hunk_fail: "d/e" cannot be created: the patch has files below it. Nothing was written.', {problems: [{path: 'd/e'}]}],
    ],
    [
      'a rename below a file',
      {files: {x: 'a\n', d: 'b\n'}},
      'diff --git a/x b/d/x\nrename from x\nrename to d/x\n',
      ['patch_hunk_fail: "d/x" cannot be created: "d" is a file. Nothing was written.', {problems: [{path: 'd/x'}]}],
    ],
    ['a rename below itself', {files: {x: 'a\n'}}, 'diff --git a/x b/x/y\nrename from x\nrename to x/y\n', ['patch_hunk_fail: "x/y" cannot be created: "x" is a file. Nothing was written.', {problems: [{path: 'x/y'}]}]],
    [
      'a file that goes makes room',
      {files: {d: 'a\n'}},
      '*** Begin Patch\n*** Delete File: d\n*** Add File: d/x\n+x\n*** End Patch\n',
      ['patch_hunk_fail: "d/x" cannot be created: "d" is a file. Nothing was written.', {problems: [{path: 'd/x'}]}],
    ],
    [
      'an addition to what an earlier section made, of a file that was read',
      {files: {x: 'a\nb\n'}},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n--- a/x\n+++ b/x\n@@ -1,0 +2 @@\n+x\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 8): only added lines, without context, so the place cannot be verified; read the file first, or add the lines around them. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 8}]}],
    ],
    [
      'an addition to what an earlier section made of a file that was read',
      {files: {x: 'a\nb\n'}, numbers: 'as_read'},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+A\n--- a/x\n+++ b/x\n@@ -1,0 +2 @@\n+x\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 8): only added lines, without context, so the place cannot be verified; read the file first, or add the lines around them. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 8}]}],
    ],
    [
      'an addition to a renamed file that was read',
      {files: {x: 'a\nb\n'}, numbers: 'as_read'},
      'diff --git a/x b/y\nrename from x\nrename to y\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1,0 +2 @@\n+n\n',
      ['patch_hunk_fail: Hunk 1 of "y" (patch line 7): only added lines, without context, so the place cannot be verified; read the file first, or add the lines around them. Nothing was written.', {problems: [{path: 'y', hunk: 1, patch_line: 7}]}],
    ],
    [
      'an addition to a new file',
      {files: {}, numbers: 'as_read'},
      '--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+a\n--- a/n\n+++ b/n\n@@ -0,0 +1 @@\n+n\n',
      ['patch_hunk_fail: Hunk 1 of "n" (patch line 7): only added lines, without context, so the place cannot be verified; read the file first, or add the lines around them. Nothing was written.', {problems: [{path: 'n', hunk: 1, patch_line: 7}]}],
    ],
    [
      'a change of what is not there',
      {files: {}},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n',
      ['file_not_found: There is no "x" (patch line 1). Look the path up with list_files or glob; a new file needs "--- /dev/null". Nothing was written.', {path: 'x'}],
    ],
    [
      'a change of what an earlier section removed',
      {files: {x: 'a\n'}},
      '*** Begin Patch\n*** Delete File: x\n*** Update File: x\n-a\n+b\n*** End Patch\n',
      ['file_not_found: An earlier section removed "x" (patch line 3). Look the path up with list_files or glob; a new file needs "--- /dev/null". Nothing was written.', {path: 'x'}],
    ],
    [
      'what a failed section says of a file is enough',
      {files: {x: 'a\n'}},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-q\n+b\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-r\n+b\n',
      ['patch_hunk_fail: Hunk 1 of "x" (patch line 3; expects "q"): the old lines are not in the file. Nothing was written.', {problems: [{path: 'x', hunk: 1, patch_line: 3}]}],
    ],
    [
      'several failures',
      {files: {x: 'a\n', y: 'b\n'}},
      '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-q\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-r\n+b\n--- a/none\n+++ b/none\n@@ -1 +1 @@\n-a\n+b\n',
      ['file_not_found: There is no "none" (patch line 11). Look the path up with list_files or glob; a new file needs "--- /dev/null". Hunk 1 of "x" (patch line 3; expects "q"): the old lines are not in the file. Hunk 1 of "y" (patch line 8; expects "r"): the old lines are not in the file; the change seems to be there already. Nothing was written.', {path: 'none', problems: [{path: 'none', message: 'There is no "none" (patch line 11). Look the path up with list_files or glob; a new file needs "--- /dev/null".'}, {path: 'x', hunk: 1, patch_line: 3}, {path: 'y', hunk: 1, patch_line: 8}]}],
    ],
    [
      'a path that has to be quoted',
      {files: {'a "b"': 'a\n'}},
      '--- "a/a \\"b\\""\n+++ "b/a \\"b\\""\n@@ -1 +1 @@\n-q\n+b\n',
      ['patch_hunk_fail: Hunk 1 of "a \\"b\\"" (patch line 3; expects "q"): the old lines are not in the file. Nothing was written.', {problems: [{path: 'a "b"', hunk: 1, patch_line: 3}]}],
    ],
  ],
)('W7: why a patch does not apply, whole: %s', async (_, place, patch, outcome) => {
  expect(await describeOverlay(patch, place)).toEqual(outcome);
});

const LINES = Array.from({length: 60}, (_, at) => `line ${at + 1} of the file\n`);
/** Hunks that each have one word of one line wrong. */
const hunks = (count: number): string =>
  `--- a/x\n+++ b/x\n${LINES.slice(0, count)
    .map((line, at) => `@@ -${at + 1} +${at + 1} @@\n-${line.replace('the', 'a')}+Q\n`)
    .join('')}`;

test('W7: five problems are named, of the others it is said where they are', async () => {
  const message = async (count: number) =>
    String((await describeOverlay(hunks(count), {files: {x: LINES.join('')}}))[0]);
  const explained = (hunk: number): string =>
    `Hunk ${hunk} of "x" (patch line ${3 * hunk}; nearest: line ${hunk}): the old lines differ in the text. Line ${hunk} is "line ${hunk} of the file" in the file, "line ${hunk} of a file" in the hunk.`;
  const five = [1, 2, 3, 4, 5].map(explained).join(' ');
  expect(await message(5)).toBe(`patch_hunk_fail: ${five} Nothing was written.`);
  expect(await message(6)).toBe(
    `patch_hunk_fail: ${five} 1 more problem, at patch line 18. Nothing was written.`,
  );
  // Of twenty hunks it is looked for what they mean.
  expect(await message(22)).toContain(' 16 more problems, at patch lines 18, 21, 24, ');
  expect(await message(22)).toContain(', 60, 63. Nothing was written.');
  expect((await describeOverlay(hunks(22), {files: {x: LINES.join('')}}))[1]).toMatchObject({
    problems: [1, 2, 3, 4, 5].map(hunk => ({hunk, nearest_line: hunk})),
  });
});

test('W7: hunks that fail alike are one problem, with one example', async () => {
  const lines = LINES.map(line => `\t${line}`);
  const patch = `--- a/x\n+++ b/x\n${[2, 5]
    .map(at => `@@ -${at} +${at} @@\n-    ${LINES[at - 1]}+Q\n`)
    .join('')}`;
  expect(await describeOverlay(patch, {files: {x: lines.join('')}})).toEqual([
    'patch_hunk_fail: Hunks 1 (patch line 3; nearest: line 2), 2 (patch line 6; nearest: line 5) of "x": the old lines differ in tabs against spaces. Line 2 is "\\tline 2 of the file" in the file, "    line 2 of the file" in the hunk. Nothing was written.',
    {
      problems: [
        {path: 'x', hunk: 1, patch_line: 3, nearest_line: 2},
        {path: 'x', hunk: 2, patch_line: 6, nearest_line: 5},
      ],
    },
  ]);
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
  expect(await nearestOf(65)).toBeUndefined();
});

test('W7: a short line says nothing of the place where the hunk has a longer one', async () => {
  const patch = '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-return html; // 1\n+return text;\n }\n';
  expect((await describeOverlay(patch, {files: {x: 'import {a} from "a";\nif (a) {\n}\n'}}))[0]).toBe(
    'patch_hunk_fail: Hunk 1 of "x" (patch line 3; expects "return html; // 1"): the old lines are not in the file. Nothing was written.',
  );
});
