import {BYTES_A_TURN, type Turns} from '../../turns.ts';

const LF = 0x0a;
const CR = 0x0d;

/** W6: whether every line that ends ends in CRLF, and one does. Models write LF for such a file all the same. */
export function* isCrlf(content: Uint8Array): Turns<boolean> {
  let found = false;
  let before = 0;
  // One pass over the bytes: a call for each line would cost much where lines are short.
  for (let from = 0; from < content.length; from += BYTES_A_TURN) {
    if (from > 0) yield;
    const end = Math.min(content.length, from + BYTES_A_TURN);
    for (let at = from; at < end; at += 1) {
      const byte = content[at] ?? 0;
      if (byte === LF) {
        if (before !== CR) return false;
        found = true;
      }
      before = byte;
    }
  }
  return found;
}
