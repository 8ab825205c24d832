import {markSyntax} from '../markdown/mark-syntax.ts';
import {type PlainText, plainTextOf} from '../markdown/plain-text-of.ts';
import {segmentsOf} from '../markdown/segments-of.ts';
import {rankChunks} from '../rank/rank-chunks.ts';
import {type Word, wordsOf} from '../rank/words-of.ts';
import {ReadablePage} from '../readable-page.ts';
import {sectionName} from '../take-passage.ts';
import {withLineFeeds} from '../with-line-feeds.ts';
import {isWhole} from './is-whole.ts';
import {longestRun} from './longest-run.ts';
import {occurrencesOf} from './occurrences-of.ts';
import type {QuoteCheck, QuotePlace} from './quote-check.ts';
import {textFragment} from './text-fragment.ts';

/** Less than half of a quote is nothing to point at. */
const LEAST_SHARE = 0.5;

/** A document, and what checking a quote needs of it. */
interface Quoted {
  readonly page: ReadablePage;
  readonly plain: PlainText;
  /** Of the plain text. Made by the first quote that needs them. */
  readonly words: () => readonly Word[];
}

/** Ruling R1: whether a document says what it is quoted for. `markdown` has line feeds only. */
export function checkQuotes(
  markdown: string,
  quotes: readonly string[],
  countTokens: (text: string) => number,
): readonly QuoteCheck[] {
  const page = new ReadablePage(markdown, 'keep', countTokens);
  const plain = plainTextOf(markdown, page.marks);
  let words: readonly Word[] | undefined;
  const quoted: Quoted = {
    page,
    plain,
    words: () => {
      words ??= Array.from(wordsOf(plain.text));
      return words;
    },
  };
  return quotes.map(quote => check(quoted, withLineFeeds(quote).trim()));
}

function check(quoted: Quoted, quote: string): QuoteCheck {
  const {page, plain} = quoted;
  const exact = findExact(page, quote);
  if (exact) return {verdict: 'exact', ...placeOf(page, ...exact), ...fragmentOf(page, exact)};
  // As somebody read it on the page, and as Markdown that was copied with or without its links.
  const markdown = plainMarkdown(quote);
  for (const wanted of new Set([plainTextOf(quote).text, markdown])) {
    const same = findSame(plain, wanted);
    if (same) return {verdict: 'same', ...placeOf(page, ...same), ...fragmentOf(page, same)};
  }
  return findNear(quoted, markdown) ?? findNothing(page, markdown);
}

type Range = readonly [from: number, to: number];

function findExact(page: ReadablePage, quote: string): Range | undefined {
  if (quote === '') return undefined;
  const {markdown} = page;
  // A word that is too long for a chunk was cut by ourselves: what was shown of it is no misquotation.
  const isCut = (at: number): boolean => {
    const {start, end} = page.chunks[page.chunkAt(at)] ?? {start: 0, end: 0};
    return at === start || at === end;
  };
  for (const at of occurrencesOf(markdown, quote)) {
    if (isWhole(markdown, at, at + quote.length, isCut)) return [at, at + quote.length];
  }
  return undefined;
}

function findSame({text, places}: PlainText, wanted: string): Range | undefined {
  if (wanted === '') return undefined;
  for (const at of occurrencesOf(text, wanted)) {
    const end = at + wanted.length;
    if (isWhole(text, at, end)) return [places[at] as number, (places[end - 1] as number) + 1];
  }
  return undefined;
}

function findNear({page, plain, words: wordsThere}: Quoted, quote: string): QuoteCheck | undefined {
  const words = Array.from(wordsOf(quote), word => word.text);
  if (words.length === 0) return undefined;
  const {text, places} = plain;
  const there = wordsThere();
  const {length, at} = longestRun(
    words,
    there.map(word => word.text),
  );
  const share = length / words.length;
  const first = there[at];
  const last = there[at + length - 1];
  if (share < LEAST_SHARE || first === undefined || last === undefined) return undefined;
  const end = last.start + last.text.length;
  const range: Range = [places[first.start] as number, (places[end - 1] as number) + 1];
  return {verdict: 'near', share, text: text.slice(first.start, end), ...placeOf(page, ...range)};
}

function findNothing(page: ReadablePage, quote: string): QuoteCheck {
  const [nearest] = rankChunks(page, quote);
  const chunk = nearest && page.chunks[nearest.chunk];
  return {verdict: 'absent', ...(chunk && placeOf(page, chunk.start, chunk.end))};
}

function placeOf(page: ReadablePage, from: number, to: number): QuotePlace {
  return {
    start: page.codePointsBefore(from),
    end: page.codePointsBefore(to),
    chunk: page.chunkAt(from) + 1,
    section: sectionName(page, from),
  };
}

/** In the characters of the page, by which a browser looks; absent where a reader sees nothing. */
function fragmentOf({markdown, marks}: ReadablePage, [from, to]: Range): {readonly fragment?: string} {
  const {text} = plainTextOf(markdown.slice(from, to), marks.subarray(from, to), {folds: false});
  return text === '' ? {} : {fragment: textFragment(text)};
}

function plainMarkdown(quote: string): string {
  return plainTextOf(quote, markSyntax(quote, segmentsOf(quote))).text;
}
