import {once} from 'node:events';
import {createServer, type ServerResponse} from 'node:http';
import {type AddressInfo, connect} from 'node:net';
import {expect, onTestFinished, test} from 'vitest';
import {createFixtureHost, echo} from '../../../test/support/fixture-tool-host.ts';
import {createMcpService} from '../create-mcp-service.ts';
import {sendResponse} from './exchange.ts';
import {LegacySessions} from './legacy-sessions.ts';
import {listen} from './serve-http.ts';

/** A stream that never ends, and says when it was cancelled. */
function endless() {
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    pull: controller => controller.enqueue(new Uint8Array(65_536)),
    cancel: () => {
      isCancelled = true;
    },
  });
  return {response: new Response(body), isCancelled: () => isCancelled};
}

/** The response of the one request, and its client. */
async function exchange() {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  const requested = once(server, 'request');
  client.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  const [, outgoing] = (await requested) as [unknown, ServerResponse];
  return {client, outgoing};
}

test('review B15: a client that has gone already ends the stream at once', async () => {
  const {client, outgoing} = await exchange();
  const gone = once(outgoing, 'close');
  client.destroy();
  await gone;
  const {response, isCancelled} = endless();
  await sendResponse(response, outgoing);
  expect(isCancelled()).toBe(true);
});

test('review B15: a client that goes while it is written to ends the stream', async () => {
  const {client, outgoing} = await exchange();
  const {response, isCancelled} = endless();
  const sent = sendResponse(response, outgoing);
  await once(client, 'data');
  client.pause();
  client.destroy();
  await sent;
  expect(isCancelled()).toBe(true);
});

test('review 1.2: what goes wrong after a server listens is reported each time, and ends nothing', async () => {
  const server = createServer();
  onTestFinished(() => void server.close());
  const problems: string[] = [];
  const onProblem = ({message}: Error) => problems.push(message);
  const bound = await listen(server, {host: '127.0.0.1', port: 0, onProblem});
  expect(bound.ok).toBe(true);
  for (const message of ['accept EMFILE', 'accept ENFILE']) server.emit('error', new Error(message));
  expect(problems).toEqual(['accept EMFILE', 'accept ENFILE']);
  const again = createServer();
  const taken = await listen(again, {host: '127.0.0.1', port: bound.ok ? bound.value : 0, onProblem});
  expect(taken).toMatchObject({ok: false, error: {code: 'io_error', details: {error: 'EADDRINUSE'}}});
});

const URL = 'http://127.0.0.1/mcp';
const HEADERS = {'content-type': 'application/json', accept: 'application/json, text/event-stream'};

test('red team F25: the session whose last request is the oldest goes, whether it has a stream or not', async () => {
  const service = createMcpService(createFixtureHost({echo}), {version: '1'});
  const sessions = new LegacySessions(service.createServer, () => {}, 2);
  const post = (body: object, headers: Record<string, string> = {}) =>
    sessions.serve(new Request(URL, {method: 'POST', headers: {...HEADERS, ...headers}}), body);
  const begin = async () => {
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: {name: 'test', version: '1'},
    };
    const begun = await post({jsonrpc: '2.0', id: 0, method: 'initialize', params});
    expect(begun.status).toBe(200);
    const id = {'mcp-session-id': begun.headers.get('mcp-session-id') ?? ''};
    const stream = await sessions.serve(new Request(URL, {headers: {...HEADERS, ...id}}), undefined);
    expect(stream.status).toBe(200);
    return {id, stream};
  };
  const status = async ({id}: {readonly id: Record<string, string>}) => {
    const controller = new AbortController();
    const request = new Request(URL, {
      method: 'POST',
      headers: {...HEADERS, ...id},
      signal: controller.signal,
    });
    const answer = await sessions.serve(request, {jsonrpc: '2.0', id: 1, method: 'tools/list'});
    await answer.text();
    controller.abort();
    return answer.status;
  };

  const first = await begin();
  const second = await begin();
  expect(await status(first)).toBe(200);
  const third = await begin();
  expect(await second.stream.text()).toBe('');
  expect([await status(first), await status(second), await status(third)]).toEqual([200, 404, 200]);
  await sessions.close();
});
