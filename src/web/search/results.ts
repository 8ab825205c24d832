// Cleans, folds and merges the results of search engines, and cuts them to a budget of tokens. Titles, addresses and
// snippets are text of strangers.

import {decodeHTML} from 'entities/decode';
import {cutEnd, takeStart} from '../../core/text/cut.ts';
import {stripInvisible} from '../../core/text/invisible.ts';
import {countTokens} from '../tokens/count-tokens.ts';
import {parseUrl} from '../url.ts';
import type {RawResult} from './engines.ts';

export interface SearchResult {
  readonly title: string;
  /** Canonical, without parameters that only track. */
  readonly url: string;
  readonly site: string;
  /** `YYYY-MM-DD`, as the engine says. */
  readonly date?: string;
  readonly snippet: string;
}

const LONGEST_ADDRESS = 1000;
const LONGEST_TITLE = 90;
const LONGEST_SNIPPET = 400;
/** Longer texts of an engine are not looked through. */
const LONGEST_TEXT = 5000;

/** Parameters that say where a reader came from, and nothing about the page. */
const TRACKING =
  /^(?:utm_\w+|gclid|gclsrc|dclid|fbclid|msclkid|yclid|twclid|igshid|mc_[ce]id|_hs(?:enc|mi)|mkt_tok|srsltid|wt_mc|vero_id|oly_\w+_id|s_cid)$/i;

/** `undefined` where it names no page that could be fetched. */
export function cleanResult({title, url, snippet, date}: RawResult): SearchResult | undefined {
  if (typeof url !== 'string' || url.length > LONGEST_ADDRESS) return undefined;
  const parsed = parseUrl(withoutTracking(url));
  if (!parsed.ok) return undefined;
  const {canonical, name} = parsed.value;
  const site = name.replace(/^www\./, '');
  const day = typeof date === 'string' ? /^\d{4}-\d\d-\d\d/.exec(date)?.[0] : undefined;
  return {
    title: plain(title, LONGEST_TITLE) || site,
    url: canonical,
    site,
    ...(day !== undefined && {date: day}),
    snippet: plain(snippet, LONGEST_SNIPPET),
  };
}

function withoutTracking(url: string): string {
  const [beforeHash = ''] = url.split('#', 1);
  const at = beforeHash.indexOf('?');
  if (at < 0) return beforeHash;
  const kept = beforeHash
    .slice(at + 1)
    .split('&')
    .filter(pair => !TRACKING.test(pair.split('=', 1)[0] ?? ''));
  return beforeHash.slice(0, at) + (kept.length > 0 ? `?${kept.join('&')}` : '');
}

/** One line without markup, control characters and what nobody sees. */
function plain(text: unknown, most: number): string {
  if (typeof text !== 'string') return '';
  const words = decodeHTML(takeStart(text, LONGEST_TEXT).replace(/<\/?[a-z][^<>]{0,200}>/gi, ''));
  return cutEnd(stripInvisible(words.replace(/[\s\p{Cc}]+/gu, ' ')).trim(), most);
}

/** Two addresses of one page: the scheme, `www.` and a last slash make no other page. */
function pageOf({url}: SearchResult): string {
  return url.replace(/^https?:\/\/(?:www\.)?/, '').replace(/\/(?=$|\?)/, '');
}

/** The usual constant of reciprocal rank fusion. */
const RANK_OFFSET = 60;

/** Several lists as one, by reciprocal rank; of one page the first mention stays. */
export function mergeResults(lists: readonly (readonly SearchResult[])[]): readonly SearchResult[] {
  const pages = new Map<string, {readonly result: SearchResult; score: number}>();
  for (const list of lists) {
    const seen = new Set<string>();
    list.forEach((result, rank) => {
      const page = pageOf(result);
      if (seen.has(page)) return;
      seen.add(page);
      const known = pages.get(page) ?? {result, score: 0};
      known.score += 1 / (RANK_OFFSET + rank);
      pages.set(page, known);
    });
  }
  return [...pages.values()].sort((a, b) => b.score - a.score).map(({result}) => result);
}

/** Tokens of a result in the text of an answer. */
const TOKENS_A_RESULT = 70;
/** For numbers, line breaks and the frame. */
const TOKENS_AROUND = 30;

/** Cuts snippets, equally, so that ten results have at most 700 tokens as text. Addresses stay whole. */
export function fitResults(results: readonly SearchResult[], most: number): readonly SearchResult[] {
  const budget = Math.max(1, most) * TOKENS_A_RESULT - TOKENS_AROUND;
  const fitting: SearchResult[] = [];
  let fixed = 0;
  for (const result of results.slice(0, most)) {
    const cost = countTokens(`10. ${result.title} · ${result.date ?? ''}\n    ${result.url}\n    `);
    if (fixed + cost > budget && fitting.length > 0) break;
    fixed += cost;
    fitting.push(result);
  }
  let left = budget - fixed;
  return fitting.map((result, at) => {
    const snippet = cutToTokens(result.snippet, Math.floor(left / (fitting.length - at)));
    left -= countTokens(snippet);
    return {...result, snippet};
  });
}

function cutToTokens(text: string, most: number): string {
  if (most < 5) return '';
  let cut = text;
  for (let tokens = countTokens(cut); tokens > most; tokens = countTokens(cut)) {
    // The ellipsis counts, so two characters go at the least.
    const length = Math.min(cut.length - 2, Math.floor((cut.length * most) / tokens));
    if (length <= 0) return '';
    cut = cutEnd(cut, length);
  }
  return cut;
}
