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
const WORD = /[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g;

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
      evidence = evidenceOf(names.length > LONGEST ? names.slice(0, LONGEST) : names);
      this.#known.set(names, evidence);
    }
    return evidence;
  }
}

function evidenceOf(names: string): ClassEvidence {
  const categories = new Set<number>();
  for (const [word] of names.matchAll(WORD)) {
    for (const category of BY_WORD.get(word.toLowerCase()) ?? []) categories.add(category);
  }
  let signature = 0;
  for (let at = 0; at < names.length; at++) {
    const unit = names.charCodeAt(at);
    if (unit < 0x30 || unit > 0x39) signature = (Math.imul(signature, 31) + unit) | 0;
  }
  return {signature, categories: [...categories]};
}
