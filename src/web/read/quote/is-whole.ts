import {isWordAt} from '../markdown/is-word-at.ts';
import {isUnspaced} from '../rank/words-of.ts';

const DIGIT = /\p{N}/u;
const POINT = /[.,:/]/;
const MINUS = /[-−]/;

/**
 * Whether `[from, to)` starts and ends where words and numbers do: "able" is not said by a page that says "unable",
 * nor "5 million" by one that says "1.5 million". `isCut` are places where we cut the text ourselves.
 */
export function isWhole(text: string, from: number, to: number, isCut = (_: number) => false): boolean {
  const startsWhole = isCut(from) || !(cutsWord(text, from) || startsInNumber(text, from));
  return startsWhole && (isCut(to) || !(cutsWord(text, to) || endsInNumber(text, to)));
}

function cutsWord(text: string, at: number): boolean {
  if (!isWordAt(text, at - 1) || !isWordAt(text, at)) return false;
  return !isUnspaced(characterBefore(text, at)) && !isUnspaced(characterAt(text, at));
}

function startsInNumber(text: string, from: number): boolean {
  if (!DIGIT.test(text.charAt(from))) return false;
  const before = text.charAt(from - 1);
  if (POINT.test(before)) return DIGIT.test(text.charAt(from - 2));
  return MINUS.test(before) && !isWordAt(text, from - 2);
}

function endsInNumber(text: string, to: number): boolean {
  return DIGIT.test(text.charAt(to - 1)) && POINT.test(text.charAt(to)) && DIGIT.test(text.charAt(to + 1));
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0);
}

function characterBefore(text: string, at: number): string {
  const isLowHalf = (text.charCodeAt(at - 1) & 0xfc00) === 0xdc00;
  return characterAt(text, at - (isLowHalf ? 2 : 1));
}
