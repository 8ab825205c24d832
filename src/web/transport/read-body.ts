// Reads a response's body within its limits.

import type {Deadline} from '../../core/deadline.ts';
import {freeMemoryWhenIdle} from '../../core/places.ts';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import type {HeaderMap, HttpRequest, HttpResponse} from '../page.ts';
import {ContentDecoder, contentCodings} from './content-coding.ts';
import type {Exchange} from './http-connection.ts';
import {type NetworkProblem, networkFailure} from './network-error.ts';
import {bodyFraming} from './response-head.ts';

interface SentRequest {
  readonly host: string;
  readonly exchange: Exchange;
  readonly budget: Deadline;
  readonly method: HttpRequest['method'];
}

/** Waits for the head of the response and hands it out with the ways to read the body. */
export async function openResponse(sent: SentRequest): Promise<Result<HttpResponse>> {
  const {host, exchange, budget, method} = sent;
  const head = await exchange.head;
  if (budget.aborted) return budget.failure();
  if (!head.ok) return networkFailure(host, head.error);

  const {status, statusText, headers} = head.value;
  const framing = bodyFraming(head.value, method);
  const declaredBytes = framing.ok && framing.value.kind === 'length' ? framing.value.length : undefined;
  const source = {host, headers, exchange, budget, declaredBytes};
  let taken = false;
  const take = (): void => {
    if (taken) throw new Error('Expected the body of a response to be read once.');
    taken = true;
  };

  return ok({
    status,
    statusText,
    headers,
    read: async maxBytes => {
      take();
      const body = await readBody(source, {maxBytes, beyond: 'refuse'});
      return body.ok ? ok(body.value.bytes) : body;
    },
    readPrefix: async maxBytes => {
      take();
      return readBody(source, {maxBytes, beyond: 'cut'});
    },
    discard: () => {
      taken = true;
      exchange.abandon();
    },
  });
}

interface BodySource {
  readonly host: string;
  readonly headers: HeaderMap;
  readonly exchange: Exchange;
  readonly budget: Deadline;
  /** The length that the response declares, where its body has one. */
  readonly declaredBytes: number | undefined;
}

interface BodyLimit {
  /** Decoded bytes, in every layer. */
  readonly maxBytes: number;
  /** What happens beyond: the body is refused, or its beginning is enough. */
  readonly beyond: 'refuse' | 'cut';
}

interface Body {
  readonly bytes: Uint8Array;
  /** There were more than `maxBytes`. */
  readonly cut: boolean;
}

/** FR-WF-10c, FR-WF-10e, FR-WF-19: reads, decodes and bounds a body while it arrives. */
async function readBody(source: BodySource, limit: BodyLimit): Promise<Result<Body>> {
  const {host, headers, exchange, budget, declaredBytes} = source;
  const {maxBytes, beyond} = limit;
  budget.enter('body');

  const codings = contentCodings(headers);
  if (!codings.ok) return giveUp(networkFailure(host, {error: codings.error}));
  // Ruling C2: refused before the body is read.
  if (beyond === 'refuse' && declaredBytes !== undefined && declaredBytes > maxBytes) {
    return giveUp(tooLarge(host, declaredBytes, maxBytes));
  }

  const decoder = codings.value.length > 0 ? new ContentDecoder(codings.value, maxBytes) : undefined;
  const collector = new ByteCollector();
  try {
    let wireBytes = 0;
    for (;;) {
      const part = await exchange.next();
      if (budget.spent) return giveUp(budget.failure());
      if (!part.ok) return giveUp(networkFailure(host, part.error));
      wireBytes += part.value?.length ?? 0;

      const decoded = await decode(decoder, part.value);
      if (budget.spent) return giveUp(budget.failure());
      if (!decoded.ok) return giveUp(networkFailure(host, decoded.error));
      for (const bytes of decoded.value) collector.append(bytes);

      if (collector.length > maxBytes && beyond === 'cut') {
        exchange.abandon();
        return ok({bytes: collector.join().subarray(0, maxBytes), cut: true});
      }
      const largest = Math.max(wireBytes, collector.length);
      if (largest > maxBytes || decoder?.exceeded) {
        return giveUp(tooLarge(host, Math.max(largest, maxBytes + 1), maxBytes));
      }
      if (part.value === undefined) return ok({bytes: collector.join(), cut: false});
    }
  } finally {
    decoder?.destroy();
  }

  function giveUp(failure: Err<Failure>): Err<Failure> {
    exchange.abandon();
    return failure;
  }
}

async function decode(
  decoder: ContentDecoder | undefined,
  part: Buffer | undefined,
): Promise<Result<readonly Buffer[], NetworkProblem>> {
  if (decoder === undefined) return ok(part === undefined ? [] : [part]);
  return part === undefined ? decoder.finish() : decoder.feed(part);
}

function tooLarge(host: string, size: number, maxBytes: number): Err<Failure> {
  return fail(
    'response_too_large',
    `The document at "${host}" has at least ${size} bytes, more than the limit of ${maxBytes}. ` +
      'Fetch a smaller one, or raise tools.webfetch.max_download_bytes.',
    {size, max_bytes: maxBytes},
  );
}

/** Parts below this size, or that hold much more memory than they show, are copied together. */
const SMALL_BYTES = 4096;
const BLOCK_BYTES = 65_536;
/** From here on the memory of the parts is not left to the garbage collector. */
const LARGE_BYTES = 1_048_576;

/** Keeps what it is given as it came, but for small parts: a million of one byte cost a megabyte. */
export class ByteCollector {
  readonly #parts: Uint8Array[] = [];
  #block = Buffer.alloc(0);
  #filled = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  append(bytes: Uint8Array): void {
    this.#length += bytes.length;
    if (bytes.length >= SMALL_BYTES && bytes.length * 2 >= bytes.buffer.byteLength) {
      this.#closeBlock();
      this.#parts.push(bytes);
      return;
    }
    if (this.#filled + bytes.length > this.#block.length) {
      this.#closeBlock();
      this.#block = Buffer.allocUnsafeSlow(
        Math.max(bytes.length, this.#parts.length === 0 ? SMALL_BYTES : BLOCK_BYTES),
      );
    }
    this.#block.set(bytes, this.#filled);
    this.#filled += bytes.length;
  }

  /** Everything, in one piece. The parts are used up: those that had memory of their own are empty then. */
  join(): Uint8Array {
    this.#closeBlock();
    const [first] = this.#parts;
    if (first !== undefined && this.#parts.length === 1) return first;
    const whole = Buffer.allocUnsafeSlow(this.#length);
    let at = 0;
    for (const part of this.#parts) {
      whole.set(part, at);
      at += part.length;
    }
    if (this.#length >= LARGE_BYTES) freeMemoryWhenIdle(this.#parts.filter(isWhole));
    this.#parts.length = 0;
    return whole;
  }

  /** What is left of the block takes the next small parts. */
  #closeBlock(): void {
    if (this.#filled > 0) this.#parts.push(this.#block.subarray(0, this.#filled));
    this.#block = this.#block.subarray(this.#filled);
    this.#filled = 0;
  }
}

/** Whether a part has memory of its own; one of `Buffer`'s pool or of a decoder may have not. */
function isWhole({buffer, byteLength}: Uint8Array): boolean {
  return buffer.byteLength === byteLength;
}
