import fc from 'fast-check';
import {expect, test} from 'vitest';
import {atOnce} from '../open-file.ts';
import {findOccurrences} from './find-occurrences.ts';
import {replaceText} from './replacements.ts';

test('ruling W6: overlapping occurrences count', () => {
  expect(atOnce(findOccurrences('aaaa', 'aa'))).toEqual({count: 3, first: [0, 1, 2]});
  expect(atOnce(findOccurrences('abab', 'abab'))).toEqual({count: 1, first: [0]});
  expect(atOnce(findOccurrences('abc', 'abcd'))).toEqual({count: 0, first: []});
  expect(atOnce(findOccurrences('a'.repeat(100), 'a', 2))).toEqual({count: 100, first: [0, 1]});
});

test('ruling W6: where a text repeats in itself, no occurrence is missed', () => {
  expect(atOnce(findOccurrences('aabaaabaaab', 'aabaaab'))).toEqual({count: 2, first: [0, 4]});
  expect(atOnce(findOccurrences('abacababacabab', 'abacabab'))).toEqual({count: 2, first: [0, 6]});
  expect(atOnce(findOccurrences('aaabaaaabaaabaa', 'aaabaa'))).toEqual({count: 3, first: [0, 5, 9]});
});

test('review R12: a short text takes no turns', () => {
  const work = findOccurrences('ababab', 'abab');
  expect(work.next()).toEqual({done: true, value: {count: 2, first: [0, 2]}});
});

test('it agrees with indexOf', () => {
  const text = fc.array(fc.constantFrom('a', 'b', '\n')).map(parts => parts.join(''));
  fc.assert(
    fc.property(
      text,
      text.filter(part => part.length > 0 && part.length < 5),
      (haystack, wanted) => {
        const expected: number[] = [];
        for (let at = haystack.indexOf(wanted); at !== -1; at = haystack.indexOf(wanted, at + 1))
          expected.push(at);
        expect(atOnce(findOccurrences(haystack, wanted, 1000))).toEqual({
          count: expected.length,
          first: expected,
        });
      },
    ),
    {numRuns: 500},
  );
});

test('policy: hostile text is linear: half a megabyte of one letter', () => {
  const started = performance.now();
  expect(atOnce(findOccurrences('a'.repeat(500_000), `${'a'.repeat(250_000)}b`)).count).toBe(0);
  expect(atOnce(findOccurrences('a'.repeat(500_000), `b${'a'.repeat(250_000)}`)).count).toBe(0);
  expect(atOnce(findOccurrences('a'.repeat(500_000), 'a'.repeat(250_000))).count).toBe(250_001);
  expect(performance.now() - started).toBeLessThan(3000);
});

const replaced = (content: string, at: number, length: number, replacement: string) => {
  const {content: after, count} = atOnce(
    replaceText(Buffer.from(content), [{at, length, replacement: Buffer.from(replacement)}]),
  );
  return [after.toString(), count];
};

test('policy: a match that reaches into a line end leaves it there', () => {
  expect(replaced('a;\r\nb\r\n', 1, 2, '!')).toEqual(['a!\r\nb\r\n', 1]);
  expect(replaced('a;\r\nb\r\n', 1, 2, '!\r')).toEqual(['a!\r\nb\r\n', 1]);
  expect(replaced('a;\rb', 1, 2, '!')).toEqual(['a!b', 1]);
});

test('policy: a place that says the same afterwards is not counted', () => {
  expect(replaced('abc', 1, 1, 'b')).toEqual(['abc', 0]);
});
