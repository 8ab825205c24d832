import {onTestFinished} from 'vitest';
import {startHttpServer} from './http-server.ts';

interface Request {
  readonly url: string;
  readonly start: number;
  end: number;
}

/** What held at the origin. */
export interface AtOrigin {
  /** Most requests that a host had open at once. */
  readonly most: number;
  /** Shortest time between the starts of two requests to a host. */
  readonly gap: number;
  /** The two that it lies between, and how long the first of them took, in milliseconds. */
  readonly closest: string;
  /** Requests for pages, and different pages among them. */
  readonly pages: number;
  readonly distinct: number;
  /** Most requests for one page. */
  readonly repeated: number;
  /** Requests for robots.txt, and the most of them that a host had. */
  readonly robots: number;
  readonly mostRobots: number;
}

export interface RecordingOrigin {
  readonly port: number;
  readonly pages: () => number;
  /** Of all hosts, or of those that are named. */
  readonly checkVisits: (hosts?: readonly string[]) => AtOrigin;
}

/** An origin on every address of loopback, which writes down when each request came and when its answer was out. */
export async function startRecordingOrigin(): Promise<RecordingOrigin> {
  const requests = new Map<string, Request[]>();
  const robots = new Map<string, number>();
  let pages = 0;
  const hostOf = (header: string | undefined): string => header?.split(':')[0] ?? '';
  const server = await startHttpServer(
    {
      '/robots.txt': (request, response) => {
        const host = hostOf(request.headers.host);
        robots.set(host, (robots.get(host) ?? 0) + 1);
        response.writeHead(404).end();
      },
      '*': (request, response) => {
        const host = hostOf(request.headers.host);
        const seen: Request = {
          url: `http://${request.headers.host}${request.url}`,
          start: performance.now(),
          end: Number.POSITIVE_INFINITY,
        };
        pages += 1;
        const ofHost = requests.get(host) ?? [];
        requests.set(host, ofHost);
        ofHost.push(seen);
        response.on('close', () => {
          seen.end = performance.now();
        });
        response.writeHead(200, {'Content-Type': 'text/plain'}).end(`Page ${request.url}`);
      },
    },
    {address: '0.0.0.0'},
  );
  onTestFinished(() => server.close());
  return {
    port: server.port,
    pages: () => pages,
    checkVisits: (hosts = [...requests.keys()]) =>
      checkVisits(
        hosts.map(host => requests.get(host) ?? []),
        hosts,
        robots,
      ),
  };
}

function checkVisits(
  all: readonly (readonly Request[])[],
  hosts: readonly string[],
  robots: ReadonlyMap<string, number>,
): AtOrigin {
  let most = 0;
  let gap = Number.POSITIVE_INFINITY;
  let closest = '';
  let pages = 0;
  const times = new Map<string, number>();
  for (const ofHost of all) {
    const ordered = [...ofHost].sort((a, b) => a.start - b.start);
    pages += ordered.length;
    for (const [at, request] of ordered.entries()) {
      times.set(request.url, (times.get(request.url) ?? 0) + 1);
      const open = ordered.filter(({start, end}) => start <= request.start && end > request.start);
      most = Math.max(most, open.length);
      const before = ordered[at - 1];
      if (before && request.start - before.start < gap) {
        gap = request.start - before.start;
        closest = `${request.url} ${gap} ms after ${before.url}, which took ${before.end - before.start} ms`;
      }
    }
  }
  const asked = hosts.map(host => robots.get(host) ?? 0);
  return {
    most,
    gap,
    closest,
    pages,
    distinct: times.size,
    repeated: Math.max(0, ...times.values()),
    robots: asked.reduce((sum, count) => sum + count, 0),
    mostRobots: Math.max(0, ...asked),
  };
}
