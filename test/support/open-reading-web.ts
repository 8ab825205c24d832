import {onTestFinished} from 'vitest';
import {systemClock} from '../../src/core/clock.ts';
import type {Result} from '../../src/core/result.ts';
import {createToolbox} from '../../src/index.ts';
import {openWeb} from '../../src/web/open-web.ts';
import {EXTRA_MEDIA, type ExtraMedia} from '../../src/web/page.ts';
import type {ReadOutcome, ReadRequest} from '../../src/web/read-page.ts';
import type {PathHandler} from './http-server.ts';
import {servePages} from './serve-pages.ts';
import {temporaryDirectory} from './temporary-directory.ts';

interface Fixture {
  readonly reads?: readonly ExtraMedia[];
  readonly cacheDir?: string;
  readonly ttlDays?: number;
  readonly userAgent?: string;
  readonly timeoutSeconds?: number;
  readonly maxDownloadBytes?: number;
}

const DAY_MS = 86_400_000;

/** Pages on loopback, and readers of them whose day can be moved; all closed when the test is over. */
export async function openReadingWeb(pages: Readonly<Record<string, PathHandler>>) {
  const server = await servePages(pages);
  const cacheDir = temporaryDirectory();
  let days = 0;
  const clock = {...systemClock, now: () => systemClock.now() + days * DAY_MS};
  const open = (fixture: Fixture = {}) => {
    const {config} = createToolbox({
      config: {
        tools: {
          webfetch: {
            cache_dir: fixture.cacheDir ?? cacheDir,
            cache_ttl_days: fixture.ttlDays ?? 7,
            timeout_seconds: fixture.timeoutSeconds ?? 20,
            ...(fixture.userAgent !== undefined && {user_agent: fixture.userAgent}),
            ...(fixture.maxDownloadBytes !== undefined && {max_download_bytes: fixture.maxDownloadBytes}),
            browser: {chromium_path: '/nonexistent/chromium'},
            security: {block_loopback: false, allow_insecure_overrides: true, allowed_ports: [server.port]},
          },
        },
      },
    });
    const web = openWeb(config.tools.webfetch, config.tools.webread, {
      log: () => {},
      clock,
      env: {},
      resolver: {resolve: async () => ['127.0.0.1']},
      certificateAuthorities: [],
      untrustedTrees: [],
      reads: new Set(fixture.reads ?? EXTRA_MEDIA),
    });
    if (!web.ok) throw new Error(web.error.join());
    onTestFinished(() => web.value.close());
    const read = (path: string, request: Partial<ReadRequest> = {}): Promise<Result<ReadOutcome>> =>
      web.value.read(
        {
          url: `${server.origin}${path}`,
          snapshot: undefined,
          since: undefined,
          max_age: undefined,
          no_cache: false,
          force_browser: false,
          ask: {kind: 'overview'},
          maxTokens: 8000,
          links: 'keep',
          ...request,
        },
        {signal: undefined},
      );
    const fetch = (path: string) =>
      web.value.fetch(
        {url: `${server.origin}${path}`, max_chunk_tokens: 600, no_cache: false, force_browser: false},
        {maxBytes: 1_000_000, signal: undefined},
      );
    /** The whole text of a page; a failure is its code. */
    const textOf = async (path: string, request: Partial<ReadRequest> = {}): Promise<string> => {
      const outcome = await read(path, request);
      return outcome.ok ? outcome.value.page.markdown : outcome.error.code;
    };
    return {read, fetch, textOf, quote: web.value.quote};
  };
  return {
    server,
    cacheDir,
    open,
    /** Requests but for robots.txt. */
    asked: () => server.requests.filter(line => !line.endsWith('robots.txt')),
    passDays: (count: number) => {
      days += count;
    },
  };
}
