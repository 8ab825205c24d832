import {describe, expect, test} from 'vitest';
import {findSecrets} from './find-secrets.ts';

const KEY_LINE = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKB';

describe('T1 what looks like a secret', () => {
  test.each([
    // Tokens with the prefix of their issuer.
    ['ghp_abcdefghijklmnop', ['ghp_abcdefghijklmnop']],
    ['see ghs_abcdefghijklmnop.', ['ghs_abcdefghijklmnop']],
    ['github_pat_abcdefghijklmnop', ['github_pat_abcdefghijklmnop']],
    ['glpat-abcdefghijklmnop', ['glpat-abcdefghijklmnop']],
    ['sk-abcdefghijklmnop', ['sk-abcdefghijklmnop']],
    ['xoxb-12345678', ['xoxb-12345678']],
    ['AKIAIOSFODNN7EXAMPLE', ['AKIAIOSFODNN7EXAMPLE']],
    ['ASIAIOSFODNN7EXAMPLE', ['ASIAIOSFODNN7EXAMPLE']],
    ['AIzaabcdefghijklmnopqrst', ['AIzaabcdefghijklmnopqrst']],
    [`npm_${'a'.repeat(30)}`, [`npm_${'a'.repeat(30)}`]],
    [`pypi-${'a'.repeat(30)}`, [`pypi-${'a'.repeat(30)}`]],
    ['eyJhbGciOiJ9.eyJzdWIiOiIx.c2lnbmF0dXJl', ['eyJhbGciOiJ9.eyJzdWIiOiIx.c2lnbmF0dXJl']],
    ['ghp_abc', []],
    ['xghp_abcdefghijklmnop', []],
    ['a-sk-abcdefghijklmnop', []],
    // Assignments to a name that says so.
    ['PASSWORD=hunter2hunter3', ['hunter2hunter3']],
    ['passwd: "abc123def456"', ['abc123def456']],
    ["api-key  =  'a1b2c3d4e5'", ['a1b2c3d4e5']],
    ['STRIPE_SECRET_ID=a1b2c3d4e5,x', ['a1b2c3d4e5']],
    ['{"access_key":"a1b2c3d4e5"}', ['a1b2c3d4e5']],
    ['my_credential.value: a1b2c3d4e5;', ['a1b2c3d4e5']],
    ['token=a1b2c3d', []],
    // No random text: a word, digits alone, or hardly any different characters.
    ['password=correcthorsebattery', []],
    ['password=193748562093', []],
    ['password=aaaaaaa1aaaaaaa1', []],
    ['max_tokens is 12345678a', []],
    // Each once.
    ['token=a1b2c3d4e5 token=a1b2c3d4e5 token=z9y8x7w6v5', ['a1b2c3d4e5', 'z9y8x7w6v5']],
    ['nothing to see', []],
    ['', []],
  ])('%j', (text, found) => {
    expect(findSecrets(text)).toEqual(found);
  });

  test.each([
    ['RSA', `-----BEGIN RSA PRIVATE KEY-----\n${KEY_LINE}\nabc=\n-----END RSA PRIVATE KEY-----`, KEY_LINE],
    ['plain', `a\n-----BEGIN PRIVATE KEY-----\n${KEY_LINE}  \n-----END PRIVATE KEY-----\nb`, KEY_LINE],
    ['cut off', `-----BEGIN PRIVATE KEY-----\nshort\n${KEY_LINE}`, KEY_LINE],
    ['without its content', '-----BEGIN EC PRIVATE KEY-----\n…', '-----BEGIN PRIVATE KEY-----'],
    [
      'with a header in it',
      `-----BEGIN PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED ${KEY_LINE}\n-----END`,
      '-----BEGIN PRIVATE KEY-----',
    ],
  ])('a private key, %s', (_, text, secret) => {
    expect(findSecrets(text)).toEqual([secret]);
  });

  test('of many, 64 are kept', () => {
    const lines = Array.from({length: 80}, (_, at) => `token=abc${at + 100}xyz7\n`).join('');
    const found = findSecrets(lines);
    expect(found).toHaveLength(64);
    expect([found[0], found[63]]).toEqual(['abc100xyz7', 'abc163xyz7']);
  });

  test('a text is looked through to its 4,194,304th character', () => {
    const secret = 'ghp_abcdefghijklmnop';
    const endingAt = (length: number) => ' '.repeat(length - secret.length) + secret;
    expect(findSecrets(`${endingAt(4_194_304)} `)).toEqual([secret]);
    expect(findSecrets(endingAt(4_194_304 + secret.length))).toEqual([]);
  });
});
