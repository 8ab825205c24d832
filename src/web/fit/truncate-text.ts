import type {FetchChunk} from '../page.ts';

/**
 * FR-WF-OUT-01 step 4: `chunk` with the longest prefix of its text, cut between code points, whose JSON
 * takes at most `maxBytes` bytes; `undefined` if it is too large even with an empty text.
 */
export function truncateText(
  chunk: FetchChunk,
  maxBytes: number,
  countTokens: (text: string) => number,
): FetchChunk | undefined {
  // All but the text and the digits of its token count, which shrinks along with it.
  const frame = Buffer.byteLength(JSON.stringify({...chunk, text: '', token_count: 0})) - 1;
  for (let digits = 1; frame + digits <= maxBytes; digits++) {
    const text = chunk.text.slice(0, prefixWithin(chunk.text, maxBytes - frame - digits));
    const token_count = countTokens(text);
    // Prefixes grow by a byte at least, so with fewer digits to spare the next shorter one is the longest.
    if (String(token_count).length <= digits) return {...chunk, text, token_count};
  }
  return undefined;
}

/** Where the longest prefix ends that JSON spells in at most `maxBytes` bytes. */
function prefixWithin(text: string, maxBytes: number): number {
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += jsonBytes(character.codePointAt(0) as number);
    if (bytes > maxBytes) break;
    end += character.length;
  }
  return end;
}

/** As `JSON.stringify` writes it: a lone surrogate and most controls as \uXXXX. */
function jsonBytes(codePoint: number): number {
  if (codePoint < 0x20) return codePoint >= 0x08 && codePoint <= 0x0d && codePoint !== 0x0b ? 2 : 6;
  if (codePoint < 0x80) return codePoint === 0x22 || codePoint === 0x5c ? 2 : 1;
  if (codePoint < 0x800) return 2;
  if (codePoint > 0xffff) return 4;
  return codePoint >= 0xd800 && codePoint <= 0xdfff ? 6 : 3;
}
