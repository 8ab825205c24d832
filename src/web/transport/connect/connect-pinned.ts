import {isIP, type Socket} from 'node:net';
import type {SecureContext} from 'node:tls';
import type {Budget} from '../../../core/budget.ts';
import {fail} from '../../../core/failure/fail.ts';
import type {Failure} from '../../../core/failure/failure.ts';
import {type Err, ok, type Result} from '../../../core/result.ts';
import type {PinnedTarget} from '../../page.ts';
import {type NetworkProblem, networkFailure} from '../network-failure.ts';
import {canonicalAddress} from './canonical-address.ts';
import {openTcp} from './open-tcp.ts';
import {openTunnel} from './open-tunnel.ts';
import type {ProxyServer} from './proxy.ts';
import {startTls} from './start-tls.ts';

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
  budget: Budget,
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
  budget: Budget,
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
  budget: Budget,
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
