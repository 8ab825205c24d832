import {fileState} from '../../../dist/workspace/change/file-change.js';
import {atOnce, contentHash} from '../../../dist/workspace/open-file.js';
import {overlayPatch} from '../../../dist/workspace/patch/overlay.js';
import {parsePatch} from '../../../dist/workspace/patch/parse-patch.js';
import {bytesOf} from '../../../dist/workspace/patch/patch.js';
import {renderFileChange, renderUndo} from '../../../dist/workspace/patch/unified.js';
import {parseWritablePath} from '../../../dist/workspace/workspace-path.js';
import {expectThat} from '../expect-that.js';

const FILES = {
  a: 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n',
  'dir/b': 'x\r\ny\r\n\r\nz',
  c: '',
  'two words': '-- a\n++ b\n@@ -1 +1 @@\n\\ No\n\xff\xfe\n',
};
const CODES = [
  'patch_parse_error',
  'path_escape',
  'file_not_found',
  'patch_hunk_fail',
  'invalid_params',
  'not_a_file',
];

/** Ruling W7: what is applied can be told as a diff and taken back by one, to the byte; all else is refused. */
async function check(bytes) {
  const before = new Map(Object.entries(FILES));
  const done = await apply(bytes, before);
  if (!done.ok) {
    expectThat([...CODES, 'file_too_large'].includes(done.error.code), 'the code', done.error.code);
    return;
  }
  const after = afterwards(before, done.value.changes);
  for (const path of after.keys()) expectThat(isSafe(path), 'a path that is not for patches', path);
  const told = bytesOf(done.value.changes.map(change => atOnce(renderFileChange(change)).text).join(''));
  if (told.length > 0) same(await apply(told, before), before, after, 'the diff that is shown');
  const undo = atOnce(renderUndo(done.value.changes));
  if (undo.length > 0) same(await apply(undo, after), after, before, 'undo');
}

async function apply(patch, files) {
  const parsed = parsePatch(patch);
  if (!parsed.ok) return parsed;
  return overlayPatch(
    {
      resolve: path => parseWritablePath(['/work'], path),
      read: async path => ({ok: true, value: files.has(path) ? stateOf(files.get(path)) : undefined}),
      blockingFile: path => [...files.keys()].find(file => path.startsWith(`${file}/`)),
    },
    parsed.value.sections,
  );
}

function stateOf(content) {
  const bytes = bytesOf(content);
  return fileState(bytes, contentHash(bytes), {mode: 0o644});
}

function afterwards(before, changes) {
  const files = new Map(before);
  for (const change of changes) {
    files.delete(change.from ?? change.path);
    if (change.new !== undefined) files.set(change.path, change.new.content);
  }
  return files;
}

function same(done, from, to, what) {
  expectThat(done.ok, `${what} does not apply`, done.error);
  const got = [...afterwards(from, done.value.changes)].sort();
  const expected = [...to].sort();
  expectThat(JSON.stringify(got) === JSON.stringify(expected), `${what} gives something else`, got, expected);
}

function isSafe(path) {
  return (
    !path.startsWith('/') && !path.split('/').some(name => name === '..' || name.toLowerCase() === '.git')
  );
}

export const target = {
  check,
  modules: ['/dist/workspace/patch/', '/dist/workspace/workspace-path'],
  maxLength: 2048,
  seeds: [
    '--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n',
    'diff --git a/dir/b b/dir/d\nsimilarity index 90%\nrename from dir/b\nrename to dir/d\n--- a/dir/b\n+++ b/dir/d\n@@ -1,4 +1,4 @@\n x\r\n-y\r\n+Y\r\n \r\n z\n\\ No newline at end of file\n',
    'diff --git a/new b/new\nnew file mode 100755\n--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+a\n+b\n',
    'diff --git a/c b/c\ndeleted file mode 100644\nindex e69de29..0000000\n',
    '--- "a/two words"\n+++ "b/two words"\n@@ -1 +1 @@\n--- a\n+-- c\n',
    '```diff\n--- a/a\n+++ b/a\n@@ -5,9 +5,9 @@ context\n five\n-six\n seven\n```\n--- a/a\n+++ /dev/null\n@@ -1,7 +0,0 @@\n',
  ],
  // biome-ignore format: a list
  tokens: [
    '--- a/', '+++ b/', '--- /dev/null\n', '+++ /dev/null\n', '@@ -1 +1 @@\n', '@@ -1,3 +1,3 @@\n',
    '@@ -0,0 +1 @@\n', 'diff --git a/a b/a\n', 'index 1..2 100644\n', 'new file mode 100644\n',
    'new file mode 120000\n', 'old mode 100644\n', 'new mode 100755\n', 'deleted file mode 100644\n',
    'rename from ', 'rename to ', 'copy from a\n', 'Binary files\n', 'GIT binary patch\n',
    '\\ No newline at end of file\n', '\n', '\r\n', ' ', '+', '-', '"', '\\303\\244', '\t', '\0', '../',
    '.git/', '.GIT/config', '/etc/passwd', 'a', 'dir/b', 'c', 'two words', ' one\n', '-two\n', '+2\n',
    '```\n', '@@ -99999999999999999999 +1 @@\n', '@@ -1,0 +1,0 @@\n', 'Index: a\n', '*** a\n', '1,2c1,2\n',
  ],
};
