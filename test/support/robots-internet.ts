import {onTestFinished} from 'vitest';
import type {Deadline} from '../../src/core/deadline.ts';
import type {LogEvent} from '../../src/core/log.ts';
import {type Failure, fail, ok, type Result} from '../../src/core/result.ts';
import type {WebFetchOptions} from '../../src/web/options.ts';
import type {CheckedUrl, HttpResponse, WebUrl} from '../../src/web/page.ts';
import {createRobotsAccess} from '../../src/web/robots/access.ts';
import {parseUrl} from '../../src/web/url.ts';
import {type PathHandler, startHttpServer, type TestHttpServer} from './http-server.ts';
import {createManualClock} from './manual-clock.ts';

export type Handlers = Readonly<Record<string, PathHandler>>;

export const say =
  (body: string | Uint8Array, status = 200): PathHandler =>
  (_, response) =>
    response.writeHead(status).end(body);
export const redirect =
  (location: string, status = 301): PathHandler =>
  (_, response) =>
    response.writeHead(status, {location}).end();
export const file = (handler: PathHandler): Handlers => ({'/robots.txt': handler});

export function web(text: string): WebUrl {
  const url = parseUrl(text);
  if (!url.ok) throw new TypeError(url.error.message);
  return url.value;
}

interface Overrides {
  readonly fail_open?: boolean;
  readonly max_robots_bytes?: number;
  readonly cross_origin_redirects?: 'deny' | 'same_site' | 'follow';
  readonly entries?: number;
  /** What the rules of a call refuse, when its request is about to be made. */
  readonly refused?: (call: string) => Promise<Failure | undefined>;
}

interface Call {
  readonly method: 'http';
  readonly call: string;
}

/** A small internet: origin → a real server on loopback. What is not in it does not resolve. */
export async function robotsInternet(
  sites: Readonly<Record<string, Handlers | Failure>>,
  overrides: Overrides = {},
) {
  const {
    entries = 10,
    fail_open = false,
    max_robots_bytes = 524_288,
    cross_origin_redirects = 'deny',
    refused = async () => undefined,
  } = overrides;
  const clock = createManualClock();
  const servers = new Map<string, TestHttpServer>();
  const refusals = new Map<string, Failure>();
  for (const [origin, site] of Object.entries(sites)) {
    if ('code' in site) refusals.set(origin, site as Failure);
    else servers.set(origin, await startHttpServer(site));
  }
  onTestFinished(async () => {
    for (const server of servers.values()) await server.close();
  });
  const log: LogEvent[] = [];
  const calls: unknown[] = [];

  async function openHop(url: WebUrl, {call}: Call, budget: Deadline): Promise<Result<HttpResponse>> {
    calls.push(call);
    const refusal = refusals.get(url.origin) ?? (await refused(call));
    if (refusal) return {ok: false, error: refusal};
    const server = servers.get(url.origin);
    if (!server) return fail('dns_failed', 'no such name', {host: url.host, error: 'ENOTFOUND'});
    try {
      const {signal} = budget;
      const response = await fetch(server.origin + url.pathAndQuery, {redirect: 'manual', signal});
      return ok(readable(response));
    } catch {
      return budget.spent ? budget.failure() : fail('network', 'broken', {error: 'econnreset'});
    }
  }

  const access = createRobotsAccess<Call>({
    options: {
      timeout_seconds: 20,
      user_agent: 'forge-webfetch/1.0',
      max_redirects: 3,
      robots_cache_entries: entries,
      robots_cache_ttl_hours: 24,
      robots: {fail_open, user_agent_token: '', max_robots_bytes, cross_origin_redirects},
    } as WebFetchOptions,
    clock,
    log: event => log.push(event),
    openHop,
  });
  return {
    clock,
    log,
    calls,
    requests: (origin: string) => servers.get(origin)?.requests ?? [],
    check: (url: string, signal?: AbortSignal, call = 'pins') =>
      access.check({url: web(url)} as CheckedUrl, {method: 'http', call}, signal),
  };
}

function readable(response: Response): HttpResponse {
  const {status, statusText} = response;
  const location = response.headers.get('location');
  const whole = async (): Promise<Result<Uint8Array>> => {
    try {
      return ok(new Uint8Array(await response.arrayBuffer()));
    } catch {
      return fail('network', 'The body ended early.', {error: 'truncated'});
    }
  };
  return {
    status,
    statusText,
    headers: new Map(location === null ? [] : [['location', [location]]]),
    read: whole,
    readPrefix: async maxBytes => {
      const body = await whole();
      return body.ok
        ? ok({bytes: body.value.subarray(0, maxBytes), cut: body.value.length > maxBytes})
        : body;
    },
    discard: () => void response.body?.cancel().catch(() => {}),
  };
}

export const SITE = 'http://site.test';
