import {isIP, type Socket} from 'node:net';
import {connect, type SecureContext} from 'node:tls';
import {ok, type Result} from '../../../core/result.ts';
import type {NetworkProblem} from '../network-failure.ts';
import {awaitSocket} from './await-socket.ts';
import {handshakeProblem} from './socket-problem.ts';

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
  const secure = connect({
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
