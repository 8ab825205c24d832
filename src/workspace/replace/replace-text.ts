import {isCrlf} from '../edit/replace/is-crlf.ts';
import type {Turns} from '../turns.ts';
import type {FoundPlace} from './find-replacements.ts';

export interface ReplacedText {
  readonly content: Buffer;
  /** Places that say something else now. */
  readonly count: number;
}

const CR = 0x0d;
const LF = 0x0a;

/** A file with its places replaced. They ascend, and do not overlap. Line ends stay those of the file (W6, W13). */
export function* replaceText(content: Buffer, places: readonly FoundPlace[]): Turns<ReplacedText> {
  const crlf = yield* isCrlf(content);
  const parts: Buffer[] = [];
  let count = 0;
  let copied = 0;
  for (const {at, length, replacement} of places) {
    let end = at + length;
    let fresh = crlf ? withCrlf(replacement) : replacement;
    if (length > 0 && content[end - 1] === CR && content[end] === LF) {
      // ripgrep 15 leaves the CR out of a match; a version that does not must not cost the file its line ends.
      end -= 1;
      if (fresh.at(-1) === CR) fresh = fresh.subarray(0, -1);
    }
    if (content.subarray(at, end).equals(fresh)) continue;
    count += 1;
    parts.push(content.subarray(copied, at), fresh);
    copied = end;
  }
  parts.push(content.subarray(copied));
  return {content: Buffer.concat(parts), count};
}

function withCrlf(text: Buffer): Buffer {
  if (!text.includes(LF) || text.includes(CR)) return text;
  return Buffer.from(text.toString('latin1').replaceAll('\n', '\r\n'), 'latin1');
}
