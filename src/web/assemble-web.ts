// What the tools ask of the web: fetch, read, quote.

import {fail, type Result} from '../core/result.ts';
import {type BrowserProbe, probeBrowser} from './browser/browser.ts';
import {fetchPage, logFetch} from './fetch-page.ts';
import {type FetchedFile, fetchFile} from './navigate/fetch-document.ts';
import type {WebFetchOptions} from './options.ts';
import type {FetchLimits, FetchOutcome, FetchRequest} from './page.ts';
import {
  type DocumentRequest,
  type QuoteOutcome,
  quotePage,
  type ReadLimits,
  type ReadOutcome,
  type ReadRequest,
  readPage,
} from './read-page.ts';
import {type SearchLimits, type SearchOutcome, type SearchRequest, WebSearch} from './search/search-web.ts';
import {createWebContext, type WebContext, type WebPorts, type WebSettings} from './web-context.ts';

export interface Web {
  readonly context: WebContext;
  readonly fetch: (request: FetchRequest, limits: FetchLimits) => Promise<Result<FetchOutcome>>;
  /** Ruling R1: what an answer needs of a page, and whether it says what it is quoted for. */
  readonly read: (request: ReadRequest, limits: ReadLimits) => Promise<Result<ReadOutcome>>;
  readonly quote: (
    request: DocumentRequest & {readonly quotes: readonly string[]},
    limits: ReadLimits,
  ) => Promise<Result<QuoteOutcome>>;
  /** A file as it is, on the terms of a page. */
  readonly file: (
    url: string,
    limits: {readonly maxBytes: number; readonly signal: AbortSignal},
  ) => Promise<Result<FetchedFile>>;
  readonly search: (request: SearchRequest, limits: SearchLimits) => Promise<Result<SearchOutcome>>;
  /** The address that a snapshot was read from, if it is remembered. */
  readonly snapshotAddress: (snapshot: string) => string | undefined;
  /** For `doctor`: whether a page could be rendered here, and what would keep it from the network. */
  readonly probeBrowser: (signal: AbortSignal) => Promise<Result<BrowserProbe>>;
  readonly close: () => Promise<void>;
}

/** Answers calls by one context, until it is closed. */
export function assembleWeb(options: WebFetchOptions, settings: WebSettings, ports: WebPorts): Web {
  const context = createWebContext(options, settings, ports);
  const {browser, transport, workers, cache} = context;
  const close = async (): Promise<void> => {
    await Promise.all([browser.close(), transport.close(), workers.close(), cache.settled()]);
  };
  const engines = settings.search && new WebSearch({...settings.search, context});
  return {
    context,
    fetch: (request, limits) => logFetch(request, context, () => fetchPage(request, limits, context)),
    read: (request, limits) => readPage(request, limits, context),
    quote: (request, limits) => quotePage(request, limits, context),
    file: (url, limits) => fetchFile(url, limits, context),
    search: async (request, limits) =>
      engines?.search(request, limits) ?? fail('tool_disabled', 'No search engine is configured.'),
    snapshotAddress: snapshot => context.snapshots.addressOf(snapshot),
    probeBrowser: signal => probeBrowser(context.browser, signal),
    close,
  };
}
