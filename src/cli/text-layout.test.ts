import fc from 'fast-check';
import {expect, test} from 'vitest';
import type {Console} from './console.ts';
import {groupDigits, humanDuration, humanSize, quoted, wrapMarkdown, wrapText} from './text-layout.ts';

test('policy: prose is broken at blanks, and goes on below its text', () => {
  const markdown = [
    'one two three four',
    '- one two three four',
    '  1. one two three four',
    '> one two three four',
    '一二三四五六 七八',
  ].join('\n');
  expect(wrapMarkdown(markdown, 12).split('\n')).toEqual([
    'one two',
    'three four',
    '- one two',
    '  three four',
    '  1. one two',
    '     three',
    '     four',
    '> one two',
    '> three four',
    '一二三四五六',
    '七八',
  ]);
});

test('policy: code, tables and headings keep their lines, and a long word is whole', () => {
  // biome-ignore format: a list
  const markdown = [
    '```js', 'const one = two + three;', '~~~', '``` not the end', 'still code, and long', '```',
    '| a table | with cells |', '# A heading that is long', '    indented code of many words',
    'https://example.com/a/long/address',
  ];
  expect(wrapMarkdown(markdown.join('\n'), 12).split('\n')).toEqual(markdown);
});

test('property: words and their order stay, and no line is wider than it has to be', () => {
  const word = fc.stringMatching(/^[a-z]{1,9}$/);
  fc.assert(
    fc.property(
      fc.array(word, {minLength: 1, maxLength: 30}),
      fc.integer({min: 10, max: 40}),
      (words, width) => {
        const wrapped = wrapText(words.join(' '), width);
        expect(wrapped.split(/\s+/)).toEqual(words);
        expect(Math.max(...wrapped.split('\n').map(line => line.length))).toBeLessThanOrEqual(width);
      },
    ),
    {numRuns: 300},
  );
});

const at = (columns: number) => ({color: false, columns}) as Partial<Console> as Console;

/** Independent of the code: what xterm and its kin do with these characters. */
function widthOf(row: string): number {
  let width = 0;
  for (const character of row) {
    if (/[\u0300-\u036f\u0e31\u0e34-\u0e3a]/.test(character)) continue;
    width +=
      /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u.test(
        character,
      )
        ? 2
        : 1;
  }
  return width;
}

test.each([
  ['full-width blanks', '\u3000'.repeat(38)],
  ['ideographs', '漢'.repeat(77)],
  ['emoji', '😀'.repeat(51)],
  ['a family', '👨‍👩‍👧‍👦'.repeat(20)],
  ['regional indicators', '🇩🇪'.repeat(40)],
  ['combining marks', 'e\u0301'.repeat(90)],
  ['jamo', '\u1112\u1161\u11ab'.repeat(60)],
  ['ambiguous', '·×─│'.repeat(40)],
  ['tabs', '\t'.repeat(60)],
  ['blanks', ' '.repeat(300)],
  ['what cannot be seen', '\u200b\u2060\u3164\u00ad'.repeat(40)],
])('review R15: %s do not lead a line to the first column of a row', (_, filler) => {
  for (const columns of [8, 20, 40, 80, 81, 200]) {
    const rows = quoted(`${filler}Allow it? [o]nce (recommended)`, at(columns));
    for (const row of rows) {
      expect(row.startsWith('  │ ')).toBe(true);
      // As wide as the terminal where the bar is drawn over two columns, too.
      expect(widthOf(row) + 1).toBeLessThanOrEqual(columns);
    }
  }
});

test('review R15: what cannot be seen is shown by its number, and nothing is left out', () => {
  expect(quoted('rm \u200b-rf\u202e \u2060\ufeff\u00ad\u034f\u3164\u{e0100}\u001b[2K /', at(200))).toEqual([
    '  │ rm \\u{200b}-rf\\u{202e} \\u{2060}\\u{feff}\\u{ad}\\u{34f}\\u{3164}\\u{e0100}\\u{1b}[2K /',
  ]);
});

test('review R15: marks cannot be stacked into the rows above and below', () => {
  const [row = ''] = quoted(`e${'\u0301'.repeat(6)}`, at(80));
  expect(row).toBe('  │ e\u0301\u0301\u0301\\u{301}\\u{301}\\u{301}');
});

test('a piece ends between characters', () => {
  for (const row of quoted('e\u0301\u1112\u1161\u11ab'.repeat(30), at(24))) {
    expect(row.slice(4)).toMatch(/^[e\u1112]/);
  }
});

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [10 * 1024, '10 KiB'],
  [1023 * 1024, '1023 KiB'],
  [1024 * 1024 - 1, '1.0 MiB'],
  [2 ** 40, '1.0 TiB'],
  [2 ** 52, '4096 TiB'],
])('policy: %j bytes are %s', (bytes, text) => {
  expect(humanSize(bytes)).toBe(text);
});

test.each([
  [-5, '0s'],
  [499, '0s'],
  [59_499, '59s'],
  [59_600, '1m'],
  [200_000, '3m 20s'],
  [7_200_000, '2h'],
  [7_261_000, '2h 1m'],
  [608_400_000, '7d 1h'],
])('policy: %j ms are %s', (ms, text) => {
  expect(humanDuration(ms)).toBe(text);
});

test.each([
  [0, '0'],
  [999, '999'],
  [1000, '1,000'],
  [1_234_567, '1,234,567'],
])('policy: %j is written %s', (number, text) => {
  expect(groupDigits(number)).toBe(text);
});
