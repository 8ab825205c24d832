import {expect, test} from 'vitest';
import {pretendDeadline} from '../../../test/support/pretend-deadline.ts';
import {fail} from '../../core/result.ts';
import {jsonBytes, type OutputSource, outputLines, outputRange, shorten} from './output-keeper.ts';
import {renderOutput} from './render-run.ts';
import {searchOutput} from './search-output.ts';

const IN_TIME = pretendDeadline({
  spent: false,
  signal: new AbortController().signal,
  failure: () => fail('timeout', 'Late.'),
});
const LATE = pretendDeadline({spent: true});

function sourceOf(text: string, more: Partial<OutputSource> = {}, size = 7): OutputSource {
  const bytes = Buffer.from(text);
  const file = {
    bytes: bytes.length,
    blocks: async function* () {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
    },
    close: async () => {},
  };
  return {file, isCut: false, mayBeMarked: false, ...more};
}

const ALL = {start: 1, end: Number.MAX_SAFE_INTEGER, maxBytes: 1000, deadline: IN_TIME};
const noRipgrep = async () => fail('ripgrep_unavailable', 'There is none.');
const search = (source: OutputSource, text: string, more: object = {}) =>
  searchOutput(source, {...ALL, text, isRegex: false, contextLines: 0, ...more}, noRipgrep);

async function linesOf(text: string, size?: number): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of outputLines(sourceOf(text, {}, size).file.blocks(), IN_TIME)) lines.push(line);
  return lines;
}

test.each<readonly [string, readonly string[]]>([
  ['', []],
  ['a', ['a']],
  ['a\n', ['a']],
  ['a\n\nb', ['a', '', 'b']],
  ['\n\n', ['', '']],
  ['a long line of text\nand one more\nc', ['a long line of text', 'and one more', 'c']],
  ['ä€🐝\nx', ['ä€🐝', 'x']],
])('W17: the lines of %j, in parts of any size', async (text, lines) => {
  for (const size of [1, 2, 3, 7, 100]) expect(await linesOf(text, size)).toEqual(lines);
});

test('W17: bytes that are no text are replaced, and a character that is cut off too', async () => {
  const blocks = async function* () {
    yield Uint8Array.of(0x61, 0xff, 0x0a);
    yield Uint8Array.of(0xc3);
  };
  const lines: string[] = [];
  for await (const line of outputLines(blocks(), IN_TIME)) lines.push(line);
  expect(lines).toEqual(['a\ufffd', '\ufffd']);
});

test('W17: no line comes when time is up', async () => {
  const lines: string[] = [];
  for await (const line of outputLines(sourceOf('a\nb\n').file.blocks(), LATE)) lines.push(line);
  expect(lines).toEqual([]);
  expect(await outputRange(sourceOf('a\n'), {...ALL, deadline: LATE})).toEqual(LATE.failure());
  expect(await search(sourceOf('a\n'), 'a', {deadline: LATE})).toEqual(LATE.failure());
});

const page = (from: number, to: number, total: number, content: string, more: object = {}) => ({
  total_lines: total,
  complete: true,
  start_line: from,
  end_line: to,
  content,
  truncated: false,
  ...more,
});

test.each<readonly [string, OutputSource, object, object]>(
  // biome-ignore format: a case is a line
  [
    ['all', sourceOf('a\nb\nc\n'), {}, page(1, 3, 3, 'a\nb\nc\n')],
    ['nothing', sourceOf(''), {}, page(1, 0, 0, '')],
    ['an open line', sourceOf('a\nb'), {}, page(1, 2, 2, 'a\nb\n')],
    ['a part', sourceOf('a\nb\nc\nd\n'), {start: 2, end: 3}, page(2, 3, 4, 'b\nc\n')],
    ['up to behind the end', sourceOf('a\nb\n'), {start: 2, end: 9}, page(2, 2, 2, 'b\n')],
    ['what was cut', sourceOf('a\n', {isCut: true}), {}, page(1, 1, 1, 'a\n', {complete: false})],
    ['what has a mark', sourceOf('a\n[... 12 bytes left out ...]\nb\n', {mayBeMarked: true}), {start: 3}, page(3, 3, 3, 'b\n', {complete: false})],
    ['what only looks like a mark', sourceOf('[... 12 bytes left out ...]\n'), {}, page(1, 1, 1, '[... 12 bytes left out ...]\n')],
    ['what looks like a mark with more', sourceOf('x[... 1 bytes left out ...]\n[... 1 bytes left out ...]x\n', {mayBeMarked: true}), {start: 1, end: 1}, page(1, 1, 2, 'x[... 1 bytes left out ...]\n')],
    ['colours of a terminal', sourceOf('\x1b[31ma\x1b[0m\n'), {}, page(1, 1, 1, 'a\n')],
    // Each is `"aaa"` with a comma.
    ['as many as fit', sourceOf('aaa\nbbb\nccc\nddd\n'), {maxBytes: 12}, page(1, 2, 4, 'aaa\nbbb\n', {truncated: true, next: {start_line: 3}})],
    ['one less where a byte is missing', sourceOf('aaa\nbbb\nccc\n'), {maxBytes: 11}, page(1, 1, 3, 'aaa\n', {truncated: true, next: {start_line: 2}})],
    ['no short line behind one that does not fit', sourceOf('aaa\nbbbbbbbbb\nc\n'), {maxBytes: 12}, page(1, 1, 3, 'aaa\n', {truncated: true, next: {start_line: 2}})],
    ['the first line, however long, in part', sourceOf(`${'x'.repeat(100)}\nb\n`), {maxBytes: 60}, page(1, 1, 2, `${'x'.repeat(30)} [… 70 more characters]\n`, {truncated: true, next: {start_line: 2}})],
    ['a long line among others', sourceOf(`a\n${'x'.repeat(2001)}\n`), {maxBytes: 9000}, page(1, 2, 2, `a\n${'x'.repeat(2000)} [… 1 more characters]\n`, {truncated: true})],
    ['a line of 2000 characters among others', sourceOf(`a\n${'x'.repeat(2000)}\n`), {maxBytes: 9000}, page(1, 2, 2, `a\n${'x'.repeat(2000)}\n`)],
    ['a long line that is asked for alone', sourceOf(`${'x'.repeat(2001)}\nb\n`), {maxBytes: 9000, end: 1}, page(1, 1, 2, `${'x'.repeat(2001)}\n`)],
  ],
)('W17: of an output is shown: %s', async (_, source, range, expected) => {
  expect(await outputRange(source, {...ALL, ...range})).toEqual({ok: true, value: expected});
});

test.each<readonly [object, string]>([
  [{start: 3, end: 2}, 'Expected start_line to be at most end_line, got 3 and 2. It has 2 lines.'],
  [{start: 0}, 'Expected start_line to be a line of the output, got 0. It has 2 lines.'],
  [{start: 3}, 'Expected start_line to be a line of the output, got 3. It has 2 lines.'],
])('W17: %j are no lines of the output', async (range, message) => {
  const expected = fail('invalid_params', message, {
    field: 'start_line',
    reason: message.replace(' It has 2 lines.', ''),
    total_lines: 2,
  });
  expect(await outputRange(sourceOf('a\nb\n'), {...ALL, ...range})).toEqual(expected);
  expect(await search(sourceOf('a\nb\n'), 'a', range)).toEqual(expected);
});

test('W17: a line is cut between two characters, and its bytes are those of JSON', () => {
  expect(shorten('abc', 3)).toBe('abc');
  expect(shorten('abcd', 3)).toBe('abc [… 1 more characters]');
  expect(shorten('ab🐝c', 3)).toBe('ab [… 3 more characters]');
  expect(['', 'a', '"', 'ä', '\n'].map(jsonBytes)).toEqual([3, 4, 5, 5, 5]);
});

const found = (
  total: number,
  matches: readonly (readonly [number, string, string?, string?])[],
  more: object = {},
) => ({
  total_lines: total,
  complete: true,
  start_line: 1,
  end_line: total,
  matches: matches.map(([line, content, before = '', after = '']) => ({
    line,
    content,
    context_before: before === '' ? [] : before.split(' '),
    context_after: after === '' ? [] : after.split(' '),
  })),
  total_matches: matches.length,
  truncated: false,
  ...more,
});

const LETTERS = 'a\nb\nm1\nc\nd\ne\nm2\nm3\nf\n';

test.each<readonly [string, OutputSource, string, object, object]>(
  // biome-ignore format: a case is a line
  [
    ['a text in any case', sourceOf('one\nTwo\ntwo\n'), 'tWO', {}, found(3, [[2, 'Two'], [3, 'two']])],
    ['nothing', sourceOf('one\n'), 'x', {}, found(1, [])],
    ['with a line around each', sourceOf(LETTERS), 'm', {contextLines: 1}, found(9, [[3, 'm1', 'b', 'c'], [7, 'm2', 'e', 'm3'], [8, 'm3', 'm2', 'f']])],
    ['with two lines around each', sourceOf(LETTERS), 'm', {contextLines: 2}, found(9, [[3, 'm1', 'a b', 'c d'], [7, 'm2', 'd e', 'm3 f'], [8, 'm3', 'e m2', 'f']])],
    ['in a part, with lines around it', sourceOf(LETTERS), 'm', {contextLines: 1, start: 4, end: 7}, found(9, [[7, 'm2', 'e', 'm3']], {start_line: 4, end_line: 7})],
    ['at the borders of a part', sourceOf(LETTERS), 'm', {start: 3, end: 8}, found(9, [[3, 'm1'], [7, 'm2'], [8, 'm3']], {start_line: 3, end_line: 8})],
    ['in what was cut', sourceOf('m\n', {isCut: true}), 'm', {}, found(1, [[1, 'm']], {complete: false})],
    ['beside a mark', sourceOf('m\n[... 1 bytes left out ...]\n', {mayBeMarked: true}), 'm', {}, found(2, [[1, 'm']], {complete: false})],
    ['colours left out', sourceOf('\x1b[1mred\x1b[0m one\n'), 'red one', {}, found(1, [[1, 'red one']])],
    // A match of two characters has five bytes and 80 more.
    ['as many as fit', sourceOf('m1\nm2\nm3\n'), 'm', {maxBytes: 170}, found(3, [[1, 'm1'], [2, 'm2']], {total_matches: 3, truncated: true, next: {start_line: 3}})],
    ['one less where a byte is missing', sourceOf('m1\nm2\nm3\n'), 'm', {maxBytes: 169}, found(3, [[1, 'm1']], {total_matches: 3, truncated: true, next: {start_line: 2}})],
    ['the first one without what does not fit before it', sourceOf('aaaa\nbbbb\nm1\n'), 'm', {maxBytes: 98, contextLines: 2}, found(3, [[3, 'm1']])],
    ['the first one with what just fits before it', sourceOf('aaaa\nbbbb\nm1\n'), 'm', {maxBytes: 99, contextLines: 2}, found(3, [[3, 'm1', 'aaaa bbbb']])],
    ['without lines behind it that do not fit', sourceOf('m1\naaaa\nbbbb\n'), 'm', {maxBytes: 92, contextLines: 2}, found(3, [[1, 'm1', '', 'aaaa']], {truncated: true})],
    ['a long line in part', sourceOf(`m${'x'.repeat(99)}\n`), 'm', {maxBytes: 160}, found(1, [[1, `m${'x'.repeat(9)} [… 90 more characters]`]], {truncated: true})],
  ],
)('W18: in an output is found: %s', async (_, source, text, more, expected) => {
  expect(await search(source, text, more)).toEqual({ok: true, value: expected});
});

test('W18: at most 1000 matches are told, and all are counted', async () => {
  const result = await search(sourceOf('m\n'.repeat(1002), {}, 1000), 'm', {maxBytes: 1_000_000});
  expect(result).toMatchObject({
    value: {matches: {length: 1000}, total_matches: 1002, truncated: true, next: {start_line: 1001}},
  });
});

test('W4: without ripgrep there is no regular expression', async () => {
  expect(await search(sourceOf('a\n'), 'a', {isRegex: true})).toEqual(await noRipgrep());
});

test('W17: between groups of matches that do not touch, lines are left out', () => {
  const around = (line: number) => ({
    line,
    content: `m${line}`,
    context_before: [`${line - 1}`],
    context_after: [`${line + 1}`],
  });
  const shown = (...lines: readonly number[]) =>
    renderOutput({
      ...{step: 1, stream: 'stdout', total_lines: 20, complete: true, start_line: 1, end_line: 20},
      ...{matches: lines.map(around), total_matches: lines.length, truncated: false},
    })
      .split('\n')
      .slice(1);
  expect(shown(3, 7)).toEqual(['2-2', '3:m3', '4-4', '--', '6-6', '7:m7', '8-8']);
  expect(shown(3, 6)).toEqual(['2-2', '3:m3', '4-4', '5-5', '6:m6', '7-7']);
  expect(shown(3, 4)).toEqual(['2-2', '3:m3', '4:m4', '5-5']);
});
