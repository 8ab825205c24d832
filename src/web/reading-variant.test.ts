import {expect, test} from 'vitest';
import {mediaVariant, readingVariant} from './reading-variant.ts';

const options = (mode: 'srd' | 'reader', accept_markdown = false) => ({
  http: {use_system_proxy: false, accept_markdown},
  extraction: {honor_base_href: false, mode},
});
const terms = (...accepts: readonly ('json' | 'markdown')[]) => ({
  accepts: new Set(accepts),
  maxAgeMs: undefined,
});

test('R2: the page of the mode of the SRD has the SRD’s address, and that of readers another one', () => {
  expect(readingVariant(undefined, options('srd'))).toBe('');
  expect(readingVariant(undefined, options('reader'))).toBe('reader');
});

test('R3: other media make another page, in either mode, in one order', () => {
  expect(readingVariant(terms('markdown', 'json'), options('srd'))).toBe('json+markdown');
  expect(readingVariant(terms('json'), options('reader'))).toBe('json,reader');
  expect(readingVariant(terms('markdown'), options('srd', true))).toBe('');
  expect(mediaVariant(terms('json'), options('reader'))).toBe('json');
});
