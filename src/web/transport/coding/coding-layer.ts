import type {Transform} from 'node:stream';
import {createBrotliDecompress, createGunzip, createInflate, createInflateRaw} from 'node:zlib';
import {ok, type Result} from '../../../core/result.ts';
import type {NetworkProblem} from '../network-failure.ts';
import type {ContentCoding} from './content-coding.ts';

/** Decoded bytes that come at once; the most by which a bomb passes the limit. */
const OUTPUT_CHUNK_BYTES = 32_768;

/**
 * Undoes one content coding as the bytes arrive, off the main thread. No input is no output, as in
 * browsers. Bytes after the end of a zlib or brotli stream, and zeros after gzip, are ignored; other
 * bytes after a gzip member are read as a further member.
 */
export class CodingLayer {
  /** More than the limit has come out. What came is in the last answer of `feed`; nothing follows. */
  exceeded = false;
  readonly #coding: ContentCoding;
  readonly #maxBytes: number;
  #stream: Transform | undefined;
  #held: Buffer = Buffer.alloc(0);
  #output: Buffer[] = [];
  #total = 0;
  #ended = false;
  #problem: NetworkProblem | undefined;
  #settle: () => void = () => {};

  constructor(coding: ContentCoding, maxBytes: number) {
    this.#coding = coding;
    this.#maxBytes = maxBytes;
  }

  async feed(chunk: Buffer): Promise<Result<readonly Buffer[], NetworkProblem>> {
    const input = this.#held.length > 0 ? Buffer.concat([this.#held, chunk]) : chunk;
    if (this.#stream === undefined && this.#coding === 'deflate' && input.length < 2) {
      this.#held = input;
      return ok([]);
    }
    this.#held = Buffer.alloc(0);
    return this.#run(this.#open(input), (stream, done) => stream.write(input, done));
  }

  /** The rest, once all input was fed. A stream that is not complete by now is damaged. */
  async finish(): Promise<Result<readonly Buffer[], NetworkProblem>> {
    if (this.#stream === undefined && this.#held.length === 0) return ok([]);
    return this.#run(this.#open(this.#held), stream => stream.end());
  }

  destroy(): void {
    this.#stream?.destroy();
  }

  async #run(
    stream: Transform,
    action: (stream: Transform, done: () => void) => void,
  ): Promise<Result<readonly Buffer[], NetworkProblem>> {
    if (!this.#ended && this.#problem === undefined) {
      await new Promise<void>(resolve => {
        this.#settle = resolve;
        action(stream, resolve);
      });
    }
    if (this.#problem !== undefined) return {ok: false, error: this.#problem};
    const output = this.#output;
    this.#output = [];
    return ok(output);
  }

  #open(firstBytes: Buffer): Transform {
    if (this.#stream !== undefined) return this.#stream;
    const stream = createDecoder(this.#coding, firstBytes);
    stream.on('data', (bytes: Buffer) => {
      this.#output.push(bytes);
      this.#total += bytes.length;
      if (this.#total <= this.#maxBytes) return;
      this.exceeded = true;
      this.#ended = true;
      stream.destroy();
    });
    stream.on('end', () => {
      this.#ended = true;
      this.#settle();
    });
    stream.on('error', error => {
      const reason = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
      this.#problem = {error: 'broken_content_encoding', reason};
      this.#settle();
    });
    stream.on('close', () => this.#settle());
    this.#stream = stream;
    return stream;
  }
}

function createDecoder(coding: ContentCoding, firstBytes: Buffer): Transform {
  const options = {chunkSize: OUTPUT_CHUNK_BYTES};
  switch (coding) {
    case 'gzip':
      return createGunzip(options);
    case 'br':
      return createBrotliDecompress(options);
    case 'deflate':
      return hasZlibHeader(firstBytes) ? createInflate(options) : createInflateRaw(options);
  }
}

/** Ruling C2: `deflate` is zlib (RFC 1950 §2.2) or raw. */
function hasZlibHeader(bytes: Buffer): boolean {
  const [method = 0, flags = 0] = bytes;
  return (method & 0x0f) === 8 && method >> 4 <= 7 && (method * 256 + flags) % 31 === 0;
}
