import {describe, expect, test} from 'vitest';
import {describeDifference} from './describe-difference.ts';

const differs = (found: string, wanted: string): readonly string[] =>
  describeDifference(found, wanted).differs;
const detail = (found: string, wanted: string, firstLine?: number): string =>
  describeDifference(found, wanted, firstLine).detail;

describe('W6: what differs is named by its kind', () => {
  test.each<[string, string, readonly string[]]>([
    ['a\r\nb', 'a\nb', ['line endings (the file has CRLF)']],
    ['a\rb', 'a\nb', ['line endings (the file has CRLF)']],
    ['a\nb', 'a\rb', ['line endings (the file has LF)']],
    ['a \nb', 'a\nb', ['white space at line ends']],
    ['a', 'a\n\n', ['white space at the end']],
    ['\ta', '  a', ['tabs against spaces']],
    ['a\t b', 'a b', ['tabs against spaces']],
    ['a  b', 'a b', ['the number of spaces']],
    ['a\t\tb', 'a\tb', ['the number of spaces']],
    ['a', '  a', ['indentation']],
    ['a\nb', '  a\n  b', ['indentation']],
    ['\u2018a\u201b \u2032', "'a' '", ['curly quotes or dashes']],
    ['\u201ca\u201d\u201e\u201f\u2033', '"a""""', ['curly quotes or dashes']],
    ['a \u2010 b \u2015 c \u2212', 'a - b - c -', ['curly quotes or dashes']],
    ['a\u2026', 'a...', ['curly quotes or dashes']],
    ['\u201a', "'", ['curly quotes or dashes']],
    ['a\u200bb', 'ab', ['invisible or composed characters']],
    ['a\u3000b', 'a b', ['invisible or composed characters']],
    ['e\u0301', '\u00e9', ['invisible or composed characters']],
  ])('W6: %j against %j: %j', (found, wanted, names) => {
    expect(differs(found, wanted)).toEqual(names);
  });

  test.each<[string, string, readonly string[]]>([
    [
      '\ta\r\nb',
      'a\nb c',
      ['line endings', 'tabs against spaces', 'indentation', 'white space within a line'],
    ],
    ['\u201ca\u201d\r\nb', '"a"\nb', ['line endings', 'curly quotes or dashes']],
    // Each kind is in both of them, and differs.
    ['a\t b\r\nc', 'a \tb\rc', ['white space']],
    ['a b', 'ab', ['white space within a line']],
    ['a b', 'a\nb', ['white space or line breaks']],
    ['a\nb\n', 'ab', ['white space or line breaks']],
    ['a b\n', 'ab', ['white space within a line']],
    ['a b\r\n', 'ab', ['white space within a line']],
    ['x = f( a )\r\ny', 'x = f(a)\ny', ['line endings', 'white space within a line']],
  ])('W6: several kinds in %j against %j: %j', (found, wanted, names) => {
    expect(differs(found, wanted)).toEqual(names);
  });
});

describe('W6: the first line that differs is shown as both have it', () => {
  test.each<[string, string, string]>([
    ['a\nb\nc', 'a\nB\nC', 'Line 2 is "b" in the file, "B" in old_string.'],
    ['\ta', '  a', 'Line 1 is "\\ta" in the file, "  a" in old_string.'],
    ['one', 'one\ntwo', 'Line 2 of it is not there.'],
    ['say one\ntwo', 'one\ntwo', ''],
    ['one\ntwo three', 'one\ntwo', ''],
    ['one two three', 'two', ''],
    ['one\ntwo three\nfour', 'one\ntwo\nfour', 'Line 2 is "two three" in the file, "two" in old_string.'],
    ['one two\nthree', 'one\nthree', 'Line 1 is "one two" in the file, "one" in old_string.'],
    ['one\nsay two', 'one\ntwo', 'Line 2 is "say two" in the file, "two" in old_string.'],
    ['a two b\nc', 'two\nc', 'Line 1 is "a two b" in the file, "two" in old_string.'],
  ])('W6: %j against %j: %j', (found, wanted, says) => {
    expect(detail(found, wanted)).toBe(says);
  });

  test('W6: it is numbered as in the file', () => {
    expect(detail('a\nb', 'a\nc', 7)).toBe('Line 8 is "b" in the file, "c" in old_string.');
    expect(detail('a', 'a\nc', 7)).toBe('Line 8 of it is not there.');
  });

  test('policy: of a long line the part is shown where it begins to differ', () => {
    const [start, end] = ['s'.repeat(200), 'e'.repeat(200)];
    const quoted = (unit: string): string => `"${'s'.repeat(20)}${unit}${'e'.repeat(99)}"`;
    expect(detail(`${start}a${end}`, `${start}b${end}`)).toBe(
      `Line 1 is …${quoted('a')}… in the file, …${quoted('b')}… in old_string.`,
    );
    expect(detail(`a${end}`, `b${end}`)).toBe(
      `Line 1 is "a${'e'.repeat(119)}"… in the file, "b${'e'.repeat(119)}"… in old_string.`,
    );
    expect(detail(`${start}a`, `${start}b`)).toBe(
      `Line 1 is …"${'s'.repeat(119)}a" in the file, …"${'s'.repeat(119)}b" in old_string.`,
    );
  });

  test('policy: a line of 120 units is shown whole, one of 121 in part', () => {
    const whole = 's'.repeat(119);
    expect(detail(`${whole}a`, `${whole}b`)).toBe(
      `Line 1 is "${whole}a" in the file, "${whole}b" in old_string.`,
    );
    expect(detail(`${whole}sa`, `${whole}sb`)).toBe(
      `Line 1 is …"${whole}a" in the file, …"${whole}b" in old_string.`,
    );
    expect(detail(`a${whole}s`, `b${whole}`)).toBe(
      `Line 1 is "a${whole}"… in the file, "b${whole}" in old_string.`,
    );
  });
});
