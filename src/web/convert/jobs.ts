import type {Result} from '../../core/result.ts';
import {type DecodeOptions, decodeText, measureUtf8, utf8Parts} from '../decode/decode-text.ts';
import {type PageAbout, pageAbout} from '../extract/about/page-about.ts';
import {extractHtml, type PackedDocument, packHtml} from '../extract/extract-html.ts';
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
import {type ChunkJob, chunkPlanner, runChunkJob} from './plan-job.ts';
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
  /** What the job was given, where a browser may be given it next: of a page with `spaIndicators`. Else empty. */
  readonly bytes: Uint8Array;
}

/** A large page on its way from its thread. */
export interface SentDocument extends Omit<ConvertedDocument, 'document'> {
  readonly document: Omit<ExtractedDocument, 'markdown'>;
  /** The Markdown in UTF-8, which is half of what a text takes, and is handed over as it is. */
  readonly markdown: Uint8Array;
}

export interface JobResults {
  readonly convert: ConvertedDocument;
  readonly chunk: ChunkPlan;
  readonly read: Result<Reading>;
  readonly quote: readonly QuoteCheck[];
}

export type Job = ConvertJob | ChunkJob | ReadJob | QuoteJob;

/** Bytes of a page from which on its memory matters. */
const LARGE = 1_048_576;
const CARRIAGE_RETURN = 0x0d;
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
export function transferables(result: JobResults[Job['kind']] | SentDocument): ArrayBuffer[] {
  const arrays =
    'plan' in result
      ? [result.bytes, result.plan.counts, 'markdown' in result ? result.markdown : NO_BYTES]
      : 'counts' in result
        ? [result.counts]
        : [];
  return arrays.filter(({length}) => length > 0).map(({buffer}) => buffer as ArrayBuffer);
}

function convert(job: ConvertJob): ConvertedDocument {
  const extracted = extract(job);
  const {markdown} = extracted.document;
  return {...extracted, plan: runChunkJob({markdown, maxTokens: job.maxTokens})};
}

/** A function of its own, so that the decoded text is garbage when it returns. */
function extract(job: ConvertJob): Omit<ConvertedDocument, 'plan'> {
  const {media, baseUrl, honorBaseHref, mode} = job;
  const {source, ...facts} = read(job);
  const document =
    media === 'html'
      ? extractHtml(source, {baseUrl, honorBaseHref, mode})
      : extractOther(media, source.toString(), baseUrl);
  return {...facts, document};
}

/** The same for another thread. The Markdown of a large page is never one text here, which would be its largest part. */
export function convertToSend(job: ConvertJob): SentDocument | ConvertedDocument {
  if (job.media !== 'html' || job.bytes.length < LARGE) return convert(job);
  const {document, ...facts} = pack(job);
  const {markdown, ...said} = document;
  const {maxTokens} = job;
  // Chunks are planned with lines that end in LF, whatever they end in.
  if (typeof markdown === 'string' || markdown.includes(CARRIAGE_RETURN)) {
    const text = typeof markdown === 'string' ? markdown : Buffer.from(markdown).toString('utf8');
    return {
      ...facts,
      document: {...said, markdown: text},
      plan: runChunkJob({markdown: text, maxTokens}),
    };
  }
  const planner = chunkPlanner(maxTokens);
  for (const part of utf8Parts(markdown)) planner.add(part);
  return {...facts, document: said, markdown, plan: planner.finish()};
}

interface PackedPage extends Omit<ConvertedDocument, 'document' | 'plan'> {
  readonly document: PackedDocument;
}

function pack(job: ConvertJob): PackedPage {
  const {baseUrl, honorBaseHref, mode} = job;
  const {source, ...facts} = read(job);
  return {...facts, document: packHtml(source, {baseUrl, honorBaseHref, mode})};
}

interface ReadSource extends Omit<ConvertedDocument, 'plan' | 'document'> {
  readonly source: SourceText;
}

/** What the text itself says, in the form that takes less memory. */
function read(job: ConvertJob): ReadSource {
  const {media, bytes, mode} = job;
  const html = media === 'html';
  const headerCharset = job.headerCharset ?? (media === 'feed' ? xmlCharset(bytes) : undefined);
  const {source, fallback} = decode(bytes, {html, ...(headerCharset !== undefined && {headerCharset})});
  const spaIndicators = html && hasSpaIndicators(source);
  job.bytes = NO_BYTES;
  return {
    source,
    charsetFallback: fallback,
    spaIndicators,
    about: html ? pageAbout(source, mode) : {},
    bytes: spaIndicators ? bytes : NO_BYTES,
  };
}

function decode(bytes: Uint8Array, options: DecodeOptions): {source: SourceText; fallback: boolean} {
  const measured = options.html && bytes.length >= LARGE ? measureUtf8(bytes, options) : undefined;
  // Every piece that is not ASCII has to be decoded; a text that is little else is better decoded at once.
  if (measured && (bytes.length - measured.length) * 16 < bytes.length) {
    return {source: SourceText.ofUtf8(bytes, measured.length), fallback: measured.fallback};
  }
  const {text, fallback} = decodeText(bytes, options);
  return {source: SourceText.of(text), fallback};
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
