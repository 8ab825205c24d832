import {CLASS_WORDS} from './class-words.data.ts';

export type ClassCategory = keyof typeof CLASS_WORDS;

export const CLASS_CATEGORIES = Object.keys(CLASS_WORDS) as ClassCategory[];

/** The categories of each word, as numbers. */
const BY_WORD = new Map<string, number[]>();
for (const [category, name] of CLASS_CATEGORIES.entries()) {
  for (const word of CLASS_WORDS[name].split(' ')) {
    const categories = BY_WORD.get(word) ?? [];
    if (!categories.includes(category)) categories.push(category);
    BY_WORD.set(word, categories);
  }
}

/** What is read of one class attribute; more is made by machines, and says no more. */
const LONGEST = 400;
const BLANK = /\s+/;
/** Blanks but single spaces, which nearly all have: to split at one sign takes a third of the time. */
const RARE_BLANK = /[^\S ]| {2}/;
/** For each first letter a bit for each length that a word with it has: most names are seen to be none of them at once. */
const LENGTHS = new Int32Array(0x80);
const MOST_LENGTH = 31;
for (const word of BY_WORD.keys()) {
  if (word.length > MOST_LENGTH) throw new Error(`"${word}" is longer than ${MOST_LENGTH}.`);
  for (const first of [word, word.toUpperCase()]) {
    LENGTHS[first.charCodeAt(0)] = (LENGTHS[first.charCodeAt(0)] ?? 0) | (1 << word.length);
  }
}

export interface ClassEvidence {
  /** The same for classes that differ in digits only. */
  readonly signature: number;
  readonly categories: readonly number[];
}

/** Reads class attributes of one document; most of them come many times, and most names in more than one. */
export class ClassReader {
  readonly #known = new Map<string, ClassEvidence>();
  readonly #names = new Map<string, ClassEvidence>();

  read(names: string): ClassEvidence {
    let evidence = this.#known.get(names);
    if (evidence === undefined) {
      evidence = this.#together(names.length > LONGEST ? names.slice(0, LONGEST) : names);
      this.#known.set(names, evidence);
    }
    return evidence;
  }

  #together(names: string): ClassEvidence {
    let signature = 0;
    const categories: number[] = [];
    for (const name of RARE_BLANK.test(names) ? names.split(BLANK) : names.split(' ')) {
      const one = this.#one(name);
      signature = (Math.imul(signature, 31) + one.signature) | 0;
      for (const category of one.categories) if (!categories.includes(category)) categories.push(category);
    }
    return {signature, categories};
  }

  #one(name: string): ClassEvidence {
    let evidence = this.#names.get(name);
    if (evidence === undefined) {
      evidence = evidenceOf(name);
      this.#names.set(name, evidence);
    }
    return evidence;
  }
}

function evidenceOf(name: string): ClassEvidence {
  const categories: number[] = [];
  let signature = 0;
  let start = -1;
  let before = 0;
  for (let at = 0; at <= name.length; at++) {
    const unit = at < name.length ? name.charCodeAt(at) : 0;
    const kind = unit >= 0x61 && unit <= 0x7a ? 1 : unit >= 0x41 && unit <= 0x5a ? 2 : 0;
    const ends = kind === 0 || (kind === 2 && before === 1);
    if (ends && start >= 0) {
      if (mayBeWord(name.charCodeAt(start), at - start)) addWord(name.slice(start, at), categories);
      start = -1;
    }
    if (kind !== 0 && start < 0) start = at;
    before = kind;
    if (unit < 0x30 || unit > 0x39) signature = (Math.imul(signature, 31) + unit) | 0;
  }
  return {signature, categories};
}

function mayBeWord(first: number, length: number): boolean {
  return length <= MOST_LENGTH && ((LENGTHS[first] ?? 0) & (1 << length)) !== 0;
}

/** `fooBar` is two words, `NAV` is one; of `HTMLText` nothing is known. */
function addWord(word: string, categories: number[]): void {
  for (const category of BY_WORD.get(word.toLowerCase()) ?? []) {
    if (!categories.includes(category)) categories.push(category);
  }
}
