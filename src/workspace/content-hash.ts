import {createHash} from 'node:crypto';
import type {Brand} from '../core/brand.ts';
import {BYTES_A_TURN, type Turns} from './turns.ts';

/** SHA-256 of the bytes of a file, lower-case hexadecimal. */
export type ContentHash = Brand<string, 'ContentHash'>;

export function contentHash(bytes: Uint8Array): ContentHash {
  return createHash('sha256').update(bytes).digest('hex') as ContentHash;
}

/** The same for content that may be large. */
export function* hashInTurns(bytes: Uint8Array): Turns<ContentHash> {
  const hasher = new ContentHasher();
  for (let at = 0; at < bytes.length; at += BYTES_A_TURN) {
    if (at > 0) yield;
    hasher.add(bytes.subarray(at, at + BYTES_A_TURN));
  }
  return hasher.finish();
}

/** The same for content that comes in blocks. */
export class ContentHasher {
  readonly #hash = createHash('sha256');

  add(block: Uint8Array): void {
    this.#hash.update(block);
  }

  finish(): ContentHash {
    return this.#hash.digest('hex') as ContentHash;
  }
}
