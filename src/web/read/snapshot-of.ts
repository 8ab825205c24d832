import {createHash} from 'node:crypto';

const DIGITS = 32;

/** What a snapshot looks like. */
export const SNAPSHOT_PATTERN = /^[0-9a-f]{32}$/;

/**
 * Ruling R1: the name of a document, made of its text. 128 bits, so that nobody finds two texts of one name and
 * swaps them under a quote.
 */
export function snapshotOf(markdown: string): string {
  return createHash('sha256').update(markdown, 'utf8').digest('hex').slice(0, DIGITS);
}
