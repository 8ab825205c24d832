import {expect, test} from 'vitest';
import {codeOf} from '../../../test/support/outcome.ts';
import {fail} from '../../core/failure/fail.ts';
import {parsePatch, parsePatchInTurns} from './parse/parse-patch.ts';
import {LINES_A_TURN} from './turns.ts';

const LINES = 6 * LINES_A_TURN;
const hunk = (start: number, count: number): string =>
  `@@ -${start},${count} +${start},${count} @@\n${'-x\n'.repeat(count)}${'+y\n'.repeat(count)}`;
const NAMES = '--- a/f\n+++ b/f\n';

const PATCHES = {
  'one hunk': NAMES + hunk(1, LINES / 2),
  'one hunk with wrong counts': NAMES + hunk(1, LINES / 2).replace(/^@@.*/, '@@ -1,1 +1,1 @@'),
  'many hunks': NAMES + Array.from({length: LINES / 2}, (_, at) => hunk(at + 1, 1)).join(''),
  'many files': Array.from({length: LINES / 4}, (_, at) => `--- a/${at}\n+++ b/${at}\n${hunk(1, 1)}`).join(
    '',
  ),
  'lines that are no diff': 'word\n'.repeat(LINES),
  'CRLF throughout': (NAMES + hunk(1, LINES / 2)).replaceAll('\n', '\r\n'),
};

test.each(Object.entries(PATCHES))(
  'review R12: while a patch is read others have their turns: %s',
  {tags: 'slow'},
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

test('review R12: a patch is read up to the deadline of its call, and no further', async () => {
  let asked = 0;
  const deadline = {
    get spent() {
      asked += 1;
      return asked === 3;
    },
    failure: () => fail('timeout', 'spent'),
  };
  expect(codeOf(await parsePatchInTurns(PATCHES['one hunk'], deadline))).toBe('timeout');
  expect(asked).toBe(3);
});

test('review R12: a patch of usual size is read in one turn', async () => {
  let turns = 0;
  setImmediate(() => {
    turns += 1;
  });
  await parsePatchInTurns(NAMES + hunk(1, 1000));
  expect(turns).toBe(0);
});
