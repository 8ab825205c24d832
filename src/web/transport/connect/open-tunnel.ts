import {isIPv6, type Socket} from 'node:net';
import {ok, type Result} from '../../../core/result.ts';
import type {NetworkProblem} from '../network-failure.ts';
import {HeadReader} from '../response/head-reader.ts';
import {parseResponseHead} from '../response/parse-response-head.ts';
import {socketProblem} from './socket-problem.ts';

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
