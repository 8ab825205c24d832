// Decompresses bodies within a limit.

import type {Transform} from 'node:stream';
import {createBrotliDecompress, createGunzip, createInflate, createInflateRaw} from 'node:zlib';
import {ok, type Result} from '../../core/result.ts';
import type {HeaderMap} from '../page.ts';
import type {NetworkError, NetworkProblem} from './network-error.ts';
import {headerTokens} from './response-head.ts';

/** Decoded bytes that come at once; the most by which a bomb passes the limit. */
const OUTPUT_CHUNK_BYTES = 32_768;

/**
 * Undoes one content coding as the bytes arrive, off the main thread. No input is no output, as in
 * browsers. Bytes after the end of a zlib or brotli stream, and zeros after gzip, are ignored; other
 * bytes after a gzip member are read as a further member.
 */
class CodingLayer {
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

/** Ruling C2 */
const MAX_CODINGS = 2;

export type ContentCoding = 'gzip' | 'deflate' | 'br';

const CODINGS: ReadonlyMap<string, ContentCoding> = new Map([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'br'],
]);

/** FR-WF-10c: how the body is coded, in the order in which the codings are to be undone. */
export function contentCodings(headers: HeaderMap): Result<readonly ContentCoding[], NetworkError> {
  const names = headerTokens(headers, 'content-encoding').filter(name => name !== 'identity');
  const codings = names.map(name => CODINGS.get(name)).filter(coding => coding !== undefined);
  if (codings.length < names.length) return {ok: false, error: 'unsupported_content_encoding'};
  if (codings.length > MAX_CODINGS) return {ok: false, error: 'too_many_content_encodings'};
  return ok(codings.reverse());
}

/** Undoes all codings of a body. No layer puts out more than `maxBytes` and one chunk (ruling C2). */
export class ContentDecoder {
  readonly #layers: readonly CodingLayer[];

  constructor(codings: readonly ContentCoding[], maxBytes: number) {
    this.#layers = codings.map(coding => new CodingLayer(coding, maxBytes));
  }

  /** A layer put out more than the limit. Stop: what follows would be incomplete. */
  get exceeded(): boolean {
    return this.#layers.some(layer => layer.exceeded);
  }

  feed(chunk: Buffer): Promise<Result<readonly Buffer[], NetworkProblem>> {
    return this.#feedFrom(0, [chunk]);
  }

  async finish(): Promise<Result<readonly Buffer[], NetworkProblem>> {
    const output: Buffer[] = [];
    for (const [index, layer] of this.#layers.entries()) {
      const rest = await layer.finish();
      if (!rest.ok) return rest;
      const decoded = await this.#feedFrom(index + 1, rest.value);
      if (!decoded.ok) return decoded;
      output.push(...decoded.value);
    }
    return ok(output);
  }

  destroy(): void {
    for (const layer of this.#layers) layer.destroy();
  }

  async #feedFrom(
    start: number,
    chunks: readonly Buffer[],
  ): Promise<Result<readonly Buffer[], NetworkProblem>> {
    let input = chunks;
    for (const layer of this.#layers.slice(start)) {
      const output: Buffer[] = [];
      for (const chunk of input) {
        const decoded = await layer.feed(chunk);
        if (!decoded.ok) return decoded;
        output.push(...decoded.value);
        if (layer.exceeded) break;
      }
      input = output;
    }
    return ok(input);
  }
}
