// The jobs that a thread or the caller runs: bytes to Markdown with a chunk plan, and questions about Markdown.

import type {Result} from '../../core/result.ts';
import {type PageAbout, pageAbout} from '../extract/about.ts';
import {normalizeWhitespace} from '../extract/block-writer.ts';
import {extractHtml, hasSpaIndicators} from '../extract/extract-html.ts';
import {extractFeed, xmlCharset} from '../extract/feed.ts';
import {extractJson} from '../extract/json.ts';
import type {ExtractionMode} from '../options.ts';
import type {ChunkPlan, ExtractedDocument, Media} from '../page.ts';
import type {QuoteCheck, Reading} from '../read/reading.ts';
import {decodeText} from '../transport/charset.ts';
import {type ChunkJob, runChunkJob} from './plan-job.ts';
import {type QuoteJob, type ReadJob, runQuoteJob, runReadJob} from './read-job.ts';

/**
 * Bytes of a document and what is needed to read them. The bytes are given away: who needs them afterwards
 * takes them from the result.
 */
export interface ConvertJob {
  readonly kind: 'convert';
  /** Taken from the job when they are read, so that they are garbage by then. */
  bytes: Uint8Array;
  readonly media: Media;
  readonly headerCharset: string | undefined;
  readonly baseUrl: string;
  readonly honorBaseHref: boolean;
  /** R2: of HTML. */
  readonly mode: ExtractionMode;
  /** Of a chunk. One job does all, so that no text is copied from thread to thread twice. */
  readonly maxTokens: number;
}

export interface ConvertedDocument {
  readonly document: ExtractedDocument;
  readonly charsetFallback: boolean;
  /** FR-WF-12c: checked on the decoded HTML, before anything is removed. */
  readonly spaIndicators: boolean;
  readonly about: PageAbout;
  readonly plan: ChunkPlan;
  /** What the job was given, where a browser may be given it next: of a page with `spaIndicators`. Else empty. */
  readonly bytes: Uint8Array;
}

export interface JobResults {
  readonly convert: ConvertedDocument;
  readonly chunk: ChunkPlan;
  readonly read: Result<Reading>;
  readonly quote: readonly QuoteCheck[];
}

export type Job = ConvertJob | ChunkJob | ReadJob | QuoteJob;

const NO_BYTES = new Uint8Array();

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
  return 'plan' in result && result.bytes.length > 0 ? [result.bytes.buffer as ArrayBuffer] : [];
}

function convert(job: ConvertJob): ConvertedDocument {
  const extracted = extract(job);
  const {markdown} = extracted.document;
  return {...extracted, plan: runChunkJob({markdown, maxTokens: job.maxTokens})};
}

/** A function of its own, so that the decoded text is garbage when it returns. */
function extract(job: ConvertJob): Omit<ConvertedDocument, 'plan'> {
  const {media, bytes, baseUrl, honorBaseHref, mode} = job;
  const html = media === 'html';
  const headerCharset = job.headerCharset ?? (media === 'feed' ? xmlCharset(bytes) : undefined);
  const {text, fallback} = decodeText(bytes, {html, ...(headerCharset !== undefined && {headerCharset})});
  const spaIndicators = html && hasSpaIndicators(text);
  job.bytes = NO_BYTES;
  return {
    document: html ? extractHtml(text, {baseUrl, honorBaseHref, mode}) : extractOther(media, text, baseUrl),
    charsetFallback: fallback,
    spaIndicators,
    about: html ? pageAbout(text, mode) : {},
    bytes: spaIndicators ? bytes : NO_BYTES,
  };
}

function extractOther(media: Exclude<Media, 'html'>, text: string, baseUrl: string): ExtractedDocument {
  switch (media) {
    case 'text':
    case 'markdown':
      return {markdown: normalizeWhitespace(text)};
    case 'json':
      return extractJson(text);
    case 'feed':
      return extractFeed(text, baseUrl);
    case 'pdf':
      // `WorkerPool` sends it to a thread of its own.
      throw new TypeError('Expected a PDF to be converted by its own job');
  }
}
