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
      const whole = Buffer.concat(parts);
      expect(Buffer.compare(collector.join(), whole)).toBe(0);
    }),
  );
});

test('policy: small parts of a large buffer do not keep it alive', () => {
  const collector = new ByteCollector();
  for (let index = 0; index < 10; index += 1) collector.append(Buffer.alloc(1_000_000).subarray(0, 10));
  expect(collector.join().buffer.byteLength).toBeLessThan(10_000);
});

test('FR-WF-19 of a large body the parts with memory of their own are given up, and others are left alone', () => {
  const collector = new ByteCollector();
  const own = Array.from({length: 20}, (_, index) => Buffer.alloc(65_536, index + 1));
  const shared = Buffer.alloc(40_000, 0xff);
  const part = shared.subarray(0, 30_000);
  for (const bytes of [...own, part, Buffer.from('end')]) collector.append(bytes);
  const length = 20 * 65_536 + 30_003;
  const whole = collector.join();
  expect(whole.length).toBe(length);
  expect([whole[0], whole[65_536 * 20 - 1], whole[65_536 * 20], whole.at(-1)]).toEqual([1, 20, 0xff, 0x64]);
  expect(own.every(bytes => bytes.length === 0)).toBe(true);
  expect([shared.length, part[0]]).toEqual([40_000, 0xff]);
});
