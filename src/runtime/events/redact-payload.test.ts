import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {Json} from '../../core/json.ts';
import {redactPayload} from './redact-payload.ts';
import {redactText} from './redact-text.ts';

describe('FR-WF-19b text', () => {
  test.each([
    ['https://example.com/a?key=SECRET#x', 'https://example.com/a?…'],
    ['https://user:SECRET@example.com/a', 'https://…@example.com/a'],
    ['https://a@SECRET@example.com/a', 'https://…@example.com/a'],
    ['https:user:SECRET@example.com/', 'https:…@example.com/'],
    ['https:\\\\user:SECRET@example.com/', 'https:\\\\…@example.com/'],
    [
      'see http://a.org/?q=SECRET, then "http://b.org/x?SECRET"',
      'see http://a.org/?… then "http://b.org/x?…"',
    ],
    ['curl -H "Authorization: Bearer SECRETSECRET"', undefined],
    ['GITHUB_TOKEN=SECRET make', 'GITHUB_TOKEN=[redacted] make'],
    ['login --password SECRET --user me', 'login --password [redacted] --user me'],
    ['login --password=SECRET', 'login --password=[redacted]'],
    ['{"api_key": "SECRET"}', '{"api_key": "[redacted]"}'],
    ['ghp_SECRETSECRETSECRETSECRET', '[redacted]'],
    ['AKIASECRETSECRETSEC', '[redacted]'],
    ['-----BEGIN RSA PRIVATE KEY-----\nSECRET\n-----END RSA PRIVATE KEY-----', '[redacted]'],
    ['-----BEGIN PRIVATE KEY-----\nSECRET', '[redacted]'],
  ])('%j shows nothing secret', (text, expected) => {
    expect(redactText(text)).not.toContain('SECRET');
    if (expected !== undefined) expect(redactText(text)).toBe(expected);
  });

  test.each([
    'npm test',
    'src/token.ts',
    'the token count is 7',
    'a?b',
    'max_chunk_tokens: 600',
    '1 < 2 && x',
  ])('policy: %j stays as it is', text => {
    expect(redactText(text)).toBe(text);
  });

  test('policy: hostile text costs little', () => {
    const started = performance.now();
    for (const text of ['a.'.repeat(500), 'a:'.repeat(500), '-----BEGIN '.repeat(90), 'token '.repeat(160)]) {
      for (let round = 0; round < 20; round++) redactText(text);
    }
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

describe('payloads', () => {
  test('ruling W10 values of secret names go, whatever they look like', () => {
    expect(
      redactPayload({
        env: {NPM_TOKEN: 'abc', PATH: '/bin', DB_PASSWORD: 'x', Cookie: 'y'},
        secret: ['a', {b: 'c'}],
      }),
    ).toEqual({
      env: {NPM_TOKEN: '[redacted]', PATH: '/bin', DB_PASSWORD: '[redacted]', Cookie: '[redacted]'},
      secret: ['[redacted]', {b: '[redacted]'}],
    });
    expect(redactPayload({max_chunk_tokens: 600, token: 7, password: ''})).toEqual({
      max_chunk_tokens: 600,
      token: 7,
      password: '',
    });
  });

  test('policy: long text is shortened, with its length and hash', () => {
    const {text} = redactPayload({text: 'x'.repeat(5000)});
    expect(text).toMatch(/^x{200}… \[5000 characters, sha256 [0-9a-f]{64}\]$/);
  });

  test('policy: a URL whose password is cut off shows nothing of it', () => {
    const {url} = redactPayload({url: `https://user:${'S'.repeat(3000)}@example.com/`});
    expect(url).not.toContain('SSS');
    const {token} = redactPayload({token: {url: `https://${'S'.repeat(3000)}@example.com/`}});
    expect(JSON.stringify(token)).not.toContain('SSS');
    expect(redactPayload({a: `https://${'S'.repeat(3000)}@example.com/`})['a']).not.toContain('SSS');
  });

  test('policy: every payload is small, and still JSON', () => {
    const big = fc.jsonValue({maxDepth: 20});
    fc.assert(
      fc.property(big, value => {
        const line = JSON.stringify(redactPayload({value: value as Json}));
        expect(line.length).toBeLessThan(300_000);
      }),
    );
    const wide = Object.fromEntries(Array.from({length: 5000}, (_, at) => [`k${at}`, 'é\u0000'.repeat(400)]));
    const nested = Array.from({length: 100}, () => Array.from({length: 100}, () => wide));
    expect(Buffer.byteLength(JSON.stringify(redactPayload({nested})))).toBeLessThan(400_000);
  });

  test('policy: deep nesting is cut', () => {
    let deep: Json = 'x';
    for (let level = 0; level < 10_000; level++) deep = [deep];
    expect(JSON.stringify(redactPayload({deep})).length).toBeLessThan(100);
  });
});
