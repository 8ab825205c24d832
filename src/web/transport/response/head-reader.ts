import type {Result} from '../../../core/result.ts';
import {ok} from '../../../core/result.ts';
import type {NetworkError} from '../network-error.ts';

/** Ruling C2 */
const MAX_HEAD_BYTES = 65_536;
const START = Buffer.from('HTTP/');
const CR = 0x0d;
const LF = 0x0a;

interface HeadBytes {
  /** Status line and fields, each line with its CRLF, without the empty line. */
  readonly head: Buffer;
  /** What came after the empty line. */
  readonly rest: Buffer;
}

/**
 * Collects the bytes of one response head, however they are cut. Lines end at CRLF only: a bare LF,
 * which parsers disagree about, is refused, and so is a peer that does not begin with `HTTP/`.
 */
export class HeadReader {
  #buffer = Buffer.alloc(0);
  #length = 0;
  #lineStart = 0;
  #scanned = 0;

  /** The head once it is whole, `undefined` while it is not. */
  push(chunk: Buffer): Result<HeadBytes | undefined, NetworkError> {
    const bytes = this.#length === 0 ? chunk : this.#append(chunk);
    const known = Math.min(bytes.length, START.length);
    if (bytes.compare(START, 0, known, 0, known) !== 0) return {ok: false, error: 'malformed_status_line'};

    for (let lf = bytes.indexOf(LF, this.#scanned); lf !== -1; lf = bytes.indexOf(LF, lf + 1)) {
      if (lf >= MAX_HEAD_BYTES) return {ok: false, error: 'header_block_too_large'};
      if (bytes[lf - 1] !== CR) return {ok: false, error: 'malformed_header'};
      if (lf - 1 === this.#lineStart) {
        return ok({head: bytes.subarray(0, lf - 1), rest: bytes.subarray(lf + 1)});
      }
      this.#lineStart = lf + 1;
    }
    if (bytes.length >= MAX_HEAD_BYTES) return {ok: false, error: 'header_block_too_large'};
    this.#scanned = bytes.length;
    if (this.#length === 0) this.#append(chunk);
    return ok(undefined);
  }

  /** Doubles its space, so a head that comes byte by byte costs linear time. */
  #append(chunk: Buffer): Buffer {
    const length = this.#length + chunk.length;
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(1024, 2 * length));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    chunk.copy(this.#buffer, this.#length);
    this.#length = length;
    return this.#buffer.subarray(0, length);
  }
}
