import fc from 'fast-check';
import {expect, test} from 'vitest';
import {Utf8Check} from './utf8-check.ts';

function check(blocks: readonly Uint8Array[]): number | undefined {
  const text = new Utf8Check();
  for (const block of blocks) text.add(block);
  text.finish();
  return text.invalidAt;
}

const cut = (bytes: Uint8Array, size: number): Uint8Array[] =>
  Array.from({length: Math.ceil(bytes.length / size)}, (_, at) => bytes.subarray(at * size, (at + 1) * size));

test.each([
  ['a', [0x61], undefined],
  ['nothing', [], undefined],
  ['a four-byte character', [0xf0, 0x9f, 0x98, 0x80], undefined],
  ['a BOM', [0xef, 0xbb, 0xbf], undefined],
  ['a NUL', [0x61, 0x00], 1],
  ['a lone continuation', [0x61, 0x80], 1],
  ['an overlong slash', [0x61, 0xc0, 0xaf], 1],
  ['an overlong three-byte form', [0xe0, 0x80, 0xaf], 0],
  ['a surrogate', [0x61, 0x62, 0xed, 0xa0, 0x80], 2],
  ['above U+10FFFF', [0xf4, 0x90, 0x80, 0x80], 0],
  ['a character cut off at the end', [0x61, 0xe2, 0x82], 1],
  ['a character cut off inside', [0xe2, 0x82, 0x61], 0],
  ['UTF-16', [0xff, 0xfe, 0x61, 0x00], 0],
] as const)('ruling W5: strict UTF-8, whatever the blocks: %s', (_, bytes, expected) => {
  for (const size of [1, 2, 3, 64])
    expect(check(cut(Uint8Array.from(bytes), size)), `blocks of ${size}`).toBe(expected);
});

test('ruling W5: agrees with the decoder of the platform on arbitrary bytes', () => {
  const byte = fc.constantFrom(0x41, 0x80, 0xbf, 0xc2, 0xe0, 0xa0, 0xed, 0x9f, 0xf0, 0x90, 0xf4, 0x8f, 0xff);
  fc.assert(
    fc.property(fc.array(byte, {maxLength: 12}), fc.integer({min: 1, max: 5}), (raw, size) => {
      const bytes = Uint8Array.from(raw);
      let valid = true;
      try {
        new TextDecoder('utf-8', {fatal: true}).decode(bytes);
      } catch {
        valid = false;
      }
      const at = check(cut(bytes, size));
      expect(at === undefined).toBe(valid);
      if (at !== undefined)
        expect(() => new TextDecoder('utf-8', {fatal: true}).decode(bytes.subarray(0, at))).not.toThrow();
    }),
    {numRuns: 500},
  );
});
