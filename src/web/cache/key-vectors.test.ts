import {expect, test} from 'vitest';
import type {RenderingMethod} from '../page.ts';
import {cacheKey} from './cache-key.ts';
import {entryPath} from './entry-path.ts';

/** Computed by sha256sum from the URL, a newline and the method. */
test.each<readonly [string, RenderingMethod, string]>([
  ['https://example.com/', 'http', 'e3b70279a026dc1e40092994175e7e2b7a52d90c778099ad96dee1b624370c67'],
  ['https://example.com/', 'browser', 'fd02b83e204a74352cb1e1106fa9134f9584f5a22739ac6b24259c34befcedc5'],
  [
    'https://example.com/caf%C3%A9?b=2&a=1',
    'http',
    'cc79a5bd5924a1bab7edc1255440899df9435e1d574801331a842bd3147188a4',
  ],
])('FR-WF-16 FR-WF-16a FR-WF-CCH-KEY-02 the key and the path of %s, %s', (url, method, key) => {
  expect(cacheKey(url, method)).toBe(key);
  expect(entryPath('/cache', key)).toBe(`/cache/${key.slice(0, 2)}/${key}.json`);
});
