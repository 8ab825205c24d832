import {connect, type LookupFunction, type OnReadOpts, type Socket} from 'node:net';
import type {Clock} from '../core/clock.ts';

const CONNECT_TIMEOUT_MS = 10_000;

export interface DialOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Hears what is said, once the socket is resumed. Default: the socket's own events. */
  readonly onread?: OnReadOpts | undefined;
}

/**
 * Connects to the first of the addresses that answers; never to a name. The socket is paused. The error is the code of the
 * last address.
 */
export async function dial(
  addresses: readonly string[],
  port: number,
  options: DialOptions,
): Promise<{readonly socket: Socket; readonly address: string} | string> {
  let problem = 'EADDRNOTAVAIL';
  for (const address of addresses) {
    const tried = await dialOne(address, port, options);
    if (typeof tried !== 'string') return {socket: tried, address};
    problem = tried;
    if (options.signal.aborted) break;
  }
  return problem;
}

/** A name was resolved before, by what checks the answer. */
const refuseName: LookupFunction = (name, _, callback) =>
  callback(new Error(`Expected an address, got ${name}.`), '');

function dialOne(host: string, port: number, {clock, signal, onread}: DialOptions): Promise<Socket | string> {
  return new Promise(resolve => {
    const options = {host, port, allowHalfOpen: true, noDelay: true, lookup: refuseName};
    const socket = connect(onread === undefined ? options : {...options, onread});
    // Nobody listens before it is known that this address answers.
    socket.pause();
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
