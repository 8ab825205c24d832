import {takeEnd} from './take-end.ts';
import {takeStart} from './take-start.ts';

/** Says how many of how many UTF-16 units are missing. */
export type CutMarker = (left: number, total: number) => string;

const plainMarker: CutMarker = left => `\n[… ${left} characters left out …]\n`;

/**
 * A text of at most `max` UTF-16 units: the head and the tail of one that is too long, and between them what
 * is missing. What was said last often matters most, so the end stays.
 */
export function cutMiddle(text: string, max: number, marker: CutMarker = plainMarker): string {
  if (text.length <= max) return text;
  const room = Math.max(0, max - marker(text.length, text.length).length);
  const head = takeStart(text, Math.ceil(room / 2));
  const tail = takeEnd(text, Math.floor(room / 2));
  return `${head}${marker(text.length - head.length - tail.length, text.length)}${tail}`;
}
