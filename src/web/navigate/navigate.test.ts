import {createPrivateKey, createPublicKey, sign, verify} from 'node:crypto';
import {existsSync, mkdirSync, readFileSync, statSync, symlinkSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {unwrap} from '../../../test/support/outcome.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {parseUrl} from '../url.ts';
import {keyDirectory, openBotKey, publicJwk, thumbprintOf} from './bot-key.ts';
import {
  createRequestSigner,
  parseAcceptSignature,
  signatureBase,
  signatureParameters,
} from './request-signer.ts';

test('policy: a key is made with its directory, for the user alone, and never again', () => {
  const home = temporaryDirectory();
  const path = join(home, '.config/forge-tools/key.pem');
  const made = openBotKey(path, []);
  expect(made).toMatchObject({ok: true, value: {isNew: true}});
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(home, '.config')).mode & 0o777).toBe(0o700);
  const before = readFileSync(path, 'utf8');
  expect(openBotKey(path, [])).toMatchObject({ok: true, value: {isNew: false}});
  expect(readFileSync(path, 'utf8')).toBe(before);
});

test('policy: no key and no directory is made in the working tree, also by a link', () => {
  const home = temporaryDirectory();
  const tree = join(home, 'project');
  mkdirSync(tree);
  symlinkSync(tree, join(home, 'link'));
  for (const path of [join(tree, 'a/b/key.pem'), join(home, 'link/a/key.pem')]) {
    expect(openBotKey(path, [tree])).toMatchObject({ok: false, error: expect.stringContaining('elsewhere')});
  }
  expect(existsSync(join(tree, 'a'))).toBe(false);
});

/** RFC 9421 appendix B.1.4. */
const KEY = createPrivateKey(`-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF
-----END PRIVATE KEY-----`);
const THUMBPRINT = 'poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U';
const AGENT = 'https://bot.example.com';

const signer = createRequestSigner(KEY, AGENT, createManualClock());

function answer(challenge: string, url = 'https://example.com/a/b?c=d') {
  return signer.answer(challenge, unwrap(parseUrl(url)));
}

describe('RFC 9421', () => {
  test('RFC 9421 B.2.6: base, parameters and signature are those of the example', () => {
    const covered = [
      ['date', 'Tue, 20 Apr 2021 02:07:55 GMT'],
      ['@method', 'POST'],
      ['@path', '/foo'],
      ['@authority', 'example.com'],
      ['content-type', 'application/json'],
      ['content-length', '18'],
    ].map(([name, value = '']) => ({identifier: `"${name}"`, value}));
    const about = new Map<string, string | number>([
      ['created', 1_618_884_473],
      ['keyid', 'test-key-ed25519'],
    ]);
    const parameters = signatureParameters(covered, about);
    expect(parameters).toBe(
      '("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"',
    );
    expect(sign(null, Buffer.from(signatureBase(covered, parameters)), KEY).toString('base64')).toBe(
      'wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==',
    );
  });

  test('RFC 7638, RFC 8037 A.3: a key is named by its thumbprint, and the directory shows nothing of its secret', () => {
    const x = '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo';
    expect(thumbprintOf({kty: 'OKP', crv: 'Ed25519', x})).toBe('kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k');
    expect(thumbprintOf(publicJwk(KEY))).toBe(THUMBPRINT);
    expect(keyDirectory(KEY)).toEqual({
      keys: [
        {
          kty: 'OKP',
          crv: 'Ed25519',
          x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs',
          kid: THUMBPRINT,
          use: 'sig',
        },
      ],
    });
  });
});

describe('a challenge', () => {
  test('is answered with authority and agent, five minutes, the thumbprint and a nonce that is never the same', () => {
    const first = answer('sig1=();tag="web-bot-auth"');
    expect(first?.['Signature-Agent']).toBe('sig1="https://bot.example.com"');
    const form =
      /^sig1=\("@authority" "signature-agent";key="sig1"\);created=(\d+);expires=(\d+);keyid="([^"]+)";alg="ed25519";nonce="([^"]{88})";tag="web-bot-auth"$/;
    const [, created, expires, keyid, nonce] = form.exec(first?.['Signature-Input'] ?? '') ?? [];
    expect(Number(expires) - Number(created)).toBe(300);
    expect(keyid).toBe(THUMBPRINT);
    const again = answer('sig1=();tag="web-bot-auth"')?.['Signature-Input'];
    expect(again).toMatch(form);
    expect(again).not.toContain(nonce);
  });

  test('says what is signed: known parts of the request, its own label, nonce and name of the agent', () => {
    const asked =
      'other=("@method");tag="app", wba=("@method" "@target-uri" "@path" "@query" "signature-agent";key="a" "@authority");created;expires;nonce="say \\"x\\"";tag="web-bot-auth"';
    const {Signature, ...rest} = answer(asked, 'https://example.com:8443/a/b') ?? {};
    const parameters = rest['Signature-Input']?.slice('wba='.length) ?? '';
    expect(rest['Signature-Agent']).toBe('a="https://bot.example.com"');
    expect(parameters).toContain('nonce="say \\"x\\""');
    const base = [
      '"@method": GET',
      '"@target-uri": https://example.com:8443/a/b',
      '"@path": /a/b',
      '"@query": ?',
      '"signature-agent";key="a": "https://bot.example.com"',
      '"@authority": example.com:8443',
      `"@signature-params": ${parameters}`,
    ].join('\n');
    const bytes = Buffer.from(Signature?.slice('wba=:'.length, -1) ?? '', 'base64');
    expect(verify(null, Buffer.from(base), createPublicKey(KEY), bytes)).toBe(true);
  });

  test.each([
    ['no such profile', 'sig1=("@authority");tag="other"'],
    ['no tag', 'sig1=("@authority")'],
    ['a field that is not signed', 'sig1=("cookie");tag="web-bot-auth"'],
    ['part of the answer', 'sig1=("@status");tag="web-bot-auth"'],
    ['the authority of another message', 'sig1=("@authority";req);tag="web-bot-auth"'],
    ['the authority twice', 'sig1=("@authority" "@authority");tag="web-bot-auth"'],
    ['another key', 'sig1=();keyid="x";tag="web-bot-auth"'],
    ['another algorithm', 'sig1=();alg="rsa-pss-sha512";tag="web-bot-auth"'],
    ['a name that would end the header', 'sig1=("signature-agent";key="a\r\nb");tag="web-bot-auth"'],
    ['a broken field', 'sig1=("@authority" ;tag="web-bot-auth"'],
    ['more behind it', 'sig1=();tag="web-bot-auth" x'],
    ['nothing', ''],
    ['more than is read', `sig1=(${'"@path" '.repeat(1000)});tag="web-bot-auth"`],
  ])('that asks for %s is not answered', (_, challenge) => {
    expect(answer(challenge)).toBeUndefined();
  });

  test('RFC 9651: members, components and parameters are read as they are written', () => {
    expect(
      parseAcceptSignature('a=("x";sf;n=1 "y");created;s="q\\"";t=tok/en;b=:YQ==: , \t*b-1.x=( )'),
    ).toMatchObject([
      {label: 'a', components: [{name: 'x'}, {name: 'y'}]},
      {label: '*b-1.x', components: []},
    ]);
    expect([...(parseAcceptSignature('a=();s="q\\"";c')[0]?.parameters ?? [])]).toEqual([
      ['s', {kind: 'string', text: 'q"'}],
      ['c', {kind: 'other', text: '?1'}],
    ]);
  });
});
