import {describe, expect, test} from 'vitest';
import {codeOf, unwrap} from '../../test/support/outcome.ts';
import {pretendDeadline} from '../../test/support/pretend-deadline.ts';
import {stateOf} from '../../test/support/state-of.ts';
import {fail} from '../core/result.ts';
import {findNext, findOccurrences, isCrlf, withCrlf} from './change/find-occurrences.ts';
import {replaceExact} from './change/replace-exact.ts';
import {replaceText} from './change/replacements.ts';
import {
  atOnce,
  BYTES_A_TURN,
  contentHash,
  hashInTurns,
  hashOpenFile,
  inTurns,
  type OpenFile,
  readBlocks,
  readWhole,
  type Turns,
} from './open-file.ts';
import {applyHunks} from './patch/apply-hunks.ts';
import {changedWindow, countLines, lineEdits} from './patch/changed-window.ts';
import {parsePatch} from './patch/parse-patch.ts';
import {byteString, bytesOf} from './patch/patch.ts';
import {LineIndex, TextLines} from './patch/text-lines.ts';
import {renderFileChange} from './patch/unified.ts';
import type {WorkspacePath, WritablePath} from './workspace-path.ts';

/** A file that had `size` bytes when it was opened, and has this content now. */
function fileOf(content: Uint8Array, size = content.length) {
  const calls: number[] = [];
  let closed = 0;
  const file: OpenFile = {
    path: 'f' as WorkspacePath,
    info: {kind: 'file', size, mode: 0o644, links: 1},
    read: async (into, position) => {
      calls.push(into.length);
      const part = content.subarray(position, position + into.length);
      into.set(part);
      return part.length;
    },
    close: async () => {
      closed += 1;
    },
  };
  return {file, calls, closed: () => closed};
}

const content = new Uint8Array(700_000).map((_, at) => at % 251);

describe('reading a whole file', () => {
  test('gives every byte of it, in blocks, and closes it', async () => {
    const {file, calls, closed} = fileOf(content);
    expect(Buffer.compare(unwrap(await readWhole(file)), content)).toBe(0);
    // Three blocks, and one read that finds the end.
    expect(calls).toEqual([262_144, 262_144, 262_144, 262_144]);
    expect(closed()).toBe(1);
  });

  test('a small file is read into a small buffer', async () => {
    const {file, calls} = fileOf(new Uint8Array(10));
    expect(unwrap(await readWhole(file))).toHaveLength(10);
    expect(calls).toEqual([4096, 4096]);
    const odd = fileOf(new Uint8Array(5000));
    unwrap(await readWhole(odd.file));
    expect(odd.calls).toEqual([5001, 5001]);
  });

  test('policy: one above the limit is not read at all', async () => {
    const {file, calls, closed} = fileOf(content);
    expect(await readWhole(file, {maxBytes: content.length - 1})).toMatchObject({
      error: {
        code: 'file_too_large',
        message: '"f" has 700000 bytes, more than the 699999 this works on. Use run for a file of that size.',
        details: {path: 'f', size: 700_000, max_bytes: 699_999},
      },
    });
    expect(calls).toEqual([]);
    expect(closed()).toBe(1);
    expect(Buffer.compare(unwrap(await readWhole(file, {maxBytes: content.length})), content)).toBe(0);
  });

  test('policy: one that grows above the limit while it is read ends there', async () => {
    const {file, calls, closed} = fileOf(content, 3);
    expect(await readWhole(file, {maxBytes: 5000})).toMatchObject({
      error: {code: 'file_too_large', details: {size: 8192, max_bytes: 5000}},
    });
    expect(calls).toHaveLength(2);
    expect(closed()).toBe(1);
    // Two blocks are the limit to the byte, and there is more.
    const {file: another} = fileOf(content.subarray(0, 9000), 4096);
    expect(codeOf(await readWhole(another, {maxBytes: 2 * 4097}))).toBe('file_too_large');
  });

  test('one that shrinks is what is left of it', async () => {
    const {file} = fileOf(content.subarray(0, 100), 5000);
    expect(unwrap(await readWhole(file))).toEqual(Buffer.from(content.subarray(0, 100)));
  });

  test('an error of the system is a failure, and the file is closed', async () => {
    const {file, closed} = fileOf(content);
    const read = () => Promise.reject(Object.assign(new Error('x'), {code: 'EIO', syscall: 'read'}));
    expect(await readWhole({...file, read})).toMatchObject({
      error: {code: 'io_error', details: {path: 'f', error: 'EIO', operation: 'read'}},
    });
    expect(closed()).toBe(1);
  });

  test('a deadline that is over ends it between two blocks', async () => {
    const {file, calls, closed} = fileOf(content);
    const deadline = pretendDeadline({
      get spent() {
        return calls.length === 2;
      },
      failure: () => fail('timeout', 'spent'),
    });
    expect(codeOf(await readWhole(file, {deadline}))).toBe('timeout');
    expect(calls).toHaveLength(2);
    expect(closed()).toBe(1);
  });
});

test('ruling W6: the hash is that of every byte', async () => {
  const {file} = fileOf(content);
  expect(unwrap(await hashOpenFile(file))).toBe(contentHash(content));
});

test('blocks begin where they are asked for, and end when they are refused', async () => {
  const {file} = fileOf(content);
  const lengths: number[] = [];
  const first: number[] = [];
  const take = (block: Uint8Array) => {
    lengths.push(block.length);
    first.push(block[0] ?? -1);
    return lengths.length < 2;
  };
  expect(await readBlocks(file, take, undefined, 1000)).toEqual({ok: true, value: undefined});
  expect(lengths).toEqual([262_144, 262_144]);
  expect(first).toEqual([1000 % 251, (1000 + 262_144) % 251]);
});

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
const modify = {path, old: stateOf(TEXT, 0o644), new: stateOf(OTHER, 0o644)};

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
  'str_replace of each place': () => replaceExact('f', CONTENT, '0123', 'x', {replaceAll: true}),
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
  const deadline = pretendDeadline({
    get spent() {
      asked += 1;
      return asked === 3;
    },
    failure: () => fail('timeout', 'spent'),
  });
  expect(codeOf(await inTurns(hashInTurns(CONTENT), deadline))).toBe('timeout');
  expect(asked).toBe(3);
});
