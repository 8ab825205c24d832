// Ranks the chunks of a document for a query, by BM25 over stems.

import {plainTextOf} from './markdown-syntax.ts';
import type {ReadablePage} from './readable-page.ts';

/** BM25. These four were chosen on one half of the questions of `bench/reading`. */
const K1 = 1.2;
const B = 0.2;
/** A word of a heading counts as so many in each chunk under it. */
const HEADING_WEIGHT = 1;
/** Two neighbours of the query that are as good as neighbours in the text are a term of their own. */
const PAIR_WEIGHT = 0.5;
const PAIR_WORDS = 2;

interface RankedChunk {
  /** From 0. */
  readonly chunk: number;
  readonly score: number;
}

/**
 * The chunks that say something about a query, the best first, by BM25 over their words, pairs of them, and the
 * words of the headings above them. One pass over the document; only what the query asks for is kept of it.
 */
export function rankChunks(page: ReadablePage, query: string): readonly RankedChunk[] {
  const terms = queryTerms(query);
  const {chunks} = page;
  if (terms.length === 0 || chunks.length === 0) return [];
  const {frequencies, lengths, width} = countTerms(page, terms);
  const average = Math.max(1, lengths.reduce((sum, length) => sum + length, 0) / chunks.length);
  const weights = Array.from({length: width}, (_, term) => {
    let having = 0;
    for (let at = term; at < frequencies.length; at += width)
      if ((frequencies[at] as number) > 0) having += 1;
    const rarity = Math.log(1 + (chunks.length - having + 0.5) / (having + 0.5));
    return term < terms.length ? rarity : PAIR_WEIGHT * rarity;
  });
  const ranked: RankedChunk[] = [];
  for (let chunk = 0; chunk < chunks.length; chunk += 1) {
    const norm = K1 * (1 - B + (B * (lengths[chunk] as number)) / average);
    let score = 0;
    for (const [term, weight] of weights.entries()) {
      const frequency = frequencies[chunk * width + term] as number;
      if (frequency > 0) score += (weight * frequency * (K1 + 1)) / (frequency + norm);
    }
    if (score > 0) ranked.push({chunk, score});
  }
  return ranked.sort((one, other) => other.score - one.score || one.chunk - other.chunk);
}

interface TermCounts {
  /** By chunk, then by term; behind the terms, the pair of each and the next one. */
  readonly frequencies: Float64Array;
  /** Terms and pairs. */
  readonly width: number;
  /** Words of each chunk. */
  readonly lengths: Float64Array;
}

function countTerms(page: ReadablePage, terms: readonly string[]): TermCounts {
  const {chunks} = page;
  const width = 2 * terms.length - 1;
  const frequencies = new Float64Array(chunks.length * width);
  const lengths = new Float64Array(chunks.length);
  const termOf = termFinder(terms);
  const add = (chunk: number, term: number, weight: number): void => {
    frequencies[chunk * width + term] = (frequencies[chunk * width + term] as number) + weight;
  };

  const {text, places} = plainTextOf(page.markdown, page.marks);
  /** The number of the word at which each term was last seen. */
  const seen = new Float64Array(terms.length).fill(Number.NEGATIVE_INFINITY);
  let chunk = 0;
  let number = 0;
  for (const word of wordsOf(text)) {
    const place = places[word.start] as number;
    while (chunk < chunks.length - 1 && place >= (chunks[chunk]?.end ?? 0)) chunk += 1;
    lengths[chunk] = (lengths[chunk] as number) + 1;
    const term = termOf(word.text);
    if (term >= 0) {
      add(chunk, term, 1);
      if (term > 0 && number - (seen[term - 1] as number) <= PAIR_WORDS)
        add(chunk, terms.length + term - 1, 1);
      seen[term] = number;
    }
    number += 1;
  }

  const headings = headingTerms(page, termOf);
  for (const [index, {start}] of chunks.entries()) {
    for (const term of headings[page.sectionAt(start).number] ?? []) add(index, term, HEADING_WEIGHT);
  }
  return {frequencies, width, lengths};
}

/** The terms in the heading of each section and in those above it. */
function headingTerms(
  {sections}: ReadablePage,
  termOf: (word: string) => number,
): readonly ReadonlySet<number>[] {
  const terms: ReadonlySet<number>[] = [];
  for (const {parent, heading} of sections) {
    const above = (parent === undefined ? undefined : terms[parent]) ?? new Set();
    const own = Array.from(wordsOf(heading), ({text}) => termOf(text)).filter(term => term >= 0);
    terms.push(own.length === 0 ? above : new Set([...above, ...own]));
  }
  return terms;
}

/** The number of the term that a word is a form of; -1 if it is of none. Each word is looked at once. */
function termFinder(terms: readonly string[]): (word: string) => number {
  const numbers = new Map(terms.map((term, index) => [term, index]));
  const known = new Map<string, number>();
  return word => {
    let term = known.get(word);
    if (term === undefined) {
      term = numbers.get(stemOf(word)) ?? -1;
      known.set(word, term);
    }
    return term;
  };
}

/** English words of questions, which say how is asked and not about what. */
const ASKING = new Set(
  (
    'a an and any are as at be been being but by can could did do does for from had has have he her his how i if in into ' +
    'is it its many may me might much must my no nor not of on one or our shall she should so such than that the their ' +
    'them then there these they this those to too us was we were what when where which who whom whose why will with ' +
    'would you your according page article says say said tell mentioned called name named give given'
  ).split(' '),
);
/** A question is a sentence or two; terms beyond these weigh nothing. */
const MOST_TERMS = 64;

/** The different stems of a query, without words that every question has unless it has no others. */
function queryTerms(query: string): readonly string[] {
  const words = Array.from(wordsOf(query), ({text}) => text);
  const about = words.filter(word => !ASKING.has(word));
  return [...new Set((about.length > 0 ? about : words).map(stemOf))].slice(0, MOST_TERMS);
}

const ACCENTS = /\p{M}/gu;
const ASCII = /^[a-z0-9]*$/;
/** English endings, the longest first, and what stays of a word. */
const ENDINGS = 'ations4 ation4 ments4 ment4 ings4 ing3 ies3 ied3 ers4 ed3 er4 es3 ly4 s3 y3 e3'
  .split(' ')
  .map(ending => ({ending: ending.slice(0, -1), least: Number(ending.slice(-1))}));

/** A word without accents and English endings: the same for those that a question and its answer may use. */
function stemOf(word: string): string {
  const plain = ASCII.test(word) ? word : word.normalize('NFD').replace(ACCENTS, '');
  if (!ASCII.test(plain) || plain.length < 4) return plain;
  for (const {ending, least} of ENDINGS) {
    if (plain.endsWith(ending) && plain.length - ending.length >= least && !plain.endsWith('ss')) {
      return undoubled(plain.slice(0, -ending.length));
    }
  }
  return plain;
}

/** `stopped` and `stop`. */
function undoubled(stem: string): string {
  const last = stem.at(-1) ?? '';
  return stem.length > 3 && stem.at(-2) === last && !'lsz'.includes(last) ? stem.slice(0, -1) : stem;
}

export interface Word {
  readonly text: string;
  readonly start: number;
}

/** Scripts that put no blanks between words: there, every character is one. */
const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const LETTERS = '[\\p{L}\\p{N}\\p{M}]';
// Made of a string: the target of the build knows no set subtraction, every Node that we run on does.
const WORD = new RegExp(`[a-zA-Z0-9]+(?!${LETTERS})|[${UNSPACED}]|[${LETTERS}--[${UNSPACED}]]+`, 'gv');

/** The words of a text, lower case. */
export function* wordsOf(text: string): Generator<Word> {
  for (const match of text.matchAll(WORD)) yield {text: match[0].toLowerCase(), start: match.index};
}

/** Whether a word may begin or end beside this character without a blank. */
export function isUnspaced(character: string): boolean {
  return UNSPACED_CHARACTER.test(character);
}

const UNSPACED_CHARACTER = new RegExp(`[${UNSPACED}]`, 'v');
