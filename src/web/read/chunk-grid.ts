import {longestPrefix} from '../chunk/longest-prefix.ts';
import {splitBlock} from '../chunk/split-block.ts';
import type {Segment} from './markdown/segments-of.ts';

/** Most tokens of a chunk: as many as the smallest `max_tokens` of a call, so that every chunk can be shown. */
export const CHUNK_TOKENS = 256;
/** Pieces of a block that is too large are cut with room for the white space behind them. */
const PIECE_TOKENS = 240;
/** A chunk of fewer goes on under the next heading. */
const LEAST_BEFORE_HEADING = 64;

/** `[start, end)` of the document. */
export interface GridChunk {
  readonly start: number;
  readonly end: number;
}

type CountTokens = (text: string) => number;

/**
 * Ruling R1: cuts a document into chunks that are, in order, the document to the last character. The cuts depend
 * on the text alone, so that the number of a chunk means the same whatever a call asks for.
 */
export function chunkGrid(
  markdown: string,
  segments: readonly Segment[],
  countTokens: CountTokens,
): readonly GridChunk[] {
  const chunks: GridChunk[] = [];
  let start = 0;
  let tokens = 0;
  /** Where the headings begin that the open chunk ends with, and their tokens. */
  let headings: {readonly start: number; readonly tokens: number} | undefined;
  const close = (end: number): void => {
    if (end > start) chunks.push({start, end});
    start = end;
    tokens = 0;
    headings = undefined;
  };

  for (const segment of segments) {
    const own = tokensUpTo(markdown, segment, countTokens);
    if (segment.level > 0 && !headings && tokens >= LEAST_BEFORE_HEADING) close(segment.start);
    if (own > CHUNK_TOKENS) {
      close(segment.start);
      for (const end of piecesOf(markdown, segment, countTokens)) close(end);
      continue;
    }
    if (tokens + own > CHUNK_TOKENS) {
      // A heading goes with what it is about.
      const moved: {start: number; tokens: number} | undefined =
        headings !== undefined && headings.tokens + own <= CHUNK_TOKENS ? headings : undefined;
      close(moved?.start ?? segment.start);
      tokens = moved?.tokens ?? 0;
    }
    if (segment.level === 0) headings = undefined;
    else headings = {start: headings?.start ?? segment.start, tokens: (headings?.tokens ?? 0) + own};
    tokens += own;
  }
  close(markdown.length);
  return chunks;
}

/** Exact up to the limit; what is surely longer is not counted. */
function tokensUpTo(markdown: string, {start, end}: Segment, countTokens: CountTokens): number {
  // No token of cl100k_base spells more than 128 units.
  if (end - start > CHUNK_TOKENS * 128) return Number.POSITIVE_INFINITY;
  return countTokens(markdown.slice(start, end));
}

/** Where the pieces of an oversized block end, the white space behind each included. */
function* piecesOf(markdown: string, segment: Segment, countTokens: CountTokens): Generator<number> {
  const {block, start, end} = segment;
  const pieces = block.text === '' ? [] : splitBlock(block, {maxTokens: PIECE_TOKENS, countTokens});
  let from = start;
  for (let index = 0; index <= pieces.length; index += 1) {
    const next = pieces[index + 1];
    const to = next === undefined || index >= pieces.length ? end : block.start + next.start;
    while (from < to) {
      // A line of code, or white space, that is too long by itself.
      const fits =
        (to - from) * 3 <= CHUNK_TOKENS || tokensBetween(markdown, from, to, countTokens) <= CHUNK_TOKENS;
      const cut = fits
        ? to
        : longestPrefix(markdown, from, to, 4 * PIECE_TOKENS, {maxTokens: CHUNK_TOKENS, countTokens}).end;
      yield cut;
      from = cut;
    }
  }
}

function tokensBetween(markdown: string, from: number, to: number, countTokens: CountTokens): number {
  return to - from > CHUNK_TOKENS * 128 ? Number.POSITIVE_INFINITY : countTokens(markdown.slice(from, to));
}
