import type {Failure} from '../core/failure/failure.ts';
import {chunkMarkdown as chunk} from './chunk/chunk-markdown.ts';
import {extractHtml} from './extract/extract-html.ts';
import type {ExtractionMode} from './options.ts';
import type {CanonicalUrl, FetchChunk} from './page.ts';
import {countTokens} from './tokens/count-tokens.ts';
import {parseUrl} from './url/parse-url.ts';

export {isAllowedByRobots} from './robots/is-allowed-by-robots.ts';
export {parseRobots} from './robots/parse-robots.ts';
export {countTokens};

/** What `canonicalizeUrl` and `htmlToMarkdown` throw: `failure` is the envelope `web_fetch` would return. */
export class InvalidUrlError extends TypeError {
  override readonly name = 'InvalidUrlError';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/**
 * Appendix A: the canonical form of an absolute http(s) URL, without fragment. Throws
 * `InvalidUrlError` where `web_fetch` would answer `invalid_url`, `invalid_scheme` or `invalid_host`.
 */
export function canonicalizeUrl(input: string): CanonicalUrl {
  const url = parseUrl(input);
  if (!url.ok) throw new InvalidUrlError(url.error);
  return url.value.canonical;
}

const MODES: readonly ExtractionMode[] = ['srd', 'reader'];

/** How `htmlToMarkdown` reads a page. */
export interface HtmlToMarkdownOptions {
  /** `srd` keeps what no rule names as furniture; `reader` keeps the main content, told by the structure of the page. */
  readonly mode?: ExtractionMode;
}

/**
 * SRD 3.5.1: the readable part of an HTML document as Markdown, links made absolute against
 * `baseUrl` (an absolute http(s) URL). Synchronous; for untrusted pages of size use `webFetch`,
 * which has a deadline. R2: `mode` says what is the readable part. Throws `InvalidUrlError`, and `TypeError`
 * for another mode.
 */
export function htmlToMarkdown(
  html: string,
  baseUrl: string,
  {mode = 'srd'}: HtmlToMarkdownOptions = {},
): string {
  if (!MODES.includes(mode)) {
    throw new TypeError(
      `The mode ${JSON.stringify(mode)} is none of "srd" and "reader". Give one of these, or none for "srd".`,
    );
  }
  const base = parseUrl(baseUrl);
  if (!base.ok) throw new InvalidUrlError(base.error);
  return extractHtml(html, {baseUrl: base.value.canonical, honorBaseHref: false, mode}).markdown;
}

/** SRD 3.5.3: Markdown in chunks of at most `maxTokens` cl100k tokens (a line of a code fence may exceed it, ruling E4). */
export function chunkMarkdown(markdown: string, maxTokens: number): FetchChunk[] {
  return [...chunk(markdown, maxTokens, countTokens)];
}
