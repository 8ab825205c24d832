import {execFileSync} from 'node:child_process';
import {once} from 'node:events';
import {writeFileSync} from 'node:fs';
import {createServer, type ServerResponse} from 'node:http';
import {createServer as createSecureServer} from 'node:https';
import {connect, type Socket} from 'node:net';
import {join} from 'node:path';
import {connect as secure, type TLSSocket} from 'node:tls';
import {describe, expect, onTestFinished, test} from 'vitest';
import {createCertificateAuthority as createTestAuthority} from '../../test/support/certificates.ts';
import {listen} from '../../test/support/listening-server.ts';
import {unwrap} from '../../test/support/outcome.ts';
import {needs} from '../../test/support/parts.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {systemClock} from '../core/clock.ts';
import type {EgressConnection} from '../core/egress-gate.ts';
import {ok} from '../core/result.ts';
import {readAllowList} from './allow-list.ts';
import {createCertificateAuthority} from './certificate-authority.ts';
import {createGate} from './create-gate.ts';
import {
  createCredentialedHosts,
  type EgressCredential,
  type ReadRequest,
  rewriteRequest,
} from './forward-requests.ts';

const SECRET = 'Bearer s3cr3t-s3cr3t';

type Answer = (response: ServerResponse, body: string, path: string) => void;

/** A host that wants a secret, the gate before it, and a command that speaks to the gate. */
async function open(answer: Answer, {maxBytes = 1e9} = {}) {
  const authority = createTestAuthority();
  const {chain, key} = authority.issue({names: ['a.test']});
  const heard: string[] = [];
  const connections: EgressConnection[] = [];
  const serve = createServer((request, response) => {
    let body = '';
    request.on('data', chunk => {
      body += chunk;
    });
    request.on('end', () => {
      heard.push(`${request.method} ${request.url} ${request.headers.authorization} ${body.length}`);
      answer(response, body, request.url ?? '');
    });
  });
  let accepted = 0;
  const server = createSecureServer({cert: chain, key}, (request, response) =>
    serve.emit('request', request, response),
  );
  server.on('connection', () => {
    accepted += 1;
  });
  const {port, close} = await listen(server, '127.0.0.1');
  onTestFinished(close);
  const by = 'tools.run.egress.credentials[0]';
  const credentials = [{host: 'a.test', port, header: 'Authorization', value: () => SECRET, by}];
  const credentialed = createCredentialedHosts(credentials, [authority.pem], systemClock);
  const gate = createGate({
    allowList: unwrap(readAllowList({allow: [`a.test:${port}`], presets: []}) as never),
    authorize: async () => ok(['127.0.0.1']),
    clock: systemClock,
    limits: {maxConnections: 100, maxBytes, maxConnectionMs: 60_000},
    places: [temporaryDirectory()],
    workspace: '/nonexistent',
    credentialed,
  });
  onTestFinished(() => gate.close());
  const channel = unwrap(await gate.open(undefined));
  channel.attach({onConnection: connection => connections.push(connection)});
  /** A tunnel by TLS, as a command opens it. */
  const enter = async (): Promise<TLSSocket> => {
    const socket = connect(channel.socketPath);
    socket.write(`CONNECT a.test:${port} HTTP/1.1\r\nHost: a.test:${port}\r\n\r\n`);
    await new Promise(resolve => socket.once('data', resolve));
    return secure({socket, servername: 'a.test', ca: credentialed.bundle});
  };
  /** Sends it in a tunnel of its own. The value is what was answered when `until` is in it, or the end. */
  const say = async (text: string, until?: string): Promise<string> => {
    const tls = await enter();
    tls.write(text);
    return answerOf(tls, until);
  };
  return {enter, say, heard, connections, host: `Host: a.test:${port}`, accepted: () => accepted};
}

function answerOf(socket: Socket, until?: string): Promise<string> {
  return new Promise(resolve => {
    let said = '';
    const finish = () => {
      socket.destroy();
      resolve(said);
    };
    socket.on('data', chunk => {
      said += chunk;
      if (until !== undefined && said.includes(until)) finish();
    });
    socket.on('error', () => {}).once('close', finish);
  });
}

test('X1 requests on one connection go to the host on one, each with the secret', async () => {
  const {say, heard, host, accepted, connections} = await open((response, body, path) =>
    response.end(`<${path}${body}>`),
  );
  const said = await say(
    `GET /one HTTP/1.1\r\n${host}\r\n\r\nPOST /two HTTP/1.1\r\n${host}\r\nContent-Length: 4\r\n\r\nbody`,
    '</twobody>',
  );
  expect(said).toContain('</one>');
  expect(heard).toEqual([`GET /one ${SECRET} 0`, `POST /two ${SECRET} 4`]);
  expect(accepted()).toBe(1);
  await expect
    .poll(() => connections)
    .toMatchObject([
      {
        decision: 'allowed',
        reason: 'Allowed by tools.run.egress.allow[0], with tools.run.egress.credentials[0].',
        address: '127.0.0.1',
      },
    ]);
  expect(connections[0]?.bytesUp).toBeGreaterThan(200);
  expect(connections[0]?.bytesDown).toBeGreaterThan(200);
});

test('X1 the connection ends where the host ends it, after a whole answer', async () => {
  const {say, host} = await open(response => {
    response.setHeader('connection', 'close');
    response.end('x'.repeat(300_000));
  });
  const said = await say(`GET / HTTP/1.1\r\n${host}\r\n\r\n`);
  expect(said).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*connection: close/i);
  expect(said.split('\r\n\r\n')[1]).toHaveLength(300_000);
});

test.each(['x-echo: it is s3cr3t-s3cr3t', `x-echo: ${SECRET}`, 'location: /?t=%73%33cr3t%2ds3cr3t'])(
  'X1, red team G14: an answer with the secret in its header is not passed on: %s',
  async field => {
    const {say, host, connections} = await open(response => {
      const [name = '', value = ''] = field.split(': ');
      response.setHeader(name, value);
      response.end('body');
    });
    const said = await say(`GET / HTTP/1.1\r\n${host}\r\n\r\n`, 'body');
    expect(said).toMatch(/^HTTP\/1\.1 502/);
    expect(said).not.toContain('s3cr3t');
    expect(connections).toMatchObject([{decision: 'refused', reason: expect.stringContaining('its header')}]);
  },
);

test('X1 a request that is refused reaches nobody, and ends the connection', async () => {
  const {say, heard, connections} = await open(response => response.end());
  const said = await say('GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n');
  expect(said).toMatch(/^HTTP\/1\.1 403[\s\S]*The Host is not that of the tunnel\./);
  expect(await say('CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test\r\n\r\n')).toBe('');
  expect(await say('no HTTP\r\n\r\n')).toBe('');
  expect(heard).toEqual([]);
  expect(connections.map(({decision}) => decision)).toEqual(['refused', 'refused', 'refused']);
});

test('X1 bytes count as those of a tunnel do', async () => {
  const {say, host, connections} = await open(response => response.end('x'.repeat(3_000_000)), {
    maxBytes: 1e6,
  });
  const said = await say(`GET / HTTP/1.1\r\n${host}\r\n\r\n`);
  expect(said.length).toBeLessThan(2_000_000);
  expect(connections).toMatchObject([{decision: 'refused', reason: expect.stringContaining('max_mb')}]);
});

test.each(['099', '000', '600'])(
  'red team G1: a host that answers with status %s ends that connection only',
  async status => {
    const {say, host, connections} = await open((response, _, path) => {
      if (path === '/odd') response.socket?.end(`HTTP/1.1 ${status} Odd\r\nContent-Length: 5\r\n\r\nhello`);
      else response.end('fine');
    });
    expect(await say(`GET /odd HTTP/1.1\r\n${host}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 502 [\s\S]*with the status/,
    );
    expect(await say(`GET / HTTP/1.1\r\n${host}\r\n\r\n`, 'fine')).toMatch(/^HTTP\/1\.1 200 /);
    expect(connections[0]).toMatchObject({decision: 'failed', reason: expect.stringContaining('the status')});
  },
);

test('red team G2: nothing further is read of a command before its request is answered', async () => {
  const waiting: ServerResponse[] = [];
  const {enter, heard, host} = await open(response => waiting.push(response));
  const tls = await enter();
  let said = '';
  tls
    .on('error', () => {})
    .on('data', chunk => {
      said += chunk;
    });
  tls.write(`GET / HTTP/1.1\r\n${host}\r\n\r\n`.repeat(100_000));
  await expect.poll(() => waiting.length).toBe(1);
  // Enough for a reader that does not wait.
  for (let turn = 0; turn < 1000; turn++) await new Promise(resolve => setImmediate(resolve));
  expect(tls.writableLength).toBeGreaterThan(3_000_000);
  for (let answered = 1; answered <= 3; answered++) {
    waiting.pop()?.end(`<${answered}>`);
    await expect.poll(() => said).toContain(`<${answered}>`);
    await expect.poll(() => waiting.length).toBe(1);
  }
  expect(heard).toHaveLength(4);
  tls.destroy();
});

test('red team G2: bodies of a counted length and in chunks end where they say, wherever pieces are cut', async () => {
  const {enter, heard, host} = await open((response, body) => response.end(`<${body.length}>`));
  const tls = await enter();
  const body = '\r\n\r\nGET /no HTTP/1.1\r\n\r\n';
  const counted = `POST /counted HTTP/1.1\r\n${host}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const chunk = `${body.length.toString(16)}\r\n${body}\r\n`;
  const chunked = `POST /chunked HTTP/1.1\r\n${host}\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}${chunk}0\r\n\r\n`;
  const text = [counted, chunked, `GET /last HTTP/1.1\r\n${host}\r\n\r\n`].join('').repeat(2);
  const answered = answerOf(tls, '<never>');
  for (let at = 0; at < text.length; at += 7) tls.write(text.slice(at, at + 7));
  await expect.poll(() => heard.length).toBe(6);
  const three = [
    `POST /counted ${SECRET} ${body.length}`,
    `POST /chunked ${SECRET} ${2 * body.length}`,
    `GET /last ${SECRET} 0`,
  ];
  expect(heard).toEqual([...three, ...three]);
  tls.end();
  expect((await answered).match(/HTTP\/1\.1 200 /g)).toHaveLength(6);
});

test('red team G11: what was sent and never answered is in the record', async () => {
  const {enter, heard, connections, host} = await open(() => {});
  for (const [path, body] of [
    ['a'.repeat(12_000), ''],
    ['b', 'c'.repeat(8000)],
  ] as const) {
    const tls = await enter();
    tls.on('error', () => {});
    tls.write(`POST /${path} HTTP/1.1\r\n${host}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    const before = heard.length;
    await expect.poll(() => heard.length).toBe(before + 1);
    tls.destroy();
  }
  await expect.poll(() => connections.length).toBe(2);
  expect(connections[0]?.bytesUp).toBeGreaterThan(12_000);
  expect(connections[1]?.bytesUp).toBeGreaterThan(8000);
  for (const {bytesDown} of connections) expect(bytesDown).toBeGreaterThan(200);
});

test('red team G11: what a command sends meets max_mb before the host has answered', async () => {
  const {say, host, connections} = await open(() => {}, {maxBytes: 10_000});
  await say(`GET /${'a'.repeat(12_000)} HTTP/1.1\r\n${host}\r\n\r\n`);
  expect(connections).toMatchObject([{decision: 'refused', reason: expect.stringContaining('max_mb')}]);
});

test.each([
  ['before its answer', '', /^HTTP\/1\.1 502 /],
  ['in its body', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf', /half$/],
  ['in a chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\nhalf', /half\r\n$/],
])('red team G16: the record names the host where it breaks off %s', async (_, text, answer) => {
  const {say, host, connections} = await open(response => response.socket?.end(text));
  expect(await say(`GET / HTTP/1.1\r\n${host}\r\n\r\n`)).toMatch(answer);
  expect(connections).toMatchObject([
    {decision: 'failed', reason: expect.stringContaining('a.test broke off its answer')},
  ]);
});

test('red team G16: the record names the command where it leaves before its answers are sent', async () => {
  const waiting: ServerResponse[] = [];
  const {enter, host, connections} = await open(response => waiting.push(response));
  const tls = await enter();
  tls.on('error', () => {}).write(`GET / HTTP/1.1\r\n${host}\r\n\r\n`.repeat(3));
  await expect.poll(() => waiting.length).toBe(1);
  tls.destroy();
  await once(tls, 'close');
  waiting.pop()?.end('x'.repeat(1_000_000));
  await expect
    .poll(() => connections)
    .toMatchObject([{decision: 'failed', reason: expect.stringContaining('broke the connection')}]);
});

test(
  'X1 the authority vouches for its hosts alone, as strictly as OpenSSL can look',
  needs('OpenSSL'),
  () => {
    const {certificate, leaf} = createCertificateAuthority(['a.test', 'b.test'], systemClock);
    const place = temporaryDirectory();
    const [ca, one] = ['ca.pem', 'one.pem'].map(name => join(place, name)) as [string, string];
    writeFileSync(ca, certificate);
    writeFileSync(one, leaf.certificate);
    const verify = (host: string) =>
      execFileSync(
        'openssl',
        ['verify', '-x509_strict', '-purpose', 'sslserver', '-verify_hostname', host, '-CAfile', ca, one],
        {encoding: 'utf8', stdio: 'pipe'},
      );
    expect(verify('a.test')).toContain('OK');
    expect(verify('b.test')).toContain('OK');
    expect(() => verify('c.test')).toThrow('ostname mismatch');
    const text = execFileSync('openssl', ['x509', '-noout', '-text', '-in', ca], {encoding: 'utf8'});
    expect(text).toMatch(/Name Constraints: critical\s+Permitted:\s+DNS:a\.test\s+DNS:b\.test/);
    expect(text).toMatch(/Basic Constraints: critical\s+CA:TRUE, pathlen:0/);
  },
);

const TARGET = {scheme: 'https', host: 'a.test', port: 443} as const;
const CREDENTIAL: EgressCredential = {
  host: 'a.test',
  port: 443,
  header: 'X-Api-Key',
  value: () => 'secret',
  by: 'tools.run.egress.credentials[0]',
};
const HOST = ['Host', 'a.test'];

function rewrite(request: Partial<ReadRequest>, target: Parameters<typeof rewriteRequest>[1] = TARGET) {
  return rewriteRequest({method: 'GET', url: '/', rawHeaders: HOST, ...request}, target, CREDENTIAL);
}

describe('a request that gets the secret', () => {
  test('X1 is written anew: its own field of that name and what is about the connection are left out', () => {
    const rawHeaders = [
      ...HOST,
      ...['Accept', 'a/b', 'x-api-KEY', 'mine', 'Connection', 'x-api-key', 'Expect', '100-continue'],
      ...['TE', 'trailers', 'Keep-Alive', 'timeout=5', 'Proxy-Authorization', 'Basic x', 'Accept', 'c/d'],
    ];
    expect(rewrite({url: '/a?b="c"', rawHeaders})).toEqual({
      ok: true,
      value: {
        method: 'GET',
        path: '/a?b="c"',
        headers: ['Host', 'a.test', 'accept', 'a/b', 'accept', 'c/d', 'X-Api-Key', 'secret'],
      },
    });
  });

  test('X1 says how long it is, also where it did not', () => {
    const headersOf = (method: string, ...fields: readonly string[]) => {
      const rewritten = rewrite({method, rawHeaders: [...HOST, ...fields]});
      return rewritten.ok ? rewritten.value.headers.slice(2, -2) : rewritten.error;
    };
    for (const method of ['POST', 'PUT', 'PATCH']) expect(headersOf(method)).toEqual(['content-length', '0']);
    for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS']) expect(headersOf(method)).toEqual([]);
    expect(headersOf('POST', 'Content-Length', '3')).toEqual(['content-length', '3']);
    expect(headersOf('POST', 'Transfer-Encoding', 'Chunked')).toEqual(['transfer-encoding', 'Chunked']);
  });

  test('X1 names its host with or without the usual port, and with any other', () => {
    expect(rewrite({rawHeaders: ['Host', 'A.test:443']}).ok).toBe(true);
    const other = {...TARGET, port: 8443};
    expect(rewrite({rawHeaders: ['Host', 'a.test:8443']}, other)).toMatchObject({
      value: {headers: ['Host', 'a.test:8443', 'X-Api-Key', 'secret']},
    });
    expect(rewrite({}, other)).toMatchObject({error: {status: 403}});
  });
});

describe('a request that is not sent', () => {
  test.each<[string, Partial<ReadRequest>, number]>([
    ['is answered with itself', {method: 'TRACE'}, 405],
    ['has a method of nobody', {method: 'get'}, 405],
    ['asks for an address', {url: 'https://evil.test/'}, 400],
    ['asks for no path', {url: '*'}, 400],
    ['has a blank in its path', {url: '/a b'}, 400],
    ['has a fragment', {url: '/a#b'}, 400],
    ['has no Host', {rawHeaders: []}, 403],
    ['has the Host of another', {rawHeaders: ['Host', 'evil.test']}, 403],
    ['has two Hosts', {rawHeaders: [...HOST, ...HOST]}, 403],
    ['wants another protocol', {rawHeaders: [...HOST, 'Upgrade', 'h2c']}, 501],
    ['has fields behind its body', {rawHeaders: [...HOST, 'Trailer', 'x']}, 501],
    ['has two lengths', {rawHeaders: [...HOST, 'Content-Length', '1', 'Content-Length', '1']}, 400],
    [
      'has a length and chunks',
      {rawHeaders: [...HOST, 'Content-Length', '1', 'Transfer-Encoding', 'chunked']},
      400,
    ],
    ['has another coding', {rawHeaders: [...HOST, 'Transfer-Encoding', 'gzip, chunked']}, 400],
    ['has 101 fields', {rawHeaders: [...HOST, ...Array(100).fill(['a', 'b']).flat()]}, 400],
    ['has a control character', {rawHeaders: [...HOST, 'a', 'b\u0001']}, 400],
  ])('X1 %s', (_, request, status) => {
    expect(rewrite(request)).toEqual({ok: false, error: {status, reason: expect.stringMatching(/\.$/)}});
  });

  test('X1 100 fields are not too many', () => {
    expect(rewrite({rawHeaders: [...HOST, ...Array(99).fill(['a', 'b']).flat()]}).ok).toBe(true);
  });
});
