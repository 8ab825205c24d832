import {plainTextOf} from '../markdown/plain-text-of.ts';
import type {ReadablePage} from '../readable-page.ts';
import {queryTerms} from './query-terms.ts';
import {stemOf} from './stem-of.ts';
import {wordsOf} from './words-of.ts';

/** BM25. These four were chosen on one half of the questions of `bench/reading`. */
const K1 = 1.2;
const B = 0.2;
/** A word of a heading counts as so many in each chunk under it. */
const HEADING_WEIGHT = 1;
/** Two neighbours of the query that are as good as neighbours in the text are a term of their own. */
const PAIR_WEIGHT = 0.5;
const PAIR_WORDS = 2;

export interface RankedChunk {
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
