import type {Result} from '../../core/result.ts';
import {decodeText, isTextInUtf8} from '../decode/decode-text.ts';
import {type PageAbout, pageAbout} from '../extract/about/page-about.ts';
import {extractHtml} from '../extract/extract-html.ts';
import {extractFeed} from '../extract/feed/extract-feed.ts';
import {xmlCharset} from '../extract/feed/xml-charset.ts';
import {extractJson} from '../extract/json/extract-json.ts';
import {normalizeWhitespace} from '../extract/normalize-whitespace.ts';
import {hasSpaIndicators} from '../extract/spa-indicators.ts';
import {SourceText} from '../extract/tree/source-text.ts';
import type {ExtractionMode} from '../options.ts';
import type {ChunkPlan, ExtractedDocument, Media} from '../page.ts';
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
  readonly media: Media;
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
  readonly about: PageAbout;
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

/** Bytes of a page from which on its memory matters. */
const LARGE = 262_144;

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
  const {baseUrl, honorBaseHref, mode} = job;
  const {source, ...facts} = read(job);
  return {
    document:
      job.media === 'html'
        ? extractHtml(source, {baseUrl, honorBaseHref, mode})
        : extractOther(job.media, source.toString(), baseUrl),
    ...facts,
  };
}

interface ReadSource extends Pick<ConvertedDocument, 'charsetFallback' | 'spaIndicators' | 'about'> {
  readonly source: SourceText;
}

/** What the text itself says, and the form of it that takes less memory from here on. */
function read({media, bytes, headerCharset: declared, mode}: ConvertJob): ReadSource {
  const html = media === 'html';
  const headerCharset = declared ?? (media === 'feed' ? xmlCharset(bytes) : undefined);
  const options = {html, ...(headerCharset !== undefined && {headerCharset})};
  const {text, fallback} = decodeText(bytes, options);
  const isLarge = html && bytes.length >= LARGE;
  const inBytes = isLarge && isMostlyAscii(bytes, text) && isTextInUtf8(bytes, options);
  return {
    source: inBytes ? SourceText.ofUtf8(bytes, text.length) : SourceText.of(text),
    charsetFallback: fallback,
    spaIndicators: html && hasSpaIndicators(text),
    about: html ? pageAbout(text, mode) : {},
  };
}

/** Every piece of a text that is not ASCII has to be decoded; a text that is nothing else needs no other form. */
function isMostlyAscii(bytes: Uint8Array, text: string): boolean {
  const more = bytes.length - text.length;
  return more > 0 && more * 16 < bytes.length;
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
