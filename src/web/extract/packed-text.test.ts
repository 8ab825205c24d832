import fc from 'fast-check';
import {expect, test} from 'vitest';
import {PackedText} from './packed-text.ts';

test('policy: a text that was packed in pieces is the same, half surrogate pairs included', () => {
  const piece = fc.oneof(fc.string({unit: 'binary'}), fc.constantFrom('\ud83d', '\ude00', 'é', '\ufeff', ''));
  fc.assert(
    fc.property(fc.array(piece), fc.integer({min: 0, max: 40}), (pieces, room) => {
      const text = new PackedText(room);
      for (const one of pieces) text.add(one);
      const packed = text.finish();
      expect(typeof packed === 'string' ? packed : Buffer.from(packed).toString('utf8')).toBe(
        pieces.join(''),
      );
    }),
  );
});
