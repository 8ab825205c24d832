// The search engines: how each is asked, and which fields of its answer are results. An engine is a row of a table.

import type {WebSearchOptions} from '../options.ts';
import {canonicalUrl} from '../url.ts';

/** What is looked for, whichever engine is asked. */
export interface SearchQuery {
  readonly query: string;
  readonly max_results: number;
  /** From 1. */
  readonly page: number;
  /** A host; its pages alone are wanted. */
  readonly site: string | undefined;
  readonly since: Since | undefined;
  /** BCP 47, such as `de`. */
  readonly language: string | undefined;
}

export const SINCE = ['day', 'week', 'month', 'year'] as const;
export type Since = (typeof SINCE)[number];

type Engine = WebSearchOptions['engines'][number];
export type EngineName = Engine['kind'];
/** What a request needs of an entry of `[[tools.websearch.engines]]`. */
type EngineSettings = Pick<Engine, 'endpoint' | 'engine_id' | 'categories'>;

/** A result as the engine writes it. Nothing of it is trusted. */
export interface RawResult {
  readonly title: unknown;
  readonly url: unknown;
  readonly snippet: unknown;
  readonly date: unknown;
}

interface EngineKind {
  /** Where its documentation says that it is. Absent where everybody runs their own. */
  readonly endpoint?: string;
  /** How it wants its key. */
  readonly header: string;
  readonly prefix: string;
  readonly parameters: (query: SearchQuery, settings: EngineSettings) => Readonly<Record<string, string>>;
  /** Where the list of results is in its answer. */
  readonly list: readonly string[];
  /** The names of a result's fields, each the first that is there. */
  readonly fields: Readonly<Record<keyof RawResult, readonly string[]>>;
}

const LETTER: Readonly<Record<Since, string>> = {day: 'd', week: 'w', month: 'm', year: 'y'};

/** The forms that the engines document, as of November 2026. */
export const ENGINE_KINDS: Readonly<Record<EngineName, EngineKind>> = {
  searxng: {
    header: 'Authorization',
    prefix: '',
    parameters: ({query, page, since, language}, {categories}) => ({
      q: query,
      format: 'json',
      pageno: String(page),
      ...(since !== undefined && {time_range: since}),
      ...(language !== undefined && {language}),
      ...(categories.length > 0 && {categories: categories.join(',')}),
    }),
    list: ['results'],
    fields: {title: ['title'], url: ['url'], snippet: ['content'], date: ['publishedDate', 'pubdate']},
  },
  brave: {
    endpoint: 'https://api.search.brave.com/res/v1/web/search',
    header: 'X-Subscription-Token',
    prefix: '',
    parameters: ({query, page, max_results, since, language}) => ({
      q: query,
      count: String(max_results),
      offset: String(page - 1),
      ...(since !== undefined && {freshness: `p${LETTER[since]}`}),
      ...(language !== undefined && {search_lang: language}),
    }),
    list: ['web', 'results'],
    fields: {title: ['title'], url: ['url'], snippet: ['description'], date: ['page_age']},
  },
  kagi: {
    endpoint: 'https://kagi.com/api/v0/search',
    header: 'Authorization',
    prefix: 'Bot ',
    parameters: ({query, page, max_results}) => ({q: query, limit: String(page * max_results)}),
    list: ['data'],
    fields: {title: ['title'], url: ['url'], snippet: ['snippet'], date: ['published']},
  },
  google: {
    endpoint: 'https://customsearch.googleapis.com/customsearch/v1',
    header: 'X-Goog-Api-Key',
    prefix: '',
    parameters: ({query, page, max_results, since, language}, {engine_id}) => {
      const num = Math.min(10, max_results);
      return {
        q: query,
        cx: engine_id,
        num: String(num),
        start: String((page - 1) * num + 1),
        ...(since !== undefined && {dateRestrict: `${LETTER[since]}1`}),
        ...(language !== undefined && {lr: `lang_${language}`}),
      };
    },
    list: ['items'],
    fields: {title: ['title'], url: ['link'], snippet: ['snippet'], date: []},
  },
};

/** How many results a page has is not ours to choose. */
export const PAGES_OF_ITS_OWN: ReadonlySet<EngineName> = new Set<EngineName>(['searxng']);
/** Kagi answers all pages up to the one asked for. */
const CUMULATIVE: ReadonlySet<EngineName> = new Set<EngineName>(['kagi']);

/** The address that asks an engine, in the form in which it is requested. */
export function searchAddress(kind: EngineName, settings: EngineSettings, query: SearchQuery): string {
  const {endpoint, parameters} = ENGINE_KINDS[kind];
  const url = new URL(settings.endpoint === '' ? (endpoint ?? '') : settings.endpoint);
  const words = query.site === undefined ? query.query : `${query.query} site:${query.site}`;
  for (const [name, value] of Object.entries(parameters({...query, query: words}, settings)))
    url.searchParams.set(name, value);
  return canonicalUrl(url);
}

/** The results of an answer; `undefined` where it is not an answer of such an engine. */
export function rawResults(
  kind: EngineName,
  answer: unknown,
  {page, max_results}: Pick<SearchQuery, 'page' | 'max_results'>,
): readonly RawResult[] | undefined {
  const {list, fields} = ENGINE_KINDS[kind];
  if (!isRecord(answer)) return undefined;
  let value: unknown = answer;
  for (const key of list) value = isRecord(value) ? value[key] : undefined;
  // Engines leave the list out where they found nothing.
  if (value === undefined) return kind === 'searxng' ? undefined : [];
  if (!Array.isArray(value)) return undefined;
  const found = value.filter(isRecord).map(entry => {
    const first = (names: readonly string[]): unknown =>
      names.map(name => entry[name]).find(field => field !== undefined && field !== null);
    return {
      title: first(fields.title),
      url: first(fields.url),
      snippet: first(fields.snippet),
      date: first(fields.date),
    };
  });
  const pages = found.filter(({url}) => url !== undefined);
  return CUMULATIVE.has(kind) ? pages.slice((page - 1) * max_results) : pages;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
