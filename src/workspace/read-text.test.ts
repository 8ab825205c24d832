import {closeSync, ftruncateSync, openSync, writeSync} from 'node:fs';
import {join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {jailedFileSystem} from '../../test/support/jailed-file-system.ts';
import {openWorkspaceForTest} from '../../test/support/open-workspace-for-test.ts';
import {unwrap} from '../../test/support/outcome.ts';
import {pretendDeadline} from '../../test/support/pretend-deadline.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {fail, type Result} from '../core/result.ts';
import {InMemoryFileSystem} from './memory-workspace.ts';
import {contentHash} from './open-file.ts';
import {type ReadTextOptions, readText, type TextRead} from './read-text.ts';

const LIMIT = 10_000_000;

async function read(
  content: string | Uint8Array,
  options: Partial<ReadTextOptions> = {},
): Promise<Result<TextRead>> {
  const files = new InMemoryFileSystem({f: content});
  return readText(files, unwrap(files.resolve('f')), {maxBytes: LIMIT, ...options});
}

const numbered = (from: number, to: number): string =>
  Array.from({length: to - from + 1}, (_, at) => `line ${from + at}\n`).join('');

describe('ruling W5: ranges', () => {
  const TEXT = 'one\ntwo\r\nthree';

  test.each([
    [undefined, undefined, TEXT, 1, 3],
    [1, 3, TEXT, 1, 3],
    [2, 2, 'two\r\n', 2, 2],
    [3, undefined, 'three', 3, 3],
    [undefined, 1, 'one\n', 1, 1],
    [2, 99, 'two\r\nthree', 2, 3],
  ])('lines %s to %s', async (startLine, endLine, content, start, end) => {
    const {data, hash} = unwrap(await read(TEXT, {startLine, endLine}));
    expect(data).toEqual({content, truncated: false, total_lines: 3, start_line: start, end_line: end});
    expect(hash).toBe(contentHash(Buffer.from(TEXT)));
  });

  test.each([
    [0, undefined, 'start_line'],
    [-1, undefined, 'start_line'],
    [undefined, 0, 'end_line'],
    [3, 2, 'start_line'],
    [4, undefined, 'start_line'],
    [4, 9, 'start_line'],
    [Number.NaN, undefined, 'start_line'],
  ])('lines %s to %s are invalid_params, with the number of lines', async (startLine, endLine, field) => {
    expect(await read(TEXT, {startLine, endLine})).toMatchObject({
      ok: false,
      error: {code: 'invalid_params', details: {field, total_lines: 3}},
    });
  });

  test('an empty file has 0 lines; asking for its first is no error, for its second is', async () => {
    const empty = {content: '', truncated: false, total_lines: 0, start_line: 1, end_line: 0};
    expect(unwrap(await read('')).data).toEqual(empty);
    expect(unwrap(await read('', {startLine: 1, endLine: 5})).data).toEqual(empty);
    expect(await read('', {startLine: 2})).toMatchObject({error: {details: {total_lines: 0}}});
  });

  test('a BOM, lone CRs and blank lines stay', async () => {
    for (const text of ['\ufeffa\n', 'a\rb\n', '\n\n\n', '\n', 'x']) {
      expect(unwrap(await read(text)).data.content).toBe(text);
    }
    expect(unwrap(await read('a\rb\n')).data.total_lines).toBe(1);
    expect(unwrap(await read('\n\n\n')).data.total_lines).toBe(3);
  });

  test('a range is the lines that splitting the file would give', async () => {
    const text = fc.array(fc.constantFrom('a', '\n', '\r\n', 'é', '😀', ' ')).map(parts => parts.join(''));
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.integer({min: 1, max: 6}),
        fc.integer({min: 1, max: 6}),
        async (content, a, b) => {
          const lines = content === '' ? [] : content.split(/(?<=\n)/);
          const [start, end] = [Math.min(a, b), Math.max(a, b)];
          const result = await read(content, {startLine: start, endLine: end});
          if (start > Math.max(1, lines.length)) {
            expect(result.ok).toBe(false);
            return;
          }
          const {data} = unwrap(result);
          expect(data.content).toBe(lines.slice(start - 1, end).join(''));
          expect([data.total_lines, data.end_line]).toEqual([lines.length, Math.min(end, lines.length)]);
        },
      ),
    );
  });
});

describe('Tool API, read_file: more than 10,000 lines', () => {
  test('exactly 10,000 are whole', async () => {
    const {data} = unwrap(await read(numbered(1, 10_000)));
    expect(data).toMatchObject({truncated: false, content: numbered(1, 10_000)});
  });

  test('of 12,000 the first and the last 5,000 are left, with one line between, and next', async () => {
    const {data} = unwrap(await read(numbered(1, 12_000)));
    const left = numbered(5001, 7000).length;
    expect(data.content).toBe(
      `${numbered(1, 5000)}[… ${left} bytes of lines 5001-7000 left out …]\n${numbered(7001, 12_000)}`,
    );
    expect(data).toMatchObject({truncated: true, total_lines: 12_000, start_line: 1, end_line: 12_000});
    expect(data.next).toEqual({start_line: 5001, end_line: 7000});
  });

  test('ruling W5: the limit counts the range, not the file', async () => {
    const text = numbered(1, 30_000);
    const {data} = unwrap(await read(text, {startLine: 20_001, endLine: 20_003}));
    expect(data).toEqual({
      content: numbered(20_001, 20_003),
      truncated: false,
      total_lines: 30_000,
      start_line: 20_001,
      end_line: 20_003,
    });
    const cut = unwrap(await read(text, {startLine: 10_001})).data;
    expect(cut.next).toEqual({start_line: 15_001, end_line: 25_000});
  });
});

describe('policy: the byte limit', () => {
  test('cuts at line ends and says what to ask for next', async () => {
    const {data} = unwrap(await read(numbered(1, 100), {maxBytes: 100}));
    expect(data.content).toBe(
      `${numbered(1, 7)}[… 694 bytes of lines 8-94 left out …]\n${numbered(95, 100)}`,
    );
    expect(data.next).toEqual({start_line: 8, end_line: 94});
  });

  test('a line longer than the limit is cut between characters', async () => {
    const {data} = unwrap(await read(`${'é'.repeat(50_000)}\n`, {maxBytes: 101}));
    expect(data.content).toBe(`${'é'.repeat(25)}\n[… 99902 bytes of line 1 left out …]\n${'é'.repeat(24)}\n`);
    expect(data).toMatchObject({truncated: true, total_lines: 1, start_line: 1, end_line: 1});
    expect(data.next).toBeUndefined();
  });

  test('whatever the limit: head and tail are a prefix and a suffix, and next is what is between', async () => {
    const text = fc
      .array(fc.constantFrom('abc', '\n', 'é\n', '😀', 'x\r\n'), {minLength: 1, maxLength: 60})
      .map(parts => parts.join(''));
    await fc.assert(
      fc.asyncProperty(text, fc.integer({min: 2, max: 60}), async (content, maxBytes) => {
        const {data} = unwrap(await read(content, {maxBytes}));
        const size = Buffer.byteLength(content);
        if (size <= maxBytes) {
          expect(data).toMatchObject({content, truncated: false});
          return;
        }
        const [, head = '', left, tail = ''] =
          /^(.*?)\[… (\d+) bytes of lines? [\d-]+ left out …\]\n(.*)$/s.exec(data.content) ?? [];
        const shown = size - Number(left) - Buffer.byteLength(tail);
        const start = Buffer.from(content).subarray(0, shown).toString();
        expect([start, `${start}\n`]).toContain(head);
        expect(content.endsWith(tail)).toBe(true);
        expect(Buffer.byteLength(start) + Buffer.byteLength(tail)).toBeLessThanOrEqual(maxBytes);
        if (data.next === undefined) return;
        const lines = content.split(/(?<=\n)/);
        const between = lines.slice(data.next.start_line - 1, data.next.end_line).join('');
        expect(content.slice(start.length, content.length - tail.length)).toContain(between);
      }),
      {numRuns: 300},
    );
  });
});

describe('files that are no text', () => {
  test('Tool API: binary_file, with the offset', async () => {
    expect(await read(new Uint8Array([0x61, 0x0a, 0xff]))).toMatchObject({
      ok: false,
      error: {code: 'binary_file', details: {path: 'f', offset: 2}},
    });
  });

  test('policy: a NUL makes a file binary, as it does for search', async () => {
    expect(await read('ab\0c')).toMatchObject({
      ok: false,
      error: {code: 'binary_file', details: {offset: 2}},
    });
  });

  test('ruling W5: also where the bad bytes are outside the range', async () => {
    const content = new Uint8Array([...Buffer.from('one\ntwo\n'), 0x80]);
    expect(await read(content, {startLine: 1, endLine: 1})).toMatchObject({error: {details: {offset: 8}}});
  });
});

test('policy: reading stops when the time is spent', async () => {
  const deadline = pretendDeadline({spent: true, failure: () => fail('timeout', 'spent')});
  expect(await read('x', {deadline})).toMatchObject({ok: false, error: {code: 'timeout'}});
});

describe('large files, on disk', () => {
  async function onDisk(
    write: (descriptor: number) => void,
  ): Promise<(options?: Partial<ReadTextOptions>) => Promise<TextRead>> {
    const root = temporaryDirectory();
    const descriptor = openSync(join(root, 'f'), 'w');
    write(descriptor);
    closeSync(descriptor);
    const files = jailedFileSystem(openWorkspaceForTest(root));
    return async options =>
      unwrap(await readText(files, unwrap(files.resolve('f')), {maxBytes: 102_400, ...options}));
  }

  test('ruling W5: a small range of 64 MB: exact total, little memory', {tags: 'slow'}, async () => {
    const block = Buffer.from('0123456789abcde\n'.repeat(65_536));
    const readIt = await onDisk(descriptor => {
      for (let at = 0; at < 64; at += 1) writeSync(descriptor, block);
    });
    const before = process.memoryUsage().arrayBuffers;
    const {data} = await readIt({startLine: 4_000_000, endLine: 4_000_001});
    expect(data).toMatchObject({
      content: '0123456789abcde\n'.repeat(2),
      total_lines: 4_194_304,
      truncated: false,
    });
    const whole = await readIt();
    expect(whole.data.truncated).toBe(true);
    expect(whole.data.content.length).toBeLessThan(103_000);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * 1024 * 1024);
  });

  test('policy: a line of 10 MB', async () => {
    const readIt = await onDisk(descriptor => {
      writeSync(descriptor, Buffer.alloc(10_000_000, 'x'));
      writeSync(descriptor, '\nend');
    });
    const {data} = await readIt();
    expect(data).toMatchObject({truncated: true, total_lines: 2, end_line: 2});
    expect(data.content.endsWith('left out …]\nend')).toBe(true);
  });

  test('policy: a sparse file is NULs, found at the first block', async () => {
    const root = temporaryDirectory();
    const descriptor = openSync(join(root, 'f'), 'w');
    ftruncateSync(descriptor, 2 ** 40);
    closeSync(descriptor);
    const files = jailedFileSystem(openWorkspaceForTest(root));
    const result = await readText(files, unwrap(files.resolve('f')), {maxBytes: 1000});
    expect(result).toMatchObject({ok: false, error: {code: 'binary_file', details: {offset: 0}}});
  });
});
