import {CLASS_WORDS} from './class-words.data.ts';

export type ClassCategory = keyof typeof CLASS_WORDS;

export const CLASS_CATEGORIES = Object.keys(CLASS_WORDS) as ClassCategory[];

/** The categories of each word, as numbers. */
const BY_WORD = new Map<string, readonly number[]>();
for (const [category, name] of CLASS_CATEGORIES.entries()) {
  for (const word of CLASS_WORDS[name].split(' ')) {
    BY_WORD.set(word, union(BY_WORD.get(word) ?? [], [category]));
  }
}

/** What is read of one class attribute; more is made by machines, and says no more. */
const LONGEST = 400;
/** For each first and last letter a bit for each length that a word of both has: nearly all names are seen to be none at once. */
const LENGTHS = new Int32Array(0x20 * 0x20);
const LETTER = 0x1f;
const MOST_LENGTH = 31;
for (const word of BY_WORD.keys()) {
  if (word.length > MOST_LENGTH) throw new Error(`"${word}" is longer than ${MOST_LENGTH}.`);
  const ends = endsOf(word.charCodeAt(0), word.charCodeAt(word.length - 1));
  LENGTHS[ends] = (LENGTHS[ends] ?? 0) | (1 << word.length);
}

/** Of a word of letters, in whatever case. */
function endsOf(first: number, last: number): number {
  return ((first & LETTER) << 5) | (last & LETTER);
}

const NO_CATEGORIES: readonly number[] = [];

export interface ClassEvidence {
  /** The same for classes that differ in digits only. */
  readonly signature: number;
  readonly categories: readonly number[];
}

/** Reads class attributes of one document; most of them come many times. */
export class ClassReader {
  readonly #known = new Map<string, ClassEvidence>();

  read(names: string): ClassEvidence {
    let evidence = this.#known.get(names);
    if (evidence === undefined) {
      evidence = evidenceOf(names);
      this.#known.set(names, evidence);
    }
    return evidence;
  }
}

/** Of one attribute, in one pass: to split it into names and words takes several times as long. */
export function evidenceOf(names: string): ClassEvidence {
  let categories: readonly number[] = NO_CATEGORIES;
  let signature = 0;
  let start = -1;
  let before = 0;
  const end = Math.min(names.length, LONGEST);
  for (let at = 0; at <= end; at++) {
    const unit = at < end ? names.charCodeAt(at) : 0;
    const kind = unit >= 0x61 && unit <= 0x7a ? 1 : unit >= 0x41 && unit <= 0x5a ? 2 : 0;
    const ends = kind === 0 || (kind === 2 && before === 1);
    if (ends && start >= 0) {
      if (mayBeWord(names, start, at)) {
        const found = BY_WORD.get(names.slice(start, at).toLowerCase());
        if (found !== undefined) categories = union(categories, found);
      }
      start = -1;
    }
    if (kind !== 0 && start < 0) start = at;
    before = kind;
    if (unit < 0x30 || unit > 0x39) signature = (Math.imul(signature, 31) + unit) | 0;
  }
  return {signature, categories};
}

/** `fooBar` is two words, `NAV` is one; of `HTMLText` nothing is known. */
function mayBeWord(names: string, start: number, end: number): boolean {
  const ends = endsOf(names.charCodeAt(start), names.charCodeAt(end - 1));
  return end - start <= MOST_LENGTH && ((LENGTHS[ends] ?? 0) & (1 << (end - start))) !== 0;
}

function union(one: readonly number[], other: readonly number[]): readonly number[] {
  return one.length === 0 ? other : [...one, ...other.filter(category => !one.includes(category))];
}
