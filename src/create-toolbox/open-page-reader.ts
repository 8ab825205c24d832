import {ConfigError} from '../config/config-error.ts';
import type {Environment} from '../config/environment.ts';
import type {ResolvedConfig} from '../config/resolve-config.ts';
import {systemClock} from '../core/clock.ts';
import type {Log} from '../core/log.ts';
import {ok, type Result} from '../core/result.ts';
import {parseWebFetchArgs, type WebFetchArgs} from '../tools/web-fetch.ts';
import type {Outline, OutlineSection} from '../web/chunk/outline-markdown.ts';
import {openWeb} from '../web/open-web.ts';
import type {FetchResponse} from '../web/page.ts';
import {internalFailure} from './internal-failure.ts';

export type {Outline, OutlineSection};

export interface ReadPage {
  /** Nothing of it is cut for size. */
  readonly response: FetchResponse;
  /** The whole document, of which the chunks are pieces. */
  readonly markdown: string;
}

/** `web_fetch` for a person, who wants pages whole: the same pipeline without the limit of a model's context. */
export interface PageReader {
  /** Never rejects. */
  readonly read: (args: WebFetchArgs, signal: AbortSignal) => Promise<Result<ReadPage>>;
  /** The headings of a document with the exact tokens of their sections. */
  readonly outline: (markdown: string) => Promise<Outline>;
  readonly close: () => Promise<void>;
}

/** Throws `ConfigError` where the configuration cannot be used. */
export function openPageReader(
  {config, warnings}: ResolvedConfig,
  {environment, log}: {readonly environment: Environment; readonly log: Log},
): PageReader {
  const {webfetch} = config.tools;
  const web = openWeb(webfetch, {
    log,
    clock: systemClock,
    env: environment.env,
    resolver: undefined,
    certificateAuthorities: [],
  });
  if (!web.ok) throw new ConfigError(web.error);
  for (const message of [...warnings, ...web.value.warnings]) {
    log({level: 'warn', event: 'config_warning', message});
  }
  const read = async (args: WebFetchArgs, signal: AbortSignal): Promise<Result<ReadPage>> => {
    const request = parseWebFetchArgs(args, webfetch.default_max_chunk_tokens);
    if (!request.ok) return request;
    const outcome = await web.value.fetch(request.value, {maxBytes: Number.POSITIVE_INFINITY, signal});
    if (!outcome.ok) return outcome;
    const {response, markdown} = outcome.value;
    return ok({response, markdown});
  };
  return {
    read: (args, signal) => read(args, signal).catch(internalFailure),
    async outline(markdown) {
      const [{outlineMarkdown}, {countTokens}] = await Promise.all([
        import('../web/chunk/outline-markdown.ts'),
        import('../web/tokens/count-tokens.ts'),
      ]);
      return outlineMarkdown(markdown, countTokens);
    },
    close: web.value.close,
  };
}
