import fc from 'fast-check';
import {expect, test} from 'vitest';
import {ByteCollector} from './byte-collector.ts';

test('policy: what was appended comes back joined, in order', () => {
  const sizes = fc.oneof(
    fc.nat(20),
    fc.integer({min: 4000, max: 4200}),
    fc.constantFrom(65_535, 65_536, 65_537),
  );
  fc.assert(
    fc.property(fc.array(sizes, {maxLength: 20}), all => {
      const collector = new ByteCollector();
      const parts = all.map((size, index) => Buffer.alloc(size, index + 1));
      for (const part of parts) collector.append(part);
      expect(collector.length).toBe(parts.reduce((total, part) => total + part.length, 0));
      expect(Buffer.compare(collector.join(), Buffer.concat(parts))).toBe(0);
    }),
  );
});

test('policy: small parts of a large buffer do not keep it alive', () => {
  const collector = new ByteCollector();
  for (let index = 0; index < 10; index += 1) collector.append(Buffer.alloc(1_000_000).subarray(0, 10));
  expect(collector.join().buffer.byteLength).toBeLessThan(10_000);
});
