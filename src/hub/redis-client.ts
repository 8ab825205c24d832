// Speaks with a Redis server through the operator's own package. It bounds what the server may send.
import {type Failure, fail, ok, type Result} from '../core/result.ts';
import type {EngineAddress} from './engine-address.ts';

type Command = readonly (string | Buffer)[];

/** One connection, from `connect` to its end. It is never opened again. */
export interface RedisClient {
  readonly connect: () => Promise<unknown>;
  readonly send: (command: Command) => Promise<HubValue>;
  readonly sendForBytes: (command: Command) => Promise<HubValue<Buffer>>;
  readonly subscribe: (channel: string, listener: (message: string) => void) => Promise<void>;
  readonly unsubscribe: (channel: string) => Promise<void>;
  readonly destroy: () => void;
}

interface ClientTerms {
  readonly connectTimeoutMs: number;
  /** Commands that may wait for their answers. */
  readonly queue: number;
  readonly pingMs: number;
  readonly onEnd: (reason: string) => void;
}

export interface Redis {
  readonly create: (address: EngineAddress, terms: ClientTerms) => RedisClient;
}

/** The package is the operator's to install: who shares nothing does without it. */
export async function loadRedis(): Promise<Result<Redis>> {
  let library: typeof import('@redis/client');
  try {
    library = await import('@redis/client');
  } catch {
    return fail(
      'hub_unavailable',
      'tools.hub.url needs the package "@redis/client". Install it beside forge-tools.',
      {error: 'package_missing'},
      {retryable: false},
    );
  }
  const {createClient, RESP_TYPES} = library;
  return ok({
    create(address, {connectTimeoutMs, queue, pingMs, onEnd}) {
      const {username, host, port, socket: path, tls, database, authorities} = address;
      const password = address.password();
      // A connection that is lost is over: who reconnects, when, and what holds then is the connection's to say.
      const common = {connectTimeout: connectTimeoutMs, reconnectStrategy: false} as const;
      const client = createClient({
        RESP: 3,
        socket:
          path !== undefined
            ? {...common, path, tls: false}
            : tls
              ? {
                  ...common,
                  host,
                  port,
                  tls: true,
                  rejectUnauthorized: true,
                  ...(authorities !== undefined && {ca: authorities}),
                }
              : {...common, host, port},
        database,
        commandsQueueMaxLength: queue,
        disableOfflineQueue: true,
        pingInterval: pingMs,
        // Nothing that the server pushes moves the connection elsewhere.
        maintNotifications: 'disabled',
        ...(username !== undefined && {username}),
        ...(password !== undefined && {password}),
      });
      let reason = 'connection_lost';
      client.on('error', (error: unknown) => {
        const code = error instanceof Error && 'code' in error ? error.code : undefined;
        if (typeof code === 'string') reason = code;
        onEnd(reason);
      });
      client.on('end', () => onEnd(reason));
      // The library has no public place between socket and decoder. A version without this one makes no connection.
      const {decoder} = client._getQueue();
      const decode = decoder.write.bind(decoder);
      const limits = new ReplyLimits();
      decoder.write = chunk => {
        if (!client.isOpen) return;
        try {
          limits.read(chunk);
        } catch (error) {
          if (!(error instanceof RefusedReply)) throw error;
          reason = error.code;
          client.destroy();
          return;
        }
        decode(chunk);
      };
      const asBytes = {typeMapping: {[RESP_TYPES.BLOB_STRING]: Buffer}};
      return {
        connect: () => client.connect(),
        send: async command => readHubValue<string>(await client.sendCommand<unknown>(command)),
        sendForBytes: async command =>
          readHubValue<Buffer>(await client.sendCommand<unknown>(command, asBytes)),
        subscribe: (channel, listener) => client.subscribe(channel, message => listener(message)),
        unsubscribe: channel => client.unsubscribe(channel),
        destroy: () => {
          // It throws where the connection is over already.
          if (client.isOpen) client.destroy();
        },
      };
    },
  });
}

/** Of one message. The largest that a script of ours answers is a shared body of 8 MiB. */
const MOST_BYTES = 16_777_216;
/** Of one message, in all of its lists together. The longest answer of ours has 808. */
const MOST_ITEMS = 4096;
const MOST_DEPTH = 8;
/** Texts and errors that end with their line. */
const LONGEST_LINE = 65_536;

const COUNT = /^\d{1,9}$/;
const LINES: {readonly [type: string]: RegExp} = {
  '+': /^[^\r]*$/,
  '-': /^[^\r]*$/,
  ':': /^[+-]?\d{1,20}$/,
  '(': /^[+-]?\d{1,64}$/,
  ',': /^[+-]?(?:\d{1,32}(?:\.\d{1,32})?(?:[eE][+-]?\d{1,4})?|inf|nan)$/,
  '#': /^[tf]$/,
  _: /^$/,
};
/** The least length. A verbatim text begins with its form, as in `txt:`. */
const TEXTS: {readonly [type: string]: number} = {$: 0, '!': 0, '=': 4};
/** How many values follow for each one that the line counts. */
const LISTS: {readonly [type: string]: number} = {'*': 1, '~': 1, '>': 1, '%': 2};

const LF = 0x0a;
const CRLF = Buffer.from('\r\n');

/**
 * Reads what the engine sends before the client library does, and throws a `RefusedReply` at the first byte that
 * breaks a limit or the grammar. The library makes room for as many items as a line promises, and takes any length;
 * its decoder also skips line ends unread, so a looser grammar here would let the two readers drift apart.
 */
export class ReplyLimits {
  /** The start of a line whose end has not come. */
  #line = '';
  /** Bytes of a text that are still to come, with their line end; -1 between texts. */
  #textLeft = -1;
  /** Values that are still to come in each list that is open. */
  readonly #open: number[] = [];
  #bytes = 0;
  #items = 0;

  read(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length)
      at = this.#textLeft >= 0 ? this.#readText(chunk, at) : this.#readLine(chunk, at);
  }

  #readText(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + this.#textLeft);
    this.#textLeft -= end - at;
    // The last two bytes may come one by one.
    for (let tail = Math.max(at, end - 2); tail < end; tail += 1) {
      const expected = CRLF[2 - this.#textLeft - (end - tail)];
      if (expected !== undefined && chunk[tail] !== expected)
        throw new RefusedReply('A text is not as long as it says.');
    }
    if (this.#textLeft === 0) {
      this.#textLeft = -1;
      this.#endValue();
    }
    return end;
  }

  #readLine(chunk: Buffer, at: number): number {
    const end = chunk.indexOf(LF, at);
    this.#line += chunk.toString('latin1', at, end === -1 ? chunk.length : end);
    if (this.#line.length > LONGEST_LINE) throw new RefusedReply('A line is too long.');
    if (end === -1) return chunk.length;
    const line = this.#line;
    this.#line = '';
    if (!line.endsWith('\r')) throw new RefusedReply('A line ends with no carriage return.');
    this.#take(line.length + 1);
    this.#begin(line.charAt(0), line.slice(1, -1));
    return end + 1;
  }

  #begin(type: string, rest: string): void {
    const perItem = LISTS[type];
    if (LINES[type]?.test(rest)) this.#endValue();
    else if ((type === '$' || type === '*') && rest === '-1') this.#endValue();
    else if (TEXTS[type] !== undefined && COUNT.test(rest) && Number(rest) >= TEXTS[type]) {
      this.#take(Number(rest) + 2);
      this.#textLeft = Number(rest) + 2;
    } else if (perItem !== undefined && COUNT.test(rest)) this.#beginList(Number(rest) * perItem);
    else throw new RefusedReply('A line is none of the protocol.');
  }

  #beginList(items: number): void {
    this.#items += items;
    if (this.#items > MOST_ITEMS) throw new RefusedReply('A message has too many items.');
    if (this.#open.length === MOST_DEPTH) throw new RefusedReply('A message is too deep.');
    if (items === 0) this.#endValue();
    else this.#open.push(items);
  }

  #endValue(): void {
    while (this.#open.length > 0) {
      const left = (this.#open.pop() ?? 0) - 1;
      if (left > 0) {
        this.#open.push(left);
        return;
      }
    }
    this.#bytes = 0;
    this.#items = 0;
  }

  #take(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > MOST_BYTES) throw new RefusedReply('A message is too large.');
  }
}

/** A script that runs as one step in the engine. */
export interface HubScript {
  /** For messages. */
  readonly name: string;
  readonly lua: string;
}

/**
 * What a script answers: text or bytes, safe integers, null, and lists of these. `readHubValue` lets nothing else
 * through. It is a stranger's: look at its shape before you use it.
 */
export type HubValue<Bulk = string> = Bulk | number | null | readonly HubValue<Bulk>[];

/** Throws for maps, doubles, big numbers, truth values and errors within lists: no script of ours answers with one. */
function readHubValue<Bulk = string>(value: unknown): HubValue<Bulk> {
  if (value === null || typeof value === 'string' || Buffer.isBuffer(value) || Number.isSafeInteger(value))
    return value as HubValue<Bulk>;
  if (Array.isArray(value)) return value.map(item => readHubValue<Bulk>(item));
  throw new RefusedReply('The engine answered with a type that no script answers with.');
}

/** Why an answer, or a connection, is given up. The failure of the call shows the code. */
class RefusedReply extends Error {
  readonly code = 'REPLY_REFUSED';
}

export type HubArgument = string | number | Buffer;

export interface RunOptions {
  /** Beyond it the call fails, and the script may have run. Default: 5000. */
  readonly timeoutMs?: number;
}

export type RunScript<Bulk> = (
  script: HubScript,
  keys: readonly string[],
  args: readonly HubArgument[],
  options?: RunOptions,
) => Promise<Result<HubValue<Bulk>, Failure>>;
