import {chunkMarkdown} from '../chunk/chunk-markdown.ts';
import {decodeText} from '../decode/decode-text.ts';
import {extractHtml} from '../extract/extract-html.ts';
import {normalizeWhitespace} from '../extract/normalize-whitespace.ts';
import {hasSpaIndicators} from '../extract/spa-indicators.ts';
import type {ExtractedDocument, FetchChunk} from '../page.ts';
import {countTokens} from '../tokens/count-tokens.ts';

/** Bytes of a document and what is needed to read them. */
export interface ConvertJob {
  readonly kind: 'convert';
  readonly bytes: Uint8Array;
  readonly media: 'html' | 'text' | 'markdown';
  readonly headerCharset: string | undefined;
  readonly baseUrl: string;
  readonly honorBaseHref: boolean;
}

export interface ConvertedDocument {
  readonly document: ExtractedDocument;
  readonly charsetFallback: boolean;
  /** FR-WF-12c: judged on the decoded HTML, before anything is removed. */
  readonly spaIndicators: boolean;
}

export interface ChunkJob {
  readonly kind: 'chunk';
  readonly markdown: string;
  readonly maxTokens: number;
}

export interface JobResults {
  readonly convert: ConvertedDocument;
  readonly chunk: readonly FetchChunk[];
}

export type Job = ConvertJob | ChunkJob;

/** The slow, pure part of a fetch: the same function here and in a worker thread. */
export function runJob(job: Job): JobResults[Job['kind']] {
  return job.kind === 'convert' ? convert(job) : chunkMarkdown(job.markdown, job.maxTokens, countTokens);
}

function convert(job: ConvertJob): ConvertedDocument {
  const html = job.media === 'html';
  const {text, fallback} = decodeText(job.bytes, {
    html,
    ...(job.headerCharset !== undefined && {headerCharset: job.headerCharset}),
  });
  return {
    document: html
      ? extractHtml(text, {baseUrl: job.baseUrl, honorBaseHref: job.honorBaseHref})
      : {markdown: normalizeWhitespace(text)},
    charsetFallback: fallback,
    spaIndicators: html && hasSpaIndicators(text),
  };
}
