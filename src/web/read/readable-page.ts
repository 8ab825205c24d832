// A document with its sections, its numbered chunks and its places, each worked out on demand.

import {contentEnd} from '../chunk/blocks.ts';
import {countUpTo, type Limit} from '../chunk/limit.ts';
import {longestPrefix, splitBlock} from '../chunk/split-block.ts';
import {markInline, markSyntax, plainTextOf, type Segment, SYNTAX, segmentsOf} from './markdown-syntax.ts';
import type {QuotePlace, SectionName} from './reading.ts';

export type Links = 'drop' | 'keep';

/** A document with what reading needs to know of it, each worked out when it is asked for. Lines end in LF. */
export class ReadablePage {
  readonly markdown: string;
  readonly segments: readonly Segment[];
  readonly sections: readonly PageSection[];
  readonly marks: Uint8Array;
  readonly countTokens: (text: string) => number;
  readonly #cuts: readonly number[];
  #chunks: readonly GridChunk[] | undefined;
  #sums: Float64Array | undefined;

  constructor(markdown: string, links: Links, countTokens: (text: string) => number) {
    this.markdown = markdown;
    this.countTokens = countTokens;
    this.segments = segmentsOf(markdown);
    this.sections = sectionsOf(markdown, this.segments);
    this.marks = markSyntax(markdown, this.segments);
    this.#cuts = links === 'drop' ? linkCuts(this.marks) : [];
  }

  get chunks(): readonly GridChunk[] {
    this.#chunks ??= chunkGrid(this.markdown, this.segments, this.countTokens);
    return this.#chunks;
  }

  /** What a reader gets of `[from, to)`. */
  shown(from: number, to: number): string {
    return shownText(this.markdown, from, to, this.#cuts);
  }

  /** Exact tokens of what is shown of some segments, without the white space at the end. */
  tokensOfSegments(first: number, behind: number): number {
    const sums = this.#tokenSums();
    for (let last = behind - 1; last >= first; last -= 1) {
      const {start, end} = this.segments[last] as Segment;
      const shown = this.shown(start, end);
      const length = contentEnd(shown, 0, shown.length);
      // Tokens never reach from one block into the next, so those in front add up.
      if (length > 0) return this.#between(sums, first, last) + this.countTokens(shown.slice(0, length));
    }
    return 0;
  }

  get totalTokens(): number {
    return this.tokensOfSegments(0, this.segments.length);
  }

  /** The number (from 0) of the chunk that `place` lies in. */
  chunkAt(place: number): number {
    return lastStart(this.chunks, place);
  }

  /** The innermost section that `place` lies in. */
  sectionAt(place: number): PageSection {
    return this.sections[lastStart(this.sections, place)] as PageSection;
  }

  sectionNameAt(place: number): SectionName {
    const {number, heading} = this.sectionAt(place);
    return {number, heading};
  }

  /** Where `[from, to)` is, as it is told a caller: in code points, chunks and sections. (R1) */
  placeOf(from: number, to: number): QuotePlace {
    return {
      start: this.#codePointsBefore(from),
      end: this.#codePointsBefore(to),
      chunk: this.chunkAt(from) + 1,
      section: this.sectionNameAt(from),
    };
  }

  #codePointsBefore(place: number): number {
    let count = place;
    for (let at = 1; at < place; at += 1) {
      if (
        (this.markdown.charCodeAt(at) & 0xfc00) === 0xdc00 &&
        (this.markdown.charCodeAt(at - 1) & 0xfc00) === 0xd800
      ) {
        count -= 1;
      }
    }
    return count;
  }

  /** Tokens of what is shown of all segments in front of each. */
  #tokenSums(): Float64Array {
    if (this.#sums) return this.#sums;
    const sums = new Float64Array(this.segments.length + 1);
    for (const [index, {start, end}] of this.segments.entries()) {
      sums[index + 1] = (sums[index] as number) + this.countTokens(this.shown(start, end));
    }
    this.#sums = sums;
    return sums;
  }

  #between(sums: Float64Array, first: number, behind: number): number {
    return (sums[behind] as number) - (sums[first] as number);
  }
}

/** The index of the last of the `items` that starts at `place` or before it; the first one starts at 0. */
function lastStart(items: readonly {readonly start: number}[], place: number): number {
  let low = 0;
  let high = items.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((items[middle]?.start ?? 0) <= place) low = middle;
    else high = middle - 1;
  }
  return low;
}

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
function chunkGrid(
  markdown: string,
  segments: readonly Segment[],
  countTokens: CountTokens,
): readonly GridChunk[] {
  const limit = {maxTokens: CHUNK_TOKENS, countTokens};
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
    const own = countUpTo(markdown.slice(segment.start, segment.end), limit);
    if (segment.level > 0 && !headings && tokens >= LEAST_BEFORE_HEADING) close(segment.start);
    if (own > CHUNK_TOKENS) {
      close(segment.start);
      for (const end of partEnds(markdown, segment, limit)) close(end);
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

/** Where the parts of an oversized block end, the white space behind each included. */
function* partEnds(markdown: string, {block, start, end}: Segment, limit: Limit): Generator<number> {
  const parts = block.text === '' ? [] : splitBlock(block, {...limit, maxTokens: PIECE_TOKENS});
  let from = start;
  for (let index = 0; index <= parts.length; index += 1) {
    const next = parts[index + 1];
    const to = next === undefined ? end : block.start + next.start;
    while (from < to) {
      // A line of code, or white space, that is too long by itself.
      const fits =
        (to - from) * 3 <= CHUNK_TOKENS || countUpTo(markdown.slice(from, to), limit) <= CHUNK_TOKENS;
      from = fits ? to : longestPrefix(markdown, from, to, 4 * PIECE_TOKENS, limit).end;
      yield from;
    }
  }
}

/** A heading and what stands under it. Section 0 is what stands before the first heading. */
export interface PageSection {
  readonly number: number;
  /** 1 to 6; 0 before the first heading. */
  readonly level: number;
  /** Plain text on one line, cut where it is no heading any more. */
  readonly heading: string;
  readonly start: number;
  /** With the sections below it. */
  readonly end: number;
  /** The same as indices of segments. */
  readonly first: number;
  readonly behind: number;
  /** The section that it is a part of; undefined at the top. */
  readonly parent: number | undefined;
}

const LONGEST_HEADING = 120;

/** The sections of a document in order; the number of a section is its index. */
export function sectionsOf(markdown: string, segments: readonly Segment[]): readonly PageSection[] {
  const startOf = (index: number): number => segments[index]?.start ?? markdown.length;
  const sections: {-readonly [Name in keyof PageSection]: PageSection[Name]}[] = [];
  const open: typeof sections = [];
  const close = (level: number, behind: number): void => {
    for (let last = open.at(-1); last && (last.level >= level || last.level === 0); last = open.at(-1)) {
      Object.assign(last, {behind, end: startOf(behind)});
      open.pop();
    }
  };
  const begin = (first: number, level: number, heading: string): void => {
    close(level, first);
    const start = startOf(first);
    const parent = open.at(-1)?.number;
    const section = {
      number: sections.length,
      level,
      heading,
      start,
      end: start,
      first,
      behind: first,
      parent,
    };
    sections.push(section);
    open.push(section);
  };
  begin(0, 0, '');
  for (const [index, {level, block}] of segments.entries()) {
    if (level > 0) begin(index, level, plainHeading(block.heading ?? ''));
  }
  close(0, segments.length);
  return sections;
}

function plainHeading(heading: string): string {
  const source = heading.slice(0, 8 * LONGEST_HEADING);
  const marks = new Uint8Array(source.length);
  markInline(source, 0, source.length, marks);
  const {text} = plainTextOf(source, marks);
  if (text.length <= LONGEST_HEADING) return text;
  const end =
    (text.charCodeAt(LONGEST_HEADING - 1) & 0xfc00) === 0xd800 ? LONGEST_HEADING - 1 : LONGEST_HEADING;
  return `${text.slice(0, end)}…`;
}

/** Starts and ends of what is left out of `markdown` when link targets are dropped, in turns. */
function linkCuts(marks: Uint8Array): readonly number[] {
  const cuts: number[] = [];
  for (let at = marks.indexOf(SYNTAX.link); at >= 0; at = marks.indexOf(SYNTAX.link, at)) {
    cuts.push(at);
    while (marks[at] === SYNTAX.link) at += 1;
    cuts.push(at);
  }
  return cuts;
}

/** `[from, to)` of a document without the `cuts`: a part of the document with nothing added. */
function shownText(markdown: string, from: number, to: number, cuts: readonly number[]): string {
  let index = firstCut(cuts, from);
  if (index >= cuts.length) return markdown.slice(from, to);
  const parts: string[] = [];
  let at = from;
  for (; index < cuts.length && (cuts[index] as number) < to; index += 2) {
    parts.push(markdown.slice(at, Math.max(at, cuts[index] as number)));
    at = Math.min(to, cuts[index + 1] as number);
  }
  parts.push(markdown.slice(at, to));
  return parts.join('');
}

/** The index of the first cut that ends behind `from`. */
function firstCut(cuts: readonly number[], from: number): number {
  let low = 0;
  let high = cuts.length / 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((cuts[2 * middle + 1] as number) <= from) low = middle + 1;
    else high = middle;
  }
  return 2 * low;
}
