import {describe, expect, test} from 'vitest';
import {codeOf} from '../../../test/support/outcome.ts';
import {pretendDeadline} from '../../../test/support/pretend-deadline.ts';
import {stateOf} from '../../../test/support/state-of.ts';
import {fail} from '../../core/result.ts';
import type {FileChange} from '../change/file-change.ts';
import {atOnce, BYTES_A_TURN, LINES_A_TURN, type Turns} from '../open-file.ts';
import type {WritablePath} from '../workspace-path.ts';
import {applyHunks, type FileHistory} from './apply-hunks.ts';
import {parseBeginPatch} from './begin-patch.ts';
import {changedWindow, countLines} from './changed-window.ts';
import {renderHistories} from './cross-check.ts';
import {parseHunk} from './hunk.ts';
import {parsePatch, parsePatchInTurns} from './parse-patch.ts';
import type {HunkLine} from './patch.ts';
import {joined} from './place-hunks.ts';
import {LineIndex, TextLines} from './text-lines.ts';
import {renderFileChanges} from './unified.ts';

/** Nothing of its content is looked at. */
function renameOf(bytes: number): FileChange {
  const state = stateOf('x'.repeat(bytes), 0o644);
  return {path: 'y' as WritablePath, from: 'x' as WritablePath, old: state, new: state};
}

test('review R12: others have their turns between diffs of many bytes together', () => {
  const turnsOf = (...sizes: readonly number[]): number => {
    const work = renderFileChanges(sizes.map(renameOf));
    for (let turns = 0; ; turns += 1) if (work.next().done === true) return turns;
  };
  expect(turnsOf(262_143)).toBe(0);
  expect(turnsOf(262_144)).toBe(1);
  expect(turnsOf(131_072, 131_071, 1, 131_072)).toBe(1);
  expect(turnsOf(262_144, 262_144)).toBe(2);
});

test('review R12: of what is deleted the old bytes count', () => {
  const old = stateOf('', 0o644);
  const deletion: FileChange = {path: 'z' as WritablePath, old, new: undefined};
  const work = renderFileChanges([deletion, renameOf(262_144)]);
  expect(work.next()).toEqual({done: false, value: undefined});
  expect(work.next()).toMatchObject({done: true, value: [{path: 'z'}, {path: 'y'}]});
});

const LINES = 6 * LINES_A_TURN;
const hunk = (start: number, count: number): string =>
  `@@ -${start},${count} +${start},${count} @@\n${'-x\n'.repeat(count)}${'+y\n'.repeat(count)}`;
const BEGIN = '*** Begin Patch\n';
const END = '*** End Patch\n';
const NAMES = '--- a/f\n+++ b/f\n';

const PATCHES = {
  'one hunk': NAMES + hunk(1, LINES / 2),
  'one hunk with wrong counts': NAMES + hunk(1, LINES / 2).replace(/^@@.*/, '@@ -1,1 +1,1 @@'),
  'many hunks': NAMES + Array.from({length: LINES / 2}, (_, at) => hunk(at + 1, 1)).join(''),
  'many files': Array.from({length: LINES / 4}, (_, at) => `--- a/${at}\n+++ b/${at}\n${hunk(1, 1)}`).join(
    '',
  ),
  'lines that are no diff': 'word\n'.repeat(LINES),
  'a Begin Patch with one hunk': `${BEGIN}*** Update File: f\n@@\n${'-x\n'.repeat(LINES / 2)}${'+y\n'.repeat(LINES / 2)}${END}`,
  'a Begin Patch with many hunks': `${BEGIN}*** Update File: f\n${'@@\n-x\n+y\n'.repeat(LINES / 3)}${END}`,
  'a Begin Patch of a new file': `${BEGIN}*** Add File: f\n${'+x\n'.repeat(LINES)}${END}`,
  'a Begin Patch with many files': `${BEGIN}${Array.from({length: LINES / 2}, (_, at) => `*** Delete File: ${at}\n`).join('')}${END}`,
  'CRLF throughout': (NAMES + hunk(1, LINES / 2)).replaceAll('\n', '\r\n'),
};

test.each(Object.entries(PATCHES))(
  'review R12: while a patch is read others have their turns: %s',
  {tags: 'stress'},
  async (_, text) => {
    let turns = 0;
    let isRead = false;
    const count = (): void => {
      turns += 1;
      if (!isRead) setImmediate(count);
    };
    setImmediate(count);
    const read = await parsePatchInTurns(text);
    isRead = true;
    // So many lines at once at most, in the pass that splits them and in those that look at them.
    expect(turns).toBeGreaterThanOrEqual(LINES / LINES_A_TURN);
    expect(read).toEqual(parsePatch(text));
  },
);

test('review R12: a patch is read up to the deadline of its call, and no further', {
  tags: 'stress',
}, async () => {
  let asked = 0;
  const deadline = pretendDeadline({
    get spent() {
      asked += 1;
      return asked === 3;
    },
    failure: () => fail('timeout', 'spent'),
  });
  expect(codeOf(await parsePatchInTurns(PATCHES['one hunk'], deadline))).toBe('timeout');
  expect(asked).toBe(3);
});

test('review R12: a patch of usual size is read in one turn', {tags: 'stress'}, async () => {
  let turns = 0;
  setImmediate(() => {
    turns += 1;
  });
  await parsePatchInTurns(NAMES + hunk(1, 1000));
  expect(turns).toBe(0);
});

describe('turns of patches', () => {
  /** How often others have a turn while the work is done. */
  function turnsOf(work: Turns<unknown>): number {
    for (let turns = 0; ; turns += 1) if (work.next().done === true) return turns;
  }

  const of = <Value>(count: number, value: Value): Value[] => Array.from({length: count}, () => value);
  const fileOf = (content: string): TextLines => atOnce(TextLines.of(content));
  const hunkOf = (kind: HunkLine['kind'], lines: number, hasNoLineNumber = false) => ({
    line: 1,
    oldStart: hasNoLineNumber ? undefined : kind === '+' ? 0 : 1,
    hasNoLineNumber,
    lines: of(lines, {kind, text: 'x\n'}),
  });
  const beginPatch = (...lines: readonly string[]) =>
    parseBeginPatch(['*** Begin Patch', ...lines, '*** End Patch'], 0, () => {});

  const LINES = LINES_A_TURN;
  const BYTES = BYTES_A_TURN;

  /** Each goes through its lines in one pass or several; a turn for each pass, or none a line before. */
  test.each<readonly [string, number, number, (lines: number) => Turns<unknown>]>(
    // biome-ignore format: a case is a line
    [
      ['lines are joined', 0, 1, lines => joined(of(lines, 'x\n'))],
      ['a hunk that removes is applied', 1, 5, lines => applyHunks(fileOf('x\n'.repeat(lines)), [hunkOf('-', lines)])],
      ['a hunk that adds is applied', 1, 4, lines => applyHunks(fileOf(''), [hunkOf('+', lines)])],
      ['a hunk is read with CRLF', 1, 6, lines => applyHunks(fileOf('x\r\n'.repeat(lines)), [hunkOf('-', lines)])],
      ['a hunk is not found', 1, 5, lines => applyHunks(fileOf('y\n'), [hunkOf('-', lines)])],
      ['a hunk without numbers is found at an open end', 7, 14, lines => applyHunks(fileOf(`${'x\n'.repeat(lines - 1)}x`), [hunkOf('-', lines, true)])],
      ['a Begin Patch of many files is read', 1, 2, lines => beginPatch(...of(lines, '*** Delete File: x'))],
      ['a hunk with right counts is read', 0, 2, lines => parseHunk([`@@ -1,${lines} +0,0 @@`, ...of(lines, '-x')], 0, {isGit: false, asMeant: false})],
      ['a hunk with wrong counts is read', 0, 3, lines => parseHunk(['@@ -1,9 +0,0 @@', ...of(lines, '-x')], 0, {isGit: false, asMeant: false})],
      ['a hunk without counts is read', 0, 3, lines => parseHunk(['@@', ...of(lines, '-x')], 0, {isGit: false, asMeant: false})],
      ['a hunk with a broken header is passed', 0, 3, lines => parseHunk(['@@ -', ...of(lines, '-x')], 0, {isGit: false, asMeant: false})],
    ],
  )('review R12: others have their turns while %s', (_, before, after, work) => {
    expect([turnsOf(work(LINES - 1)), turnsOf(work(LINES))]).toEqual([before, after]);
  });

  test.each<readonly [string, number, (lines: number) => Turns<unknown>]>([
    ['of a change', 3, lines => beginPatch('*** Update File: x', '@@', ...of(lines, '-x'))],
    ['of a new file', 3, lines => beginPatch('*** Add File: x', ...of(lines, '+x'))],
    [
      'behind the end',
      1,
      lines => parseBeginPatch(['*** Begin Patch', '*** End Patch', ...of(lines, 'x')], 0, () => {}),
    ],
  ])(
    'review R12: others have their turns while the lines of a Begin Patch are read: %s',
    (_, turns, work) => {
      expect(turnsOf(work(LINES))).toBe(turns);
    },
  );

  test('review R12: others have their turns between very many short hunks', () => {
    const hunks = (count: number) =>
      applyHunks(
        fileOf('x\n'.repeat(count)),
        Array.from({length: count}, (_, at) => ({
          line: 1,
          oldStart: at + 1,
          lines: [{kind: '-' as const, text: 'x\n'}],
        })),
      );
    expect([turnsOf(hunks(LINES / 2 - 1)), turnsOf(hunks(LINES / 2))]).toEqual([0, 1]);
  });

  test.each<readonly [string, number, number, (bytes: number) => Turns<unknown>]>([
    ['lines are counted', 0, 1, bytes => countLines('x'.repeat(bytes))],
    ['lines are told apart', 0, 2, bytes => TextLines.of('x'.repeat(bytes))],
  ])('review R12: others have their turns while %s, byte by byte', (_, at, behind, work) => {
    expect([turnsOf(work(BYTES)), turnsOf(work(BYTES + 1))]).toEqual([at, behind]);
  });

  test.each<readonly [string, (same: string) => Turns<unknown>]>([
    ['beginning', same => changedWindow(`${same}a`, `${same}b`, 0)],
    ['end', same => changedWindow(`a${same}`, `b${same}`, 0)],
  ])('review R12: others have their turns while an equal %s is looked for', (_, work) => {
    expect([turnsOf(work('x'.repeat(BYTES - 1))), turnsOf(work('x'.repeat(BYTES)))]).toEqual([0, 1]);
  });

  test('review R12: others have their turns while lines are looked up', () => {
    const index = (lines: number) => LineIndex.of(fileOf('abcdefg\n'.repeat(lines)));
    expect([65_536, 65_537, 131_072, 131_073].map(lines => turnsOf(index(lines)))).toEqual([0, 1, 1, 2]);
    const found = (lines: number) =>
      atOnce(LineIndex.of(fileOf('x\n'.repeat(lines)))).occurrences(of(lines, 'x\n'), 6, {comparisons: 1e9});
    expect([turnsOf(found(3 * 4096 - 1)), turnsOf(found(3 * 4096))]).toEqual([4, 6]);
  });

  test('review R12: others have their turns while the ends of lines are looked at', () => {
    const ends = (lines: number) => fileOf('x\r\n'.repeat(lines)).isCrlf();
    expect([turnsOf(ends(262_143)), turnsOf(ends(262_144))]).toEqual([0, 1]);
  });

  test('review R12: others have their turns while hunks are written for GNU patch', () => {
    const histories = (lines: number): readonly FileHistory[] => [
      {
        initial: '',
        final: '',
        versions: [
          {kind: 'modify', order: 0, hunks: [{at: 0, offset: 0, lines: of(lines, {kind: '-', text: 'x\n'})}]},
        ],
      },
    ];
    const turns = (lines: number) => turnsOf(renderHistories(histories(lines)));
    expect([LINES - 1, LINES, 2 * LINES].map(turns)).toEqual([0, 1, 2]);
  });

  test('review R12: others have their turns between diffs', () => {
    const diffs = (size: number) =>
      renderFileChanges(
        of(7, {
          path: 'x' as WritablePath,
          old: stateOf('a\n', 0o644),
          new: stateOf('x'.repeat(size), 0o644),
        }),
      );
    expect([turnsOf(diffs(131_071)), turnsOf(diffs(131_072))]).toEqual([2, 3]);
  });

  test('review R12: others have their turns while a patch is read', async () => {
    const turnsWhile = async (patch: string): Promise<number> => {
      let turns = 0;
      let isRead = false;
      const count = (): void => {
        if (isRead) return;
        turns += 1;
        setImmediate(count);
      };
      setImmediate(count);
      await parsePatchInTurns(patch);
      isRead = true;
      return turns;
    };
    const names = '--- a/x\n+++ b/x\n';
    const hunk = '@@ -1 +1 @@\n-a\n+b\n';
    const patches: readonly (readonly [(lines: number) => string, readonly number[]])[] = [
      [lines => '\n'.repeat(lines), [0, 0, 3, 4]],
      [lines => 'word\r\n'.repeat(lines), [0, 2, 5, 6]],
      [lines => 'word\n'.repeat(lines), [0, 2, 4, 5]],
      [lines => names + hunk.repeat(lines / 3), [0, 4, 4, 5]],
      [lines => (names + hunk).repeat(lines / 5), [0, 2, 2, 4]],
    ];
    for (const [patch, expected] of patches) {
      const turns: number[] = [];
      for (const lines of [1, LINES - 1, LINES, LINES + 5]) turns.push(await turnsWhile(patch(lines)));
      expect(turns).toEqual(expected);
    }
  });
});
