// Parses the bytes of a response: head, body, chunks.

import {ok, type Result} from '../../core/result.ts';
import type {HttpRequest} from '../page.ts';
import type {NetworkError} from './network-error.ts';
import {
  type BodyFraming,
  bodyFraming,
  HeadReader,
  headerTokens,
  parseResponseHead,
  type ResponseHead,
} from './response-head.ts';

const MAX_INFORMATIONAL = 8;

export interface ResponseHandler {
  readonly onHead: (head: ResponseHead) => void;
  /** A part of the body, never empty. */
  readonly onData: (bytes: Buffer) => void;
  /** The message has ended. `reusable`: the connection may carry another request. */
  readonly onComplete: (reusable: boolean) => void;
}

/**
 * One HTTP/1.1 response, from bytes to calls of a handler. It knows no socket, and how the bytes
 * are cut makes no difference to what it reports.
 */
export class ResponseParser {
  readonly #method: HttpRequest['method'];
  readonly #handler: ResponseHandler;
  #headReader: HeadReader | undefined = new HeadReader();
  #framing: BodyFraming = {kind: 'none'};
  #remaining = 0;
  #chunks = new ChunkedDecoder();
  #informational = 0;
  #reusable = false;
  #complete = false;

  constructor(method: HttpRequest['method'], handler: ResponseHandler) {
    this.#method = method;
    this.#handler = handler;
  }

  /** The error that ends the response, if `bytes` breaks the protocol. `bytes` may be overwritten. */
  push(bytes: Buffer): NetworkError | undefined {
    let input = bytes;
    while (this.#headReader !== undefined) {
      const read = this.#headReader.push(input);
      if (!read.ok) return read.error;
      if (read.value === undefined) return undefined;
      const problem = this.#onHeadBytes(read.value.head);
      if (problem !== undefined) return problem;
      input = read.value.rest;
      if (this.#headReader !== undefined && input.length === 0) return undefined;
    }
    return this.#onBodyBytes(input);
  }

  /** The peer has closed its side. */
  end(): NetworkError | undefined {
    if (this.#complete) return undefined;
    if (this.#headReader !== undefined) return 'connection_closed';
    if (this.#framing.kind !== 'until-close') return 'truncated_body';
    this.#finish(false);
    return undefined;
  }

  #onHeadBytes(bytes: Buffer): NetworkError | undefined {
    const parsed = parseResponseHead(bytes);
    if (!parsed.ok) return parsed.error;
    const head = parsed.value;
    const framing = bodyFraming(head, this.#method);
    if (!framing.ok) return framing.error;

    if (head.status === 101) return 'unexpected_upgrade';
    if (head.status < 200) {
      this.#informational += 1;
      this.#headReader = new HeadReader();
      return this.#informational > MAX_INFORMATIONAL ? 'too_many_informational' : undefined;
    }
    this.#headReader = undefined;
    this.#framing = framing.value;
    this.#remaining = framing.value.kind === 'length' ? framing.value.length : 0;
    this.#reusable = isReusable(head, framing.value);
    this.#handler.onHead(head);
    return undefined;
  }

  #onBodyBytes(bytes: Buffer): NetworkError | undefined {
    // What follows a complete response was not asked for: it is ignored, with its connection.
    if (this.#complete) return undefined;
    switch (this.#framing.kind) {
      case 'none':
        this.#finish(bytes.length === 0);
        return undefined;
      case 'until-close':
        this.#emit(bytes);
        return undefined;
      case 'length': {
        const body = bytes.subarray(0, this.#remaining);
        this.#remaining -= body.length;
        this.#emit(body);
        if (this.#remaining === 0) this.#finish(body.length === bytes.length);
        return undefined;
      }
      case 'chunked': {
        const decoded = this.#chunks.push(bytes);
        if (!decoded.ok) return decoded.error;
        this.#emit(decoded.value.data);
        if (decoded.value.rest !== undefined) this.#finish(decoded.value.rest.length === 0);
        return undefined;
      }
    }
  }

  #emit(bytes: Buffer): void {
    if (bytes.length > 0) this.#handler.onData(bytes);
  }

  #finish(exact: boolean): void {
    this.#complete = true;
    this.#handler.onComplete(exact && this.#reusable);
  }
}

function isReusable(head: ResponseHead, framing: BodyFraming): boolean {
  if (head.minorVersion === 0 || framing.kind === 'until-close') return false;
  // Some servers send the body that their headers announce even where there must be none (HEAD, 204).
  const announced = head.headers.has('content-length') || head.headers.has('transfer-encoding');
  if (framing.kind === 'none' && announced) return false;
  return !headerTokens(head.headers, 'connection').includes('close');
}

/** Extensions of all chunks together, and the trailer section: what is read beside the body is bounded. */
const MAX_OVERHEAD_BYTES = 16_384;
const MAX_SIZE_DIGITS = 12;

const CR = 0x0d;
const LF = 0x0a;

type State =
  | 'size'
  | 'extension'
  | 'size-lf'
  | 'data'
  | 'data-cr'
  | 'data-lf'
  | 'trailer-start'
  | 'trailer'
  | 'trailer-lf'
  | 'last-lf';

interface Decoded {
  readonly data: Buffer;
  /** Set when the body has ended: what came after it. */
  readonly rest: Buffer | undefined;
}

/** RFC 9112 §7.1, incremental. Trailers and extensions are skipped, lines end at CRLF only. */
class ChunkedDecoder {
  #state: State = 'size';
  #size = 0;
  #digits = 0;
  #overhead = 0;

  /**
   * Decodes in place: `input` is overwritten, and `data` is a part of it. One output for one input,
   * so a million chunks of one byte do not become a million buffers.
   */
  push(input: Buffer): Result<Decoded, NetworkError> {
    let from = 0;
    let to = 0;
    let at = 0;
    while (at < input.length) {
      if (this.#state === 'data') {
        const end = Math.min(input.length, at + this.#size);
        if (to === 0) from = at;
        else input.copyWithin(to, at, end);
        to = (to === 0 ? at : to) + (end - at);
        this.#size -= end - at;
        at = end;
        if (this.#size === 0) this.#state = 'data-cr';
        continue;
      }
      const byte = input[at] as number;
      at += 1;
      if (this.#state === 'last-lf' && byte === LF) {
        return ok({data: input.subarray(from, to), rest: input.subarray(at)});
      }
      const problem = this.#step(byte);
      if (problem !== undefined) return {ok: false, error: problem};
    }
    return ok({data: input.subarray(from, to), rest: undefined});
  }

  #step(byte: number): NetworkError | undefined {
    switch (this.#state) {
      case 'size': {
        const digit = hexDigit(byte);
        if (digit !== undefined) {
          this.#size = this.#size * 16 + digit;
          this.#digits += 1;
          return this.#digits > MAX_SIZE_DIGITS ? 'malformed_chunk' : undefined;
        }
        if (this.#digits === 0) return 'malformed_chunk';
        if (byte === CR) this.#state = 'size-lf';
        else if (byte === 0x3b || byte === 0x20 || byte === 0x09) this.#state = 'extension';
        else return 'malformed_chunk';
        return undefined;
      }
      case 'extension':
        if (byte === CR) this.#state = 'size-lf';
        else if (byte === LF) return 'malformed_chunk';
        else return this.#countOverhead();
        return undefined;
      case 'size-lf':
        this.#digits = 0;
        return this.#expect(byte, LF, this.#size === 0 ? 'trailer-start' : 'data');
      case 'data-cr':
        return this.#expect(byte, CR, 'data-lf');
      case 'data-lf':
        return this.#expect(byte, LF, 'size');
      case 'trailer-start':
        if (byte === CR) this.#state = 'last-lf';
        else {
          this.#state = 'trailer';
          return byte === LF ? 'malformed_chunk' : this.#countOverhead();
        }
        return undefined;
      case 'trailer':
        if (byte === CR) this.#state = 'trailer-lf';
        else if (byte === LF) return 'malformed_chunk';
        else return this.#countOverhead();
        return undefined;
      case 'trailer-lf':
        return this.#expect(byte, LF, 'trailer-start');
      default:
        return 'malformed_chunk';
    }
  }

  #expect(byte: number, wanted: number, next: State): NetworkError | undefined {
    this.#state = next;
    return byte === wanted ? undefined : 'malformed_chunk';
  }

  #countOverhead(): NetworkError | undefined {
    this.#overhead += 1;
    return this.#overhead > MAX_OVERHEAD_BYTES ? 'chunk_overhead_too_large' : undefined;
  }
}

function hexDigit(byte: number): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : undefined;
}
