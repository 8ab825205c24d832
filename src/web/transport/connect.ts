// Connects to a pinned address, directly or through a proxy, with or without TLS.

import {readFileSync} from 'node:fs';
import {connect as connectTcp, isIP, isIPv6, type Socket} from 'node:net';
import * as tls from 'node:tls';
import {connect as connectTls, type SecureContext} from 'node:tls';
import type {Deadline} from '../../core/deadline.ts';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import type {PinnedTarget} from '../page.ts';
import {handshakeProblem, type NetworkProblem, networkFailure, socketProblem} from './network-error.ts';
import {canonicalAddress, type ProxyServer} from './proxy.ts';
import {HeadReader, parseResponseHead} from './response-head.ts';

export interface ConnectOptions {
  readonly proxy: ProxyServer | undefined;
  /** Asked for on the first TLS connection only. */
  readonly secureContext: () => SecureContext;
  readonly onSocket: (socket: Socket) => void;
}

export interface PinnedSocket {
  readonly socket: Socket;
  /** Which of the target's addresses it was asked to reach. */
  readonly address: string;
}

/** One address could not be connected to; the next one may do better. */
interface Unreachable {
  readonly unreachable: NetworkProblem;
}

/**
 * FR-WF-06a, FR-WF-DNS-01: connects to the checked addresses in their order, never to a name, so
 * nothing is resolved here. Only a failed connect leads to the next address (ruling A5).
 */
export async function connectPinned(
  target: PinnedTarget,
  budget: Deadline,
  options: ConnectOptions,
): Promise<Result<PinnedSocket>> {
  const {url, addresses} = target;
  let last: NetworkProblem = {error: 'socket_error'};
  for (const [index, address] of addresses.entries()) {
    budget.enter('connect');
    if (budget.spent) return budget.failure();
    // One address that swallows packets must leave time for the others.
    const timeoutMs = budget.remainingMs() / (addresses.length - index);
    const connected = await connectOne(target, address, timeoutMs, budget, options);
    if (budget.aborted) {
      if ('ok' in connected && connected.ok) connected.value.destroy();
      return budget.failure();
    }
    if ('unreachable' in connected) {
      last = connected.unreachable;
      continue;
    }
    if (!connected.ok) return connected;
    return url.scheme === 'https'
      ? secure(connected.value, target, address, budget, options)
      : ok({socket: connected.value, address});
  }
  return networkFailure(url.name, {...last, addresses});
}

async function connectOne(
  target: PinnedTarget,
  address: string,
  timeoutMs: number,
  budget: Deadline,
  {proxy, onSocket}: ConnectOptions,
): Promise<Result<Socket> | Unreachable> {
  if (isIP(address) === 0) throw new Error(`Expected an IP address to connect to, got "${address}".`);
  const {url} = target;
  const {signal} = budget;
  if (proxy === undefined) {
    const opened = await openTcp({host: address, port: url.port, timeoutMs, signal, onSocket});
    if (!opened.ok) return {unreachable: opened.error};
    const blocked = checkPinned(target, opened.value.remoteAddress);
    if (blocked === undefined) return opened;
    opened.value.destroy();
    return blocked;
  }

  // Ruling A8: what the proxy is asked for stands in for the remote address, which is the proxy's own.
  const blocked = checkPinned(target, address);
  if (blocked !== undefined) return blocked;
  const opened = await openTcp({host: proxy.host, port: proxy.port, timeoutMs, signal, onSocket});
  if (!opened.ok) return networkFailure(url.name, {error: 'proxy_unreachable', reason: opened.error.reason});
  const {authorization} = proxy;
  const tunnel = await openTunnel(opened.value, {address, port: url.port, authorization}, signal);
  if (tunnel.ok) return opened;
  // Bad Gateway, Gateway Timeout and their like: the proxy could not reach this address.
  return (tunnel.error.status ?? 0) >= 500
    ? {unreachable: tunnel.error}
    : networkFailure(url.name, tunnel.error);
}

/** Ruling A7 */
function checkPinned(target: PinnedTarget, remote: string | undefined): Err<Failure> | undefined {
  const address = canonicalAddress(remote ?? '');
  for (const pinned of target.pinned) if (canonicalAddress(pinned) === address) return undefined;
  const host = target.url.name;
  return fail(
    'ssrf_blocked',
    `The connection for "${host}" leads to ${address || 'no address'}, which is not one of its checked addresses. ` +
      'It was closed; do not retry.',
    {blocked_ip: address, host},
  );
}

async function secure(
  socket: Socket,
  target: PinnedTarget,
  address: string,
  budget: Deadline,
  options: ConnectOptions,
): Promise<Result<PinnedSocket>> {
  budget.enter('tls');
  const {name} = target.url;
  const secured = await startTls(socket, name, options.secureContext(), budget.signal);
  if (secured.ok && !budget.aborted) return ok({socket: secured.value, address});
  socket.destroy();
  if (secured.ok || budget.aborted) return budget.failure();
  return networkFailure(name, {...secured.error, addresses: [address]});
}

/**
 * Waits until a socket is `connect`ed or `secureConnect`ed. Gives the error if that does not come
 * to be; when the signal aborts, the socket is destroyed first.
 */
export function awaitSocket(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  signal: AbortSignal,
): Promise<Error | undefined> {
  return new Promise(resolve => {
    const settle = (error?: Error): void => {
      signal.removeEventListener('abort', onAbort);
      socket.off(event, onReady).off('error', onError).off('close', onClose);
      resolve(error);
    };
    const onReady = (): void => settle();
    const onError = (error: Error): void => settle(error);
    const onClose = (): void => settle(Object.assign(new Error('closed'), {code: 'ECONNRESET'}));
    const onAbort = (): void => {
      socket.destroy();
    };
    socket.on(event, onReady).on('error', onError).on('close', onClose);
    signal.addEventListener('abort', onAbort, {once: true});
    if (signal.aborted) socket.destroy();
    if (socket.closed) onClose();
  });
}

export interface TcpAttempt {
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Told of the socket at once, so that it can be ended whatever it is doing. */
  readonly onSocket: (socket: Socket) => void;
}

/** One attempt to connect. What it does not give back is destroyed. */
export async function openTcp(attempt: TcpAttempt): Promise<Result<Socket, NetworkProblem>> {
  const {host, port, timeoutMs, signal, onSocket} = attempt;
  const socket = connectTcp({host, port, noDelay: true, autoSelectFamily: false});
  onSocket(socket);
  // Errors are also told by `close`, and one that comes between two owners must not be thrown.
  socket.on('error', () => {});
  const onTimeout = (): void => {
    socket.destroy(Object.assign(new Error('timed out'), {code: 'ETIMEDOUT'}));
  };
  socket.setTimeout(Math.max(1, Math.ceil(timeoutMs)), onTimeout);
  const error = await awaitSocket(socket, 'connect', signal);
  socket.setTimeout(0).off('timeout', onTimeout);
  return error === undefined ? ok(socket) : {ok: false, error: socketProblem(error)};
}

/**
 * FR-WF-BSSR-TLS-01: SNI and certificate check are about the host of the URL, whatever address the
 * socket is connected to. For an IP literal there is no SNI, and the certificate must name the address.
 */
export async function startTls(
  socket: Socket,
  name: string,
  secureContext: SecureContext,
  signal: AbortSignal,
): Promise<Result<Socket, NetworkProblem>> {
  const secure = connectTls({
    socket,
    host: name,
    servername: isIP(name) === 0 ? name : '',
    secureContext,
    // Ruling A7: said here, because NODE_TLS_REJECT_UNAUTHORIZED=0 changes the default.
    rejectUnauthorized: true,
    ALPNProtocols: ['http/1.1'],
  });
  secure.on('error', () => {});
  const error = await awaitSocket(secure, 'secureConnect', signal);
  if (error !== undefined) {
    socket.destroy();
    return {ok: false, error: handshakeProblem(error)};
  }
  return ok(secure);
}

/**
 * Node's own trust anchors and ours. A list of one's own takes the place of everything that Node trusts
 * otherwise, the file of NODE_EXTRA_CA_CERTS included, so that is read here (review B10).
 */
export function trustedAuthorities(own: readonly string[], extraFile: string | undefined): string[] {
  // Node 22.15 and later; the types are those of Node 20.
  const {getCACertificates} = tls as typeof tls & {
    readonly getCACertificates?: (type: 'default') => readonly string[];
  };
  const known = getCACertificates?.('default') ?? tls.rootCertificates;
  return [...known, ...readExtra(extraFile), ...own];
}

/** As Node does, one goes on without a file that cannot be read: fewer are trusted, not more. */
function readExtra(file: string | undefined): readonly string[] {
  if (file === undefined || file === '') return [];
  try {
    return [readFileSync(file, 'utf8')];
  } catch {
    return [];
  }
}

export interface TunnelTarget {
  /** Ruling A8: the checked address, never a name. */
  readonly address: string;
  readonly port: number;
  /** `Proxy-Authorization`, if the proxy wants it. */
  readonly authorization: string | undefined;
}

/** RFC 9110 §9.3.6: asks the proxy at the other end of `socket` for a connection. */
export async function openTunnel(
  socket: Socket,
  target: TunnelTarget,
  signal: AbortSignal,
): Promise<Result<undefined, NetworkProblem>> {
  const reader = new HeadReader();
  return new Promise(resolve => {
    const settle = (problem?: NetworkProblem): void => {
      signal.removeEventListener('abort', onAbort);
      socket.off('data', onData).off('end', onEnd).off('error', onError).off('close', onEnd);
      socket.pause();
      if (problem === undefined) {
        resolve(ok());
        return;
      }
      socket.destroy();
      resolve({ok: false, error: problem});
    };
    const onData = (chunk: Buffer): void => {
      const read = reader.push(chunk);
      if (!read.ok) settle({error: 'proxy_broken', reason: read.error});
      else if (read.value !== undefined) settle(checkAnswer(read.value.head, read.value.rest));
    };
    const onEnd = (): void => settle({error: 'proxy_broken', reason: 'connection_closed'});
    const onError = (error: Error): void =>
      settle({error: 'proxy_broken', reason: socketProblem(error).error});
    const onAbort = (): void => settle({error: 'connection_closed'});

    socket.on('data', onData).on('end', onEnd).on('error', onError).on('close', onEnd);
    signal.addEventListener('abort', onAbort, {once: true});
    if (signal.aborted) onAbort();
    else socket.write(connectRequest(target), 'latin1');
  });
}

function connectRequest({address, port, authorization}: TunnelTarget): string {
  const authority = `${isIPv6(address) ? `[${address}]` : address}:${port}`;
  const credentials = authorization === undefined ? '' : `Proxy-Authorization: ${authorization}\r\n`;
  return `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${credentials}\r\n`;
}

function checkAnswer(head: Buffer, rest: Buffer): NetworkProblem | undefined {
  const parsed = parseResponseHead(head);
  if (!parsed.ok) return {error: 'proxy_broken', reason: parsed.error};
  const {status} = parsed.value;
  if (status === 407) return {error: 'proxy_auth_required', status};
  if (status < 200 || status > 299) return {error: 'proxy_refused', status};
  // Neither a web server nor a TLS server speaks first: these bytes are the proxy's own.
  return rest.length > 0 ? {error: 'proxy_broken', reason: 'bytes_after_head'} : undefined;
}
