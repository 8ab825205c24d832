// What the apply_patch of Codex is published to do with its own patches, and where ours differs on purpose.
import {describe, expect, test} from 'vitest';
import {describeOverlay} from '../../../test/support/describe-overlay.ts';
import {parsePatch} from './parse-patch.ts';

type Files = Readonly<Record<string, string>>;

/** Every file afterwards; the message where the patch is refused. */
async function apply(patch: string, files: Files): Promise<Files | string> {
  const parsed = parsePatch(patch);
  if (!parsed.ok) return parsed.error.message;
  const bytes = Object.entries(files).map(([path, content]) => [
    path,
    Buffer.from(content).toString('latin1'),
  ]);
  const outcome = (await describeOverlay(patch, {files: Object.fromEntries(bytes)})) as readonly string[];
  if (/^[a-z_]+: /.test(outcome[0] ?? '')) return outcome[0] ?? '';
  const after = new Map(Object.entries(files));
  for (const line of outcome) {
    const [, kind, path = '', to, content = ''] =
      /^(create|modify|delete|rename) (\S+)(?: => (\S+))?(?: (?:\d+|-) ([\s\S]*))?$/.exec(line) ?? [];
    if (kind === undefined) continue;
    if (kind !== 'create' && kind !== 'modify') after.delete(path);
    if (kind !== 'delete') after.set(to ?? path, Buffer.from(content, 'latin1').toString());
  }
  return Object.fromEntries(after);
}

const patch = (...lines: readonly string[]): string =>
  ['*** Begin Patch', ...lines, '*** End Patch'].join('\n');
const update = (path: string, ...lines: readonly string[]): string =>
  patch(`*** Update File: ${path}`, ...lines);

type Case = readonly [does: string, files: Files, patch: string, outcome: Files | RegExp];

const SAME: readonly Case[] = [
  ['a new file', {}, patch('*** Add File: bar.md', '+new'), {'bar.md': 'new\n'}],
  [
    'three operations',
    {modify: 'line1\nline2\n', gone: 'x\n'},
    patch(
      '*** Add File: d/new',
      '+created',
      '*** Delete File: gone',
      '*** Update File: modify',
      '@@',
      '-line2',
      '+changed',
    ),
    {'d/new': 'created\n', modify: 'line1\nchanged\n'},
  ],
  [
    'two hunks in a file',
    {m: 'line1\nline2\nline3\nline4\n'},
    update('m', '@@', '-line2', '+2', '@@', '-line4', '+4'),
    {m: 'line1\n2\nline3\n4\n'},
  ],
  [
    'a move into a new directory',
    {'old/name': 'old\n', 'old/other': 'o\n'},
    update('old/name', '*** Move to: renamed/dir/name', '@@', '-old', '+new'),
    {'renamed/dir/name': 'new\n', 'old/other': 'o\n'},
  ],
  ['no operation', {foo: 'x\n'}, patch(), /empty|not a unified diff/],
  ['a line that is not there', {m: 'line1\nline2\n'}, update('m', '@@', '-missing', '+x'), /patch_hunk_fail/],
  ['a deletion of nothing', {foo: 'x\n'}, patch('*** Delete File: missing'), /file_not_found/],
  ['an update without a hunk', {foo: 'x\n'}, update('foo'), /has no hunks/],
  ['an update of nothing', {foo: 'x\n'}, update('missing', '@@', '-a', '+b'), /file_not_found/],
  ['a deletion of a directory', {'dir/foo': 'x\n'}, patch('*** Delete File: dir'), /file_not_found/],
  ['an unknown operation', {foo: 'x\n'}, patch('*** Frobnicate File: foo'), /is not one of/],
  [
    'a new end of a file without a last line break',
    {n: 'no newline at end'},
    update('n', '@@', '-no newline at end', '+first line', '+second line'),
    {n: 'first line\nsecond line\n'},
  ],
  [
    'lines that are only added',
    {input: 'line1\nline2\n'},
    update('input', '@@', '+added 1', '+added 2'),
    {input: 'line1\nline2\nadded 1\nadded 2\n'},
  ],
  [
    'blanks before a header',
    {foo: 'old\n'},
    patch('  *** Update File: foo', '@@', '-old', '+new'),
    {foo: 'new\n'},
  ],
  [
    'blanks around the whole',
    {f: 'one\n'},
    ' *** Begin Patch\n*** Update File: f\n@@\n-one\n+two\n*** End Patch \n',
    {f: 'two\n'},
  ],
  [
    'blanks behind the first and before the last line',
    {f: 'one\n'},
    '*** Begin Patch \n*** Update File: f\n@@\n-one\n+two\n *** End Patch\n',
    {f: 'two\n'},
  ],
  [
    'letters of other scripts',
    {foo: 'naïve café\n'},
    update('foo', '@@', '-naïve café', '+naïve café ✅'),
    {foo: 'naïve café ✅\n'},
  ],
  ['a deletion', {gone: 'x', keep: 'k\n'}, patch('*** Delete File: gone'), {keep: 'k\n'}],
  ['a hunk that only removes', {l: '1\n2\n3\n'}, update('l', '@@', ' 1', '-2', ' 3'), {l: '1\n3\n'}],
  [
    'the end of the file, marked',
    {tail: 'first\nsecond\n'},
    update('tail', '@@', ' first', '-second', '+second updated', '*** End of File'),
    {tail: 'first\nsecond updated\n'},
  ],
  [
    'a file with CRLF',
    {c: 'one\r\ntwo\r\nthree\r\n'},
    update('c', '@@', '-one', '+uno', '@@', ' two', '+', '+between', ' three'),
    {c: 'uno\r\ntwo\r\n\r\nbetween\r\nthree\r\n'},
  ],
  [
    'lines that change places',
    {r: 'a\nb\n'},
    update('r', '@@', '-a', '-b', '+b', '+b', '+a'),
    {r: 'b\nb\na\n'},
  ],
  [
    'the ending of the line that stays',
    {r: 'same\r\nsame\n'},
    update('r', '@@', '-same', ' same'),
    {r: 'same\n'},
  ],
  [
    'mixed line endings',
    {m: 'one\r\ntwo\nthree\r\nfour\n'},
    update('m', '@@', ' one', ' two', '-three', '+THREE', ' four'),
    {m: 'one\r\ntwo\nTHREE\r\nfour\n'},
  ],
  [
    'plain dashes for typographic ones',
    {u: 'import asyncio  # local \u2013 avoids top\u2011level\n'},
    update('u', '@@', '-import asyncio  # local - avoids top-level', '+import asyncio'),
    {u: 'import asyncio\n'},
  ],
  [
    'blanks at line ends',
    {b: 'foo   \nbar\t\t\n'},
    update('b', '@@', ' foo', '-bar', '+baz'),
    {b: 'foo   \nbaz\n'},
  ],
  [
    'a line that is named, and the same line above it',
    {p: 'def f():\n    return 1\n\ndef g():\n    return 1\n'},
    update('p', '@@ def g():', '-    return 1', '+    return 2'),
    {p: 'def f():\n    return 1\n\ndef g():\n    return 2\n'},
  ],
  [
    'an addition at the end before a change above it',
    {p: 'line1\nline2\nline3\n'},
    update('p', '@@', '+after', '+second', '@@', ' line1', '-line2', '-line3', '+new'),
    {p: 'line1\nnew\nafter\nsecond\n'},
  ],
];

const ON_PURPOSE: readonly Case[] = [
  [
    'a move does not overwrite',
    {'old/name': 'from\n', 'renamed/name': 'existing\n'},
    update('old/name', '*** Move to: renamed/name', '@@', '-from', '+new'),
    /exists already/,
  ],
  ['a new file does not overwrite', {d: 'old\n'}, patch('*** Add File: d', '+new'), /exists already/],
  [
    'a patch of two files with an error changes neither',
    {},
    patch('*** Add File: created', '+hello', '*** Update File: missing', '@@', '-old', '+new'),
    /file_not_found/,
  ],
  [
    'a last line that stays is not given a line break',
    {n: 'one\r\ntwo'},
    update('n', '@@', '-one', '+ONE'),
    {n: 'ONE\r\ntwo'},
  ],
];

describe('W22: patches of Codex', () => {
  test.each(SAME)('as published: %s', async (_, files, text, outcome) => {
    const result = await apply(text, files);
    if (outcome instanceof RegExp) expect(result).toMatch(outcome);
    else expect(result).toEqual(outcome);
  });

  test.each(ON_PURPOSE)('by our own rules: %s', async (_, files, text, outcome) => {
    const result = await apply(text, files);
    if (outcome instanceof RegExp) expect(result).toMatch(outcome);
    else expect(result).toEqual(outcome);
  });

  const simple = update('f', '@@', '-one', '+two');
  test.each([
    ['a heredoc', `apply_patch <<'EOF'\n${simple}\nEOF\n`],
    ['a heredoc alone', `<<"EOF"\n${simple}\nEOF`],
    ['a fence', `\`\`\`diff\n${simple}\n\`\`\`\n`],
    ['a JSON string', JSON.stringify(simple)],
    ['a JSON string without its quotes', JSON.stringify(simple).slice(1, -1)],
    ['arguments in JSON', JSON.stringify({input: simple})],
    ['a command in JSON', JSON.stringify(['apply_patch', simple])],
  ])('in %s', async (_, text) => {
    expect(await apply(text, {f: 'one\n'})).toEqual({f: 'two\n'});
  });

  test('in a heredoc below another directory', async () => {
    const text = `cd 'sub/dir' && apply_patch <<'EOF'\n${update('f', '*** Move to: g', '@@', '-one', '+two')}\nEOF`;
    expect(await apply(text, {'sub/dir/f': 'one\n', f: 'one\n'})).toEqual({
      'sub/dir/g': 'two\n',
      f: 'one\n',
    });
  });
});

const CLASSES = [
  'class A:',
  '    def f(self):',
  '        x = 1',
  '        return x',
  '',
  '    def g(self):',
  '        return x',
  '',
  'class B:',
  '    def f(self):',
  '        return x',
  '        y = 2',
  '',
].join('\n');

describe('W22: the text behind @@', () => {
  const changed = (line: number, text: string): Files => {
    const lines = CLASSES.split('\n');
    lines[line - 1] = text;
    return {c: lines.join('\n')};
  };
  const hunk = ['-        return x', '+        return y'] as const;

  test.each<readonly [string, readonly string[], number]>([
    ['one line', ['@@ def g(self):', ...hunk], 7],
    ['one below the other', ['@@ class B:', '@@     def f(self):', ...hunk], 11],
    ['two in one header', ['@@ class B: @@ def f(self):', ...hunk], 11],
    ['the beginning of a line', ['@@ class A', '@@ def g', ...hunk], 7],
    ['with a closing mark', ['@@ def g(self): @@', ...hunk], 7],
    ['as the first line of the hunk', ['@@ def g(self):', '     def g(self):', ...hunk], 7],
    ['a line with numbers', ['@@ -7,1 +7,1 @@', ...hunk], 7],
  ])('narrows what follows: %s', async (_, body, line) => {
    expect(await apply(update('c', ...body), {c: CLASSES})).toEqual(changed(line, '        return y'));
  });

  test('that occurs twice with the old lines below each does not choose', async () => {
    expect(await apply(update('c', '@@ def f(self):', ...hunk), {c: CLASSES})).toContain(
      'at lines 4, 11): the old lines occur more than once',
    );
  });

  test('with the old lines only above it is a refusal', async () => {
    expect(
      await apply(update('c', '@@ class B:', '-        x = 1', '+        x = 2'), {c: CLASSES}),
    ).toContain('the old lines are in the file, but not below "class B:"');
  });

  test('that is missing does not choose, and is named', async () => {
    expect(await apply(update('c', '@@ def none():', ...hunk), {c: CLASSES})).toContain(
      '"def none():" behind @@ is not in the file either',
    );
  });

  test('leaves the rest to the order of the hunks', async () => {
    const body = ['@@ class A:', '@@ def g(self):', ...hunk, '@@', '-        return x', '+        return z'];
    const lines = changed(7, '        return y')['c']?.split('\n') ?? [];
    lines[10] = '        return z';
    expect(await apply(update('c', ...body), {c: CLASSES})).toEqual({c: lines.join('\n')});
  });
});

describe('W22: blanks', () => {
  const MAKE = 'all: a\n\tcc -o a a.c\n\tstrip a\n\nclean:\n\trm a\n';
  test.each<readonly [string, Files, readonly string[], string]>([
    [
      'tabs of the file for spaces of the patch',
      {f: MAKE},
      [' all: a', '-    cc -o a a.c', '+    cc -O2 -o a a.c', '+    size a', '     strip a'],
      'all: a\n\tcc -O2 -o a a.c\n\tsize a\n\tstrip a\n\nclean:\n\trm a\n',
    ],
    [
      'a level that the old lines have not',
      {f: 'if a:\n\tb\n\tif c:\n\t\td\n'},
      [' if a:', '-    b', '+    if b:', '+        b', '     if c:', '         d'],
      'if a:\n\tif b:\n\t\tb\n\tif c:\n\t\td\n',
    ],
    [
      'a patch that is further out',
      {f: 'class A:\n    def f(self):\n        return 1\n'},
      [' def f(self):', '-    return 1', '+    if x:', '+        return 2'],
      'class A:\n    def f(self):\n        if x:\n            return 2\n',
    ],
    [
      'spaces of the file for tabs of the patch',
      {f: 'f() {\n  a;\n  b;\n}\n'},
      [' f() {', '-\ta;', '+\tif (x) {', '+\t\ta;', '+\t}', ' \tb;'],
      'f() {\n  if (x) {\n    a;\n  }\n  b;\n}\n',
    ],
  ])('%s', async (_, files, body, content) => {
    expect(await apply(update('f', '@@', ...body), files)).toEqual({f: content});
  });

  test('policy: new lines whose indentation the old ones do not tell are refused', async () => {
    const body = ['@@', '-    a', '+    if b:', '+          a'];
    expect(await apply(update('f', ...body), {f: 'x\n  a\n'})).toMatch(/another indentation/);
  });

  test('policy: two places that differ from the patch in blanks are not chosen from', async () => {
    expect(await apply(update('f', '@@', '-a', '+b'), {f: '  a\n\ta\n'})).toContain('more than once');
  });
});
