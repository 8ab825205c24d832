// Unified diffs as models write them: short of what the format asks for, and clear all the same.
import {describe, expect, test} from 'vitest';
import {callWorkspaceTools} from '../../../test/support/call-workspace-tools.ts';
import {readTree} from '../../../test/support/read-tree.ts';

const FILES = {'lib/x.js': 'f() {\n  a;\n}\n\ng() {\n  a;\n}\n', 'y.js': 'one\ntwo\n'};
const CHANGED = FILES['lib/x.js'].replace('g() {\n  a;', 'g() {\n  b;');

async function apply(unified_diff: string) {
  const place = await callWorkspaceTools(FILES);
  const {error} = await place.call('apply_patch', {unified_diff});
  const tree = readTree(place.root);
  const text = (path: string): string | undefined => tree[path]?.replace(/^\d+ /, '');
  return {message: error?.message ?? '', x: text('lib/x.js'), y: text('y.js'), n: text('lib/n.js')};
}

const Y = '@@ -2 +2 @@\n-two\n+2\n';

describe('W22: a unified diff as it is meant', () => {
  test.each([
    ['paths without a/ and b/', `--- lib/x.js\n+++ lib/x.js\n@@ -5,2 +5,2 @@\n g() {\n-  a;\n+  b;\n`],
    ['such paths, with wrong counts', `--- lib/x.js\n+++ lib/x.js\n@@ -5,9 +5,7 @@\n g() {\n-  a;\n+  b;\n`],
    ['a section without @@', `--- a/lib/x.js\n+++ b/lib/x.js\n g() {\n-  a;\n+  b;\n`],
    [
      'context without its blank',
      `--- a/lib/x.js\n+++ b/lib/x.js\n@@ -5,3 +5,3 @@\ng() {\n-  a;\n+  b;\n}\n`,
    ],
    [
      'such context at the end, behind a bare @@',
      `--- a/lib/x.js\n+++ b/lib/x.js\n@@\ng() {\n-  a;\n+  b;\n}\n`,
    ],
    ['a line that is named', `--- a/lib/x.js\n+++ b/lib/x.js\n@@ g() {\n-  a;\n+  b;\n`],
  ])('%s', async (_, text) => {
    const {message, x} = await apply(text);
    expect([message, x]).toEqual(['', CHANGED]);
  });

  test('several files without a/ and b/, one of them new', async () => {
    const text = `--- lib/x.js\n+++ lib/x.js\n@@\n g() {\n-  a;\n+  b;\n--- y.js\n+++ y.js\n${Y}--- /dev/null\n+++ lib/n.js\n@@ -0,0 +1 @@\n+n\n`;
    expect(await apply(text)).toEqual({message: '', x: CHANGED, y: 'one\n2\n', n: 'n\n'});
  });

  test.each([
    [
      'a path without a/ that is no file',
      `--- src/z.js\n+++ src/z.js\n${Y}`,
      /"src\/z.js" has no a\/ or b\/ prefix/,
    ],
    [
      'a new file without b/ alone',
      '--- /dev/null\n+++ lib/n.js\n@@ -0,0 +1 @@\n+n\n',
      /no a\/ or b\/ prefix/,
    ],
    ['prose behind it', `--- a/y.js\n+++ b/y.js\n${Y}That is all.\n`, /That is all/],
    [
      'context that the file has not',
      `--- a/y.js\n+++ b/y.js\n@@ -1,2 +1,2 @@\nzero\n-two\n+2\n`,
      /hunk line begins with/,
    ],
    ['another text in such a file', '--- y.js\n+++ y.js\n@@ -2 +2 @@\n-three\n+3\n', /Hunk 1 of "y.js"/],
  ])('policy: %s is refused, and no file changes', async (_, text, says) => {
    const {message, ...after} = await apply(text);
    expect(message).toMatch(says);
    expect(after).toEqual({x: FILES['lib/x.js'], y: FILES['y.js'], n: undefined});
  });
});
