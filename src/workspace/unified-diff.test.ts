import {execFileSync} from 'node:child_process';
import {readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {unifiedDiff} from './unified-diff.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const diff = (before: string | undefined, after: string | undefined): string =>
  unifiedDiff('f', before === undefined ? before : bytes(before), after === undefined ? after : bytes(after));

test('three lines of context, counts, and a missing final newline', () => {
  expect(diff('1\n2\n3\n4\n5\n6\n7\n8\n9\n', '1\n2\n3\n4\nV\nv\n6\n7\n8\n9\n')).toBe(
    '--- a/f\n+++ b/f\n@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+V\n+v\n 6\n 7\n 8\n',
  );
  expect(diff('a', 'a\n')).toBe('--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n');
  expect(diff('a\r\nb\r\n', 'a\r\nc\r\n')).toBe('--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n');
  expect(diff('a\n', undefined)).toBe('--- a/f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n');
  expect(diff('same', 'same')).toBe('');
  expect(unifiedDiff('f', new Uint8Array([0xff]), bytes('a'))).toBe('');
});

test('policy: a path cannot forge lines of the diff', () => {
  expect(unifiedDiff('a\n+++ b/other', bytes('x'), bytes('y')).split('\n')[1]).toBe(
    '+++ "b/a\\n+++ b/other"',
  );
});

test('git apply turns one text into the other with it', {timeout: 60_000}, () => {
  const root = temporaryDirectory();
  execFileSync('git', ['init', '-q', root]);
  const text = fc
    .array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n', 'd\r\n'), {minLength: 1, maxLength: 14})
    .map(lines => lines.join(''));
  const any = fc.tuple(text, fc.constantFrom('', 'end')).map(parts => parts.join(''));
  fc.assert(
    fc.property(any, any, (before, after) => {
      if (before === after) return;
      writeFileSync(join(root, 'f'), before);
      execFileSync('git', ['apply', '--whitespace=nowarn', '-'], {
        cwd: root,
        input: diff(before, after),
        stdio: 'pipe',
      });
      expect(readFileSync(join(root, 'f'), 'utf8')).toBe(after);
      rmSync(join(root, 'f'));
    }),
    {numRuns: 60},
  );
});
