// Joins two sockets, and answers a client that is refused.
import type {OnReadOpts, Socket} from 'node:net';
import type {Clock} from '../core/clock.ts';
import {MOST_HEAD_BYTES} from './proxy-request.ts';

interface Join {
  readonly client: Socket;
  readonly upstream: Socket;
  /** What reads upstream, which waits for it. */
  readonly reader: PieceReader;
  /** Looks at what the client sends before it is passed on; false where it is not. Absent: nothing more is taken from it. */
  readonly onUp: ((chunk: Buffer) => boolean) | undefined;
  readonly onDown: (chunk: Buffer) => boolean;
  /** Everything that was said has arrived. */
  readonly onOver: () => void;
}

/** Passes on what two sockets say, each no faster than the other one listens. Errors are for who owns them. */
export function joinSockets({client, upstream, reader, onUp, onDown, onOver}: Join): void {
  if (onUp === undefined) client.resume();
  else pump(client, upstream, onUp);
  reader.pump(upstream, client, onDown);
  upstream.once('end', () => client.end());
  const hasArrived = (socket: Socket): boolean => socket.destroyed || socket.writableFinished;
  const look = (): void => {
    if (hasArrived(client) && (onUp === undefined || hasArrived(upstream))) onOver();
  };
  for (const socket of [client, upstream]) socket.once('close', look).once('finish', look);
}

function pump(from: Socket, to: Socket, look: (chunk: Buffer) => boolean): void {
  from.on('data', chunk => {
    if (!look(chunk) || to.write(chunk)) return;
    from.pause();
    to.once('drain', () => from.resume());
  });
  from.once('end', () => to.end());
  from.resume();
}

/** For a client to read why it was refused. */
const LINGER_MS = 1000;
const PHRASES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
};

/** Answers a request with one sentence, and nothing after it. */
export function answerAndClose(
  client: Socket,
  {status, reason}: {readonly status: number; readonly reason: string},
  clock: Clock,
): void {
  const body = Buffer.from(`${reason}\n`);
  const head = [
    `HTTP/1.1 ${status} ${PHRASES[status] ?? 'Refused'}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  client.write(`${head.join('\r\n')}\r\n\r\n`);
  client.end(body);
  // A socket that is closed with something unread in it takes the answer back.
  client.resume();
  const cancel = clock.after(LINGER_MS, () => client.destroy());
  client.once('end', () => client.destroy());
  client.once('close', cancel);
}

/** As much as a socket of Linux has at once. */
const PIECE_BYTES = 262_144;
/** Written at the same time, while one more is there to read into. */
const MOST_UNDER_WAY = 2;

/**
 * Reads a socket into a few buffers, and into each again once it is written. New memory for every read would cost more
 * than to copy what is read.
 */
export class PieceReader {
  readonly #free: Buffer[] = [];
  #current: Buffer = Buffer.allocUnsafeSlow(PIECE_BYTES);
  #underWay = 0;
  #pass: (chunk: Buffer) => boolean = () => false;

  /** For `connect`. The socket has to be paused until `pump` is called. */
  readonly onread: OnReadOpts = {
    buffer: () => this.#current,
    callback: bytes => this.#pass(this.#current.subarray(0, bytes)),
  };

  /** Passes on what `from` says, no faster than `to` takes it. `look` sees each piece first; false where it is not passed on. */
  pump(from: Socket, to: Socket, look: (chunk: Buffer) => boolean): void {
    this.#pass = chunk => {
      if (!look(chunk)) return false;
      const buffer = this.#current;
      let isUnderWay = false;
      to.write(chunk, () => {
        if (!isUnderWay) return;
        this.#underWay -= 1;
        this.#free.push(buffer);
        if (from.isPaused()) from.resume();
      });
      // Most often the system has taken all of it by now.
      if (to.writableLength === 0) return true;
      isUnderWay = true;
      this.#underWay += 1;
      this.#current = this.#free.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES);
      if (this.#underWay < MOST_UNDER_WAY) return true;
      from.pause();
      return false;
    };
    from.resume();
  }
}

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
