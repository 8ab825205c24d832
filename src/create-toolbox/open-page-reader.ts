// Reads pages for a person: the pipeline of `web_fetch` without the limit of a model's context.
import {ConfigError} from '../config/config-error.ts';
import type {Environment} from '../config/environment.ts';
import {startedIn} from '../config/environment.ts';
import type {ResolvedConfig} from '../config/resolve-config.ts';
import {systemClock} from '../core/clock.ts';
import type {Log} from '../core/log.ts';
import {type Err, type Failure, fail, internalFailure, ok, type Result} from '../core/result.ts';
import type {SchemaProblem} from '../core/tool.ts';
import {renderWebRead, type WebReadData} from '../tools/web/show-read.ts';
import {
  renderVerifyQuote,
  VERIFY_QUOTE,
  type VerifyQuoteArgs,
  type VerifyQuoteData,
  verifyQuoteSchema,
  verifyQuotes,
} from '../tools/web/verify-quote.ts';
import {parseWebFetchArgs, type WebFetchArgs} from '../tools/web/web-fetch.ts';
import {readFitting, WEB_READ, type WebReadArgs, webReadSchema} from '../tools/web/web-read.ts';
import {
  renderSearch,
  searchAndRead,
  WEB_SEARCH,
  type WebSearchData,
  webSearchSchema,
} from '../tools/web/web-search.ts';
import {hostName} from '../web/guard/policy.ts';
import {credentialOrigin} from '../web/navigate/credentials.ts';
import {openWeb} from '../web/open-web.ts';
import {readableMedia, type WebFetchOptions} from '../web/options.ts';
import type {FetchResponse} from '../web/page.ts';
import type {Outline, OutlineSection} from '../web/read/outline.ts';
import {MOST_SITEMAP_BYTES, readSitemaps, type SitemapEntry} from './crawl.ts';
import {lazyHub} from './open-hub.ts';
import {stoppedByMode} from './switched-off.ts';

export type {Outline, OutlineSection, VerifyQuoteArgs, VerifyQuoteData, WebReadArgs, WebReadData};

/** An answer as fields, and as the text that a model gets. */
export interface Shown<Data> {
  readonly data: Data;
  readonly text: string;
}

export interface ReadPage {
  /** Cut for size only where `maxBytes` says so. */
  readonly response: FetchResponse;
  /** The whole document, of which the chunks are pieces. */
  readonly markdown: string;
}

/** `web_fetch` for a person, who wants pages whole: the same pipeline without the limit of a model's context. */
export interface PageReader {
  /** `maxBytes` of the response as compact JSON; default: no limit. Never rejects. */
  readonly read: (args: WebFetchArgs, signal: AbortSignal, maxBytes?: number) => Promise<Result<ReadPage>>;
  /** The headings of a document with the exact tokens of their sections. */
  readonly outline: (markdown: string) => Promise<Outline>;
  /** Ruling R1: `web_read` and `verify_quote` for a person, without approvals. */
  readonly webRead: (args: WebReadArgs, signal: AbortSignal) => Promise<Result<Shown<WebReadData>>>;
  readonly verifyQuote: (
    args: VerifyQuoteArgs,
    signal: AbortSignal,
  ) => Promise<Result<Shown<VerifyQuoteData>>>;
  /** `web_search` for a person. The arguments are not checked yet. */
  readonly webSearch: (args: object, signal: AbortSignal) => Promise<Result<Shown<WebSearchData>>>;
  /** What a sitemap, or the sitemaps of a `robots.txt`, list of their site. */
  readonly sitemap: (url: string, signal: AbortSignal) => AsyncGenerator<SitemapEntry>;
  readonly close: () => Promise<void>;
}

export interface PageReaderDeps {
  readonly environment: Environment;
  readonly log: Log;
  /**
   * For addresses that a stranger chooses: the only hosts at which `allow_private` and credentials hold. Default: they
   * hold as they are configured.
   */
  readonly ownHosts?: readonly string[];
}

const NO_ENGINE =
  'No search engine is configured. Name one below [[tools.websearch.engines]]; docs/search.md shows how.';

/** Throws `ConfigError` where the configuration cannot be used. */
export function openPageReader(
  resolved: ResolvedConfig,
  {environment, log, ownHosts}: PageReaderDeps,
): PageReader {
  const {config, warnings} = resolved;
  const {webread, websearch} = config.tools;
  const {webfetch, without} =
    ownHosts === undefined
      ? {webfetch: config.tools.webfetch, without: []}
      : withRightsAt(ownHosts, config.tools.webfetch);
  const stopped = stoppedByMode(resolved, {configFile: resolved.configFile, hasGroupsFlag: false});
  const hub = lazyHub(config.tools.hub, {env: environment.env, clock: systemClock, log});
  const web = openWeb(webfetch, webread, {
    replicas: hub.replicas,
    log,
    clock: systemClock,
    env: environment.env,
    ownsProcess: environment.ownsProcess,
    configFile: resolved.configFile,
    resolver: undefined,
    certificateAuthorities: [],
    reads: readableMedia(webread),
    searching: websearch,
    untrustedTrees: startedIn(environment),
  });
  if (!web.ok) throw new ConfigError(web.error);
  const idle = without.map(
    host =>
      `"${host}" has no table in tools.webfetch.allow_private and no credential, so naming it opens nothing.`,
  );
  for (const message of [...warnings, ...web.value.warnings, ...idle]) {
    log({level: 'warn', event: 'config_warning', message});
  }
  const read = async (
    args: WebFetchArgs,
    signal: AbortSignal,
    maxBytes: number,
  ): Promise<Result<ReadPage>> => {
    if (stopped !== undefined) return stopped;
    const request = parseWebFetchArgs(args, webfetch.default_max_chunk_tokens);
    if (!request.ok) return request;
    const outcome = await web.value.fetch(request.value, {maxBytes, signal});
    if (!outcome.ok) return outcome;
    const {response, page} = outcome.value;
    return ok({response, markdown: page.markdown});
  };
  const webRead: PageReader['webRead'] = async (args, signal) => {
    if (stopped !== undefined) return stopped;
    const params = webReadSchema.parse(args);
    if (!params.ok) return badArgs(WEB_READ, params.error);
    const data = await readFitting(web.value, params.value, Number.POSITIVE_INFINITY, {signal});
    return data.ok ? ok({data: data.value, text: renderWebRead(data.value)}) : data;
  };
  const verifyQuote: PageReader['verifyQuote'] = async (args, signal) => {
    if (stopped !== undefined) return stopped;
    const params = verifyQuoteSchema.parse(args);
    if (!params.ok) return badArgs(VERIFY_QUOTE, params.error);
    const data = await verifyQuotes(web.value, params.value, {signal});
    return data.ok ? ok({data: data.value, text: renderVerifyQuote(data.value)}) : data;
  };
  const webSearch: PageReader['webSearch'] = async (args, signal) => {
    if (stopped !== undefined) return stopped;
    if (websearch.engines.length === 0) return fail('tool_disabled', NO_ENGINE);
    const params = webSearchSchema.parse(args);
    if (!params.ok) return badArgs(WEB_SEARCH, params.error);
    const anywhere = {signal, mayReach: () => ({allowed: true}) as const};
    const data = await searchAndRead(web.value, params.value, Number.POSITIVE_INFINITY, anywhere);
    return data.ok ? ok({data: data.value, text: renderSearch(data.value)}) : data;
  };
  return {
    read: (args, signal, maxBytes = Number.POSITIVE_INFINITY) =>
      read(args, signal, maxBytes).catch(internalFailure),
    webRead: (args, signal) => webRead(args, signal).catch(internalFailure),
    webSearch: (args, signal) => webSearch(args, signal).catch(internalFailure),
    verifyQuote: (args, signal) => verifyQuote(args, signal).catch(internalFailure),
    async outline(markdown) {
      const [{outlineMarkdown}, {countTokens}] = await Promise.all([
        import('../web/read/outline.ts'),
        import('../web/tokens/count-tokens.ts'),
      ]);
      return outlineMarkdown(markdown, countTokens);
    },
    sitemap: (url, signal) =>
      readSitemaps(url, async file => {
        if (stopped !== undefined) return stopped;
        return web.value.file(file, {maxBytes: MOST_SITEMAP_BYTES, signal}).catch(internalFailure);
      }),
    close: async () => {
      await web.value.close();
      await hub.close();
    },
  };
}

/** The settings with the openings and credentials of these hosts and of no others, and which of them have neither. */
export function withRightsAt(
  hosts: readonly string[],
  webfetch: WebFetchOptions,
): {readonly webfetch: WebFetchOptions; readonly without: readonly string[]} {
  const named = new Set(hosts.map(hostName));
  if (named.has(undefined))
    throw new ConfigError([`Expected hosts such as "wiki.example.com", got "${hosts.join(',')}".`]);
  const used = new Set<string | undefined>();
  const isNamed = (host: string | undefined): boolean => {
    const name = host === undefined ? undefined : hostName(host);
    if (named.has(name)) used.add(name);
    return named.has(name);
  };
  const rights = {
    allow_private: webfetch.allow_private.filter(({host}) => isNamed(host)),
    credentials: webfetch.credentials.filter(entry => {
      const origin = credentialOrigin(entry);
      return isNamed(origin && new URL(origin).hostname);
    }),
  };
  return {webfetch: {...webfetch, ...rights}, without: hosts.filter(host => !used.has(hostName(host)))};
}

function badArgs(tool: string, {field, reason, all}: SchemaProblem): Err<Failure> {
  return fail('bad_args', `Invalid argument "${field}" of ${tool}: ${reason}.`, {
    field,
    reason,
    validation: all,
  });
}
