import fc from 'fast-check';
import {expect, test} from 'vitest';
import {toUrl} from './to-url.ts';

function parsed(text: string, base?: string): string | undefined {
  try {
    return new URL(text, base).href;
  } catch {
    return undefined;
  }
}

test('policy: an address stays one after its check was optimised', () => {
  let misses = 0;
  for (let round = 0; round < 30_000; round++) {
    if (toUrl('http://\u00e9vil.test/?q=\u00e9') === undefined) misses++;
    if (toUrl('/path', 'http://\u00e9vil.test/') === undefined) misses++;
  }
  expect(misses).toBe(0);
});

const unit = fc.constantFrom(
  ...':/?#[]@.%é日\u{feff}\u{10000}\ud800x1 -\t'.split(''),
  'http://',
  'xn--',
  '%C3',
);
const texts = fc.array(unit, {maxLength: 12}).map(units => units.join(''));

test('policy: what the URL standard takes for an address is one, and nothing else', () => {
  fc.assert(
    fc.property(texts, fc.option(texts, {nil: undefined}), (text, end) => {
      const base = end === undefined ? undefined : `http://${end}`;
      expect(toUrl(text, base)?.href).toBe(parsed(text, base));
      expect(toUrl(`http://a${text}`)?.href).toBe(parsed(`http://a${text}`));
    }),
    {numRuns: 5000},
  );
});
