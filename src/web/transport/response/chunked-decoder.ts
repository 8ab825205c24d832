import {ok, type Result} from '../../../core/result.ts';
import type {NetworkError} from '../network-error.ts';

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
export class ChunkedDecoder {
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
