import type {IncomingMessage, ServerResponse} from 'node:http';
import {monitorEventLoopDelay} from 'node:perf_hooks';
import {onTestFinished} from 'vitest';
import {systemClock} from '../../src/core/clock.ts';
import type {HubSettings} from '../../src/hub/options.ts';
import {createToolbox, type Toolbox} from '../../src/index.ts';
import {startHttpServer} from './http-server.ts';
import {temporaryDirectory} from './temporary-directory.ts';

interface Seen {
  readonly host: string;
  readonly path: string;
  readonly start: number;
  end: number;
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** An origin that has every name, and writes down when each request came and when its answer was out. */
export async function startOrigin(answer: Answer = page, afterMs = 20) {
  const seen: Seen[] = [];
  const server = await startHttpServer({
    '*': (request, response) => {
      const {headers, url = '/'} = request;
      const one = {
        host: headers.host?.split(':')[0] ?? '',
        path: url,
        start: performance.now(),
        end: Infinity,
      };
      seen.push(one);
      response.once('close', () => {
        one.end = performance.now();
      });
      if (url === '/robots.txt') response.writeHead(200, {'Content-Type': 'text/plain'}).end(ROBOTS);
      else setTimeout(() => answer(request, response), afterMs);
    },
  });
  onTestFinished(() => server.close());
  const busy = monitorEventLoopDelay({resolution: 1});
  busy.enable();
  onTestFinished(() => void busy.disable());
  return {
    port: server.port,
    seen,
    pages: () => seen.filter(({path}) => path !== '/robots.txt'),
    robots: () => seen.filter(({path}) => path === '/robots.txt'),
    url: (path: string, host = 'one.test') => `http://${host}:${server.port}${path}`,
    /**
     * The shortest time between two requests to one host, in milliseconds. Requests are seen late where this process
     * is busy, so the longest time for which it was counts as part of the gap.
     */
    shortestGap: (): number => {
      const gaps = [...byHost(seen).values()].flatMap(requests =>
        requests.slice(1).map(({start}, index) => start - (requests[index]?.start ?? 0)),
      );
      return Math.min(...gaps) + busy.max / 1e6;
    },
    /** The most requests that one host had open at once. */
    mostAtOnce: (): number => {
      const counts = [...byHost(seen).values()].flatMap(requests =>
        requests.map(({start}) => requests.filter(other => other.start <= start && other.end > start).length),
      );
      return Math.max(...counts);
    },
  };
}

const ROBOTS = 'User-agent: *\nDisallow: /private\n';

function page({url}: IncomingMessage, response: ServerResponse): void {
  response
    .writeHead(200, {'Content-Type': 'text/html; charset=utf-8'})
    .end(`<!DOCTYPE html><html lang="en"><title>Page</title><p>The text of ${url}.</p></html>`);
}

function byHost(seen: readonly Seen[]): ReadonlyMap<string, readonly Seen[]> {
  const hosts = new Map<string, Seen[]>();
  for (const one of seen) hosts.set(one.host, [...(hosts.get(one.host) ?? []), one]);
  return hosts;
}

export interface ReplicaOptions extends Partial<HubSettings> {
  readonly port: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly cacheDir?: string;
  readonly timeoutSeconds?: number;
  readonly ttlDays?: number;
  /** What every name resolves to. */
  readonly address?: string;
  readonly authority?: string;
  readonly credentials?: readonly {readonly host: string; readonly header: string; readonly env: string}[];
  /** Opens `localhost` on `port`, and lets nothing else of loopback through. */
  readonly opensLocalhost?: boolean;
  readonly clock?: typeof systemClock;
  readonly log?: (line: unknown) => void;
}

/** A toolbox that is one of several. */
export function openReplica(options: ReplicaOptions): Toolbox {
  const {
    port,
    env = {},
    cacheDir = temporaryDirectory(),
    timeoutSeconds = 20,
    ttlDays = 7,
    address = '127.0.0.1',
    authority,
    credentials = [],
    opensLocalhost = false,
    clock,
    log,
    ...hub
  } = options;
  const toolbox = createToolbox({
    resolver: {resolve: async () => [address]},
    clock: clock ?? systemClock,
    certificateAuthorities: authority === undefined ? [] : [authority],
    log: event => log?.(event),
    environment: {env, cwd: '/', tempDir: '/tmp', homeDir: '/tmp'},
    config: {
      tools: {
        mode: 'enabled',
        hub: {budget_ms: 10_000, ...hub},
        webfetch: {
          enabled: true,
          cache_dir: cacheDir,
          cache_ttl_days: ttlDays,
          timeout_seconds: timeoutSeconds,
          browser: {enabled: false},
          credentials: credentials.map(credential => ({...credential, prefix: '', file: ''})),
          allow_private: opensLocalhost ? [{host: 'localhost', cidr: '127.0.0.0/8', ports: [port]}] : [],
          security: {block_loopback: opensLocalhost, allow_insecure_overrides: true, allowed_ports: [port]},
        },
      },
    },
  });
  onTestFinished(() => toolbox.close());
  return toolbox;
}
