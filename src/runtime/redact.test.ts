import {createHash} from 'node:crypto';
import {readFile, stat} from 'node:fs/promises';
import {join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {echoTool, openTestRuntime, toolOf} from '../../test/support/open-test-runtime.ts';
import {resolveSection} from '../config/resolve-config.ts';
import {fail, type Json} from '../core/result.ts';
import type {ToolContext} from '../core/tool.ts';
import {webFetchTool} from '../tools/web/web-fetch.ts';
import {webFetchSection} from '../web/options.ts';
import {isAddressName, isSecretName, redactAddress, redactPayload, redactText} from './redact.ts';

// biome-ignore format: a list
const ADDRESSES = [
  'http://a b/?TOPSECRET', 'http://a b/#TOPSECRET', 'https://[::1/?q=TOPSECRET',
  'http://a.example:99999/?TOPSECRET', 'data:text/html,TOPSECRET', 'data:text/html,<p>TOPSECRET',
  'data: text/html, TOPSECRET', 'javascript:fetch("TOPSECRET")', 'javascript: alert(1); TOPSECRET',
  'blob:TOPSECRET', 'mailto:a@b?subject=TOPSECRET', 'user:TOPSECRET@host/', '//host/?TOPSECRET',
  'not an address?TOPSECRET', ' \thttp:\\\\a b\\?TOPSECRET', 'https://good.example/path?TOPSECRET',
];

test.each(ADDRESSES)(
  'FR-WF-19b: of %j neither the log nor the record keeps what is no address',
  async url => {
    const options = resolveSection(
      webFetchSection,
      {},
      {env: {}, cwd: '/', tempDir: '/tmp'},
      {warnings: [], problems: []},
    );
    const {call, directory} = await openTestRuntime({
      tools: [webFetchTool(async ({url: given}) => fail('invalid_url', 'No.', {url: given}), options)],
      approval: {mode: 'auto'},
    });
    await call('web_fetch', {url});
    await call('web_fetch', {url, no_cache: 'a'});
    for (const file of ['events.jsonl', 'calls/step_0001.json', 'calls/step_0002.json']) {
      expect(await readFile(join(directory, file), 'utf8')).not.toContain('TOPSECRET');
    }
  },
);

test('what says where something is stays', () => {
  expect(redactAddress('https://docs.example/a/b?c#d')).toBe('https://docs.example/a/b?…');
  expect(redactAddress('http://a b/path?x')).toBe('http://a b/path?…');
  expect(redactAddress('localhost:8080/x?y')).toBe('localhost:8080/x?…');
  expect(redactAddress('data:text/html,x')).toBe('data:…');
});

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

test('report: a call leaves a record with its parameters, its plan and its result', async () => {
  const {call, directory} = await openTestRuntime();
  const text = 'long '.repeat(500);
  const result = await call('echo', {text});
  const path = join(directory, 'calls/step_0001.json');
  expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
    version: 1,
    params: {text},
    intent: {summary: `echo ${text}`, preview: text},
    result,
  });
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('report: a call that is refused before it has a plan leaves a record as well', async () => {
  const {call, directory} = await openTestRuntime();
  const {error} = await call('echo', {count: 1});
  const record = JSON.parse(await readFile(join(directory, 'calls/step_0001.json'), 'utf8'));
  expect(record).toMatchObject({params: {count: 1}, intent: null, result: {status: 'error', error}});
});

test('FR-WF-19b a record has no query string and no secret, in no field', async () => {
  const {call, directory} = await openTestRuntime();
  await call('echo', {text: 'see https://e.com/a?key=1234 with password=hunter22', token: 'abcdef'});
  await call('echo', {text: 'see https://e.com/a?key=1234 with password=hunter22'});
  for (const step of [1, 2]) {
    const record = await readFile(join(directory, `calls/step_000${step}.json`), 'utf8');
    expect(record).toContain('https://e.com/a?…');
    expect(record).not.toMatch(/1234|hunter22|abcdef/);
  }
});

test('report: a record is bounded, whatever the answer is', {tags: 'slow'}, async () => {
  const huge = toolOf('huge', async () => ({texts: Array.from({length: 40}, () => 'x'.repeat(100_000))}));
  const {call, directory} = await openTestRuntime({tools: [huge], maxOutputBytes: 50_000_000});
  expect(await call('huge')).toMatchObject({status: 'success'});
  expect((await stat(join(directory, 'calls/step_0001.json'))).size).toBeLessThan(1_300_000);
});

test('policy: the log vouches for everything that a call left', async () => {
  const leaving = toolOf('leaving', async ({saveArtifact}) => {
    await saveArtifact('logs/a.txt', 'first');
    return {};
  });
  const {call, directory, events} = await openTestRuntime({tools: [echoTool, leaving]});
  await call('leaving');
  const finished = (await events()).find(({event}) => event === 'tool_call_finished');
  const hashed = await Promise.all(
    ['logs/a.txt', 'calls/step_0001.json'].map(async path => {
      const content = await readFile(join(directory, path));
      return {path, bytes: content.length, sha256: createHash('sha256').update(content).digest('hex')};
    }),
  );
  expect(finished?.payload['artifacts']).toEqual(hashed);
});

test('W21: what a call saves once it has answered is vouched for by its next event, and by that alone', async () => {
  const left: ToolContext[] = [];
  const goesOn = toolOf('goes_on', async context => {
    await context.saveArtifact('logs/before.txt', 'before');
    await context.emit('STARTED', {});
    left.push(context);
    return {};
  });
  const {call, events} = await openTestRuntime({tools: [goesOn]});
  await call('goes_on');
  const [context] = left;
  await context?.emit('QUIET', {});
  await context?.saveArtifact('logs/after.txt', 'after');
  await context?.emit('ENDED', {exit_code: 0});
  await context?.emit('QUIET', {});
  const about = {request_id: expect.any(String), step: 1};
  const after = {
    path: 'logs/after.txt',
    bytes: 5,
    sha256: createHash('sha256').update('after').digest('hex'),
  };
  const own = (await events()).filter(({event}) => event === event.toUpperCase());
  expect(own.map(({event, payload}) => [event, payload])).toEqual([
    ['STARTED', about],
    ['QUIET', about],
    ['ENDED', {...about, exit_code: 0, artifacts: [after]}],
    ['QUIET', about],
  ]);
});
