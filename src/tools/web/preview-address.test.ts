import {expect, test} from 'vitest';
import {previewAddress} from './preview-address.ts';

test.each([
  ['https://docs.example.com/a/b', 'scheme: https\nhost:   docs.example.com\npath:   /a/b'],
  [
    ' HTTP://Ex\u00e4mple.com:8080/?token=secret#part ',
    'scheme: http\nhost:   xn--exmple-cua.com:8080\npath:   /\nquery:  12 characters, not shown here',
  ],
  ['https://user:pass@example.com/', 'scheme: https\nhost:   example.com\npath:   /'],
  ['not a url?token=secret', 'not a url'],
  ['data:text/plain,secret', 'data:…'],
])('FR-WF-19b %s is asked about as %j', (url, preview) => {
  expect(previewAddress(url, {credentials: []})).toBe(preview);
});
