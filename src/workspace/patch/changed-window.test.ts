import fc from 'fast-check';
import {expect, test} from 'vitest';
import {atOnce} from '../open-file.ts';
import {type ChangedWindow, changedWindow, countLines, lineEdits} from './changed-window.ts';
import {diffLines, shortestEdit, uniqueAnchors} from './diff-lines.ts';
import {splitLines} from './patch.ts';

const text = (unit: readonly string[], maxLength: number) =>
  fc.array(fc.constantFrom(...unit), {maxLength}).map(parts => parts.join(''));

/** The same line by line. */
function windowByLines(before: string, after: string, context: number): ChangedWindow {
  const old = splitLines(before);
  const now = splitLines(after);
  const shorter = Math.min(old.length, now.length);
  let head = 0;
  while (head < shorter && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
  // Where one side has nothing else, nothing says that the first of them is a whole line.
  if (head + tail === shorter && tail > 0) tail -= 1;
  const equalFirst = Math.min(head, context);
  const equalLast = Math.min(tail, context);
  const cut = (lines: readonly string[]): string =>
    lines.slice(head - equalFirst, lines.length - tail + equalLast).join('');
  return {oldText: cut(old), newText: cut(now), linesBefore: head - equalFirst, equalFirst, equalLast};
}

test('property: what changed is what a comparison line by line says', () => {
  const few = text(['a\n', 'b\n', '\n', 'ab\n'], 8);
  const last = text(['a', 'b', ''], 1);
  fc.assert(
    fc.property(
      few,
      last,
      few,
      last,
      few,
      few,
      fc.nat(3),
      (head, oldEnd, tail, newEnd, old, now, context) => {
        const before = head + old + tail + oldEnd;
        const after = head + now + tail + newEnd;
        fc.pre(before !== after);
        expect(atOnce(changedWindow(before, after, context))).toEqual(windowByLines(before, after, context));
      },
    ),
    {numRuns: 1000},
  );
});

test.each([65_533, 65_534, 65_535, 65_536, 65_537, 131_071, 131_072, 131_073])(
  'policy: what changed behind and before %i equal bytes is found',
  size => {
    const same = `${'x'.repeat(size - 1)}\n`;
    for (const [before, after] of [
      [`${same}a\n`, `${same}b\n`],
      [`a\n${same}`, `b\n${same}`],
      [`${same}a\n${same}`, `${same}b\n${same}`],
      [`a\n${same}c\n`, `b\n${same}d\n`],
      [same, `${same}${same}`],
      [`${same}${same}`, same],
    ] as const) {
      expect(atOnce(changedWindow(before, after, 1))).toEqual(windowByLines(before, after, 1));
    }
  },
);

test.each([
  ['', 0],
  ['a', 1],
  ['\n', 1],
  ['a\n', 1],
  ['a\nb', 2],
  ['\n\n', 2],
  ['x\n'.repeat(40_000), 40_000],
  [`${'x\n'.repeat(40_000)}x`, 40_001],
])('policy: lines are counted', (content, lines) => {
  expect(atOnce(countLines(content))).toBe(lines);
});

/** Lines that stay in the longest common subsequence. */
function mostKept(old: readonly string[], now: readonly string[]): number {
  let row = new Array<number>(now.length + 1).fill(0);
  for (const line of old) {
    const next = [0];
    for (const [at, other] of now.entries()) {
      next.push(line === other ? (row[at] ?? 0) + 1 : Math.max(row[at + 1] ?? 0, next[at] ?? 0));
    }
    row = next;
  }
  return row[now.length] ?? 0;
}

const codes = fc.array(fc.nat(4), {maxLength: 14});

test('property: the shortest edit leaves as many lines as can stay, and its parts do not touch', () => {
  fc.assert(
    fc.property(codes, codes, fc.nat(3), fc.nat(3), (old, now, oldSkipped, newSkipped) => {
      // Of the lines before the span nothing is said.
      const before = Int32Array.from([...new Array(oldSkipped).fill(9), ...old]);
      const after = Int32Array.from([...new Array(newSkipped).fill(8), ...now]);
      fc.pre(old.length + now.length > 0);
      const edits = shortestEdit(before, after, {
        oldFrom: oldSkipped,
        oldTo: before.length,
        newFrom: newSkipped,
        newTo: after.length,
      });
      if (edits === undefined) throw new Error('Expected an edit');
      const rebuilt: number[] = [];
      let copied = oldSkipped;
      let last = -1;
      for (const {oldStart, oldCount, newStart, newCount} of edits) {
        expect(oldStart).toBeGreaterThan(last);
        expect(oldCount + newCount).toBeGreaterThan(0);
        rebuilt.push(...before.slice(copied, oldStart), ...after.slice(newStart, newStart + newCount));
        copied = oldStart + oldCount;
        last = copied;
      }
      rebuilt.push(...before.slice(copied));
      expect(rebuilt).toEqual(now);
      const kept = old.length - edits.reduce((sum, edit) => sum + edit.oldCount, 0);
      expect(kept).toBe(mostKept(old.map(String), now.map(String)));
    }),
    {numRuns: 1000},
  );
});

test('policy: above 256 edits the search for the shortest is given up', () => {
  const span = (count: number) => ({oldFrom: 0, oldTo: count, newFrom: 0, newTo: count});
  const edited = (count: number) =>
    shortestEdit(
      Int32Array.from({length: count}, (_, at) => at),
      Int32Array.from({length: count}, (_, at) => 1000 + at),
      span(count),
    );
  expect(edited(128)).toEqual([{oldStart: 0, oldCount: 128, newStart: 0, newCount: 128}]);
  expect(edited(129)).toBeUndefined();
});

test('policy: of very many lines few edits are looked for', () => {
  const lines = 250_000;
  const edited = (changes: number) => {
    const before = new Int32Array(lines);
    const after = Int32Array.from(before, (_, at) => (at % 10 === 0 && at < 10 * changes ? 1 : 0));
    return shortestEdit(before, after, {oldFrom: 0, oldTo: lines, newFrom: 0, newTo: lines});
  };
  expect(edited(8)).toHaveLength(9);
  expect(edited(9)).toBeUndefined();
});

test('property: anchors are the longest list of lines that are there once on both sides', () => {
  const permuted = fc
    .uniqueArray(fc.nat(9), {maxLength: 7})
    .chain(lines => fc.tuple(fc.shuffledSubarray(lines, {minLength: lines.length}), fc.constant(lines)));
  fc.assert(
    fc.property(permuted, codes, ([old, now], repeated) => {
      const before = Int32Array.from([...old, ...repeated.map(code => 20 + code)]);
      const after = Int32Array.from([...now, ...repeated.map(code => 20 + code)]);
      const span = {oldFrom: 0, oldTo: old.length, newFrom: 0, newTo: now.length};
      const anchors = uniqueAnchors(before, after, span);
      expect(anchors).toHaveLength(mostKept(old.map(String), now.map(String)));
      for (const [at, [oldAt, newAt]] of anchors.entries()) {
        expect(before[oldAt]).toBe(after[newAt]);
        const [oldBefore, newBefore] = anchors[at - 1] ?? [-1, -1];
        expect(oldAt).toBeGreaterThan(oldBefore);
        expect(newAt).toBeGreaterThan(newBefore);
      }
    }),
    {numRuns: 500},
  );
});

test('policy: a line that is there twice on one side is no anchor', () => {
  const span = {oldFrom: 0, oldTo: 3, newFrom: 0, newTo: 3};
  expect(uniqueAnchors(Int32Array.of(1, 2, 1), Int32Array.of(1, 2, 3), span)).toEqual([[1, 1]]);
  expect(uniqueAnchors(Int32Array.of(1, 2, 3), Int32Array.of(1, 2, 1), span)).toEqual([[1, 1]]);
  expect(uniqueAnchors(Int32Array.of(0, 2, 3), Int32Array.of(1, 4, 5), span)).toEqual([]);
});

test.each<readonly [string, readonly string[], readonly string[], ReturnType<typeof diffLines>]>(
  // biome-ignore format: a case is a line
  [
    ['nothing', [], [], []],
    ['nothing differs', ['a', 'b'], ['a', 'b'], []],
    ['all is new', [], ['a'], [{oldStart: 0, oldCount: 0, newStart: 0, newCount: 1}]],
    ['all is gone', ['a'], [], [{oldStart: 0, oldCount: 1, newStart: 0, newCount: 0}]],
    ['a line before', ['b'], ['a', 'b'], [{oldStart: 0, oldCount: 0, newStart: 0, newCount: 1}]],
    ['a line behind', ['a'], ['a', 'b'], [{oldStart: 1, oldCount: 0, newStart: 1, newCount: 1}]],
    ['a line that repeats comes', ['a', 'a'], ['a', 'a', 'a'], [{oldStart: 2, oldCount: 0, newStart: 2, newCount: 1}]],
    ['a line that repeats goes', ['a', 'a', 'a'], ['a', 'a'], [{oldStart: 2, oldCount: 1, newStart: 2, newCount: 0}]],
    [
      'lines that are there once hold the parts together',
      ['}', 'one', '}', 'two', '}'],
      ['}', '}', 'one', 'x', '}', 'two'],
      [
        {oldStart: 1, oldCount: 0, newStart: 1, newCount: 1},
        {oldStart: 2, oldCount: 0, newStart: 3, newCount: 1},
        {oldStart: 4, oldCount: 1, newStart: 6, newCount: 0},
      ],
    ],
    ['a line that is there once holds more of them together than fewer edits would', ['once', 'x', 'x', 'x'], ['x', 'x', 'x', 'once'], [{oldStart: 0, oldCount: 0, newStart: 0, newCount: 3}, {oldStart: 1, oldCount: 3, newStart: 4, newCount: 0}]],
    ['a line behind a part that is also at the end goes', ['once', 's', 's'], ['x', 'once', 's'], [{oldStart: 0, oldCount: 0, newStart: 0, newCount: 1}, {oldStart: 1, oldCount: 1, newStart: 2, newCount: 0}]],
    ['a line behind a part that is also at the end comes', ['x', 'once', 's'], ['once', 's', 's'], [{oldStart: 0, oldCount: 1, newStart: 0, newCount: 0}, {oldStart: 2, oldCount: 0, newStart: 1, newCount: 1}]],
    ['a line before a part that is also at the beginning goes', ['s', 's', 'once'], ['s', 'once', 'x'], [{oldStart: 1, oldCount: 1, newStart: 1, newCount: 0}, {oldStart: 3, oldCount: 0, newStart: 2, newCount: 1}]],
    ['a line before a part that is also at the beginning comes', ['s', 'once', 'x'], ['s', 's', 'once'], [{oldStart: 1, oldCount: 0, newStart: 1, newCount: 1}, {oldStart: 2, oldCount: 1, newStart: 3, newCount: 0}]],
    ['a line of what comes is also behind it', ['a', 's'], ['b', 's', 'c', 's'], [{oldStart: 0, oldCount: 1, newStart: 0, newCount: 3}]],
    ['a line of what goes is also behind it', ['b', 's', 'c', 's'], ['a', 's'], [{oldStart: 0, oldCount: 3, newStart: 0, newCount: 1}]],
  ],
)('policy: the lines that differ: %s', (_, old, now, edits) => {
  expect(diffLines(old, now)).toEqual(edits);
});

test('policy: edits are counted from the beginning of the file', () => {
  expect(atOnce(lineEdits('a\nb\nc\n', 'a\nB\nc\nd\n'))).toEqual([
    {oldStart: 1, oldCount: 1, newStart: 1, newCount: 1},
    {oldStart: 3, oldCount: 0, newStart: 3, newCount: 1},
  ]);
  expect(atOnce(lineEdits('a\n', 'a\n'))).toEqual([]);
});

test('policy: above 40,000 lines what differs is one piece', () => {
  const edits = (lines: number) => {
    const middle = Array.from({length: lines / 2 - 2}, (_, at) => `${at}\n`).join('');
    return atOnce(lineEdits(`s\na\n${middle}b\n`, `s\nA\n${middle}B\n`)).length;
  };
  expect([edits(40_000), edits(40_002)]).toEqual([2, 1]);
});

test('policy: of few lines of two kinds, whatever they are, the edits make the new ones from the old ones', () => {
  const kinds = ['a', 'b'];
  const lists: (readonly string[])[] = [[]];
  for (const list of lists) if (list.length < 4) lists.push(...kinds.map(kind => [...list, kind]));
  const wrong: unknown[] = [];
  for (const old of lists) {
    for (const now of lists) {
      const edits = diffLines(old, now);
      const made = edits.reduceRight<readonly string[]>(
        (lines, {oldStart, oldCount, newStart, newCount}) =>
          lines.toSpliced(oldStart, oldCount, ...now.slice(newStart, newStart + newCount)),
        old,
      );
      const isBelowZero = edits.some(({oldCount, newCount}) => oldCount < 0 || newCount < 0);
      if (made.join() !== now.join() || isBelowZero) wrong.push([old, now, edits]);
    }
  }
  expect(wrong).toEqual([]);
});
