import {connect, type Socket} from 'node:net';
import {ok, type Result} from '../../../core/result.ts';
import type {NetworkProblem} from '../network-failure.ts';
import {awaitSocket} from './await-socket.ts';
import {socketProblem} from './socket-problem.ts';

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
  const socket = connect({host, port, noDelay: true, autoSelectFamily: false});
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
