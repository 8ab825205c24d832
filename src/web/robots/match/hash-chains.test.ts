import fc from 'fast-check';
import {expect, test} from 'vitest';
import {HashChains} from './hash-chains.ts';

function filedUnder(chains: HashChains, hash: number): number[] {
  const items: number[] = [];
  for (let item = chains.first(hash); item !== -1; item = chains.next(item)) items.push(item);
  return items.sort((one, other) => one - other);
}

test('an item is found under its own hash, and under no other that shares its slot', () => {
  // Few slots, so that chains hold items of several hashes.
  const hash = fc.oneof(fc.integer({min: -8, max: 8}), fc.integer());
  fc.assert(
    fc.property(fc.array(hash, {maxLength: 20}), fc.array(hash), (hashes, others) => {
      const chains = new HashChains(hashes.length);
      for (const [item, own] of hashes.entries()) chains.add(own, item);
      for (const wanted of [...hashes, ...others]) {
        const expected = [...hashes.keys()].filter(item => hashes[item] === wanted);
        expect(filedUnder(chains, wanted)).toEqual(expected);
        expect(chains.has(wanted)).toBe(expected.length > 0);
      }
    }),
  );
});
