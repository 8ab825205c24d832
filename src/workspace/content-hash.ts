import {createHash} from 'node:crypto';
import type {Brand} from '../core/brand.ts';

/** SHA-256 of the bytes of a file, lower-case hexadecimal. */
export type ContentHash = Brand<string, 'ContentHash'>;

export function contentHash(bytes: Uint8Array): ContentHash {
  return createHash('sha256').update(bytes).digest('hex') as ContentHash;
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
