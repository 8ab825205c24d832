import type {Socket} from 'node:net';
import type {Clock} from '../core/clock.ts';
import {MOST_HEAD_BYTES} from './parse-proxy-request.ts';

/** For a whole head, and for a whole ClientHello. */
const SPEAK_TIMEOUT_MS = 10_000;
/** A head or a ClientHello comes in a few; each piece costs us work. */
const MOST_PIECES = 256;
const END_OF_HEAD = '\r\n\r\n';

/** Why a connection went no further. */
export interface Stopped {
  readonly decision: 'refused' | 'failed';
  readonly reason: string;
  /** For the client, as long as it still speaks HTTP with us. */
  readonly status?: number;
  readonly isUnlisted?: boolean;
}

const IN_CRUMBS: Stopped = {decision: 'refused', reason: 'It came in too many pieces.', status: 400};

/** Until `look` has an answer, the client ends, or its time to speak is up. It is paused afterwards. */
export function listenFor<Answer>(
  look: (chunk: Buffer) => Answer | Stopped | undefined,
  client: Socket,
  clock: Clock,
): Promise<Answer | Stopped> {
  return new Promise(resolve => {
    const finish = (answer: Answer | Stopped): void => {
      cancel();
      client.off('data', onData).off('end', onEnd).off('close', onEnd);
      client.pause();
      resolve(answer);
    };
    let pieces = 0;
    const onData = (chunk: Buffer): void => {
      pieces += 1;
      const answer = pieces > MOST_PIECES ? IN_CRUMBS : look(chunk);
      if (answer !== undefined) finish(answer);
    };
    const onEnd = (): void =>
      finish({decision: 'failed', reason: 'The command ended it before it had said what it wants.'});
    const cancel = clock.after(SPEAK_TIMEOUT_MS, () =>
      finish({decision: 'refused', reason: 'It did not say in time what it wants.', status: 408}),
    );
    client.on('data', onData).once('end', onEnd).once('close', onEnd);
    if (client.destroyed) onEnd();
    else client.resume();
  });
}

/** The head of a request without the blank line at its end, and what came behind it. */
export function readHead(
  client: Socket,
  clock: Clock,
): Promise<{readonly head: string; readonly rest: Buffer} | Stopped> {
  const bytes = Buffer.alloc(MOST_HEAD_BYTES);
  let length = 0;
  const look = (chunk: Buffer): {readonly head: string; readonly rest: Buffer} | Stopped | undefined => {
    const from = Math.max(0, length - END_OF_HEAD.length);
    const copied = chunk.copy(bytes, length);
    length += copied;
    const end = bytes.subarray(0, length).indexOf(END_OF_HEAD, from);
    if (end >= 0) {
      const rest = Buffer.concat([bytes.subarray(end + END_OF_HEAD.length, length), chunk.subarray(copied)]);
      return {head: bytes.toString('latin1', 0, end), rest};
    }
    return length < MOST_HEAD_BYTES
      ? undefined
      : {decision: 'refused', reason: `Its header has ${MOST_HEAD_BYTES} bytes and more.`, status: 431};
  };
  return listenFor(look, client, clock);
}
