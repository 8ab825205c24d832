import {constants} from 'node:crypto';
import type {Socket} from 'node:net';
import {createSecureContext, type SecureContext} from 'node:tls';
import type {Budget} from '../../core/budget.ts';
import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import {type Err, ok, type Result} from '../../core/result.ts';
import type {HttpRequest, HttpResponse, HttpTransport, PinnedTarget} from '../page.ts';
import {connectPinned} from './connect/connect-pinned.ts';
import {type ProxySettings, proxyFor} from './connect/proxy.ts';
import {trustedAuthorities} from './connect/trusted-authorities.ts';
import {ConnectionPool} from './connection-pool.ts';
import type {Exchange} from './exchange.ts';
import {HttpConnection} from './http-connection.ts';
import {openResponse} from './response/open-response.ts';
import {serializeRequest} from './serialize-request.ts';

export interface HttpTransportOptions {
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

  async function connect(target: PinnedTarget, budget: Budget): Promise<Result<HttpConnection>> {
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
    budget: Budget,
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
  budget: Budget,
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
