import {expect, test} from 'vitest';
import {textOfMarkup} from '../../../test/support/show-markup.ts';
import {looksLikeDiff, renderDiff} from './render-diff.ts';

const DIFF = `--- a/x
+++ b/x
@@ -9,3 +9,3 @@ head
 same
--- was a comment
+++ is one
\\ No newline at end of file
diff --git a/y b/y
--- a/y
+++ b/y
@@ -1 +1 @@
-old
+new
`;

test('report: each line of a diff has its kind and its numbers', () => {
  const [, , lines] = renderDiff(DIFF);
  const kinds = lines.map(line =>
    typeof line === 'string' ? '' : `${line[1].class} ${textOfMarkup([line]).trim()}`,
  );
  expect(kinds).toEqual([
    'meta --- a/x',
    'meta +++ b/x',
    'hunk @@ -9,3 +9,3 @@ head',
    'same 9  9  same',
    'del 10    --- was a comment',
    'add 10 +++ is one',
    'meta \\ No newline at end of file',
    'meta diff --git a/y b/y',
    'meta --- a/y',
    'meta +++ b/y',
    'hunk @@ -1 +1 @@',
    'del 1    -old',
    'add 1 +new',
  ]);
});

test('report: what is no diff is not taken for one', () => {
  expect(looksLikeDiff(DIFF)).toBe(true);
  expect(looksLikeDiff('--- title\ntext')).toBe(false);
});

test('policy: a diff of many lines is no matter of the stack', {tags: 'slow'}, () => {
  expect(renderDiff('\n'.repeat(300_000))[2]).toHaveLength(300_000);
});
