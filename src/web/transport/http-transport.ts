// Sends requests to pinned addresses only. Connections are kept and used again.

import {constants} from 'node:crypto';
import type {Socket} from 'node:net';
import {createSecureContext, type SecureContext} from 'node:tls';
import type {Deadline} from '../../core/deadline.ts';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import type {HttpRequest, HttpResponse, HttpTransport, PinnedTarget, WebUrl} from '../page.ts';
import {connectPinned, trustedAuthorities} from './connect.ts';
import {type Exchange, HttpConnection} from './http-connection.ts';
import {type ProxySettings, proxyFor} from './proxy.ts';
import {openResponse} from './read-body.ts';
import {FIELD_NAME} from './response-head.ts';

interface HttpTransportOptions {
  /** FR-WF-10d: absent, the environment's proxies are not used. */
  readonly proxy?: ProxySettings | undefined;
  /** PEM trust anchors beside the ones that Node comes with. */
  readonly ca?: readonly string[] | undefined;
  /** The variable NODE_EXTRA_CA_CERTS, which Node forgets where there is `ca`. */
  readonly extraCaFile?: string | undefined;
}

/**
 * HTTP/1.1 to checked addresses. No cookies, no redirects, no environment, no global state; every
 * socket it opens is in its hands until the socket has closed.
 */
export function createHttpTransport(options: HttpTransportOptions = {}): HttpTransport {
  const {proxy, ca, extraCaFile} = options;
  const sockets = new Set<Socket>();
  const pool = new ConnectionPool();
  let closed = false;
  let context: SecureContext | undefined;

  function secureContext(): SecureContext {
    context ??= createSecureContext({
      minVersion: 'TLSv1.2',
      // A server of TLS 1.2 can ask for handshakes without end, and each costs us a key exchange.
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
      ...(ca === undefined ? {} : {ca: trustedAuthorities(ca, extraCaFile)}),
    });
    return context;
  }

  function onSocket(socket: Socket): void {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    if (closed) socket.destroy();
  }

  function takeFromPool({url, addresses, pinned}: PinnedTarget): HttpConnection | undefined {
    for (const address of addresses) {
      const resting = pinned.has(address) ? pool.take(connectionKey(url, address)) : undefined;
      if (resting !== undefined) return resting;
    }
    return undefined;
  }

  async function connect(target: PinnedTarget, budget: Deadline): Promise<Result<HttpConnection>> {
    const server = proxy === undefined ? undefined : proxyFor(proxy, target.url);
    const connected = await connectPinned(target, budget, {proxy: server, secureContext, onSocket});
    if (!connected.ok) return connected;
    const {socket, address} = connected.value;
    const onFree = (connection: HttpConnection): void => pool.put(connection);
    const onGone = (connection: HttpConnection): void => pool.drop(connection);
    return ok(new HttpConnection(socket, connectionKey(target.url, address), onFree, onGone));
  }

  async function request(
    target: PinnedTarget,
    request: HttpRequest,
    budget: Deadline,
  ): Promise<Result<HttpResponse>> {
    if (closed) return closedFailure();
    if (budget.spent) return budget.failure();
    const wire = serializeRequest(target.url, request);
    if (!wire.ok) return wire;
    const respond = (exchange: Exchange): Promise<Result<HttpResponse>> =>
      openResponse({host: target.url.name, exchange, budget, method: request.method});

    const resting = takeFromPool(target);
    if (resting !== undefined) {
      const exchange = sendWithin(budget, resting, wire.value, request.method);
      const response = await respond(exchange);
      // The server may hang up while a connection rests. GET and HEAD may be sent again (RFC 9110 §9.2.2).
      if (response.ok || exchange.answered || budget.spent || closed) return orClosed(response);
    }
    const connection = await connect(target, budget);
    if (!connection.ok) return orClosed(connection);
    return orClosed(await respond(sendWithin(budget, connection.value, wire.value, request.method)));
  }

  function orClosed<Value>(result: Result<Value>): Result<Value> {
    return closed && !result.ok ? closedFailure() : result;
  }

  async function close(): Promise<void> {
    closed = true;
    const gone = [...sockets].map(
      socket => new Promise<void>(resolve => socket.once('close', () => resolve())),
    );
    for (const socket of sockets) socket.destroy();
    await Promise.all(gone);
  }

  return {request, close};
}

/** Ruling A7: a connection serves only the same scheme, host, port and pinned address. */
function connectionKey({scheme, name, port}: PinnedTarget['url'], address: string): string {
  return `${scheme}://${name}:${port} ${address}`;
}

/** Sends, and lets the end of the budget end the connection for as long as the exchange is under way. */
function sendWithin(
  budget: Deadline,
  connection: HttpConnection,
  wire: string,
  method: HttpRequest['method'],
): Exchange {
  budget.enter('headers');
  const exchange = connection.send(wire, method);
  exchange.whenSettled(budget.whenAborted(() => connection.destroy()));
  return exchange;
}

function closedFailure(): Err<Failure> {
  return fail('cancelled', 'The HTTP transport was closed. Open a new toolbox to fetch again.');
}

const MAX_RESTING = 32;
const MAX_RESTING_PER_KEY = 6;
/** Shorter than the five seconds after which common servers hang up. */
const MAX_REST_MS = 4000;

/** Ruling A7: kept-alive connections, each for its own scheme, host, port and pinned address only. */
class ConnectionPool {
  /** Longest at rest first. */
  readonly #resting = new Set<HttpConnection>();

  /** The most recently used connection for `key`. */
  take(key: string): HttpConnection | undefined {
    const found = [...this.#resting].findLast(connection => connection.key === key && connection.usable);
    if (found === undefined) return undefined;
    this.#resting.delete(found);
    found.wake();
    return found;
  }

  put(connection: HttpConnection): void {
    const sameKey = [...this.#resting].filter(resting => resting.key === connection.key);
    if (sameKey.length >= MAX_RESTING_PER_KEY) this.#evict(sameKey[0]);
    else if (this.#resting.size >= MAX_RESTING) this.#evict(this.#resting.values().next().value);
    connection.rest(MAX_REST_MS);
    this.#resting.add(connection);
  }

  /** Forgets a connection that has ended. */
  drop(connection: HttpConnection): void {
    this.#resting.delete(connection);
  }

  #evict(connection: HttpConnection | undefined): void {
    if (connection === undefined) return;
    this.#resting.delete(connection);
    connection.destroy();
  }
}

// biome-ignore format: a list
/** Set by the transport, about the connection, or never sent (FR-WF-07d). */
const RESERVED: ReadonlySet<string> = new Set([
  'host', 'connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'content-length',
  'transfer-encoding', 'te', 'trailer', 'upgrade', 'expect', 'cookie',
]);

const FIELD_VALUE = /^(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?$/;
const REQUEST_TARGET = /^\/[\x21-\x7e]*$/;

/**
 * The head of a request, as it is sent. A header that could start a second header or a second
 * request is `bad_args`, as is one that belongs to the transport.
 */
function serializeRequest(url: WebUrl, request: HttpRequest): Result<string, Failure> {
  if (!REQUEST_TARGET.test(url.pathAndQuery))
    throw new Error('Expected a WebUrl with a percent-encoded path.');
  const lines = [
    `${request.method} ${url.pathAndQuery} HTTP/1.1`,
    `Host: ${hostField(url)}`,
    'Connection: keep-alive',
  ];
  for (const [name, value] of Object.entries(request.headers)) {
    const problem = headerProblem(name, value);
    if (problem !== undefined) {
      const reason = `The request header ${JSON.stringify(name)} ${problem}.`;
      return fail('bad_args', `${reason} Correct the setting it comes from.`, {field: 'headers', reason});
    }
    lines.push(`${name}: ${value}`);
  }
  return ok(`${lines.join('\r\n')}\r\n\r\n`);
}

function headerProblem(name: string, value: string): string | undefined {
  if (!FIELD_NAME.test(name)) return 'has a name that HTTP does not allow';
  if (RESERVED.has(name.toLowerCase())) return 'is set by the transport or not sent at all';
  if (!FIELD_VALUE.test(value)) return 'has a value that is not printable ASCII, such as a line break';
  return undefined;
}

/** Ruling A4: without the trailing dot; the port only where it is not the scheme's own. */
function hostField(url: WebUrl): string {
  const name = url.name.includes(':') ? `[${url.name}]` : url.name;
  const defaultPort = url.scheme === 'https' ? 443 : 80;
  return url.port === defaultPort ? name : `${name}:${url.port}`;
}
