import {once} from 'node:events';
import {readFileSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {type IncomingHttpHeaders, type IncomingMessage, request as send} from 'node:http';
import {connect} from 'node:net';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import {createFixtureHost, echo, endless, type FixtureTool} from '../../../test/support/fixture-tool-host.ts';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {createMcpService} from '../create-mcp-service.ts';
import {type HttpOptions, serveHttp} from './serve-http.ts';

const TOKEN = 'A-token.with_32~characters/or+more==';
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {name: 'test', version: '1'}},
};

interface Reply {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Options {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Record<string, string | undefined>;
  readonly body?: string | object;
}

async function serve(options: HttpOptions = {token: TOKEN}, tool: FixtureTool = echo) {
  const host = createFixtureHost({echo: tool});
  const service = createMcpService(host, {version: '1'});
  const served = await serveHttp(service, options);
  if (!served.ok) throw new Error(served.error.message);
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= served.value.close();
    return closed;
  };
  onTestFinished(close);
  const {port} = new URL(served.value.url);
  return {
    url: served.value.url,
    host,
    close,
    post: (given: Options = {}) => exchange(port, given),
    open: (given: Options = {}) => begin(port, given),
  };
}

function begin(port: string, {method = 'POST', path = '/mcp', headers = {}, body}: Options) {
  const all: Record<string, string | undefined> = {
    authorization: `Bearer ${TOKEN}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headers,
  };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  const outgoing = send({host: '127.0.0.1', port, method, path, headers: given as Record<string, string>});
  outgoing.end(typeof body === 'object' ? JSON.stringify(body) : body);
  return outgoing;
}

async function exchange(port: string, given: Options): Promise<Reply> {
  const outgoing = begin(port, given);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on('response', resolve);
    outgoing.on('error', reject);
  });
  let text = '';
  for await (const chunk of response) text += chunk;
  return {status: response.statusCode, headers: response.headers, text};
}

const session = ({headers}: Reply) => ({'mcp-session-id': String(headers['mcp-session-id'])});

describe('who is served', () => {
  test('RFC 6750 §3 without the token the answer is 401 with a challenge', async () => {
    const {post} = await serve();
    const without = await post({headers: {authorization: undefined}, body: INITIALIZE});
    expect(without.status).toBe(401);
    expect(without.headers['www-authenticate']).toBe('Bearer realm="forge-tools"');
    for (const authorization of [
      'Bearer wrong',
      `Basic ${TOKEN}`,
      'Bearer',
      `Bearer ${TOKEN}x`,
      `Bearer ${TOKEN.toLowerCase()}`,
    ]) {
      const refused = await post({headers: {authorization}, body: INITIALIZE});
      expect(refused.status).toBe(401);
      expect(refused.headers['www-authenticate']).toContain('error="invalid_token"');
      expect(refused.text).not.toContain(TOKEN);
    }
    expect((await post({headers: {authorization: `bearer  ${TOKEN}`}, body: INITIALIZE})).status).toBe(200);
  });

  test('policy: a foreign Host or Origin is refused before anything else', async () => {
    const {post, url} = await serve({
      token: TOKEN,
      allowedHosts: ['tools.example'],
      allowedOrigins: ['app.example'],
    });
    const {port} = new URL(url);
    const status = async (headers: Record<string, string>) =>
      (await post({headers, body: INITIALIZE})).status;
    for (const host of [
      'evil.example',
      `127.0.0.1.evil.example:${port}`,
      'localhost.evil.example',
      '0.0.0.0',
    ]) {
      expect(await status({host})).toBe(421);
    }
    for (const origin of ['http://evil.example', 'null', 'https://localhost.evil.example', 'file://']) {
      expect(await status({origin})).toBe(403);
    }
    for (const host of ['localhost', `localhost:${port}`, '[::1]:80', 'tools.example'])
      expect(await status({host})).toBe(200);
    for (const origin of ['http://localhost:3000', 'https://app.example'])
      expect(await status({origin})).toBe(200);
  });

  test('policy: other paths, methods and media types have nothing behind them', async () => {
    const {post} = await serve();
    expect((await post({path: '/'})).status).toBe(404);
    expect((await post({path: '/mcp/x'})).status).toBe(404);
    expect((await post({method: 'PUT'})).headers['allow']).toBe('POST, GET, DELETE');
    expect((await post({headers: {'content-type': 'text/plain'}, body: INITIALIZE})).status).toBe(415);
  });

  test('policy: a body that is too large or no JSON is refused', async () => {
    const {post} = await serve({token: TOKEN, maxBodyBytes: 1000});
    const large = 'x'.repeat(2000);
    expect((await post({body: {...INITIALIZE, large}})).status).toBe(413);
    expect(
      (await post({headers: {'transfer-encoding': 'chunked'}, body: {...INITIALIZE, large}})).status,
    ).toBe(413);
    for (const body of ['', '{', 'null']) expect((await post({body})).status).toBe(400);
  });

  test('policy: deep nesting neither hangs nor ends the server', {tags: 'slow'}, async () => {
    const {post} = await serve();
    const deep = `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`;
    const body = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":${deep}}`;
    expect((await post({body})).status).toBeGreaterThanOrEqual(400);
    expect((await post({body: INITIALIZE})).status).toBe(200);
  });

  test('policy: more requests than may run at the same time are told to try again', async () => {
    const started = signal();
    const {post, open} = await serve(
      {token: TOKEN, maxConcurrent: 1},
      endless(started.fire, () => {}),
    );
    const headers = session(await post({body: INITIALIZE}));
    const first = open({headers, body: call(1)});
    first.on('error', () => {});
    await started.fired;
    const second = await post({headers, body: call(2)});
    expect([second.status, second.headers['retry-after']]).toEqual([503, '1']);
    first.destroy();
  });
});

describe('sessions of the older revisions', () => {
  test('a session is needed, is found again and can be ended', async () => {
    const {post} = await serve();
    const headers = session(await post({body: INITIALIZE}));
    const list = {jsonrpc: '2.0', id: 1, method: 'tools/list'};
    expect((await post({headers, body: list})).text).toContain('"echo"');
    expect((await post({body: list})).status).toBe(400);
    expect((await post({headers: {'mcp-session-id': 'unknown'}, body: list})).status).toBe(404);
    expect((await post({method: 'DELETE', headers})).status).toBe(200);
    expect((await post({headers, body: list})).status).toBe(404);
  });

  test('a client that drops its connection cancels its call', async () => {
    const started = signal();
    const ended = signal();
    const {post, open} = await serve({token: TOKEN}, endless(started.fire, ended.fire));
    const headers = session(await post({body: INITIALIZE}));
    const request = open({headers, body: call(1)});
    request.on('error', () => {});
    await started.fired;
    request.destroy();
    await ended.fired;
  });

  test('notifications/cancelled reaches a call that came in another request', async () => {
    const started = signal();
    const ended = signal();
    const {post, open} = await serve({token: TOKEN}, endless(started.fire, ended.fire));
    const headers = session(await post({body: INITIALIZE}));
    open({headers, body: call(7)}).on('error', () => {});
    await started.fired;
    await post({headers, body: {jsonrpc: '2.0', method: 'notifications/cancelled', params: {requestId: 7}}});
    await ended.fired;
  });
});

describe('start and end', () => {
  test('policy: the token file is private, replaces what was there and goes at the end', async () => {
    const tokenFile = join(temporaryDirectory(), 'token');
    const victim = join(temporaryDirectory(), 'victim');
    writeFileSync(victim, 'untouched');
    symlinkSync(victim, tokenFile);
    const {post, close} = await serve({tokenFile});
    const token = readFileSync(tokenFile, 'utf8').trim();
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(statSync(tokenFile).mode & 0o777).toBe(0o600);
    expect(readFileSync(victim, 'utf8')).toBe('untouched');
    expect((await post({headers: {authorization: `Bearer ${token}`}, body: INITIALIZE})).status).toBe(200);
    await close();
    expect(() => statSync(tokenFile)).toThrow();
  });

  test('policy: no server starts that every process or none could use', async () => {
    const service = createMcpService(createFixtureHost({echo}), {version: '1'});
    const problem = async (options: HttpOptions) => {
      const served = await serveHttp(service, options);
      if (served.ok) await served.value.close();
      return served.ok ? undefined : served.error.message;
    };
    expect(await problem({host: '0.0.0.0', tokenFile: join(temporaryDirectory(), 'token')})).toContain(
      'other machines',
    );
    expect(await problem({})).toContain('Name a token file');
    expect(await problem({token: 'short'})).toContain('at least 32');
    expect(await problem({token: `${TOKEN} `})).toContain('at least 32');
    expect(await problem({tokenFile: join(temporaryDirectory(), 'missing', 'token')})).toContain('ENOENT');
    const {url} = await serve();
    expect(await problem({token: TOKEN, port: Number(new URL(url).port)})).toContain('EADDRINUSE');
  });

  test('closing ends the running calls and every connection', async () => {
    const started = signal();
    const ended = signal();
    const {post, open, close} = await serve({token: TOKEN}, endless(started.fire, ended.fire));
    const headers = session(await post({body: INITIALIZE}));
    open({headers, body: call(1)}).on('error', () => {});
    open({method: 'GET', headers}).on('error', () => {});
    await started.fired;
    await close();
    await ended.fired;
    await expect(post({body: INITIALIZE})).rejects.toThrow();
  });
});

function call(id: number): object {
  return {jsonrpc: '2.0', id, method: 'tools/call', params: {name: 'echo'}};
}

function signal() {
  let fire = () => {};
  const fired = new Promise<void>(resolve => {
    fire = resolve;
  });
  return {fire: () => fire(), fired};
}

describe('review R18: who has no token', () => {
  test('cannot take the places of those who have one', {tags: 'slow'}, async () => {
    const {url, post} = await serve({token: TOKEN, maxConcurrent: 1});
    const {port} = new URL(url);
    const strangers = Array.from({length: 600}, () => connect(Number(port), '127.0.0.1'));
    onTestFinished(() => strangers.forEach(socket => void socket.destroy()));
    await Promise.all(
      strangers.map(socket => {
        socket.on('error', () => {});
        return once(socket, 'connect');
      }),
    );
    expect((await post({body: INITIALIZE})).status).toBe(200);
    // Those of whom there are too many were let go, the oldest first.
    await vi.waitUntil(() => strangers[0]?.closed, {timeout: 10_000});
    expect(strangers.at(-1)?.closed).toBe(false);
  });

  test.each([
    ['headers', {headersTimeoutMs: 300}, 'POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: '],
    [
      'a body',
      {headersTimeoutMs: 300, requestTimeoutMs: 400},
      `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
    ],
  ])('is not waited for: the limits of %s are kept', {tags: 'slow'}, async (_, limits, text) => {
    const {url} = await serve({token: TOKEN, ...limits});
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => {});
    socket.write(text);
    let answer = '';
    socket.on('data', chunk => {
      answer += chunk;
    });
    // Far below the 30 s after which Node looks by itself.
    await once(socket, 'close', {signal: AbortSignal.timeout(10_000)});
    expect(answer).toContain('408');
  });
});

/** A call of revision 2026-07-28, which needs no session. */
function modernCall(id: number): Options {
  const version = '2026-07-28';
  const meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': {name: 'test', version: '1'},
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  return {
    headers: {'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': 'echo'},
    body: {jsonrpc: '2.0', id, method: 'tools/call', params: {name: 'echo', arguments: {}, _meta: meta}},
  };
}

test('red team F14: a session is a client; a request without one is a client of its own', async () => {
  const {post, host} = await serve();
  const [a, b] = [session(await post({body: INITIALIZE})), session(await post({body: INITIALIZE}))];
  for (const headers of [a, b, a]) expect((await post({headers, body: call(1)})).status).toBe(200);
  for (const id of [2, 3]) expect((await post(modernCall(id))).status).toBe(200);
  const clients = host.calls.map(({options}) => options.client);
  expect(clients).not.toContain(undefined);
  expect(clients.map(client => clients.indexOf(client))).toEqual([0, 1, 0, 3, 4]);
});

test('red team F16: bodies under way share a number of bytes; beyond it the answer is 503', async () => {
  const started = signal();
  const {post, open} = await serve(
    {token: TOKEN, maxBodiesBytes: 2000},
    endless(started.fire, () => {}),
  );
  const headers = session(await post({body: INITIALIZE}));
  const first = open({
    headers,
    body: {...call(1), params: {name: 'echo', arguments: {text: 'x'.repeat(1500)}}},
  });
  first.on('error', () => {});
  await started.fired;
  const clientInfo = {name: 'x'.repeat(1000), version: '1'};
  const large = {...INITIALIZE, params: {...INITIALIZE.params, clientInfo}};
  for (const encoding of [{}, {'transfer-encoding': 'chunked'}]) {
    const second = await post({headers: encoding, body: large});
    expect([second.status, second.headers['retry-after']]).toEqual([503, '1']);
  }
  expect((await post({body: INITIALIZE})).status).toBe(200);
  first.destroy();
  // The room comes back with the end of the exchange.
  await expect.poll(async () => (await post({body: large})).status).toBe(200);
});

test('red team F18: a refusal is delivered to a client that goes on sending', async () => {
  const {url} = await serve({token: TOKEN, maxBodyBytes: 1000});
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\nContent-Type: application/json\r\n`;
  const problems: Error[] = [];
  socket.on('error', error => problems.push(error));
  // A client that looks for its answer only when it has sent everything: what it sends is more than both buffers hold.
  socket.write(`${head}Content-Length: 20000000\r\n\r\n`);
  for (let sent = 0; sent < 20; sent += 1) {
    if (!socket.write('x'.repeat(1_000_000))) await once(socket, 'drain');
  }
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  expect(answer).toContain('HTTP/1.1 413');
  expect(answer).toContain('The body may have 1000 bytes.');
  expect(problems).toEqual([]);
});

test('red team F20: clients that come at the same time have two seconds to send the token', async () => {
  const clock = createManualClock();
  const {url, post} = await serve({token: TOKEN, clock});
  const {port} = new URL(url);
  const come = async (count: number) => {
    const sockets = Array.from({length: count}, () => connect(Number(port), '127.0.0.1'));
    onTestFinished(() => sockets.forEach(socket => void socket.destroy()));
    for (const socket of sockets) socket.on('error', () => {});
    await Promise.all(sockets.map(socket => once(socket, 'connect')));
    return sockets;
  };
  const early = await come(300);
  // Connections are taken in the order in which they came, so all of these are counted by the time of an answer.
  expect((await post({body: INITIALIZE})).status).toBe(200);
  expect(early.filter(({closed}) => closed)).toEqual([]);
  clock.advance(2000);
  const [last] = await come(1);
  await Promise.all(early.slice(0, 45).map(socket => socket.closed || once(socket, 'close')));
  expect((await post({body: INITIALIZE})).status).toBe(200);
  expect([...early.slice(60), last].filter(socket => socket?.closed)).toEqual([]);
});
