import type {Transform} from 'node:stream';
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createDeflate,
  createDeflateRaw,
  createGzip,
  deflateRawSync,
  deflateSync,
  gzipSync,
} from 'node:zlib';

export interface Codec {
  readonly name: string;
  /** As `Content-Encoding` says it. */
  readonly coding: 'gzip' | 'deflate' | 'br';
  readonly encode: (bytes: Buffer | string) => Buffer;
  readonly stream: () => Transform;
}

const FAST_BROTLI = {params: {[constants.BROTLI_PARAM_QUALITY]: 3}};

// biome-ignore format: a case is a line
export const CODECS: readonly Codec[] = [
  {name: 'gzip', coding: 'gzip', encode: bytes => gzipSync(bytes), stream: () => createGzip()},
  {name: 'zlib', coding: 'deflate', encode: bytes => deflateSync(bytes), stream: () => createDeflate()},
  {name: 'raw deflate', coding: 'deflate', encode: bytes => deflateRawSync(bytes), stream: () => createDeflateRaw()},
  {name: 'brotli', coding: 'br', encode: bytes => brotliCompressSync(bytes), stream: () => createBrotliCompress(FAST_BROTLI)},
];

/** Every codec inside every codec; `coding` names the inner one first, as it was applied first. */
export const PAIRS: readonly (Pick<Codec, 'name' | 'encode'> & {
  readonly coding: string;
  readonly inner: Codec;
  readonly outer: Codec;
})[] = CODECS.flatMap(inner =>
  CODECS.map(outer => ({
    name: `${inner.name} in ${outer.name}`,
    coding: `${inner.coding}, ${outer.coding}`,
    encode: (bytes: Buffer | string) => outer.encode(inner.encode(bytes)),
    inner,
    outer,
  })),
);

/** So many zeros, compressed piece by piece: they are never there at once. */
export async function compressZeros(codec: Codec, megabytes: number): Promise<Buffer> {
  const stream = codec.stream();
  const parts: Buffer[] = [];
  stream.on('data', (part: Buffer) => parts.push(part));
  const ended = new Promise(resolve => stream.once('end', resolve));
  const zeros = Buffer.alloc(1_048_576);
  for (let count = 0; count < megabytes; count += 1) {
    if (!stream.write(zeros)) await new Promise(resolve => stream.once('drain', resolve));
  }
  stream.end();
  await ended;
  return Buffer.concat(parts);
}

/** RFC 1952 §2.3.1.1: a gzip file of exactly `size` bytes, most of them in a field that nobody reads. */
export function gzipOfSize(text: string, size: number): Buffer {
  const data = deflateRawSync(text);
  const extra = size - data.length - 20;
  const head = Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 255, extra & 255, extra >> 8]);
  const tail = Buffer.alloc(8);
  tail.writeUInt32LE(checksum(text), 0);
  tail.writeUInt32LE(text.length, 4);
  return Buffer.concat([head, Buffer.alloc(extra), data, tail]);
}

/** The checksum that gzip itself writes. */
function checksum(text: string): number {
  return gzipSync(text).readUInt32LE(gzipSync(text).length - 8);
}
