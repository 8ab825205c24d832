import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {stateOf} from '../../../test/support/state-of.ts';
import type {FileChange} from '../change/file-change.ts';
import {atOnce} from '../open-file.ts';
import type {WritablePath} from '../workspace-path.ts';
import {applyHunks} from './apply-hunks.ts';
import {diffLines} from './diff-lines.ts';
import {parsePatch} from './parse-patch.ts';
import {byteString, bytesOf} from './patch.ts';
import {TextLines} from './text-lines.ts';
import {renderFileChange, renderUndo, renderUnifiedDiff} from './unified.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

function replay(old: readonly string[], now: readonly string[]): string[] {
  const result: string[] = [];
  let copied = 0;
  for (const {oldStart, oldCount, newStart, newCount} of diffLines(old, now)) {
    expect(oldStart).toBeGreaterThanOrEqual(copied);
    expect(oldCount + newCount).toBeGreaterThan(0);
    result.push(...old.slice(copied, oldStart));
    expect(result).toHaveLength(newStart);
    result.push(...now.slice(newStart, newStart + newCount));
    copied = oldStart + oldCount;
  }
  return [...result, ...old.slice(copied)];
}

describe('the line diff', () => {
  test('property: replaying the edits gives the new lines', () => {
    const few = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), {maxLength: 40});
    const many = fc.array(
      fc.nat(60).map(number => `line ${number}`),
      {maxLength: 60},
    );
    fc.assert(
      fc.property(fc.oneof(few, many), fc.oneof(few, many), (old, now) => {
        expect(replay(old, now)).toEqual(now);
      }),
      {numRuns: 500},
    );
  });

  test('policy: a small change gives a small diff, also among lines that repeat', () => {
    const old = Array.from({length: 1000}, (_, index) => (index % 2 === 0 ? '}\n' : `f${index % 10}\n`));
    const now = old.toSpliced(500, 1, 'changed\n').toSpliced(20, 0, 'new\n');
    expect(diffLines(old, now)).toEqual([
      expect.objectContaining({oldCount: 0, newCount: 1}),
      expect.objectContaining({oldCount: 1, newCount: 1}),
    ]);
    expect(diffLines(old, old)).toEqual([]);
    const moved = [...old.slice(0, 10), 'unique\n', ...old.slice(10)];
    expect(diffLines(old, moved)).toHaveLength(1);
  });

  test('policy: the worst cases end in time', {tags: 'stress'}, () => {
    const count = 100_000;
    const cases: [string, string[], string[]][] = [
      ['nothing in common', numbered(count, 'a'), numbered(count, 'b')],
      ['reversed', numbered(count, 'a'), numbered(count, 'a').reverse()],
      ['two lines shuffled', alternating(count, 3), alternating(count, 5)],
      [
        'every other changed',
        numbered(count, 'a'),
        numbered(count, 'a').map((line, at) => (at % 2 ? line : `${line}!`)),
      ],
    ];
    for (const [, old, now] of cases) {
      const start = performance.now();
      diffLines(old, now);
      expect(performance.now() - start).toBeLessThan(3000);
    }
  });
});

function numbered(count: number, prefix: string): string[] {
  return Array.from({length: count}, (_, index) => `${prefix}${index}`);
}

function alternating(count: number, version: number): string[] {
  return Array.from({length: count}, (_, index) => ((index * index) % version < version / 2 ? 'x' : 'y'));
}

describe('the unified diff', () => {
  test('policy: is what people know, with counts of lines', () => {
    const old = bytes('1\n2\n3\n4\n5\n6\n7\n8\n9\n');
    const now = bytes('1\n2\n3\n4\nfive\n6\n7\n8\n9\nten');
    expect(renderUnifiedDiff(old, now, 'dir/two words')).toEqual({
      diff: `diff --git a/dir/two words b/dir/two words
--- a/dir/two words\t
+++ b/dir/two words\t
@@ -2,8 +2,9 @@
 2
 3
 4
-5
+five
 6
 7
 8
 9
+ten
\\ No newline at end of file
`,
      added: 2,
      removed: 1,
    });
    expect(renderUnifiedDiff(undefined, bytes('x\n'), 'x').diff).toContain(
      '--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+x\n',
    );
    expect(renderUnifiedDiff(bytes('x\n'), undefined, 'x').diff).toContain(
      '--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n',
    );
    expect(renderUnifiedDiff(old, old, 'x')).toEqual({diff: '', added: 0, removed: 0});
  });

  test('review R12: above 40,000 lines what differs is shown as one piece', () => {
    const same = 'x\n'.repeat(20_000);
    const around = 's\n'.repeat(5);
    const {diff, added, removed} = renderUnifiedDiff(
      bytes(`${around}a\n${same}b\n${around}`),
      bytes(`${around}A\n${same}B\n${around}`),
      'x',
    );
    expect([added, removed, diff.match(/^@@.*/gm)]).toEqual([20_002, 20_002, ['@@ -3,20008 +3,20008 @@']]);
    const lines = (kind: string) => diff.split('\n').filter(line => line.startsWith(kind)).length;
    expect([lines(' '), lines('-'), lines('+')]).toEqual([6, 20_003, 20_003]);
  });

  const around = 's\n'.repeat(5);
  const differing = (size: number) =>
    renderUnifiedDiff(bytes(`${around}a\ne\n`), bytes(`${around}${'x'.repeat(size)}\ne\n`), 'x');
  /** Three equal lines before and one behind, on both sides; the old line; and a newline. */
  const SHOWN = 1_048_576 - 2 * (3 * 2 + 2) - 2 - 1;

  test('review R12: what differs in 1 MiB is shown', () => {
    const {diff, added, removed} = differing(SHOWN);
    expect([added, removed, diff.length > SHOWN]).toEqual([1, 1, true]);
  });

  test('review R12: what differs in more than 1 MiB is counted', () => {
    expect(differing(SHOWN + 1)).toEqual({
      diff: 'diff --git a/x b/x\n--- a/x\n+++ b/x\n[not shown: from line 6 on, 1 lines are replaced by 1]\n',
      added: 1,
      removed: 1,
    });
  });

  test('property: read back and applied, it gives the new bytes, and the undo the old ones', {
    tags: 'slow',
  }, () => {
    const part = fc.constantFrom(
      'a',
      'b',
      '\n',
      '\n',
      '\r\n',
      '--- a/x\n',
      '+++ b/x\n',
      '@@ -1 +1 @@\n',
      '\xff\x00',
      '```\n',
      '-- \n2.39\n',
    );
    const content = fc.array(part, {maxLength: 30}).map(parts => parts.join(''));
    const name = fc.constantFrom('x', 'a b', 'ä/ö', 'quo"te', 'tab\t', '-- x') as fc.Arbitrary<WritablePath>;
    fc.assert(
      fc.property(content, content, name, fc.boolean(), (old, now, path, executable) => {
        const change: FileChange = {
          path,
          old: stateOf(old, 0o644),
          new: stateOf(now, executable ? 0o755 : 0o644),
        };
        if (old === now && !executable) return;
        expect(applied(bytesOf(atOnce(renderFileChange(change)).text), path, old)).toBe(now);
        expect(applied(atOnce(renderUndo([change])), path, now)).toBe(old);
      }),
      {numRuns: 500},
    );
  });
});

function applied(patch: Uint8Array, path: string, content: string): string {
  const parsed = parsePatch(patch);
  if (!parsed.ok) throw new Error(`${parsed.error.message}\n${byteString(patch)}`);
  expect(parsed.value.recounted).toBe(0);
  const [section] = parsed.value.sections;
  expect(section?.path).toBe(path);
  const result = atOnce(applyHunks(atOnce(TextLines.of(content)), section?.hunks ?? []));
  expect(result.problems).toEqual([]);
  expect(result.located.every(hunk => hunk.offset === 0)).toBe(true);
  return result.content;
}
