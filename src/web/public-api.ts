// The pure functions of the package: canonical URLs, Markdown, chunks, tokens, robots.txt.

import {type Failure, requireInteger, requireString} from '../core/result.ts';
import {chunkMarkdown as chunk} from './chunk/plan-chunks.ts';
import {extractHtml} from './extract/extract-html.ts';
import type {ExtractionMode} from './options.ts';
import type {CanonicalUrl, FetchChunk} from './page.ts';
import {isAllowedByRobots as isAllowed, parseRobots as parse, Robots} from './robots/robots.ts';
import {countTokens as count} from './tokens/count-tokens.ts';
import {parseUrl} from './url.ts';

/** What `canonicalizeUrl` and `htmlToMarkdown` throw for a URL that they cannot use. */
export class InvalidUrlError extends TypeError {
  override readonly name = 'InvalidUrlError';
  /** The failure that `web_fetch` would answer. */
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

/**
 * Gives the canonical form of an absolute http or https URL, without fragment. Throws `InvalidUrlError` where
 * `web_fetch` would answer `invalid_url`, `invalid_scheme` or `invalid_host`. (appendix A)
 */
export function canonicalizeUrl(input: string): CanonicalUrl {
  requireString('input', input);
  const url = parseUrl(input);
  if (!url.ok) throw new InvalidUrlError(url.error);
  return url.value.canonical;
}

const MODES: readonly ExtractionMode[] = ['full', 'reader'];

/** How `htmlToMarkdown` reads a page. */
export interface HtmlToMarkdownOptions {
  /** `full` keeps what no rule names as furniture; `reader` keeps the main content, told by the structure of the page. */
  readonly mode?: ExtractionMode;
}

/**
 * Turns the readable part of an HTML document into Markdown, with links absolute against `baseUrl`. It has no time limit:
 * for large pages that you do not trust use `webFetch`. Throws `InvalidUrlError`, and `TypeError` for an unknown mode.
 * (SRD 3.5.1)
 */
export function htmlToMarkdown(
  html: string,
  baseUrl: string,
  {mode = 'full'}: HtmlToMarkdownOptions = {},
): string {
  if (!MODES.includes(mode)) {
    throw new TypeError(
      `The mode ${JSON.stringify(mode)} is none of "full" and "reader". Give one of these, or none for "full".`,
    );
  }
  requireString('html', html);
  requireString('baseUrl', baseUrl);
  const base = parseUrl(baseUrl);
  if (!base.ok) throw new InvalidUrlError(base.error);
  return extractHtml(html, {baseUrl: base.value.canonical, honorBaseHref: false, mode}).markdown;
}

/**
 * Cuts Markdown into chunks of at most `maxTokens` cl100k tokens. A line of code may exceed them. Throws `TypeError` where
 * `maxTokens` is not an integer above 0. (SRD 3.5.3, ruling E4)
 */
export function chunkMarkdown(markdown: string, maxTokens: number): FetchChunk[] {
  requireString('markdown', markdown);
  requireInteger('maxTokens', maxTokens, 1);
  return [...chunk(markdown, maxTokens, count)];
}

/**
 * Counts the cl100k_base tokens of a text. Special tokens are ordinary text; a lone surrogate counts as U+FFFD. Throws
 * `TypeError` for anything but a string. (FR-WF-14)
 */
export function countTokens(text: string): number {
  requireString('text', text);
  return count(text);
}

/** Parses a robots.txt; one without groups allows everything. Throws `TypeError` for anything but a string. (SRD 3.3.2) */
export function parseRobots(text: string): Robots {
  requireString('text', text);
  return parse(text);
}

/**
 * Says whether a robots.txt allows a user agent token this path and query, without fragment. Throws `TypeError` where
 * `robots` does not come from `parseRobots`, or another argument is not a string. (SRD 3.3.2)
 */
export function isAllowedByRobots(robots: Robots, token: string, pathAndQuery: string): boolean {
  if (!(robots instanceof Robots)) throw new TypeError('Expected robots to come from parseRobots.');
  requireString('token', token);
  requireString('pathAndQuery', pathAndQuery);
  return isAllowed(robots, token, pathAndQuery);
}
