import type {SectionName} from '../reading.ts';

/** Where in a document a quote, or what is nearest to it, stands. */
export interface QuotePlace {
  /** Ruling R1: code points of the document, `[start, end)`. */
  readonly start: number;
  readonly end: number;
  /** From 1. */
  readonly chunk: number;
  readonly section: SectionName;
}

export type QuoteCheck =
  /** The document has it, character by character. `fragment` is the text directive that finds it in a browser. */
  | (QuotePlace & {readonly verdict: 'exact'; readonly fragment?: string})
  /** The document has it but for white space, links, quotation marks, dashes or Markdown syntax. */
  | (QuotePlace & {readonly verdict: 'same'; readonly fragment?: string})
  /** The longest run of its words that the document has is so much of it. */
  | (QuotePlace & {readonly verdict: 'near'; readonly share: number; readonly text: string})
  /** Less than half of it is there; the place is that of the nearest passage, if there is one. */
  | (Partial<QuotePlace> & {readonly verdict: 'absent'});
