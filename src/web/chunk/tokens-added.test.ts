import fc from 'fast-check';
import {expect, test} from 'vitest';
import {countTokens} from '../tokens/count-tokens.ts';
import {tokensAdded} from './tokens-added.ts';

test('ruling E2 a separator adds what the joined text has more, whatever it merges with', () => {
  const part = fc.constantFrom(
    ...['word', 'a', ');', '});', '...', '?!)', '|', "'", '`', '-'.repeat(9), '中', '1'],
    ...[' ', '  ', '\n', '\t', '\n  '],
  );
  const texts = fc.array(part, {minLength: 1, maxLength: 12}).map(parts => `${parts.join('')}x`.slice(0, -1));
  fc.assert(
    fc.property(
      texts,
      fc.constantFrom('.', ');', '...', 'a', '}}});', '?!'),
      fc.constantFrom('\n\n', '\n', ' '),
      (text, last, space) => {
        const whole = text + last;
        expect(tokensAdded(whole, space, countTokens)).toBe(countTokens(whole + space) - countTokens(whole));
      },
    ),
    {numRuns: 1000},
  );
});

test('policy: only the last word is counted for it', () => {
  const counted: string[] = [];
  const count = (text: string): number => counted.push(text);
  tokensAdded('one\ntwo three', '\n\n', count);
  tokensAdded('one two\nthree', '\n\n', count);
  tokensAdded('one  two', '\n\n', count);
  expect(counted).toEqual([' three\n\n', ' three', 'three\n\n', 'three', 'one  two\n\n', 'one  two']);
});
