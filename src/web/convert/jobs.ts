import type {Result} from '../../core/result.ts';
import {decodeText} from '../decode/decode-text.ts';
import {extractHtml} from '../extract/extract-html.ts';
import {normalizeWhitespace} from '../extract/normalize-whitespace.ts';
import {hasSpaIndicators} from '../extract/spa-indicators.ts';
import type {ExtractionMode} from '../options.ts';
import type {ChunkPlan, ExtractedDocument} from '../page.ts';
import type {QuoteCheck} from '../read/quote/quote-check.ts';
import type {Reading} from '../read/reading.ts';
import {type ChunkJob, runChunkJob} from './plan-job.ts';
import {type QuoteJob, type ReadJob, runQuoteJob, runReadJob} from './read-job.ts';

/**
 * Bytes of a document and what is needed to read them. The bytes are given away: who needs them afterwards
 * takes them from the result.
 */
export interface ConvertJob {
  readonly kind: 'convert';
  readonly bytes: Uint8Array;
  readonly media: 'html' | 'text' | 'markdown';
  readonly headerCharset: string | undefined;
  readonly baseUrl: string;
  readonly honorBaseHref: boolean;
  /** R2; of HTML. */
  readonly mode: ExtractionMode;
  /** Of a chunk. One job does all, so that no text is copied from thread to thread twice. */
  readonly maxTokens: number;
}

export interface ConvertedDocument {
  readonly document: ExtractedDocument;
  readonly charsetFallback: boolean;
  /** FR-WF-12c: checked on the decoded HTML, before anything is removed. */
  readonly spaIndicators: boolean;
  readonly plan: ChunkPlan;
  /** What the job was given. */
  readonly bytes: Uint8Array;
}

export interface JobResults {
  readonly convert: ConvertedDocument;
  readonly chunk: ChunkPlan;
  readonly read: Result<Reading>;
  readonly quote: readonly QuoteCheck[];
}

export type Job = ConvertJob | ChunkJob | ReadJob | QuoteJob;

/** The slow, pure part of a fetch: the same function here and in a worker thread. */
export function runJob(job: Job): JobResults[Job['kind']] {
  switch (job.kind) {
    case 'convert':
      return convert(job);
    case 'chunk':
      return runChunkJob(job);
    case 'read':
      return runReadJob(job);
    case 'quote':
      return runQuoteJob(job);
  }
}

/** What a thread need not copy to hand the result of a job over. */
export function transferables(result: JobResults[Job['kind']]): ArrayBuffer[] {
  const arrays =
    'plan' in result ? [result.bytes, result.plan.counts] : 'counts' in result ? [result.counts] : [];
  return arrays.map(({buffer}) => buffer as ArrayBuffer);
}

function convert(job: ConvertJob): ConvertedDocument {
  const {bytes, maxTokens} = job;
  const read = extract(job);
  return {...read, plan: runChunkJob({markdown: read.document.markdown, maxTokens}), bytes};
}

/** A function of its own, so that the decoded text is garbage when it returns. */
function extract(job: ConvertJob): Omit<ConvertedDocument, 'plan' | 'bytes'> {
  const html = job.media === 'html';
  const {text, fallback} = decodeText(job.bytes, {
    html,
    ...(job.headerCharset !== undefined && {headerCharset: job.headerCharset}),
  });
  const document = html
    ? extractHtml(text, {baseUrl: job.baseUrl, honorBaseHref: job.honorBaseHref, mode: job.mode})
    : {markdown: normalizeWhitespace(text)};
  return {
    document,
    charsetFallback: fallback,
    spaIndicators: html && hasSpaIndicators(text),
  };
}
