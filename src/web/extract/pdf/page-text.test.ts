import {expect, test} from 'vitest';
import {readingOrder, type TextRun} from './page-text.ts';

const HEIGHT = 10;

function run(x: number, y: number, str: string, hasEOL = false): TextRun {
  return {str, transform: [HEIGHT, 0, 0, HEIGHT, x, y], width: str.length * 5, height: HEIGHT, hasEOL};
}

const space = (x: number, y: number): TextRun => ({...run(x, y, ' '), height: 0, width: 100});
const prose = (name: string, row: number): string => `${name}${row} goes over half of the page`;

/** Rows of texts, each beginning at one of `places`, drawn one row after the other. */
function rows(count: number, places: readonly number[], textOf = prose): TextRun[] {
  return Array.from({length: count}, (_, row) => {
    const y = 700 - 12 * row;
    const drawn = places.map((x, column) => run(x, y, textOf('LMR'[column] ?? '', row)));
    return drawn.flatMap((one, index) =>
      index === 0 ? [one] : [space((places[index - 1] ?? 0) + 150, y), one],
    );
  }).flat();
}

const names = (runs: readonly TextRun[]): string =>
  runs.flatMap(({str}) => str.match(/^[A-Z]\w*/)?.[0] ?? []).join(' ');
const numbered = (name: string, count: number): string =>
  Array.from({length: count}, (_, row) => `${name}${row}`).join(' ');

test('R3: columns of prose that are drawn row by row are read one after the other, each line by itself', () => {
  const title = run(72, 740, 'Title that goes over both of the columns of the page, and over the gap', true);
  const footer = run(
    72,
    500,
    'Footer that goes over both of the columns of the page, and over the gap',
    true,
  );
  const read = readingOrder([title, ...rows(6, [72, 320]), footer]);
  expect(names(read)).toBe(`Title ${numbered('L', 6)} ${numbered('M', 6)} Footer`);
  expect(read.filter(({str}) => /^[LM]\d/.test(str)).every(({hasEOL}) => hasEOL)).toBe(true);
});

test('R3: three columns too, and where one ends before the other', () => {
  expect(names(readingOrder(rows(5, [40, 230, 420])))).toBe(
    `${numbered('L', 5)} ${numbered('M', 5)} ${numbered('R', 5)}`,
  );
  const uneven = [...rows(5, [72, 320]), run(72, 640, 'Last line of the left one')];
  expect(names(readingOrder(uneven))).toBe(`${numbered('L', 5)} Last ${numbered('M', 5)}`);
});

test.each([
  ['one column after the other', [...rows(6, [72]), ...rows(6, [320]).map(one => ({...one, hasEOL: true}))]],
  ['a table with short cells', rows(12, [72, 320], (name, row) => `${name}${row} 37`)],
  ['a few rows with a gap', rows(3, [72, 320])],
  [
    'gaps at other places in each row',
    Array.from({length: 12}, (_, row) => rows(1, [72, 240 + 60 * (row % 3)])).flat(),
  ],
  ['text that runs upwards', rows(8, [72, 320]).reverse()],
  ['nothing', []],
])('R3: %s stays as it is drawn', (_, runs) => {
  expect(readingOrder(runs)).toEqual(runs);
});

test('R3: the time is that of the length, whatever is drawn', () => {
  const started = performance.now();
  const short = (name: string, row: number): string => `${name}${row}`;
  readingOrder(rows(10_000, [72, 320], short));
  readingOrder(rows(10_000, [72]));
  readingOrder(Array.from({length: 30_000}, (_, at) => run(at, 700, at % 2 ? ' ' : 'x')));
  expect(performance.now() - started).toBeLessThan(5000);
});
