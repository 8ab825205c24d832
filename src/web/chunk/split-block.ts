// Splits a block that is too large for one chunk at the best places: items, sentences, words, then characters.

import {
  type Block,
  closesFence,
  contentEnd,
  contentStart,
  type Fence,
  isWhiteSpace,
  leavesItem,
  openingFence,
  startsItem,
} from './blocks.ts';
import {countUpTo, type Limit, LONGEST_TOKEN, tokensAdded} from './limit.ts';

/** What a block that is too large for one chunk is cut into. */
interface Part {
  readonly text: string;
  /** Where that starts in the block. */
  readonly start: number;
  readonly tokens: number;
}

/** UTF-8 spends three bytes on a unit at most, and a token spells a byte at least. */
const MOST_TOKENS_PER_UNIT = 3;
/** Prose has 3 to 5 units a token. A stretch above this is cut by search, not counted whole first. */
const DENSE = 8;

/**
 * Packs an oversized block into parts up to the limit, each cut at the best boundary within reach. Joined, the
 * parts give the block back but for white space at the cuts. (FR-WF-15b, E3, E4)
 */
export function splitBlock(block: Block, limit: Limit): Part[] {
  const {text} = block;
  const {maxTokens, countTokens} = limit;
  const pieces = piecesOf(block, maxTokens, (from, to) =>
    // Counted only where the length does not tell.
    (to - from) * MOST_TOKENS_PER_UNIT <= maxTokens ? NOT_COUNTED : countUpTo(text.slice(from, to), limit),
  );
  const parts: Part[] = [];
  let index = 0;
  let start = 0;
  let likely = 4 * maxTokens;
  for (let first = pieces[0]; first; first = pieces[index]) {
    let last = index;
    let end = first.end;
    let tokens: number;
    const dense = !first.whole && end - start > DENSE * maxTokens;
    const prefix = dense ? longestPrefix(text, start, end, likely, limit) : undefined;
    const cut = prefix && prefix.end < end ? undefined : bestCut(text, pieces, index, start, limit);
    const word = cut || first.whole ? start : contentStart(text, start, end);
    if (word > start) {
      // A word that has to be cut loses its indentation first: no part is mere white space.
      start = word;
      continue;
    }
    if (cut) {
      ({last, end, tokens} = cut);
    } else if (first.whole) {
      // E4: an oversized line of code stays in one part.
      tokens = countTokens(text.slice(start, end));
    } else {
      ({end, tokens} = prefix ?? longestPrefix(text, start, end, likely, limit));
      likely = end - start;
      // A marker and what it belongs to are one piece, with blanks between them.
      const shown = contentEnd(text, start, end);
      if (shown < end) tokens = countTokens(text.slice(start, shown));
      end = shown;
    }
    parts.push({text: text.slice(start, end), start, tokens});
    if (end < first.end) {
      start = afterBlanks(text, end, first.end);
    } else {
      index = last + 1;
      start = pieces[index]?.start ?? text.length;
    }
  }
  return parts;
}

interface Cut {
  /** Index of the last piece of the part. */
  readonly last: number;
  readonly end: number;
  readonly tokens: number;
}

/**
 * The last of the best cuts for a part from `start`, which lies in the first piece; none if not even
 * that piece fits. A piece is looked at again only behind a better cut, so five times at most.
 */
function bestCut(
  text: string,
  pieces: readonly Piece[],
  first: number,
  start: number,
  limit: Limit,
): Cut | undefined {
  let best: Cut | undefined;
  let bestQuality = Number.POSITIVE_INFINITY;
  let before = 0;
  let from = start;
  for (let last = first; last < pieces.length; last++) {
    const piece = pieces[last] as Piece;
    const {end, nextStart, cutQuality} = piece;
    const own = tokensFrom(text, piece, from, limit);
    const tokens = before + own;
    if (tokens > limit.maxTokens) break;
    // The end of the block is the best cut of all.
    if (cutQuality <= bestQuality || last === pieces.length - 1) {
      best = {last, end, tokens};
      bestQuality = cutQuality;
    }
    before += own + tokensBehind(text, piece, from, limit);
    from = nextStart;
  }
  return best;
}

/** The tokens from `start`, where the piece begins or was cut, to the end of its text. */
function tokensFrom(text: string, piece: Piece, start: number, limit: Limit): number {
  if (start !== piece.from) return countUpTo(text.slice(start, piece.end), limit);
  if (piece.tokens === NOT_COUNTED) piece.tokens = countUpTo(text.slice(start, piece.end), limit);
  return piece.tokens;
}

/** How many the white space behind the piece adds to that. */
function tokensBehind(text: string, piece: Piece, start: number, {countTokens}: Limit): number {
  const {from, end, nextStart} = piece;
  if (nextStart === end) return 0;
  if (start === from && piece.tokensBehind !== NOT_COUNTED) return piece.tokensBehind;
  const added = tokensAdded(text.slice(start, end), text.slice(end, nextStart), countTokens);
  if (start === from) piece.tokensBehind = added;
  return added;
}

/** How good it is to cut behind a piece; the lowest wins. */
const TOP_ITEM = 0;
const NESTED_ITEM = 1;
const DEEP_ITEM = 2;
const SENTENCE = 3;
const WORD = 4;

/** Stands for tokens that nobody has asked for yet, or that fit by their length alone. */
const NOT_COUNTED = -1;

/**
 * A stretch of a block that is kept together. `[from, nextStart)` tile the block, and their counts add up;
 * `[start, end)` is the same without the white space that vanishes when a part starts or ends here.
 */
export interface Piece {
  readonly from: number;
  readonly start: number;
  readonly end: number;
  readonly nextStart: number;
  readonly cutQuality: number;
  /** A line of code is never cut. (E4) */
  readonly whole: boolean;
  /** Tokens of `[from, end)`, and what the white space behind adds. A piece behind a cut is looked at again. */
  tokens: number;
  tokensBehind: number;
}

/** The tokens of a stretch of a block, as `countUpTo` gives them. */
type Measure = (start: number, end: number) => number;

interface Build {
  readonly text: string;
  readonly pieces: Piece[];
  readonly maxTokens: number;
  readonly measure: Measure;
}

/** Takes an oversized block apart, no further than it takes for every piece to fit, if it can. */
export function piecesOf({kind, text}: Block, maxTokens: number, measure: Measure): Piece[] {
  const pieces: Piece[] = [];
  const build = {text, pieces, maxTokens, measure};
  if (kind === 'code') addLines(build, 0, text.length, SENTENCE);
  else if (kind === 'list') addItems(build);
  else addSentences(build, 0, text.length, WORD);
  return pieces;
}

/** Whole items, and where an item is too large, what it consists of. (FR-WF-CHK-LIST-02) */
function addItems(build: Build): void {
  const {text} = build;
  let itemStart = 0;
  let fence: Fence | undefined;
  for (const [start, end] of linesOf(text, 0, text.length)) {
    const line = text.slice(start, end);
    if (fence && !leavesItem(line, fence)) {
      if (closesFence(line, fence)) fence = undefined;
      continue;
    }
    fence = openingFence(line, true);
    if (start === itemStart || !startsItem(line, true)) continue;
    addItem(build, itemStart, start, qualityBefore(line));
    itemStart = start;
  }
  addItem(build, itemStart, text.length, TOP_ITEM);
}

/** A cut before an item of the outermost level leaves the items around it complete. */
function qualityBefore(line: string): number {
  const indent = contentStart(line, 0, line.length);
  return indent < 2 ? TOP_ITEM : indent < 4 ? NESTED_ITEM : DEEP_ITEM;
}

function addItem(build: Build, start: number, next: number, cutQuality: number): void {
  const {text} = build;
  if (addIfFits(build, start, contentEnd(text, start, next), next, cutQuality, false)) return;
  let partStart = start;
  let fence: Fence | undefined;
  for (const [lineStart, lineEnd] of linesOf(text, start, next)) {
    const line = text.slice(lineStart, lineEnd);
    const after = Math.min(lineEnd + 1, next);
    if (fence) {
      const left = leavesItem(line, fence);
      if (!left && !closesFence(line, fence)) continue;
      const partEnd = left ? lineStart : afterBlanks(text, after, next);
      addCode(build, partStart, partEnd, partEnd < next ? SENTENCE : cutQuality);
      partStart = partEnd;
      fence = undefined;
      continue;
    }
    fence = openingFence(line, true);
    if (!fence) continue;
    addSentences(build, partStart, lineStart, SENTENCE, partStart === start);
    partStart = lineStart;
  }
  if (fence) addCode(build, partStart, next, cutQuality);
  else addSentences(build, partStart, next, cutQuality, partStart === start);
}

/** The start of the first line from `from` on that is not blank: no cut adds up before a blank line. */
function afterBlanks(text: string, from: number, to: number): number {
  const content = contentStart(text, from, to);
  // Only what is blank is looked through: a line may be all of a large text.
  return content === to ? to : from + text.slice(from, content).lastIndexOf('\n') + 1;
}

function addCode(build: Build, start: number, next: number, cutQuality: number): void {
  const end = contentEnd(build.text, start, next);
  if (!addIfFits(build, start, end, next, cutQuality, true)) addLines(build, start, next, cutQuality);
}

function addIfFits(
  {pieces, maxTokens, measure}: Build,
  start: number,
  end: number,
  nextStart: number,
  cutQuality: number,
  whole: boolean,
): boolean {
  const tokens = measure(start, end);
  if (tokens > maxTokens) return false;
  pieces.push({from: start, start, end, nextStart, cutQuality, whole, tokens, tokensBehind: NOT_COUNTED});
  return true;
}

/** Lines, each with the blank lines that follow it. `to` is as for `linesOf`. (FR-WF-CHK-CODE-01) */
function addLines({text, pieces}: Build, from: number, to: number, lastQuality: number): void {
  for (let start = from; start < to; ) {
    const newline = text.indexOf('\n', start);
    const lineEnd = newline < 0 ? to : newline;
    const nextStart = afterBlanks(text, Math.min(lineEnd + 1, to), to);
    pieces.push({
      from: start,
      start,
      end: contentEnd(text, start, lineEnd),
      nextStart,
      cutQuality: nextStart < to ? SENTENCE : lastQuality,
      whole: true,
      tokens: NOT_COUNTED,
      tokensBehind: NOT_COUNTED,
    });
    start = nextStart;
  }
}

/**
 * Sentences, and where a sentence is too large, its words. A cut behind the last piece is as good as `lastQuality`.
 * At the start of an item, its marker and its first word are one. (FR-WF-15b, E5)
 */
function addSentences(build: Build, from: number, to: number, lastQuality: number, startsItem = false): void {
  const {text} = build;
  let isMarker = startsItem;
  let words: Piece[] = [];
  // The first word keeps its indentation: it starts a line.
  let start = from;
  let share = from;
  let at = contentStart(text, from, to);
  while (at < to) {
    while (at < to && !isWhiteSpace(text.charCodeAt(at))) at++;
    const end = at;
    at = contentStart(text, at, to);
    if (isMarker && at < to) {
      isMarker = false;
      continue;
    }
    const nextStart = at === to ? to : cutBetween(text, end, at);
    const cutQuality = at === to ? lastQuality : endsSentence(text.charCodeAt(end - 1)) ? SENTENCE : WORD;
    words.push({
      from: share,
      start,
      end,
      nextStart,
      cutQuality,
      whole: false,
      tokens: NOT_COUNTED,
      tokensBehind: NOT_COUNTED,
    });
    if (cutQuality !== WORD || at === to) {
      addSentence(build, words);
      words = [];
    }
    start = at;
    share = nextStart;
  }
}

function addSentence({pieces, maxTokens, measure}: Build, words: readonly Piece[]): void {
  const first = words[0];
  const last = words.at(-1);
  if (!first || !last) return;
  const {from, start} = first;
  const tokens = measure(start, last.end);
  if (tokens > maxTokens) for (const word of words) pieces.push(word);
  else pieces.push({...last, from, start, tokens: from === start ? tokens : NOT_COUNTED});
}

/** Where, in the white space between two words, the counts of both sides add up. */
function cutBetween(text: string, from: number, to: number): number {
  return text.charCodeAt(from) === 0x0a ? text.lastIndexOf('\n', to - 1) + 1 : from;
}

function endsSentence(unit: number): boolean {
  return unit === 0x2e || unit === 0x21 || unit === 0x3f;
}

/** `to` is the start of a line or the end of the text. */
function* linesOf(text: string, from: number, to: number): Generator<readonly [number, number]> {
  for (let start = from; start < to; ) {
    const newline = text.indexOf('\n', start);
    const end = newline < 0 ? to : newline;
    yield [start, end];
    start = end + 1;
  }
}

interface Prefix {
  readonly end: number;
  readonly tokens: number;
}

/**
 * A prefix of `text[start, end)` that fits, ends between two code points, and would not fit with one
 * code point more. At least one code point, so that whoever cuts gets on. `likely` is a first guess at
 * its length; in uniform text it is right, and two counts are enough.
 */
export function longestPrefix(
  text: string,
  start: number,
  end: number,
  likely: number,
  {maxTokens, countTokens}: Limit,
): Prefix {
  let fits: Prefix = {end: start, tokens: 0};
  // A prefix this long is known not to fit, or is beyond the end.
  let beyond = Math.min(end, start + LONGEST_TOKEN * maxTokens) + 1;
  let guess = start + likely;
  let step = 1;
  for (let round = 0; ; round++) {
    const probe = boundaryBetween(text, fits.end, beyond, guess, end);
    if (probe === undefined) break;
    const tokens = countTokens(text.slice(start, probe));
    if (tokens <= maxTokens) fits = {end: probe, tokens};
    else beyond = probe;
    if (tokens === maxTokens) {
      guess = probe + step;
      step *= 2;
    } else if (step > 1 || round > 6) {
      guess = (fits.end + beyond) >> 1;
    } else {
      guess = Math.round(probe + ((maxTokens - tokens) * (probe - start)) / tokens);
    }
  }
  if (fits.end > start) return fits;
  const first = start + ((text.codePointAt(start) as number) > 0xffff ? 2 : 1);
  return {end: first, tokens: countTokens(text.slice(start, first))};
}

/** The code point boundary nearest to `guess` strictly between `low` and `high`. */
function boundaryBetween(
  text: string,
  low: number,
  high: number,
  guess: number,
  end: number,
): number | undefined {
  const probe = Math.max(low + 1, Math.min(guess, high - 1, end));
  if (probe >= high || probe > end) return undefined;
  if (!splitsPair(text, probe, end)) return probe;
  if (probe - 1 > low) return probe - 1;
  return probe + 1 < high ? probe + 1 : undefined;
}

function splitsPair(text: string, at: number, end: number): boolean {
  if (at >= end) return false;
  return (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 && (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}
