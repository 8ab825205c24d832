import {expect, test} from 'vitest';
import {freeMemory, freeMemoryWhenIdle} from './free-memory.ts';

test('policy: memory that is given back is gone, also where two arrays share it', () => {
  const numbers = new Int32Array(8);
  freeMemory(numbers);
  const bytes = new Uint8Array(8);
  freeMemoryWhenIdle([bytes, bytes.subarray(4)]);
  expect([numbers.length, bytes.length]).toEqual([0, 0]);
});
