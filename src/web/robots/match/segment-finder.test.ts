import fc from 'fast-check';
import {expect, test} from 'vitest';
import {SegmentFinder} from './segment-finder.ts';

function expectAsIndexOf(path: string, looks: readonly (readonly [segment: string, from: number])[]): void {
  const finder = new SegmentFinder(path);
  for (const [segment, from] of looks) {
    const expected = from > path.length ? -1 : path.indexOf(segment, from);
    expect([segment, from, finder.find(segment, from)]).toEqual([segment, from, expected]);
  }
}

test('what was found before is found again, from wherever it is looked for', () => {
  const path = fc.string({unit: fc.constantFrom('a', 'b'), maxLength: 9});
  const look = fc.tuple(fc.constantFrom('', 'a', 'b', 'ab', 'bb', 'aab'), fc.nat({max: 10}));
  fc.assert(fc.property(path, fc.array(look, {maxLength: 12}), expectAsIndexOf), {numRuns: 500});
});

test('a long literal is found as a short one is', () => {
  const path = fc.string({unit: fc.constantFrom('a', 'a', 'a', 'b'), minLength: 60, maxLength: 140});
  const length = fc.constantFrom(63, 64, 65, 66);
  const look = fc.tuple(fc.tuple(length, fc.constantFrom('', 'b')), fc.nat({max: 20}));
  fc.assert(
    fc.property(path, fc.array(look, {maxLength: 6}), (text, looks) => {
      const start = text.slice(10);
      expectAsIndexOf(
        text,
        looks.map(([[long, end], from]) => [start.slice(0, long) + end, from]),
      );
    }),
  );
});

test('a literal that does not fit is not there', () => {
  const finder = new SegmentFinder('/ab');
  expect(finder.find('ab', 1)).toBe(1);
  expect(finder.find('/ab', 1)).toBe(-1);
  expect(finder.find('', 3)).toBe(3);
  expect(finder.find('', 4)).toBe(-1);
});
