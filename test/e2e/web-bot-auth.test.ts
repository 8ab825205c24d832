import {createPublicKey, verify} from 'node:crypto';
import {chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {beforeAll, describe, expect, onTestFinished, test} from 'vitest';
import {createToolbox, type LogEvent} from '../../src/index.ts';
import {type CertificateAuthority, createCertificateAuthority} from '../support/certificates.ts';
import {type PathHandler, startHttpServer} from '../support/http-server.ts';
import {runCliHere} from '../support/run-cli-here.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const AGENT = 'https://bot.example.com';
const ASKS = {
  'Accept-Signature': 'sig1=("@authority" "signature-agent";key="sig1");nonce="n";tag="web-bot-auth"',
};
const PAGE: PathHandler = (_, response) =>
  response.writeHead(200, {'Content-Type': 'text/plain'}).end('inside');
const NONE: PathHandler = (_, response) => response.writeHead(404).end();

let authority: CertificateAuthority;
beforeAll(() => {
  authority = createCertificateAuthority();
});

interface Directory {
  readonly keys: readonly {
    readonly kty: string;
    readonly crv: string;
    readonly x: string;
    readonly kid: string;
  }[];
}

/** Checks a request against the directory as an origin would, by code of its own. */
function isSigned(headers: Readonly<Record<string, unknown>>, {keys}: Directory, host: string): boolean {
  const input = String(headers['signature-input'] ?? '');
  const [, components = '', keyid = ''] = /^sig1=(\([^)]*\)).*;keyid="([^"]*)"/.exec(input) ?? [];
  const key = keys.find(({kid}) => kid === keyid);
  if (!key || components !== '("@authority" "signature-agent";key="sig1")') return false;
  const agent = String(headers['signature-agent']).replace('sig1=', '');
  const base = `"@authority": ${host}\n"signature-agent";key="sig1": ${agent}\n"@signature-params": ${input.slice(5)}`;
  const bytes = Buffer.from(String(headers['signature']).slice('sig1=:'.length, -1), 'base64');
  return verify(null, Buffer.from(base), createPublicKey({key: {...key}, format: 'jwk'}), bytes);
}

interface Sites {
  readonly good?: PathHandler;
  readonly other?: PathHandler;
}

async function openWorld(sites: (ports: {good: number; other: number}) => Sites) {
  const place = temporaryDirectory();
  const keyFile = join(place, 'bot.pem');
  const made = await runCliHere(['bot-key', keyFile], {cwd: '/nonexistent', homeDir: '/nonexistent'});
  const directory: Directory = JSON.parse(made.stdout);
  const ports = {good: 0, other: 0};
  const late =
    (site: keyof Sites): PathHandler =>
    (request, response) =>
      (request.url === '/robots.txt' ? NONE : (sites(ports)[site] ?? PAGE))(request, response);
  const certificate = authority.issue({names: ['good.test', 'other.test']});
  const good = await startHttpServer({'*': late('good')}, {certificate});
  const other = await startHttpServer({'*': late('other')}, {certificate});
  onTestFinished(async () => {
    await Promise.all([good.close(), other.close()]);
  });
  Object.assign(ports, {good: good.port, other: other.port});
  const logs: LogEvent[] = [];
  const open = (identity = {key_file: keyFile, agent_url: AGENT}, rest: object = {}) => {
    const toolbox = createToolbox({
      resolver: {resolve: async () => ['127.0.0.1']},
      certificateAuthorities: [authority.pem],
      log: event => logs.push(event),
      ...rest,
      config: {
        tools: {
          webfetch: {
            cache_dir: '',
            identity,
            browser: {enabled: false},
            security: {
              block_loopback: false,
              allow_insecure_overrides: true,
              allowed_ports: [good.port, other.port],
            },
          },
        },
      },
    });
    onTestFinished(() => toolbox.close());
    return toolbox;
  };
  /** For each request but those for robots.txt: whether it carried a signature, and one that holds. */
  const seen = (server: typeof good, host: string) =>
    server.requests.flatMap((line, index) => {
      const headers = server.requestHeaders[index] ?? {};
      if (line.endsWith('robots.txt')) return headers['signature'] === undefined ? [] : ['robots signed'];
      if (headers['signature'] === undefined) return ['plain'];
      return [isSigned(headers, directory, `${host}:${server.port}`) ? 'signed' : 'wrong'];
    });
  return {
    place,
    keyFile,
    directory,
    made,
    logs,
    open,
    good,
    other,
    seenAt: {good: () => seen(good, 'good.test'), other: () => seen(other, 'other.test')},
    url: (path = '/') => `https://good.test:${good.port}${path}`,
  };
}

/** Opens for who is signed; `status` to everybody else. */
function guarded(status: number): PathHandler {
  return (request, response) =>
    request.headers['signature'] === undefined
      ? response.writeHead(status, ASKS).end('who are you?')
      : PAGE(request, response);
}

const elsewhere =
  (target: string): PathHandler =>
  (_, response) =>
    response.writeHead(302, {Location: target}).end();

describe('Web Bot Auth', () => {
  test.each([401, 403, 429])(
    'a %i that asks for a signature gets one, and the origin can verify it',
    async status => {
      const world = await openWorld(() => ({good: guarded(status)}));
      const answer = await world.open().webFetch({url: world.url()});
      expect(answer.ok && answer.value.chunks[0]?.text).toBe('inside');
      expect(world.seenAt.good()).toEqual(['plain', 'signed']);
    },
  );

  test('who is not asked signs nothing; who asks twice is signed for once; another status is no question', async () => {
    const always: PathHandler = (_, response) => response.writeHead(403, ASKS).end();
    const plain: PathHandler = (_, response) => response.writeHead(403).end();
    const missing: PathHandler = (_, response) => response.writeHead(404, ASKS).end();
    for (const [handler, expected] of [
      [PAGE, ['plain']],
      [plain, ['plain']],
      [missing, ['plain']],
      [always, ['plain', 'signed']],
    ] as const) {
      const world = await openWorld(() => ({good: handler}));
      await world.open().webFetch({url: world.url()});
      expect(world.seenAt.good()).toEqual(expected);
    }
  });

  test('without the setting nothing is signed', async () => {
    const world = await openWorld(() => ({good: guarded(403)}));
    const answer = await world.open({key_file: '', agent_url: ''}).webFetch({url: world.url()});
    expect(!answer.ok && answer.error.code).toBe('http_4xx');
    expect(world.seenAt.good()).toEqual(['plain']);
  });

  test('each hop of the origin is signed for by itself, with a signature of its own', async () => {
    const world = await openWorld(() => ({
      good: (request, response) => {
        if (request.headers['signature'] === undefined)
          response
            .writeHead(401, {
              'Accept-Signature': 'sig1=("@authority" "signature-agent";key="sig1");tag="web-bot-auth"',
            })
            .end();
        else if (request.url === '/') response.writeHead(302, {Location: '/next'}).end();
        else PAGE(request, response);
      },
    }));
    await world.open().webFetch({url: world.url()});
    expect(world.seenAt.good()).toEqual(['plain', 'signed', 'plain', 'signed']);
    const signatures = world.good.requestHeaders.flatMap(({signature}) => signature ?? []);
    expect(new Set(signatures).size).toBe(2);
  });

  test('another origin that a redirect leads to is not signed for, and nor is the first behind it', async () => {
    const world = await openWorld(({good, other}) => ({
      good: (request, response) =>
        request.url === '/'
          ? elsewhere(`https://other.test:${other}/`)(request, response)
          : guarded(403)(request, response),
      other: (request, response) =>
        request.url === '/'
          ? response.writeHead(302, {...ASKS, Location: '/asks'}).end()
          : request.url === '/asks'
            ? elsewhere(`https://good.test:${good}/back`)(request, response)
            : PAGE(request, response),
    }));
    const answer = await world.open().webFetch({url: world.url()});
    expect(!answer.ok && answer.error.code).toBe('http_4xx');
    expect([...world.seenAt.good(), ...world.seenAt.other()]).not.toContain('signed');

    const direct = await openWorld(({other}) => ({
      good: elsewhere(`https://other.test:${other}/`),
      other: guarded(403),
    }));
    await direct.open().webFetch({url: direct.url()});
    expect(direct.seenAt.other()).toEqual(['plain']);
  });

  test('no log line has the key or a signature', async () => {
    const world = await openWorld(() => ({good: guarded(403)}));
    await world.open().webFetch({url: world.url()});
    const secret = readFileSync(world.keyFile, 'utf8').split('\n')[1] ?? '';
    const signature = String(world.good.requestHeaders.at(-1)?.['signature']);
    const logged = JSON.stringify(world.logs) + world.made.stdout + world.made.stderr;
    expect(secret.length).toBeGreaterThan(40);
    for (const text of [secret, signature]) expect(logged).not.toContain(text);
  });
});

describe('the key of a bot', () => {
  test('bot-key makes it for nobody else to read, and never writes over it', async () => {
    const {keyFile, directory, made} = await openWorld(() => ({}));
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    expect(directory.keys).toHaveLength(1);
    expect(made.stderr).toContain('/.well-known/http-message-signatures-directory');
    const before = readFileSync(keyFile, 'utf8');
    const again = await runCliHere(['bot-key', keyFile]);
    expect(again).toMatchObject({code: 0, stdout: made.stdout});
    expect(again.stderr).toContain('stays as it is');
    expect(readFileSync(keyFile, 'utf8')).toBe(before);
    const other = join(keyFile, '..', 'other.txt');
    writeFileSync(other, 'not a key', {mode: 0o600});
    const refused = await runCliHere(['bot-key', other]);
    expect(refused).toMatchObject({code: 1, stdout: ''});
    expect(readFileSync(other, 'utf8')).toBe('not a key');
  });

  test('bot-key makes none in the directory where tools work', async () => {
    const place = temporaryDirectory();
    const {code, stderr} = await runCliHere(['bot-key', 'bot.pem'], {cwd: place});
    expect(code).toBe(1);
    expect(stderr).toContain('where tools read it');
    expect(() => statSync(join(place, 'bot.pem'))).toThrow();
  });

  test('one that others can read, that is in the workspace, or that is none stops start-up without being shown', async () => {
    const {keyFile, place, open} = await openWorld(() => ({}));
    const problem = (identity: {key_file: string; agent_url: string}, rest: object = {}): string => {
      try {
        open(identity, rest);
        return 'started';
      } catch (error) {
        return String(error);
      }
    };
    const pem = readFileSync(keyFile, 'utf8');
    const workspace = join(place, 'workspace');
    mkdirSync(workspace);
    writeFileSync(join(workspace, 'bot.pem'), pem, {mode: 0o600});
    symlinkSync(join(workspace, 'bot.pem'), join(place, 'link.pem'));
    writeFileSync(join(place, 'no.pem'), 'hello', {mode: 0o600});
    const agent_url = AGENT;
    const said = [
      problem({key_file: join(workspace, 'bot.pem'), agent_url}, {workspace}),
      problem({key_file: join(place, 'link.pem'), agent_url}, {workspace}),
      problem({key_file: join(place, 'no.pem'), agent_url}),
      problem({key_file: join(place, 'gone.pem'), agent_url}),
      problem({key_file: place, agent_url}),
      problem({key_file: keyFile, agent_url: ''}),
      problem({key_file: '', agent_url}),
      problem({key_file: keyFile, agent_url: 'http://bot.example.com'}),
      problem({key_file: keyFile, agent_url: 'https://bot.example.com/bot'}),
    ];
    chmodSync(keyFile, 0o640);
    said.push(problem({key_file: keyFile, agent_url}));
    // biome-ignore format: a list
    const reasons = [
      'in the workspace', 'in the workspace', 'no Ed25519 key', 'ENOENT', 'no file of a key',
      'agent_url is missing', 'key_file is missing', 'an https origin', 'an https origin', 'other users',
    ];
    said.forEach((text, index) => {
      expect(text).toContain(reasons[index]);
      expect(text).not.toContain(pem.split('\n')[1]);
    });
  });
});
