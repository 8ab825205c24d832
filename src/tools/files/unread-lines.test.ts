import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {callWorkspaceTools} from '../../../test/support/call-workspace-tools.ts';
import {byteString} from '../../workspace/patch/byte-string.ts';
import {lineEdits} from '../../workspace/patch/line-edits.ts';
import {countUnseen, joinSeen, type LineRange, seenAfter} from '../../workspace/seen-lines.ts';

const NUMBERS = Array.from({length: 62}, (_, at) => `line ${at + 1}\n`).join('');

test('W5: write_file says how many lines went that had not been read, and how to bring them back', async () => {
  const asked: string[] = [];
  const approver = {
    ask: async ({summary}: {summary: string}) => {
      asked.push(summary);
      return {answer: 'once'} as const;
    },
  };
  const place = await callWorkspaceTools({'README.md': NUMBERS}, {approval: {mode: 'prompt'}, approver});
  await place.data('read_file', {path: 'README.md', start_line: 1, end_line: 2});
  const params = {path: 'README.md', content: 'x'};
  const shown = await place.data('write_file', {...params, dry_run: true});
  expect(shown).toMatchObject({unread_lines_replaced: 60});
  expect(shown).not.toHaveProperty('undo_step');
  expect(place.tool('write_file').renderText(shown)).toContain('[60 lines that had not been read would go]');
  const done = await place.data('write_file', params);
  expect(done).toMatchObject({unread_lines_replaced: 60, undo_step: 3, removed: 62});
  expect(asked).toEqual(['write_file README.md (1 byte, replaces 60 unread lines)']);
  expect(place.tool('write_file').renderText(done)).toBe(
    'README.md | +1 -62 (replaced, 1 byte)\n[60 lines that had not been read went; undo with step=3 brings them back]',
  );
  await place.data('undo', {step: 3});
  expect(readFileSync(join(place.root, 'README.md'), 'utf8')).toBe(NUMBERS);
});

test('W5: lines that were read, in whatever parts, or written, or that stay, are none of them', async () => {
  const place = await callWorkspaceTools({
    'a.txt': NUMBERS,
    'b.txt': NUMBERS,
    'c.txt': NUMBERS,
    'd.txt': NUMBERS,
  });
  const write = async (path: string, content: string) =>
    (await place.data('write_file', {path, content}))['unread_lines_replaced'] ?? 0;
  await place.data('read_file', {path: 'a.txt'});
  expect(await write('a.txt', 'x\n')).toBe(0);
  expect(await write('a.txt', 'y\n')).toBe(0);
  await place.data('read_file', {path: 'b.txt', start_line: 31});
  await place.data('read_file', {path: 'b.txt', start_line: 1, end_line: 29});
  expect(await write('b.txt', NUMBERS.replace('line 30\n', ''))).toBe(1);
  // The lines after an edit of one's own are those that were read before it.
  await place.data('read_file', {path: 'c.txt', start_line: 10, end_line: 12});
  await place.data('str_replace', {
    path: 'c.txt',
    old_string: 'line 11\n',
    new_string: 'eleven\n11 b\n11 c\n',
  });
  expect(await write('c.txt', NUMBERS.replace('line 10\nline 11\nline 12\n', ''))).toBe(0);
  // What was written whole is known whole.
  expect(await write('c.txt', 'x\n')).toBe(0);
  await place.data('read_file', {path: 'd.txt', start_line: 1, end_line: 1});
  await place.data('move_file', {from: 'd.txt', to: 'e.txt'});
  expect(await write('e.txt', NUMBERS.replace('line 1\nline 2\n', ''))).toBe(1);
});

test('W5: seen lines follow any change, and none is seen that was not', () => {
  const line = fc.constantFrom('a\n', 'b\n', 'c\n', 'd\n', '\n');
  const text = fc.array(line, {maxLength: 12});
  fc.assert(
    fc.property(
      text,
      text,
      fc.array(fc.tuple(fc.nat(12), fc.nat(5)), {maxLength: 4}),
      (before, after, starts) => {
        const ranges = starts.map(
          ([start, length]): LineRange => [start + 1, Math.min(start + length, before.length)],
        );
        const seen = joinSeen(ranges, []);
        const isSeen = (lines: typeof seen, at: number): boolean =>
          lines === 'all' || lines.some(([first, last]) => at >= first && at <= last);
        const edits = lineEdits(
          byteString(Buffer.from(before.join(''))),
          byteString(Buffer.from(after.join(''))),
        );
        const now = seenAfter(seen, edits);
        const gone = new Set(
          edits.flatMap(({oldStart, oldCount}) =>
            Array.from({length: oldCount}, (_, at) => oldStart + at + 1),
          ),
        );
        const fresh = new Set(
          edits.flatMap(({newStart, newCount}) =>
            Array.from({length: newCount}, (_, at) => newStart + at + 1),
          ),
        );
        expect(countUnseen(seen, edits)).toBe([...gone].filter(at => !isSeen(seen, at)).length);
        const stayed = before.flatMap((_, at) => (gone.has(at + 1) ? [] : [isSeen(seen, at + 1)]));
        const kept = after.flatMap((_, at) => (fresh.has(at + 1) ? [] : [isSeen(now, at + 1)]));
        expect(kept).toEqual(stayed);
        expect([...fresh].every(at => isSeen(now, at))).toBe(true);
      },
    ),
  );
});
