import {describe, expect, test} from 'vitest';
import {type CallableWorkspace, callWorkspaceTools} from '../../../test/support/call-workspace-tools.ts';
import {needs} from '../../../test/support/parts.ts';
import {readTree} from '../../../test/support/read-tree.ts';

const FILES = {
  'a.py': 'def f():\n    return 1\n\ndef g():\n    return 1\n',
  'b.txt': 'one\r\ntwo\r\n',
  'open.txt': 'one\ntwo',
  'old.txt': 'x\ny\n',
};

async function apply(unified_diff: string, files: Record<string, string> = FILES) {
  const place = await callWorkspaceTools(files);
  const before = readTree(place.root);
  const result = await place.call('apply_patch', {unified_diff});
  if (result.status === 'error') expect(readTree(place.root)).toEqual(before);
  const text = (path: string): string | undefined => readTree(place.root)[path]?.replace(/^\d+ /, '');
  return {...result, place, text, message: result.error?.message ?? ''};
}

const patch = (...lines: readonly string[]): string =>
  ['*** Begin Patch', ...lines, '*** End Patch', ''].join('\n');
const bare = (...body: readonly string[]): string => `--- a/a.py\n+++ b/a.py\n${body.join('\n')}\n`;

describe('a hunk without line numbers', () => {
  test('review: two files, each with one', async () => {
    const {text} = await apply(
      '--- a/a.py\n+++ b/a.py\n@@\n-def f():\n+def ff():\n--- a/old.txt\n+++ b/old.txt\n@@\n-x\n+z\n',
    );
    expect([text('a.py')?.slice(0, 9), text('old.txt')]).toEqual(['def ff():', 'z\ny\n']);
  });

  test('review: old lines that are also the end of a file without a last newline are there twice', async () => {
    const {message} = await apply('--- a/o\n+++ b/o\n@@\n-x\n+z\n', {o: 'x\ny\nx'});
    expect(message).toContain('at lines 1, 3): the old lines occur more than once');
  });

  test.each(['@@', '@@ ', '@@ ... @@', '@@ def g():'])(
    'W7: after %j goes where its old lines are',
    needs('GNU patch'),
    async header => {
      const {text, data} = await apply(bare(header, ' def g():', '-    return 1', '+    return 2'));
      expect(text('a.py')).toBe('def f():\n    return 1\n\ndef g():\n    return 2\n');
      expect(data).toMatchObject({offsets: [], recounted_hunks: 0, cross_check: 'agrees'});
    },
  );

  test('W7: two of them, beside one with line numbers', async () => {
    const body = ['@@', '-def f():', '+def ff():', '@@ -3,2 +3,2 @@', ' ', '-def g():', '+def gg():'];
    const {text} = await apply(bare(...body));
    expect(text('a.py')).toBe('def ff():\n    return 1\n\ndef gg():\n    return 1\n');
  });

  test('W7: old lines that are there twice are a refusal that names the lines', async () => {
    const {error, message} = await apply(bare('@@', '-    return 1', '+    return 2'));
    expect(error?.error_type).toBe('patch_hunk_fail');
    expect(message).toContain(
      'at lines 2, 5): the old lines occur more than once; add context until they occur once',
    );
  });

  test.each([
    ['that only adds', ['@@', '+x'], /only added lines, with neither context nor line numbers/],
    [
      'that is not there',
      ['@@', '-def h():', '+x'],
      /expects "def h\(\):"\): the old lines are not in the file/,
    ],
    ['with half a header', ['@@ -1,2 @@', '-def f():', '+x'], /the hunk header is not of the form/],
    ['of a combined diff', ['@@@ -1 -1 +1 @@@', '-def f():', '+x'], /belongs to no hunk|not of the form/],
  ])('W7: one %s is refused', async (_, body, says) => {
    expect((await apply(bare(...body))).message).toMatch(says);
  });
});

describe('*** Begin Patch', () => {
  test('W7: changes, adds, moves and deletes files in one step, which undo takes back', async () => {
    const {error, data, place, text} = await apply(
      patch(
        '*** Update File: a.py',
        '*** Move to: src/new.py',
        '@@ def g():',
        ' def g():',
        '-    return 1',
        '+    return 2',
        '*** Add File: dir/added.txt',
        '+one',
        '+',
        '*** Delete File: old.txt',
        '*** Update File: b.txt',
        '-two',
        '+TWO',
        '+three',
        '*** End of File',
      ),
    );
    expect(error).toBeNull();
    expect(text('src/new.py')).toBe('def f():\n    return 1\n\ndef g():\n    return 2\n');
    expect(text('dir/added.txt')).toBe('one\n\n');
    expect(text('b.txt')).toBe('one\r\nTWO\r\nthree\r\n');
    expect([text('old.txt'), text('a.py')]).toEqual([undefined, undefined]);
    expect(place.tool('apply_patch').renderText(data)).toBe(
      '4 files · step 1\na.py => src/new.py: line 5 · +1 −1\ndir/added.txt: +2 −0\nold.txt: +0 −2\nb.txt: lines 2–3 · +2 −1',
    );
    await place.data('undo');
    expect(Object.keys(readTree(place.root)).sort()).toEqual(Object.keys(FILES).sort());
    expect(text('a.py')).toBe(FILES['a.py']);
  });

  test.each<readonly [string, readonly string[], string]>([
    ['a change', ['-two', '+2'], 'one\n2\n'],
    ['an addition', [' two', '+three'], 'one\ntwo\nthree\n'],
    ['a removal', [' one', '-two'], 'one\n'],
    ['a change before it', ['-one', '+1', ' two'], '1\ntwo'],
  ])('W7: %s at the end of a file without a final newline', async (_, body, expected) => {
    const {error, text} = await apply(patch('*** Update File: open.txt', '@@', ...body));
    expect(error).toBeNull();
    expect(text('open.txt')).toBe(expected);
  });

  test('policy: a fence, prose before it, CRLF and several anchors are no trouble', async () => {
    const lines = patch(
      '*** Update File: a.py',
      '',
      '@@ class A',
      '@@ def f():',
      '-def f():',
      '+def ff():',
      '',
    );
    const wrapped = `Here it is:\n\`\`\`\n${lines}\`\`\`\n`;
    expect((await apply(wrapped)).text('a.py')).toMatch(/^def ff/);
    expect((await apply(wrapped.replaceAll('\n', '\r\n'))).text('a.py')).toMatch(/^def ff/);
  });

  test.each<readonly [string, string, RegExp]>(
    // biome-ignore format: a case is a line
    [
      ['is cut off', '*** Begin Patch\n*** Delete File: old.txt\n', /"\*\*\* End Patch" line is missing/],
      ['has no beginning', '*** Update File: a.py\n-x\n+y\n*** End Patch\n', /Line 1: this form needs a "\*\*\* Begin Patch"/],
      ['has something behind its end', `${patch('*** Delete File: old.txt')}*** Delete File: b.txt\n`, /Line 4: it stands behind/],
      ['has a line of nothing', patch('*** Update File: a.py', 'def f():'), /Line 3: "def f\(\):" begins with none of/],
      ['changes nothing', patch('*** Update File: a.py', '@@', ' def f():'), /no "-" and no "\+" line/],
      ['has an empty section', patch('*** Update File: a.py'), /has no hunks/],
      ['deletes with lines', patch('*** Delete File: old.txt', '-x'), /Line 3: a deletion has no lines/],
      ['adds without +', patch('*** Add File: n', 'x'), /Line 3: each line of a new file begins with "\+"/],
      ['has no path', patch('*** Delete File: '), /the file name is missing/],
      ['has another header', patch('*** Rename File: a.py'), /is not one of "\*\*\* Add File: PATH"/],
      ['is empty', patch(), /not a unified diff|empty/],
    ],
  )('W7: one that %s is refused whole', async (_, text, says) => {
    const {error, message} = await apply(text);
    expect(error?.error_type).toBe('patch_parse_error');
    expect(message).toMatch(says);
  });

  test.each([
    ['file_not_found', patch('*** Delete File: none.txt')],
    ['patch_hunk_fail', patch('*** Add File: a.py', '+x')],
    ['patch_hunk_fail', patch('*** Update File: a.py', '*** Move to: b.txt')],
    ['path_escape', patch('*** Delete File: ../a.py')],
    ['path_escape', patch('*** Add File: .git/hooks/x', '+x')],
    ['patch_hunk_fail', patch('*** Update File: a.py', '-    return 1', '+    return 2')],
    ['patch_hunk_fail', patch('*** Delete File: old.txt', '*** Update File: a.py', '-zebra', '+x')],
  ])('W7: %s leaves every file as it was', async (code, text) => {
    expect((await apply(text)).error?.error_type).toBe(code);
  });
});

test('policy: after a pure rename, a section without a line of its own is told so where it begins', async () => {
  const rename = 'diff --git a/a.py b/c.py\nrename from a.py\nrename to c.py\n';
  const {message} = await apply(`${rename}--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-one\n+1\n`);
  expect(message).toMatch(
    /Line 4: these are not the names of the rename before; give each file a "diff --git/,
  );
  const {place, data}: {place: CallableWorkspace; data: unknown} = await apply(rename);
  expect(place.tool('apply_patch').renderText(data as never)).toBe('a.py => c.py: +0 −0 · step 1');
});

test('review: a blank line of a new file without its "+" is refused, not left out', async () => {
  const {message} = await apply(patch('*** Add File: n.py', '+a', '', '+b'));
  expect(message).toContain('each line of a new file begins with "+"');
  const {text} = await apply(patch('*** Add File: n.py', '+a', '+', '+b', '', '*** Delete File: old.txt'));
  expect(text('n.py')).toBe('a\n\nb\n');
});

test('review: a name may end in any letter', async () => {
  const {place} = await apply(patch('*** Delete File: voilà'), {voilà: 'x\n', b: ''});
  expect(Object.keys(readTree(place.root))).toEqual(['b']);
});
