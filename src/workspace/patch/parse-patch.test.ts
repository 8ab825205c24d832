import {describe, expect, test} from 'vitest';
import {quoteName, unquoteName} from './names.ts';
import {parsePatch} from './parse-patch.ts';
import type {Patch} from './patch.ts';

function parsed(text: string | Uint8Array): Patch {
  const result = parsePatch(text);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

/** `line: reason` of every problem. */
function problems(text: string | Uint8Array): string[] {
  const result = parsePatch(text);
  if (result.ok) throw new Error('Expected the patch to be refused');
  expect(result.error.code).toBe('patch_parse_error');
  const listed = result.error.details['problems'] as {line: number; reason: string}[];
  return listed.map(({line, reason}) => `${line}: ${reason}`);
}

const TOOL_API = `--- a/src/main.py
+++ b/src/main.py
@@ -1,4 +1,4 @@
 def add(a, b):
-    return a - b
+    return a + b
`;

const change = (body: string, header = '@@ -1 +1 @@'): string => `--- a/x\n+++ b/x\n${header}\n${body}`;

describe('what is read', () => {
  test('ruling W7: the example of the Tool API, whose header has wrong counts', () => {
    const {sections, recounted, sizeBytes} = parsed(TOOL_API);
    expect(recounted).toBe(1);
    expect(sizeBytes).toBe(TOOL_API.length);
    expect(sections).toEqual([
      {
        kind: 'modify',
        line: 1,
        path: 'src/main.py',
        executable: undefined,
        hunks: [
          {
            line: 3,
            oldStart: 1,
            lines: [
              {kind: ' ', text: 'def add(a, b):\n'},
              {kind: '-', text: '    return a - b\n'},
              {kind: '+', text: '    return a + b\n'},
            ],
          },
        ],
      },
    ]);
  });

  test.each([
    ['a lost final newline', TOOL_API.trimEnd()],
    ['a fence', `\`\`\`diff\n${TOOL_API}\`\`\`\n`],
    ['a fence and words', `Here you are:\n\n~~~patch\n${TOOL_API}~~~\n\nThat is all.\n`],
    ['a byte order mark', `\uFEFF${TOOL_API}`],
    ['CRLF throughout', TOOL_API.replaceAll('\n', '\r\n')],
    ['CRLF in the headers', TOOL_API.replace('main.py\n', 'main.py\r\n')],
    ['blank lines around', `\n\n${TOOL_API}\n`],
    ['time stamps', TOOL_API.replaceAll('main.py\n', 'main.py\t2024-01-02 03:04:05.000000000 +0100\n')],
    ['other directories as prefix', TOOL_API.replace('a/src', 'old/src').replace('b/src', 'new/src')],
    ['git headers', `diff --git a/src/main.py b/src/main.py\nindex 1234567..89abcde 100644\n${TOOL_API}`],
    ['the command line of diff -r', `diff -ru a/src/main.py b/src/main.py\n${TOOL_API}`],
    [
      'a mail',
      `From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nSubject: x\n---\n main.py | 2 +-\n\n${TOOL_API}-- \n2.39.5\n\n`,
    ],
  ])('policy: %s is put right', (_, text) => {
    const [section] = parsed(text).sections;
    expect(section).toMatchObject({kind: 'modify', path: 'src/main.py'});
    expect(section?.hunks[0]?.lines).toEqual(parsed(TOOL_API).sections[0]?.hunks[0]?.lines);
  });

  test('ruling W7: creation, deletion, rename and the executable bit', () => {
    const {sections} = parsed(`diff --git a/new.sh b/new.sh
new file mode 100755
--- /dev/null
+++ b/new.sh
@@ -0,0 +1 @@
+echo
diff --git a/empty b/empty
new file mode 100644
index 0000000..e69de29
diff --git a/old.txt b/old.txt
deleted file mode 100644
--- a/old.txt
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/from name b/to name
similarity index 100%
rename from from name
rename to to name
diff --git a/p b/q
old mode 100644
new mode 100755
rename from p
rename to q
--- a/p
+++ b/q
@@ -1 +1 @@
-a
+b
diff --git a/tool b/tool
old mode 100755
new mode 100644
`);
    expect(sections.map(({hunks, line, ...rest}) => ({...rest, hunks: hunks.length}))).toEqual([
      {kind: 'create', path: 'new.sh', executable: true, hunks: 1},
      {kind: 'create', path: 'empty', executable: false, hunks: 0},
      {kind: 'delete', path: 'old.txt', hunks: 1},
      {kind: 'rename', path: 'to name', from: 'from name', executable: undefined, hunks: 0},
      {kind: 'rename', path: 'q', from: 'p', executable: true, hunks: 1},
      {kind: 'modify', path: 'tool', executable: false, hunks: 0},
    ]);
  });

  test('policy: diff -N marks missing files with the first second of 1970', () => {
    const create = parsed(
      '--- a/x\t1970-01-01 01:00:00.000000000 +0100\n+++ b/x\t2024-01-01 00:00:00 +0000\n@@ -0,0 +1 @@\n+x\n',
    );
    expect(create.sections[0]?.kind).toBe('create');
    const remove = parsed(
      '--- a/x\t2024-01-01 00:00:00 +0000\n+++ b/x\t1970-01-01 00:00:00 +0000\n@@ -1 +0,0 @@\n-x\n',
    );
    expect(remove.sections[0]?.kind).toBe('delete');
  });

  test('policy: quoted names are bytes, and a TAB ends a name with blanks', () => {
    const quoted = parsed(
      '--- "a/\\303\\244 \\"\\t.txt"\n+++ "b/\\303\\244 \\"\\t.txt"\n@@ -1 +1 @@\n-a\n+b\n',
    );
    expect(quoted.sections[0]?.path).toBe('ä "\t.txt');
    expect(parsed('--- a/two words\t\n+++ b/two words\t\n@@ -1 +1 @@\n-a\n+b\n').sections[0]?.path).toBe(
      'two words',
    );
    for (const name of ['plain', 'two words', 'ä', 'tab\there', 'quote"', 'back\\slash', 'nl\n', '\x7f']) {
      const text = quoteName(name);
      expect(Buffer.from(unquoteName(text)?.name ?? text, 'latin1').toString()).toBe(name);
    }
  });

  test('policy: "No newline" markers take the ending of the line before them', () => {
    const marker = '\\ No newline at end of file\n';
    expect(parsed(change(`-a\n${marker}+a\n`)).sections[0]?.hunks[0]?.lines).toEqual([
      {kind: '-', text: 'a'},
      {kind: '+', text: 'a\n'},
    ]);
    expect(problems(change(`-a\n${marker}-b\n+c\n`, '@@ -1,2 +1 @@'))).toEqual([
      expect.stringMatching(/^6: a line follows/),
    ]);
    expect(problems(change(`${marker}-a\n+b\n`))).toEqual([expect.stringMatching(/^4: .*must follow/)]);
  });

  test('policy: content that looks like a header is content where the counts say so', () => {
    const text = change('--- a/y\n+++ b/y\n--- a/z\n+++ b/z\n@@ -1 +1 @@\n-a\n+b\n');
    const {sections} = parsed(text);
    expect(sections.map(section => section.path)).toEqual(['x', 'z']);
    expect(sections[0]?.hunks[0]?.lines).toEqual([
      {kind: '-', text: '-- a/y\n'},
      {kind: '+', text: '++ b/y\n'},
    ]);
  });

  test('ruling W7: counts are recomputed up to the next header; blank lines at the end do not matter', () => {
    const {sections, recounted} = parsed(`--- a/x
+++ b/x
@@ -1,9 +1,9 @@
 a

-b
+c
@@ -20,1 +20,1 @@ def f
 d
-e

--- a/y
+++ b/y
@@ -1,5 +1,5 @@
-a
+b


`);
    expect(recounted).toBe(3);
    expect(sections.map(({path, hunks}) => [path, hunks.map(hunk => hunk.lines.length)])).toEqual([
      ['x', [4, 2]],
      ['y', [2]],
    ]);
  });

  test('ruling W7: counts are not recomputed where a header may be content', () => {
    const text = change('-a\n+b\n--- y.sql\n+++ z.sql\n@@ -9 +9 @@\n-c\n+d\n', '@@ -1,7 +1,7 @@');
    expect(problems(text)).toEqual([expect.stringMatching(/^6: the line counts .* header of another file/)]);
  });

  test('policy: any bytes are content', () => {
    const body = Buffer.concat([
      Buffer.from('--- a/x\n+++ b/x\n@@ -1 +1 @@\n-'),
      Buffer.from([0xff, 0, 0x0d]),
      Buffer.from('\n+b\n'),
    ]);
    expect(parsed(body).sections[0]?.hunks[0]?.lines[0]?.text).toBe('\xff\x00\r\n');
  });
});

describe('what is refused', () => {
  test('ruling W7: all problems are reported at once, each with its line', () => {
    const text = `--- a/x
+++ b/x
@@ -1 nonsense @@
-a
+b
diff --git a/l b/l
new file mode 120000
--- src/y
+++ src/y
@@ -1 +1 @@
-a
+b
`;
    expect(problems(text).map(problem => problem.split(':')[0])).toEqual(['3', '7']);
    expect(problems(`${text}--- z\n+++ z\n@@ -1 +1 @@\n-a\n+b\n`)).toHaveLength(3);
  });
});
