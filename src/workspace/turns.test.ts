import {describe, expect, test} from 'vitest';
import {codeOf, unwrap} from '../../test/support/outcome.ts';
import {fail} from '../core/failure/fail.ts';
import {hashInTurns} from './content-hash.ts';
import {findNext, findOccurrences} from './edit/replace/find-occurrences.ts';
import {isCrlf} from './edit/replace/is-crlf.ts';
import {replaceExact} from './edit/replace/replace-exact.ts';
import {withCrlf} from './edit/replace/with-crlf.ts';
import {applyHunks} from './patch/apply/apply-hunks.ts';
import {LineIndex} from './patch/apply/line-index.ts';
import {TextLines} from './patch/apply/text-lines.ts';
import {byteString, bytesOf} from './patch/byte-string.ts';
import {changedWindow, countLines} from './patch/diff/changed-window.ts';
import {renderFileChange} from './patch/diff/render-unified.ts';
import {lineEdits} from './patch/line-edits.ts';
import {parsePatch} from './patch/parse/parse-patch.ts';
import {replaceText} from './replace/replace-text.ts';
import {atOnce, BYTES_A_TURN, inTurns, type Turns} from './turns.ts';
import type {WritablePath} from './workspace-path.ts';

const MIB = 8;
const LINES = 100_000;
const LINE = `${'0123456789'.repeat(8)}\n`;
const CRLF_LINE = LINE.replace('\n', '\r\n');
const TEXT = byteString(
  Buffer.from(Array.from({length: LINES}, (_, at) => `${String(at).padStart(6)}${LINE}`).join('')),
);
const CONTENT = bytesOf(TEXT);
const CRLF = Buffer.from(CRLF_LINE.repeat(LINES));
const OTHER = TEXT.replace('99999', 'other');
const FILE = atOnce(TextLines.of(TEXT));
const path = 'f.txt' as WritablePath;
const modify = {
  kind: 'modify',
  path,
  old: {content: TEXT, mode: 0o644},
  new: {content: OTHER, mode: 0o644},
} as const;

const hunksOf = (patch: string) => unwrap(parsePatch(patch)).sections[0]?.hunks ?? [];
const moved = hunksOf(`--- a/f\n+++ b/f\n@@ -7 +7 @@\n-${FILE.line(LINES - 2)}+x\n`);
const missing = hunksOf('--- a/f\n+++ b/f\n@@ -7,2 +7,2 @@\n context\n-absent\n+x\n');
const whole = hunksOf(`--- a/f\n+++ b/f\n@@ -1,${LINES} +1 @@\n${TEXT.replace(/^/gm, '-').slice(0, -1)}+x\n`);

/** Each goes through some eight million bytes. */
const WORKS: Readonly<Record<string, () => Turns<unknown>>> = {
  'the hash of a content': () => hashInTurns(CONTENT),
  'counting lines': () => countLines(TEXT),
  'finding where lines begin': () => TextLines.of(TEXT),
  'the index of lines': () => LineIndex.of(FILE),
  'the window that changed': () => changedWindow(TEXT, OTHER, 3),
  'which lines became which': () => lineEdits(TEXT, OTHER),
  'a diff': () => renderFileChange(modify),
  'whether a file has CRLF': () => isCrlf(CRLF),
  'giving it CRLF': () => withCrlf(TEXT),
  'a text that occurs once': () => findOccurrences(TEXT, ' 99998'),
  'a text that occurs often': () => findOccurrences(TEXT, '0123'),
  'a long text': () => findOccurrences(TEXT, TEXT.slice(5, 10_000)),
  'the next place of a text': () => findNext(TEXT, 'absent', 0),
  'str_replace of one place': () => replaceExact('f', CONTENT, ' 99998', 'x'),
  'str_replace of each place': () => replaceExact('f', CONTENT, '0123', 'x', true),
  'str_replace of nothing': () => replaceExact('f', CONTENT, 'absent', 'x'),
  replace_in_files: () => replaceText(CRLF, [{at: 1, length: 2, replacement: Buffer.from('x')}]),
  'a hunk that moved': () => applyHunks(FILE, moved),
  'a hunk that does not fit': () => applyHunks(FILE, missing),
  'a hunk of the whole file': () => applyHunks(FILE, whole),
};

describe('review R12: what goes through a large content lets others have their turn', () => {
  test.each(Object.entries(WORKS))('%s', {tags: 'slow'}, (_, work) => {
    const steps = work();
    let turns = 0;
    while (steps.next().done !== true) turns += 1;
    // Work on lines comes in pieces of lines; none has more than a mebibyte.
    expect(turns).toBeGreaterThanOrEqual(Math.min(MIB - 1, Math.floor(LINES / 16_384)));
  });

  test('and a file of usual size takes one', () => {
    const content = Buffer.from(LINE.repeat(1000));
    const steps = replaceExact('f', content, 'absent', 'x');
    expect(steps.next().done).toBe(true);
  });
});

test('review R12: the place of a match does not depend on where a turn ends', () => {
  for (const at of [
    BYTES_A_TURN - 3,
    BYTES_A_TURN - 2,
    BYTES_A_TURN - 1,
    BYTES_A_TURN,
    2 * BYTES_A_TURN - 1,
  ]) {
    const text = `${'.'.repeat(at)}abc${'.'.repeat(BYTES_A_TURN)}`;
    expect(atOnce(findNext(text, 'abc', 0))).toBe(at);
    expect(atOnce(findOccurrences(text, 'abc'))).toEqual({count: 1, first: [at]});
    expect(atOnce(countLines(text.replaceAll('b', '\n')))).toBe(2);
  }
});

test('review R12: work is let go on up to the deadline, and no further', async () => {
  let asked = 0;
  const deadline = {
    get spent() {
      asked += 1;
      return asked === 3;
    },
    failure: () => fail('timeout', 'spent'),
  };
  expect(codeOf(await inTurns(hashInTurns(CONTENT), deadline))).toBe('timeout');
  expect(asked).toBe(3);
});
