import {describe, expect, test} from 'vitest';
import {mostSimilarLines} from './most-similar-lines.ts';

const similar = (text: string, wanted: string) => mostSimilarLines(text.split('\n'), wanted.split('\n'));
const many = (line: string, times: number): string => `${line}\n`.repeat(times);

describe('W6: the place that was most likely meant', () => {
  test.each<[string, string, string, readonly [number, number] | undefined]>([
    ['an equal line tells', 'a\nb\nsome line\nc', 'some line\nother', [3, 4]],
    ['its place in what was wanted counts', 'a\nb\nsome line\nc', 'other\nsome line\nmore', [2, 4]],
    ['more equal lines win', 'line one\nx\nline one\nline two', 'line one\nline two', [3, 4]],
    ['of as many the first wins', 'line one\nx\nline one', 'line one\nx', [1, 2]],
    ['nor do fewer, though they come first', 'x\nline two\nline one\nline two', 'line one\nline two', [3, 4]],
    [
      'the first also where its line is the last',
      'x\nline two\ny\nline one\nz',
      'line one\nline two',
      [1, 2],
    ],
    ['blanks do not count', '  some   line', 'some line', [1, 1]],
    ['three characters tell nothing', 'abc\nabcd', 'abc\nabcx', undefined],
    ['four do', 'x\nabcd\ny', 'abcd', [2, 2]],
    ['it does not begin before the file', 'some line\nb', 'x1\nx2\nsome line', [1, 1]],
    ['it does not end behind the file', 'a\nsome line', 'some line\nx\ny', [2, 2]],
    [
      'without an equal line, the likest to the longest',
      'a\nconst total = sum(values);\nb',
      'zz\nconst totals = sum(value);',
      [1, 2],
    ],
    ['nothing in common', 'some line\nanother line', 'Completely Different Words', undefined],
    ['nothing to compare', 'some line', 'so', undefined],
    ['a file without a line that long', 'a\nb', 'some line', undefined],
  ])('W6: %s', (_, text, wanted, lines) => {
    expect(similar(text, wanted)).toEqual(lines);
  });

  test('W6: of two that are alike the liker one, and of two equally like the first', () => {
    const wanted = 'const total = values.reduce(add);';
    expect(similar('let total = values.map(x);\nconst total = values.reduce(sum);', wanted)).toEqual([2, 2]);
    expect(similar('const total = values.reduce(sum);\nlet total = values.map(x);', wanted)).toEqual([1, 1]);
    expect(similar('const total = values.reduce(one);\nconst total = values.reduce(two);', wanted)).toEqual([
      1, 1,
    ]);
  });

  test('W6: half of the runs of three characters have to be shared, in both directions', () => {
    expect(similar('abcdefXXXX', 'abcdefYYYY')).toBeUndefined();
    expect(similar('abcdefghXX', 'abcdefghYY')).toEqual([1, 1]);
    expect(similar(`abcdefghYY${'X'.repeat(20)}`, 'abcdefghYY')).toBeUndefined();
    expect(similar('abc', 'abcdefghYY')).toBeUndefined();
  });

  test('policy: a line that stands there more than twenty times tells nothing', () => {
    const wanted = 'return;\nvoid this.done();';
    expect(similar(`${many('return;', 20)}void that.gone();`, wanted)).toEqual([1, 2]);
    expect(similar(`x\n${many('return;', 21)}y`, wanted)).toBeUndefined();
    expect(similar(`${many('return;', 21)}void this.gone();`, wanted)).toEqual([21, 22]);
  });

  test('policy: a long line is compared by its first 1000 characters', () => {
    const start = Array.from({length: 250}, (_, at) => String(1000 + at)).join('');
    expect(similar(`x\n${start}${'a'.repeat(5000)}`, `${start}${'b'.repeat(5000)}`)).toEqual([2, 2]);
    expect(similar(`x\n${'a'.repeat(1000)}${start}`, `${'b'.repeat(1000)}${start}`)).toBeUndefined();
  });
});
