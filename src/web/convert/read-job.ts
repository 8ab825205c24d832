// Answers questions about a document. Nothing that converts is loaded here.

import {ok, type Result} from '../../core/result.ts';
import {checkQuotes} from '../read/check-quotes.ts';
import {compareSections} from '../read/compare-sections.ts';
import {readDocument} from '../read/read-document.ts';
import type {Links} from '../read/readable-page.ts';
import type {Ask, QuoteCheck, Reading} from '../read/reading.ts';
import {countTokens} from '../tokens/count-tokens.ts';

/** One question about a document, whose lines end in LF. */
export interface ReadJob {
  readonly kind: 'read';
  readonly markdown: string;
  readonly ask: Ask;
  readonly maxTokens: number;
  readonly links: Links;
  /** The snapshot that the document is compared with, and its text if that is kept. */
  readonly since?: string | undefined;
  readonly earlier?: string | undefined;
}

export interface QuoteJob {
  readonly kind: 'quote';
  readonly markdown: string;
  readonly quotes: readonly string[];
}

/** No document is converted for these, so nothing that converts is loaded. */
export function runReadJob({
  markdown,
  ask,
  maxTokens,
  links,
  since,
  earlier,
}: Omit<ReadJob, 'kind'>): Result<Reading> {
  const reading = readDocument(markdown, ask, {maxTokens, links, countTokens});
  if (!reading.ok || since === undefined) return reading;
  return ok({...reading.value, changes: compareSections(earlier, markdown, since)});
}

export function runQuoteJob({markdown, quotes}: Omit<QuoteJob, 'kind'>): readonly QuoteCheck[] {
  return checkQuotes(markdown, quotes, countTokens);
}
