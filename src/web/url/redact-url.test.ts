import fc from 'fast-check';
import {expect, test} from 'vitest';
import {redactUrl} from './redact-url.ts';

test.each([
  ['https://user:pass@example.com:8443/a/b?token=1#x', 'https://example.com:8443/a/b'],
  ['HTTP://EXAMPLE.com', 'http://example.com/'],
  ['file:///etc/passwd?x', 'file:///etc/passwd'],
  ['javascript:alert("secret")', 'javascript:…'],
  ['data:text/html,secret', 'data:…'],
  ['mailto:someone@example.com', 'mailto:…'],
  ['user:pass', 'user:…'],
])('FR-WF-19b scheme, host and path of %s', (input, expected) => {
  expect(redactUrl(input)).toBe(expected);
});

test.each([
  ['not a url?secret=1', 'not a url'],
  ['example.com/page#x', 'example.com/page'],
  ['http://a:99999/p?secret', 'http://a:99999/p'],
  ['http://[fe80::1%25lo0]/p?secret', 'http://[fe80::1%25lo0]/p'],
  ['http://user:pa#ss@exa mple/', 'http:…'],
  ['http://user:pa/ss@exa mple/', 'http:…'],
  ['http://user:pass%40exa mple/', 'http:…'],
  ['http://user:pass＠example.com/', 'http:…'],
  ['http://user:pass/x', 'http:…'],
  ['//user:pass@host/', '…'],
  ['http://us er:[abc]/', 'http:…'],
  ['http://exa mple:80', 'http://exa mple:80'],
  ['\u001b[31mred', '[31mred'],
  ['  not a url ?secret', 'not a url '],
  ['  not a url  ', 'not a url'],
  ['x'.repeat(200), 'x'.repeat(200)],
  ['x'.repeat(201), `${'x'.repeat(200)}…`],
  ['', ''],
])('ruling A2 of the unparsable %j it shows nothing secret', (input, expected) => {
  expect(redactUrl(input)).toBe(expected);
});

test('property: no query, no fragment, no password, whatever surrounds them', () => {
  const noise = fc.string({maxLength: 6});
  fc.assert(
    fc.property(noise, noise, fc.constantFrom('http://', 'https:\\\\', '//', '', 'x:'), (a, b, scheme) => {
      expect(redactUrl(`${scheme}host/${a}?QUERY${b}`)).not.toContain('QUERY');
      const user = a.replace(/[/\\?#]/g, '');
      expect(redactUrl(`${scheme}${user}:PASSWORD@${b}`)).not.toContain('PASSWORD');
      expect(redactUrl(`${scheme}host${a}#FRAGMENT${b}`)).not.toContain('FRAGMENT');
    }),
    {numRuns: 1000},
  );
});
