import {type IncomingMessage, request as send} from 'node:http';
import {connect} from 'node:net';
import {expect, onTestFinished, test} from 'vitest';
import {createFixtureHost, type FixtureTool} from '../../../test/support/fixture-tool-host.ts';
import {systemClock} from '../../core/clock.ts';
import {fail, ok} from '../../core/result.ts';
import {createMcpService} from '../create-mcp-service.ts';
import {CallMetrics} from '../metrics.ts';
import {serveHttp} from './serve-http.ts';

const TOKEN = 'A-token.with_32~characters/or+more==';
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {protocolVersion: '2025-11-25', capabilities: {}, clientInfo: {name: 'test', version: '1'}},
};

interface Reply {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

async function serve(tools: Readonly<Record<string, FixtureTool>>, drainMs: number) {
  const metrics = new CallMetrics(systemClock);
  const host = metrics.measure(createFixtureHost(tools));
  const served = await serveHttp(createMcpService(host, {version: '1'}), {token: TOKEN, drainMs, metrics});
  if (!served.ok) throw new Error(served.error.message);
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= served.value.close();
    return closed;
  };
  onTestFinished(close);
  const {port} = new URL(served.value.url);
  const ask = (
    path: string,
    {
      method = 'GET',
      headers = {},
      body,
    }: {method?: string; headers?: Record<string, string>; body?: object} = {},
  ): Promise<Reply> =>
    new Promise((resolve, reject) => {
      const outgoing = send({host: '127.0.0.1', port, method, path, headers, agent: false});
      outgoing.on('error', reject);
      outgoing.on('response', async response => {
        let text = '';
        for await (const part of response) text += part;
        resolve({status: response.statusCode, headers: response.headers, text});
      });
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const post = (body: object, more: Record<string, string> = {}): Promise<Reply> =>
    ask('/mcp', {method: 'POST', headers: {...headers, ...more}, body});
  const begun = await post(INITIALIZE);
  const session = {'mcp-session-id': String(begun.headers['mcp-session-id'])};
  let ids = 0;
  const call = (name: string): Promise<Reply> =>
    post({jsonrpc: '2.0', id: ++ids, method: 'tools/call', params: {name, arguments: {}}}, session);
  /** Opens a stream, and leaves it open. */
  const stand = (method: string, more: Record<string, string>, body?: object): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const outgoing = send({
        host: '127.0.0.1',
        port,
        method,
        path: '/mcp',
        headers: {...headers, ...more},
        agent: false,
      });
      outgoing.on('error', reject);
      outgoing.on('response', response => {
        response.on('error', () => {});
        resolve(response);
      });
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
  return {ask, call, close, stand, session, port};
}

test('S1 health is told without the token and to no web page, and figures to who has the token', async () => {
  const {ask} = await serve({}, 0);
  expect(await ask('/healthz')).toMatchObject({status: 200, text: 'ok\n'});
  expect(await ask('/readyz')).toMatchObject({status: 200, text: 'ready\n'});
  // A balancer calls by an address that no list of hosts has.
  expect(await ask('/readyz', {headers: {host: '10.0.0.7:8931'}})).toMatchObject({status: 200});
  expect(await ask('/readyz?x', {method: 'HEAD'})).toMatchObject({status: 200, text: ''});
  expect((await ask('/healthz', {method: 'POST'})).status).toBe(405);
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    expect((await ask(path, {headers: {origin: 'http://evil.example'}})).status).toBe(403);
    expect((await ask(path, {headers: {'sec-fetch-site': 'same-origin'}})).status).toBe(403);
  }
  expect((await ask('/metrics')).status).toBe(401);
  const wrong = {authorization: `Bearer ${TOKEN.replace('A', 'B')}`};
  expect((await ask('/metrics', {headers: wrong})).status).toBe(401);
  const figures = await ask('/metrics', {headers: {authorization: `Bearer ${TOKEN}`}});
  expect(figures.status).toBe(200);
  expect(figures.headers['content-type']).toContain('version=0.0.4');
  expect(figures.text).toContain('forge_tools_legacy_sessions 1\n');
});

test('S1 calls are counted by tool and code, and no client can make a label', async () => {
  const page = {notes: ['cache_hit'], rendering_method: 'browser'};
  const {ask, call} = await serve(
    {web_fetch: async () => ok(page), broken: async () => fail('timeout', 'Too late.')},
    0,
  );
  await call('web_fetch');
  await call('web_fetch');
  await call('broken');
  for (let made = 0; made < 5; made += 1) await call(`made-up-${made}"} 1\n`);
  const {text} = await ask('/metrics', {headers: {authorization: `Bearer ${TOKEN}`}});
  expect(text).toContain('forge_tools_calls_total{tool="web_fetch",outcome="ok"} 2\n');
  expect(text).toContain('forge_tools_calls_total{tool="broken",outcome="timeout"} 1\n');
  expect(text).toContain('forge_tools_calls_total{tool="unknown",outcome="unknown_tool"} 5\n');
  expect(text).toContain('forge_tools_call_duration_seconds_bucket{tool="web_fetch",le="+Inf"} 2\n');
  expect(text).toContain('forge_tools_pages_total{from="cache"} 2\n');
  expect(text).toContain('forge_tools_pages_rendered_total 2\n');
  expect(text).toMatch(/forge_tools_http_answers_total\{status="200"\} \d+\n/);
  expect(text).not.toContain('made-up');
  // Each line is a comment, or a name with labels and a number.
  for (const line of text.trimEnd().split('\n')) {
    expect(line).toMatch(
      /^(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{\w+="[^"\n]*"(?:,\w+="[^"\n]*")*\})? [\d.e+]+)$/,
    );
  }
});

test('S1 a replica that is closed says so first, serves what still comes, and ends when nothing is under way', async () => {
  let finish: () => void = () => {};
  const slow: FixtureTool = () => new Promise(resolve => (finish = () => resolve(ok({text: 'done'}))));
  const {ask, call, close} = await serve({slow, quick: async () => ok({text: 'quick'})}, 60_000);
  expect((await ask('/readyz')).status).toBe(200);
  const running = call('slow');
  await expect
    .poll(async () => (await ask('/metrics', {headers: {authorization: `Bearer ${TOKEN}`}})).text)
    .toContain('forge_tools_calls_running 1\n');
  const closed = close();
  expect(await ask('/readyz')).toMatchObject({status: 503, text: 'draining\n'});
  expect((await ask('/healthz')).status).toBe(200);
  // A balancer that has not looked yet.
  expect((await call('quick')).text).toContain('quick');
  finish();
  expect((await running).text).toContain('done');
  await closed;
  await expect(ask('/healthz')).rejects.toThrow();
});

test('S1 what takes longer than the limit of a drain is cancelled', async () => {
  let cancelled = false;
  const endless: FixtureTool = (_, {signal}) =>
    new Promise(resolve => {
      signal?.addEventListener('abort', () => {
        cancelled = true;
        resolve(fail('cancelled', 'Cancelled.'));
      });
    });
  const {ask, call, close} = await serve({endless}, 50);
  const running = call('endless').catch(() => undefined);
  await expect
    .poll(async () => (await ask('/metrics', {headers: {authorization: `Bearer ${TOKEN}`}})).text)
    .toContain('forge_tools_calls_running 1\n');
  await close();
  await running;
  expect(cancelled).toBe(true);
});

test('red team F17: a drain does not wait for standing streams', async () => {
  const {stand, session, close} = await serve({}, 600_000);
  const version = '2026-07-28';
  const meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': {name: 'test', version: '1'},
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const subscription = {
    jsonrpc: '2.0',
    id: 1,
    method: 'subscriptions/listen',
    params: {notifications: {toolsListChanged: true}, _meta: meta},
  };
  const streams = [
    await stand('GET', session),
    await stand(
      'POST',
      {'mcp-protocol-version': version, 'mcp-method': 'subscriptions/listen'},
      subscription,
    ),
  ];
  expect(streams.map(({statusCode}) => statusCode)).toEqual([200, 200]);
  const ended = streams.map(stream => new Promise(resolve => stream.once('close', resolve)));
  for (const stream of streams) stream.resume();
  await close();
  await Promise.all(ended);
});

test('red team F19: health is told by address, without a name, and by a name that is served', async () => {
  const {ask, port} = await serve({}, 0);
  const status = async (path: string, host: string) => (await ask(path, {headers: {host}})).status;
  for (const path of ['/healthz', '/readyz']) {
    for (const host of ['evil.test', 'evil.test:8931', '127.0.0.1.evil.test', '[::1].evil.test'])
      expect([host, await status(path, host)]).toEqual([host, 421]);
    for (const host of [
      'localhost',
      'localhost:8931',
      '127.0.0.1:1',
      '[::1]:1',
      '10.0.0.7:8931',
      '[fd00::7]',
    ])
      expect([host, await status(path, host)]).toEqual([host, 200]);
  }
  // As HAProxy asks where nothing else is set.
  const socket = connect(Number(port), '127.0.0.1');
  socket.write('GET /readyz HTTP/1.0\r\n\r\n');
  let answer = '';
  for await (const chunk of socket) answer += chunk;
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
});
