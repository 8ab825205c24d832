import {connect, type LookupFunction, type Socket} from 'node:net';
import type {Clock} from '../core/clock.ts';

/** More than one read has: a smaller one stops the other side at every piece. */
export const BUFFER_BYTES = 262_144;
const CONNECT_TIMEOUT_MS = 10_000;

/** Connects to the first of the addresses that answers; never to a name. The error is the code of the last one. */
export async function dial(
  addresses: readonly string[],
  port: number,
  {clock, signal}: {readonly clock: Clock; readonly signal: AbortSignal},
): Promise<{readonly socket: Socket; readonly address: string} | string> {
  let problem = 'EADDRNOTAVAIL';
  for (const address of addresses) {
    const tried = await dialOne(address, port, clock, signal);
    if (typeof tried !== 'string') return {socket: tried, address};
    problem = tried;
    if (signal.aborted) break;
  }
  return problem;
}

/** A name was resolved before, by what checks the answer. */
const refuseName: LookupFunction = (name, _, callback) =>
  callback(new Error(`Expected an address, got ${name}.`), '');

function dialOne(host: string, port: number, clock: Clock, signal: AbortSignal): Promise<Socket | string> {
  return new Promise(resolve => {
    const options = {
      host,
      port,
      allowHalfOpen: true,
      noDelay: true,
      highWaterMark: BUFFER_BYTES,
      lookup: refuseName,
    };
    const socket = connect(options);
    const finish = (outcome: Socket | string): void => {
      cancel();
      signal.removeEventListener('abort', onAbort);
      socket.removeAllListeners();
      // What fails from here on is heard by its next user.
      socket.on('error', () => {});
      if (typeof outcome === 'string') socket.destroy();
      resolve(outcome);
    };
    const onAbort = (): void => finish('ECANCELED');
    const cancel = clock.after(CONNECT_TIMEOUT_MS, () => finish('ETIMEDOUT'));
    signal.addEventListener('abort', onAbort, {once: true});
    socket.once('connect', () => finish(socket));
    socket.once('error', error => finish('code' in error ? String(error.code) : error.message));
    if (signal.aborted) onAbort();
  });
}
