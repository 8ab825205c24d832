import {createHash} from 'node:crypto';
import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {packageFile} from '../../core/package-file.ts';

/** Rank of byte strings that are no token. Greater than every rank. */
export const NO_RANK = 0x7fff_ffff;

const HEADER_BYTES = 48;
const MAGIC = 0x31_56_54_46; // "FTV1" read as a little-endian number
const REMEDY = 'Run "npm run build" in the package folder, or install the package again.';

/** No token of cl100k_base spells more bytes. */
const LONGEST = 128;
/** In place of the rank of a pair that was not looked up yet. */
const UNKNOWN = -1;

/** The cl100k_base rank table, as scripts/build-vocabulary.js packs it. */
export class Vocabulary {
  /** By `first << 8 | second`: the ranks of two bytes, with which every merge starts. Looked up when first asked for. */
  readonly #pairRanks = new Int32Array(1 << 16).fill(UNKNOWN);
  readonly #slots: Int32Array;
  readonly #starts: Int32Array;
  readonly #bytes: Uint8Array;

  constructor(slots: Int32Array, starts: Int32Array, bytes: Uint8Array) {
    this.#slots = slots;
    this.#starts = starts;
    this.#bytes = bytes;
  }

  /** The rank of the two bytes at `at`, or `NO_RANK`. */
  rankOfPair(bytes: Uint8Array, at: number): number {
    const pair = ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
    const known = this.#pairRanks[pair] as number;
    if (known !== UNKNOWN) return known;
    const rank = this.rankOf(bytes, at, at + 2);
    this.#pairRanks[pair] = rank;
    return rank;
  }

  /** The rank of `bytes[from, to)`, or `NO_RANK`. */
  rankOf(bytes: Uint8Array, from: number, to: number): number {
    const length = to - from;
    if (length > LONGEST) return NO_RANK;
    let hash = 0x811c9dc5 | 0;
    for (let at = from; at < to; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
    const slots = this.#slots;
    const mask = slots.length - 1;
    for (let slot = (hash ^ (hash >>> 15)) & mask; ; slot = (slot + 1) & mask) {
      const rank = (slots[slot] as number) - 1;
      if (rank < 0) return NO_RANK;
      if (this.#spells(rank, bytes, from, length)) return rank;
    }
  }

  #spells(rank: number, bytes: Uint8Array, from: number, length: number): boolean {
    const start = this.#starts[rank] as number;
    if ((this.#starts[rank + 1] as number) - start !== length) return false;
    const own = this.#bytes;
    for (let at = 0; at < length; at++) if (own[start + at] !== bytes[from + at]) return false;
    return true;
  }
}

let loaded: Vocabulary | undefined;

/** Read at the first count, not at import: a process that never counts never pays for it. */
export function vocabulary(): Vocabulary {
  loaded ??= readVocabulary(packageFile('vocabulary/cl100k_base.bin'));
  return loaded;
}

/** Throws if the file is missing or damaged: that is a broken installation, not a failed call. */
export function readVocabulary(url: URL): Vocabulary {
  const path = fileURLToPath(url);
  let file: Uint8Array;
  try {
    file = readFileSync(path);
    // The numbers in it are read where they are, and must begin at a whole one.
    if (file.byteOffset % 4 !== 0) file = Uint8Array.from(file);
  } catch (cause) {
    throw new Error(`Cannot read the token vocabulary ${path}. ${REMEDY}`, {cause});
  }
  const header = new Int32Array(file.buffer, file.byteOffset, file.length < HEADER_BYTES ? 0 : 4);
  const [magic, tokens = 0, slots = 0, bytes = 0] = header;
  const startsAt = HEADER_BYTES + 4 * slots;
  const bytesAt = startsAt + 4 * (tokens + 1);
  const digest = createHash('sha256').update(file.subarray(HEADER_BYTES)).digest();
  if (magic !== MAGIC || file.length !== bytesAt + bytes || !digest.equals(file.subarray(16, HEADER_BYTES))) {
    throw new Error(`The token vocabulary ${path} is damaged or of another version. ${REMEDY}`);
  }
  return new Vocabulary(
    new Int32Array(file.buffer, file.byteOffset + HEADER_BYTES, slots),
    new Int32Array(file.buffer, file.byteOffset + startsAt, tokens + 1),
    file.subarray(bytesAt),
  );
}
