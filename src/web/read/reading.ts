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
export interface OtherPassage {
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
