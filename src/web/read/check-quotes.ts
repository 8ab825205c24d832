// Checks whether a document says what it is quoted for, and where.

import {withLineFeeds} from '../chunk/blocks.ts';
import {isWordAt, markSyntax, type PlainText, plainTextOf, SYNTAX, segmentsOf} from './markdown-syntax.ts';
import {isUnspaced, rankChunks, type Word, wordsOf} from './rank-chunks.ts';
import {ReadablePage} from './readable-page.ts';
import type {QuoteCheck, Reserve} from './reading.ts';

/** Less than half of a quote is nothing to point at. */
const LEAST_SHARE = 0.5;

/** A document, and what checking a quote needs of it. */
interface Quoted {
  readonly page: ReadablePage;
  readonly plain: PlainText;
  /** Of the plain text. Made by the first quote that needs them. */
  readonly words: () => readonly Word[];
}

/** Ruling R1: whether a document says what it is quoted for. No quote crosses the border of a block, a cell or a picture. `markdown` has line feeds only. */
export function checkQuotes(
  markdown: string,
  quotes: readonly string[],
  countTokens: (text: string) => number,
): readonly QuoteCheck[] {
  const page = new ReadablePage(markdown, 'keep', countTokens);
  const plain = plainTextOf(markdown, page.marks, {borders: true});
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
  if (exact) return {verdict: 'exact', ...foundAt(page, exact)};
  // As somebody read it on the page, and as Markdown that was copied with or without its links.
  const markdown = plainMarkdown(quote);
  for (const wanted of new Set([plainTextOf(quote, undefined, {borders: true}).text, markdown])) {
    const same = findSame(plain, wanted);
    if (same) return {verdict: 'same', ...foundAt(page, same)};
  }
  return findNear(quoted, markdown) ?? findNothing(page, markdown);
}

type Range = readonly [from: number, to: number];

function findExact(page: ReadablePage, quote: string): Range | undefined {
  if (quote === '') return undefined;
  const {markdown, marks} = page;
  // A word that is too long for a chunk was cut by ourselves: what was shown of it is no misquotation.
  const isCut = (at: number): boolean => {
    const {start, end} = page.chunks[page.chunkAt(at)] ?? {start: 0, end: 0};
    return at === start || at === end;
  };
  let shown = 0;
  for (const at of occurrencesOf(markdown, quote)) {
    const end = at + quote.length;
    shown = Math.max(shown, at);
    while (marks[shown] === SYNTAX.link) shown += 1;
    const isReadable = shown < end && !cutsLink(page, at) && !cutsLink(page, end);
    if ((isReadable || (isCut(at) && isCut(end))) && isWhole(markdown, at, end, isCut)) return [at, end];
  }
  return undefined;
}

/** Whether `at` lies in the address of a link or picture, or between its parts: nobody reads there. */
function cutsLink({markdown, marks}: ReadablePage, at: number): boolean {
  if (marks[at - 1] !== SYNTAX.link || marks[at] !== SYNTAX.link) return false;
  return !(markdown[at - 1] === ')' && /[[!]/.test(markdown.charAt(at)));
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
  return {verdict: 'near', share, text: text.slice(first.start, end), ...page.placeOf(...range)};
}

function findNothing(page: ReadablePage, quote: string): QuoteCheck {
  const [nearest] = rankChunks(page, quote);
  const chunk = nearest && page.chunks[nearest.chunk];
  return {verdict: 'absent', ...(chunk && page.placeOf(chunk.start, chunk.end))};
}

function foundAt(page: ReadablePage, range: Range): Omit<QuoteCheck & {verdict: 'exact'}, 'verdict'> {
  const marks = page.marks.subarray(...range);
  const within: Reserve[] = [];
  if (marks.includes(SYNTAX.struck)) within.push('struck');
  if (marks.includes(SYNTAX.picture)) within.push('picture');
  return {...page.placeOf(...range), ...fragmentOf(page, range), ...(within.length > 0 && {within})};
}

/** In the characters of the page, by which a browser looks; absent where a reader sees nothing. */
function fragmentOf({markdown, marks}: ReadablePage, [from, to]: Range): {readonly fragment?: string} {
  const {text} = plainTextOf(markdown.slice(from, to), marks.subarray(from, to), {folds: false});
  return text === '' ? {} : {fragment: textFragment(text)};
}

function plainMarkdown(quote: string): string {
  return plainTextOf(quote, markSyntax(quote, segmentsOf(quote)), {borders: true}).text;
}

const DIGIT = /\p{N}/u;
/** Of a number written with points: what is before the last digits. */
const GOES_ON_BEFORE = /\p{N}[.,:/]$|\^$|(?:^|[^\p{L}\p{N}\p{M}])[-−–]$/u;
const GOES_ON_BEHIND = /^(?:[.,:/]\p{N}|\^)/u;
/** What stands between groups of three digits, and between a number and its fraction. */
const GAP = "[ \\u00a0\\u2007\\u2009\\u202f'’]";
const GROUP_BEFORE = new RegExp(`(?:^|\\P{N})\\p{Nd}{1,3}${GAP}$`, 'u');
const GROUP = /^(?:\p{Nd}{3}(?!\p{N})|[¼-¾⅐-⅞])/u;
const GROUP_BEHIND = new RegExp(`^${GAP}(?:\\p{Nd}{3}(?!\\p{N})|[¼-¾⅐-⅞])`, 'u');
const ENDS_GROUP = /(?:^|\P{N})\p{Nd}{1,3}$/u;
/** All of these look at no more than this. */
const LOOK = 8;
/** Variants of a character apart, which change no meaning. */
const COMBINING = /^(?![\ufe00-\ufe0f])\p{M}/u;

/**
 * Whether `[from, to)` starts and ends where words and numbers do: "able" is not said by a page that says "unable",
 * nor "5 million" by one that says "1.5 million", nor "500 people" by one that says "1 500 people". No accent or stroke
 * is cut off. `isCut` are places where we cut the text ourselves.
 */
function isWhole(text: string, from: number, to: number, isCut = (_: number) => false): boolean {
  const startsWhole = isCut(from) || !(cuts(text, from) || startsInNumber(text, from));
  return startsWhole && (isCut(to) || !(cuts(text, to) || endsInNumber(text, to)));
}

function cuts(text: string, at: number): boolean {
  if (COMBINING.test(text.slice(at, at + 2))) return true;
  if (!isWordAt(text, at - 1) || !isWordAt(text, at)) return false;
  return !isUnspaced(characterBefore(text, at)) && !isUnspaced(characterAt(text, at));
}

function startsInNumber(text: string, from: number): boolean {
  if (!DIGIT.test(text.charAt(from))) return false;
  const before = text.slice(Math.max(0, from - LOOK), from);
  if (GOES_ON_BEFORE.test(before)) return true;
  return GROUP_BEFORE.test(before) && GROUP.test(text.slice(from, from + LOOK));
}

function endsInNumber(text: string, to: number): boolean {
  if (!DIGIT.test(text.charAt(to - 1))) return false;
  const behind = text.slice(to, to + LOOK);
  if (GOES_ON_BEHIND.test(behind)) return true;
  return GROUP_BEHIND.test(behind) && ENDS_GROUP.test(text.slice(Math.max(0, to - LOOK), to));
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0);
}

function characterBefore(text: string, at: number): string {
  const isLowHalf = (text.charCodeAt(at - 1) & 0xfc00) === 0xdc00;
  return characterAt(text, at - (isLowHalf ? 2 : 1));
}

/** `words[start, start + length)` of one text are together in the other, from `at` on. */
interface Run {
  readonly start: number;
  readonly length: number;
  readonly at: number;
}

interface State {
  readonly next: Map<string, number>;
  length: number;
  link: number;
  /** Where the words that it stands for end in the quote, at first. */
  readonly end: number;
}

/** The longest run of words that a quote shares with a text: a suffix automaton of the quote, one pass over the text. */
function longestRun(quote: readonly string[], text: Iterable<string>): Run {
  const states = suffixAutomaton(quote);
  let best: Run = {start: 0, length: 0, at: 0};
  let state = 0;
  let length = 0;
  let index = 0;
  for (const word of text) {
    while (state > 0 && !states[state]?.next.has(word)) {
      state = states[state]?.link ?? 0;
      length = states[state]?.length ?? 0;
    }
    const next = states[state]?.next.get(word);
    if (next !== undefined) {
      state = next;
      length += 1;
      if (length > best.length) {
        best = {start: (states[state]?.end ?? 0) - length + 1, length, at: index - length + 1};
      }
    }
    index += 1;
  }
  return best;
}

function suffixAutomaton(words: readonly string[]): readonly State[] {
  const states: State[] = [{next: new Map(), length: 0, link: -1, end: -1}];
  const stateAt = (index: number): State => states[index] as State;
  let last = 0;
  for (const [end, word] of words.entries()) {
    const added = states.push({next: new Map(), length: stateAt(last).length + 1, link: 0, end}) - 1;
    let from = last;
    while (from >= 0 && !stateAt(from).next.has(word)) {
      stateAt(from).next.set(word, added);
      from = stateAt(from).link;
    }
    if (from >= 0) {
      const target = stateAt(from).next.get(word) as number;
      if (stateAt(from).length + 1 === stateAt(target).length) {
        stateAt(added).link = target;
      } else {
        const {next, link, end: targetEnd} = stateAt(target);
        const copy =
          states.push({next: new Map(next), length: stateAt(from).length + 1, link, end: targetEnd}) - 1;
        while (from >= 0 && stateAt(from).next.get(word) === target) {
          stateAt(from).next.set(word, copy);
          from = stateAt(from).link;
        }
        stateAt(target).link = copy;
        stateAt(added).link = copy;
      }
    }
    last = added;
  }
  return states;
}

/**
 * Every place where `wanted`, which is not empty, is in `text`; overlapping ones too. Linear in both, whatever they
 * are (Knuth, Morris, Pratt).
 */
function* occurrencesOf(text: string, wanted: string): Generator<number> {
  const {length} = wanted;
  const borders = new Int32Array(length + 1);
  const longer = (matched: number, unit: number): number => {
    let border = matched;
    while (border > 0 && wanted.charCodeAt(border) !== unit) border = borders[border] as number;
    return wanted.charCodeAt(border) === unit ? border + 1 : 0;
  };
  for (let at = 1; at < length; at += 1) {
    borders[at + 1] = longer(borders[at] as number, wanted.charCodeAt(at));
  }
  for (let at = 0, matched = 0; at < text.length; at += 1) {
    matched = longer(matched, text.charCodeAt(at));
    if (matched < length) continue;
    yield at - length + 1;
    matched = borders[length] as number;
  }
}

/** Words at each end that a browser looks for; what is no longer than both goes in whole. */
const EDGE_WORDS = 4;
const LONE_SURROGATE = /\p{Cs}/gu;

/**
 * The text directive of a URL (`:~:text=start,end`) that finds `text`, plain text of a page: a browser scrolls to it
 * and marks it. A directive of one part has to be in one block, so what may span two has a start and an end.
 */
function textFragment(text: string): string {
  const words = text.split(' ').filter(word => word !== '');
  if (words.length <= 2 * EDGE_WORDS) return `:~:text=${encode(words.join(' '))}`;
  const start = words.slice(0, EDGE_WORDS).join(' ');
  const end = words.slice(-EDGE_WORDS).join(' ');
  return `:~:text=${encode(start)},${encode(end)}`;
}

/** Dashes and commas separate the parts of a directive. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(LONE_SURROGATE, '\ufffd')).replaceAll('-', '%2D');
}
