import {BYTES_A_TURN, type Turns} from '../../turns.ts';

/** W6, W13: a text without CR, with the line ends of a file that has CRLF throughout. */
export function* withCrlf(text: string): Turns<string> {
  const parts: string[] = [];
  for (let at = 0; at < text.length; at += BYTES_A_TURN) {
    if (at > 0) yield;
    parts.push(text.slice(at, at + BYTES_A_TURN).replaceAll('\n', '\r\n'));
  }
  return parts.join('');
}
