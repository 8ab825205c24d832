import {ConfigError} from '../config/config-error.ts';
import type {Environment} from '../config/environment.ts';
import type {ResolvedConfig} from '../config/resolve/resolve-config.ts';
import {systemClock} from '../core/clock.ts';
import {fail} from '../core/failure/fail.ts';
import type {Failure} from '../core/failure/failure.ts';
import {internalFailure} from '../core/failure/internal-failure.ts';
import type {Log} from '../core/log.ts';
import {type Err, ok, type Result} from '../core/result.ts';
import type {SchemaProblem} from '../core/tool.ts';
import {
  VERIFY_QUOTE,
  type VerifyQuoteArgs,
  verifyQuoteSchema,
  verifyQuotes,
} from '../tools/web/verify-quote.ts';
import type {VerifyQuoteData} from '../tools/web/verify-quote-data.ts';
import {renderVerifyQuote} from '../tools/web/verify-quote-text.ts';
import {parseWebFetchArgs, type WebFetchArgs} from '../tools/web/web-fetch.ts';
import {readFitting, WEB_READ, webReadSchema} from '../tools/web/web-read.ts';
import type {WebReadData} from '../tools/web/web-read-data.ts';
import type {WebReadArgs} from '../tools/web/web-read-params.ts';
import {renderWebRead} from '../tools/web/web-read-text.ts';
import type {Outline, OutlineSection} from '../web/chunk/outline-markdown.ts';
import {openWeb} from '../web/open-web.ts';
import type {FetchResponse} from '../web/page.ts';
import {readableMedia} from '../web/read/options.ts';
import {MOST_SITEMAP_BYTES, readSitemaps, type SitemapEntry} from './crawl/read-sitemaps.ts';
import {lazyHub} from './lazy-hub.ts';
import {startedIn} from './started-in.ts';
import {stoppedByMode} from './stopped-by-mode.ts';

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
  /** What a sitemap, or the sitemaps of a `robots.txt`, list of their site. */
  readonly sitemap: (url: string, signal: AbortSignal) => AsyncGenerator<SitemapEntry>;
  readonly close: () => Promise<void>;
}

/** Throws `ConfigError` where the configuration cannot be used. */
export function openPageReader(
  resolved: ResolvedConfig,
  {environment, log}: {readonly environment: Environment; readonly log: Log},
): PageReader {
  const {config, warnings} = resolved;
  const {webfetch, webread} = config.tools;
  const stopped = stoppedByMode(resolved);
  const hub = lazyHub(config.tools.hub, {env: environment.env, clock: systemClock, log});
  const web = openWeb(webfetch, webread, {
    replicas: hub.replicas,
    log,
    clock: systemClock,
    env: environment.env,
    ownsProcess: environment.ownsProcess,
    resolver: undefined,
    certificateAuthorities: [],
    reads: readableMedia(config.tools.webread),
    untrustedTrees: startedIn(environment),
  });
  if (!web.ok) throw new ConfigError(web.error);
  for (const message of [...warnings, ...web.value.warnings]) {
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
    const {response, markdown} = outcome.value;
    return ok({response, markdown});
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
  return {
    read: (args, signal, maxBytes = Number.POSITIVE_INFINITY) =>
      read(args, signal, maxBytes).catch(internalFailure),
    webRead: (args, signal) => webRead(args, signal).catch(internalFailure),
    verifyQuote: (args, signal) => verifyQuote(args, signal).catch(internalFailure),
    async outline(markdown) {
      const [{outlineMarkdown}, {countTokens}] = await Promise.all([
        import('../web/chunk/outline-markdown.ts'),
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

function badArgs(tool: string, {field, reason, all}: SchemaProblem): Err<Failure> {
  return fail('bad_args', `Invalid argument "${field}" of ${tool}: ${reason}.`, {
    field,
    reason,
    validation: all,
  });
}
