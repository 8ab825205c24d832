import {expect, test} from 'vitest';
import {modeAddress} from './mode-address.ts';

test('R2: the key of the mode of the SRD is the SRD’s, and that of readers is another one', () => {
  const url = 'https://example.com/a';
  expect(modeAddress(url, 'srd')).toBe(url);
  expect(modeAddress(url, 'reader')).not.toBe(url);
});
