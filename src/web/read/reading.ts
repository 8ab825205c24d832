// The questions of the reading tools, the shapes of their answers, and snapshot names.

import {createHash} from 'node:crypto';

/** What one call of `web_read` asks of a document. */
export type Ask =
  | {readonly kind: 'overview'}
  /** A number or a heading of the outline; `fragment` came with the address and may name nothing here. */
  | {readonly kind: 'section'; readonly section: string | number; readonly fragment: boolean}
  | {readonly kind: 'find'; readonly query: string}
  | {readonly kind: 'chunk'; readonly chunk: number};

export interface SectionName {
  readonly number: number;
  readonly heading: string;
}

/** A part of the document, as it is shown. */
export interface Passage {
  readonly text: string;
  /** cl100k tokens of `text`. */
  readonly tokens: number;
  /** Ruling R1: code points of the document, `[start, end)`. */
  readonly start: number;
  readonly end: number;
  /** From 1. */
  readonly chunk: number;
  readonly last_chunk: number;
  readonly section: SectionName;
}

export interface OutlineLine extends SectionName {
  readonly level: number;
  /** Of the section with those below it. */
  readonly tokens: number;
}

/** What `find` names beside what it shows. */
interface OtherPassage {
  readonly chunk: number;
  readonly section: SectionName;
}

export interface SectionChange extends SectionName {
  readonly change: 'changed' | 'new';
}

/** What is not as it was under an earlier snapshot. */
export interface Changes {
  readonly since: string;
  /** False where the text of that snapshot is not kept any more. */
  readonly is_known: boolean;
  /** A section is the text under its heading, without the sections below. */
  readonly sections: readonly SectionChange[];
  /** Headings of sections that are not there any more. */
  readonly gone: readonly string[];
  /** Sections that are not named. */
  readonly left_out?: number;
}

/** The answer about a document; what there is of the page beside it is added by the spine. */
export interface Reading {
  readonly total_tokens: number;
  readonly total_chunks: number;
  /** Headings. */
  readonly total_sections: number;
  readonly outline?: readonly OutlineLine[];
  /** Sections that the outline has no room for. */
  readonly outline_left_out?: number;
  readonly passages: readonly Passage[];
  readonly others?: readonly OtherPassage[];
  /** Where the text goes on. */
  readonly next_chunk?: number;
  /** The `#fragment` of the address, where it names no section. */
  readonly missing_fragment?: string;
  readonly changes?: Changes;
}

/** Where in a document a quote, or what is nearest to it, stands. */
export interface QuotePlace {
  /** Ruling R1: code points of the document, `[start, end)`. */
  readonly start: number;
  readonly end: number;
  /** From 1. */
  readonly chunk: number;
  readonly section: SectionName;
}

/** What a reader would not take for the word of the page: text that is struck out, alternative text of a picture. */
export type Reserve = 'struck' | 'picture';

/** A place where the document says it. */
interface Found extends QuotePlace {
  /** The text directive that finds it in a browser. */
  readonly fragment?: string;
  /** Where some of it is such text. */
  readonly within?: readonly Reserve[];
}

export type QuoteCheck =
  /** The document has it, character by character. */
  | (Found & {readonly verdict: 'exact'})
  /** The document has it but for white space, links, quotation marks, dashes or Markdown syntax. */
  | (Found & {readonly verdict: 'same'})
  /**
   * The longest run of its words that the document has is so much of it. A line feed in `text` is the border of a
   * block, a cell, an item or a picture, which no quote crosses.
   */
  | (QuotePlace & {readonly verdict: 'near'; readonly share: number; readonly text: string})
  /** Less than half of it is there; the place is that of the nearest passage, if there is one. */
  | (Partial<QuotePlace> & {readonly verdict: 'absent'});

/** `  3. Installation (412)`: as deep as its level, its number for `section`, its tokens. */
export function renderOutlineLine({number, heading, level, tokens}: OutlineLine): string {
  const name = level === 0 ? '(before the first heading)' : heading;
  return `${'  '.repeat(Math.max(0, level - 1))}${number}. ${name} (${tokens})`;
}

const DIGITS = 32;

/** What a snapshot looks like. */
export const SNAPSHOT_PATTERN = /^[0-9a-f]{32}$/;

/**
 * Ruling R1: the name of a document, made of its text. 128 bits, so that nobody finds two texts of one name and
 * swaps them under a quote.
 */
export function snapshotOf(markdown: string): string {
  return createHash('sha256').update(markdown, 'utf8').digest('hex').slice(0, DIGITS);
}
