import {describe, expect, test} from 'vitest';
import {isAddressName, redactAddress} from './redact-address.ts';
import {isSecretName, redactText} from './redact-text.ts';

const HOST = 'h'.repeat(256);

describe('FR-WF-19b: of a URL stay scheme, host and path', () => {
  test.each([
    ['https://a.example/b/c', 'https://a.example/b/c'],
    ['https://a.example:8443/b', 'https://a.example:8443/b'],
    ['http://[2001:db8::1]:80/b', 'http://[2001:db8::1]:80/b'],
    ['https://a.example?q', 'https://a.example?…'],
    ['https://a.example#f', 'https://a.example?…'],
    ['https://a.example/b?q=1#f', 'https://a.example/b?…'],
    ['https://u:p@a.example/b', 'https://…@a.example/b'],
    ['https://u@v@a.example/b', 'https://…@a.example/b'],
    // Text that was cut: what stands where the host would be may be a password.
    ['https://user:sesame', 'https://…'],
    ['https://user:123456', 'https://…'],
    ['https://user:12345', 'https://user:12345'],
    ['https://x@user:sesame/b', 'https://…@…/b'],
    [`https://${HOST}.com/`, `https://${HOST}.com/`],
    [`https://${HOST}.comm/`, 'https://…/'],
    // However many slashes there are, and none.
    ['http:///a.example/b?q', 'http:///a.example/b?…'],
    ['http:\\\\u:p@a.example\\b', 'http:\\\\…@a.example\\b'],
    ['mailto:u:p@a.example', 'mailto:…@a.example'],
    ['ftp://a.example/b?q', 'ftp://a.example/b?…'],
    ['git+ssh://git@a.example/b', 'git+ssh://…@a.example/b'],
    // It ends where a text around it goes on.
    ['(https://a.example/?q=1 and more)', '(https://a.example/?… and more)'],
    ['<https://a.example/?q=1> x', '<https://a.example/?…> x'],
    ['`https://a.example/?q=1` x', '`https://a.example/?…` x'],
    ["'https://a.example/?q=1' x", "'https://a.example/?…' x"],
    // What has no place is not shown.
    ['data:text/html,abc x', 'data:… x'],
    ['JavaScript:alert(1)', 'JavaScript:…'],
    ['vbscript:x', 'vbscript:…'],
    ['blob:x', 'blob:…'],
    ['metadata: x', 'metadata: x'],
  ])('%j', (text, shown) => {
    expect(redactText(text)).toBe(shown);
  });
});

describe('FR-WF-19b: what looks like a key is not shown', () => {
  test.each([
    `ghp_${'a'.repeat(16)}`,
    `gho_${'a'.repeat(16)}`,
    `ghs_${'a'.repeat(30)}`,
    `github_pat_${'a'.repeat(16)}`,
    `glpat-${'a'.repeat(16)}`,
    `sk-${'a-_'.repeat(6)}`,
    `xoxb-${'1'.repeat(8)}`,
    `AKIA${'A'.repeat(12)}`,
    `ASIA${'7'.repeat(12)}`,
    `AIza${'a-'.repeat(10)}`,
    'eyJhbGciOiJ.eyJzdWIiOi',
    'eyJhbGciOiJ.eyJzdWIiOi.c2ln',
    '-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----',
    '-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----',
    '-----BEGIN EC PRIVATE KEY-----\nabc\ndef',
  ])('%j', key => {
    expect(redactText(`a ${key}`)).toBe('a [redacted]');
  });

  test.each([
    `ghp_${'a'.repeat(15)}`,
    `glpat-${'a'.repeat(15)}`,
    `sk-${'a'.repeat(15)}`,
    `xoxb-${'1'.repeat(7)}`,
    `AKIA${'A'.repeat(11)}`,
    `AIza${'a'.repeat(19)}`,
    'eyJhbGci.eyJzdWI',
    'ask-me-about-the-weather-today',
    '-----BEGIN PUBLIC KEY-----',
  ])('%j is none', text => {
    expect(redactText(text)).toBe(text);
  });

  test('what stands behind the end of a key stays', () => {
    const key = '-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----';
    expect(redactText(`${key} b ${key} c`)).toBe('[redacted] b [redacted] c');
  });

  test.each([
    ['Bearer abcdef', 'Bearer [redacted]'],
    ['bearer  a.b~c+d/e=-', 'bearer [redacted]'],
    ['Basic dXNlcjpw', 'Basic [redacted]'],
    ['basic abcde', 'basic abcde'],
    ['forbearer abcdef', 'forbearer abcdef'],
  ])('%j is %j', (text, shown) => {
    expect(redactText(text)).toBe(shown);
  });

  test.each([
    ['TOKEN=abc', 'TOKEN=[redacted]'],
    ['TOKEN=ab', 'TOKEN=ab'],
    ['--token abc', '--token [redacted]'],
    ['-token abc', '-token [redacted]'],
    ['token abc', 'token abc'],
    ['"secret": "abc", "a": 1', '"secret": "[redacted]", "a": 1'],
    ["passphrase='abc' x", "passphrase='[redacted]' x"],
    ['passwd : abc;x', 'passwd : [redacted];x'],
    ['password=abc&x=1', 'password=[redacted]&x=1'],
    ['my.access-key=abc|x', 'my.access-key=[redacted]|x'],
    ['apikey=abc', 'apikey=[redacted]'],
    ['private_key=abc', 'private_key=[redacted]'],
    ['Authorization: abc', 'Authorization: [redacted]'],
    ['Cookie: abc', 'Cookie: [redacted]'],
    ['credential=abc credentials=abc', 'credential=[redacted] credentials=[redacted]'],
    ['tokens=abc', 'tokens=abc'],
    ['tokenizer=abc', 'tokenizer=abc'],
  ])('%j is %j', (text, shown) => {
    expect(redactText(text)).toBe(shown);
  });
});

describe('ruling W10: names of secrets', () => {
  test.each([
    'password',
    'passwd',
    'passphrase',
    'client_secret',
    'NPM_TOKEN',
    'api-key',
    'apiKey',
    'ACCESS_KEY',
    'private-key',
    'authorization',
    'cookie',
    'set-cookie',
    'credential',
    'credentials',
    `${'x'.repeat(40)}token`,
  ])('%s', name => {
    expect(isSecretName(name)).toBe(true);
  });

  test.each([
    '',
    'max_tokens',
    'author',
    'tokenizer',
    'token_count',
    'a b token',
    `${'x'.repeat(41)}token`,
    'key',
  ])('%j is none', name => {
    expect(isSecretName(name)).toBe(false);
  });
});

describe('FR-WF-19b: what is meant as an address', () => {
  test.each(['url', 'URI', 'href', 'address', 'Location', 'final_url', 'base_uri'])('is under %j', name => {
    expect(isAddressName(name)).toBe(true);
  });

  test.each(['urls', 'curl', 'hrefs', 'url_count', 'an address', 'relocation', ''])(
    'is not under %j',
    name => {
      expect(isAddressName(name)).toBe(false);
    },
  );

  test.each([
    ['https://a.example/b?c#d', 'https://a.example/b?…'],
    ['https://a.example/b#d', 'https://a.example/b?…'],
    [' https://a.example/b ', 'https://a.example/b'],
    ['https://u:p@a.example/', 'https://…@a.example/'],
    ['a.example/b?c', 'a.example/b?…'],
    ['a.example:80', 'a.example:80'],
    ['a.example:80/b', 'a.example:80/b'],
    ['a.example:80?b', 'a.example:80?…'],
    ['a.example:80#b', 'a.example:80?…'],
    ['a.example:12345', 'a.example:12345'],
    ['a.example:123456', 'a.example:…'],
    ['a.example:80x', 'a.example:…'],
    ['user:sesame@a.example/', 'user:…'],
    ['http:\\\\a.example\\b', 'http:\\\\a.example\\b'],
    ['http:\\/a.example', 'http:\\/a.example'],
    ['http:/a.example', 'http:…'],
    ['data:text/html,x', 'data:…'],
    ['x-y.z+1:abc', 'x-y.z+1:…'],
    ['1x:abc', '1x:abc'],
    ['//a.example/?b', '//a.example/?…'],
    ['', ''],
  ])('%j is shown as %j', (text, shown) => {
    expect(redactAddress(text)).toBe(shown);
  });
});
