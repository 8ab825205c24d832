// Reads request bodies and writes responses over HTTP, within bounds and at the pace of the reader.
import type {IncomingMessage, ServerResponse} from 'node:http';
import {isJsonContentType} from '@modelcontextprotocol/server';
import type {Err, Ok} from '../../core/result.ts';
import type {Refusal} from './access.ts';

/** Bytes of request bodies that may be under way together. */
export class BodyBudget {
  readonly #most: number;
  #held = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Room for one body, until it is given back. */
  share(): BodyShare {
    let taken = 0;
    return {
      take: bytes => {
        if (this.#held + bytes > this.#most) return false;
        this.#held += bytes;
        taken += bytes;
        return true;
      },
      giveBack: () => {
        this.#held -= taken;
        taken = 0;
      },
    };
  }
}

interface BodyShare {
  /** Whether there is room for so many bytes more. They are taken then. */
  readonly take: (bytes: number) => boolean;
  readonly giveBack: () => void;
}

/** A JSON body of at most `maxBytes`. What is too large, alone or beside the others, is not read to its end. */
export async function readJsonBody(
  request: IncomingMessage,
  maxBytes: number,
  share: BodyShare,
): Promise<Ok<unknown> | Err<Refusal>> {
  if (!isJsonContentType(request.headers['content-type'])) {
    return refuse(415, 'The Content-Type must be application/json.');
  }
  const tooLarge = refuse(413, `The body may have ${maxBytes} bytes.`);
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > maxBytes) return tooLarge;
  // What was let in is read to its end: its room is taken before it comes, if it says how long it is.
  if (!share.take(declared)) return NO_ROOM;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request.iterator({destroyOnReturn: false})) {
      const room = Math.max(size, declared);
      size += (chunk as Buffer).length;
      if (size > maxBytes) return tooLarge;
      if (!share.take(Math.max(0, size - room))) return NO_ROOM;
      chunks.push(chunk as Buffer);
    }
    return {ok: true, value: JSON.parse(Buffer.concat(chunks).toString('utf8'))};
  } catch {
    return refuse(400, 'The body is not JSON.', -32_700);
  }
}

const NO_ROOM: Err<Refusal> = {
  ok: false,
  error: {
    status: 503,
    message: 'Too many bytes of requests at the same time. Try again.',
    headers: {'retry-after': '1'},
  },
};

function refuse(status: number, message: string, code?: number): Err<Refusal> {
  return {ok: false, error: {status, message, ...(code === undefined ? {} : {code})}};
}

/** Writes a web-standard response, at the pace of the one who reads it, and gives up when that one has gone. */
export async function sendResponse(response: Response, outgoing: ServerResponse): Promise<void> {
  // Review B15: who went while the call ran is told nothing, and no event will say so again.
  if (outgoing.destroyed) {
    await response.body?.cancel().catch(() => {});
    return;
  }
  // The end of the connection is what counts; how it came about says nothing more.
  outgoing.once('error', () => {});
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) {
    outgoing.end();
    return;
  }
  outgoing.flushHeaders();
  const reader = response.body.getReader();
  const closed = new Promise<'closed'>(resolve => outgoing.once('close', () => resolve('closed')));
  // The stream of a call that was cancelled may never end by itself.
  void closed.then(() => reader.cancel().catch(() => {}));
  for (;;) {
    const {done, value} = await reader.read();
    if (done) break;
    if (outgoing.write(value)) continue;
    const drained = new Promise<'drained'>(resolve => outgoing.once('drain', () => resolve('drained')));
    if ((await Promise.race([drained, closed])) === 'closed') break;
  }
  outgoing.end();
}

/** Of a request that is refused: what a client sends before it looks whether there is an answer. */
const MOST_DROPPED_BYTES = 64 * 1024 * 1024;

/**
 * Refuses a request as a JSON-RPC error, and closes the connection. The answer goes out at once; what still comes is
 * read and dropped first, as a connection that is closed with unread bytes is reset, and the answer lost with it.
 */
export function sendRefusal(
  {status, message, code = -32_000, headers = {}}: Refusal,
  outgoing: ServerResponse,
): void {
  const body = JSON.stringify({jsonrpc: '2.0', error: {code, message}, id: null});
  outgoing.writeHead(status, {
    ...headers,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  });
  outgoing.write(body);
  // The limits of the server end who never stops sending, or never goes on.
  void dropRest(outgoing.req).then(() => outgoing.end());
}

async function dropRest(request: IncomingMessage): Promise<void> {
  let dropped = 0;
  try {
    for await (const chunk of request.iterator({destroyOnReturn: false})) {
      dropped += (chunk as Buffer).length;
      if (dropped > MOST_DROPPED_BYTES) return;
    }
  } catch {
    // It has gone, which is an end too.
  }
}
