import fc from 'fast-check';
import {expect, test} from 'vitest';
import {cutMiddle} from './cut-middle.ts';

test('policy: what fits is not touched, what does not keeps its head and its tail', () => {
  expect(cutMiddle('short', 100)).toBe('short');
  expect(cutMiddle(`head${'x'.repeat(1000)}tail`, 60)).toBe(
    `head${'x'.repeat(10)}\n[… 980 characters left out …]\n${'x'.repeat(10)}tail`,
  );
});

test('policy: the limit holds, and no character is cut in two', () => {
  const text = fc.string({unit: 'grapheme', minLength: 100, maxLength: 400});
  fc.assert(
    fc.property(text, fc.integer({min: 60, max: 90}), (long, limit) => {
      const cut = cutMiddle(long, limit);
      expect(cut.length).toBeLessThanOrEqual(limit);
      expect(() => encodeURIComponent(cut)).not.toThrow();
    }),
  );
});
