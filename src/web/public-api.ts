import type {Failure} from '../core/failure/failure.ts';
import {requireInteger, requireString} from '../core/require-argument.ts';
import {chunkMarkdown as chunk} from './chunk/chunk-markdown.ts';
import {extractHtml} from './extract/extract-html.ts';
import type {ExtractionMode} from './options.ts';
import type {CanonicalUrl, FetchChunk} from './page.ts';
import {isAllowedByRobots as isAllowed} from './robots/is-allowed-by-robots.ts';
import {parseRobots as parse} from './robots/parse-robots.ts';
import {Robots} from './robots/robots.ts';
import {countTokens as count} from './tokens/count-tokens.ts';
import {parseUrl} from './url/parse-url.ts';

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
  requireString('input', input);
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
  requireString('html', html);
  requireString('baseUrl', baseUrl);
  const base = parseUrl(baseUrl);
  if (!base.ok) throw new InvalidUrlError(base.error);
  return extractHtml(html, {baseUrl: base.value.canonical, honorBaseHref: false, mode}).markdown;
}

/** SRD 3.5.3: Markdown in chunks of at most `maxTokens` cl100k tokens (a line of a code fence may exceed it, ruling E4). Throws `TypeError` where `maxTokens` is no integer above 0. */
export function chunkMarkdown(markdown: string, maxTokens: number): FetchChunk[] {
  requireString('markdown', markdown);
  requireInteger('maxTokens', maxTokens, 1);
  return [...chunk(markdown, maxTokens, count)];
}

/**
 * FR-WF-14: how many cl100k_base tokens the text has. Special tokens are ordinary text; a lone surrogate counts as
 * U+FFFD, as which it would be sent. Throws `TypeError` for what is no string.
 */
export function countTokens(text: string): number {
  requireString('text', text);
  return count(text);
}

/** SRD 3.3.2: the groups of a robots.txt; a text that holds none allows everything. Throws `TypeError` for what is no string. */
export function parseRobots(text: string): Robots {
  requireString('text', text);
  return parse(text);
}

/**
 * SRD 3.3.2: whether a robots.txt lets the token have this path and query (no fragment). Throws `TypeError` where
 * `robots` is none of `parseRobots`, or another argument is no string.
 */
export function isAllowedByRobots(robots: Robots, token: string, pathAndQuery: string): boolean {
  if (!(robots instanceof Robots)) throw new TypeError('Expected robots to come from parseRobots.');
  requireString('token', token);
  requireString('pathAndQuery', pathAndQuery);
  return isAllowed(robots, token, pathAndQuery);
}
