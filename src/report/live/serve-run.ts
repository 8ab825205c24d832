import {timingSafeEqual} from 'node:crypto';
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import type {Clock} from '../../core/clock.ts';
import {fail} from '../../core/failure/fail.ts';
import {randomHex} from '../../core/random.ts';
import {ok, type Result} from '../../core/result.ts';
import {contentSecurityPolicy, loadAssets, renderPage} from '../render-page.ts';
import {followRun, type RunFollower} from './follow-run.ts';

export interface FollowedRun {
  readonly path: string;
  /** `http://127.0.0.1:PORT/TOKEN/` */
  readonly url: string;
  readonly close: () => Promise<void>;
}

const MOST_CONNECTIONS = 32;

/**
 * A page of a run that follows it. On loopback, at a path that nobody can guess, under no other host name
 * (DNS rebinding), only to be read.
 */
export async function serveRun(path: string, clock: Clock): Promise<Result<FollowedRun>> {
  const assets = await loadAssets();
  const opened = await followRun(path, clock);
  if (!opened.ok) return opened;
  const follower = opened.value;
  const root = `/${randomHex(24)}/`;
  let host = '';
  const server = createServer(
    {maxHeaderSize: 16_384, headersTimeout: 10_000, connectionsCheckingInterval: 1000},
    (request, response) => {
      if (!isForUs(request, host, root)) return refuse(response, 404);
      if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(response, 405);
      const name = (request.url ?? '').slice(root.length);
      if (name === 'events') return stream(request, response, follower);
      if (name !== '') return refuse(response, 404);
      response.writeHead(200, {
        ...HEADERS,
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': `${contentSecurityPolicy(assets, true)}; frame-ancestors 'none'`,
      });
      response.end(request.method === 'HEAD' ? undefined : renderPage(follower.head(), [], assets, true));
    },
  );
  server.maxConnections = MOST_CONNECTIONS;
  const port = await new Promise<Result<number>>(resolve => {
    // A promise settles once, so a connection that the system cannot take later on ends nothing.
    server.on('error', error => {
      resolve(fail('io_error', `Cannot listen on 127.0.0.1 (${error.message}).`, {operation: 'listen'}));
    });
    server.listen(0, '127.0.0.1', () => resolve(ok((server.address() as AddressInfo).port)));
  });
  if (!port.ok) {
    follower.close();
    return port;
  }
  host = `127.0.0.1:${port.value}`;
  return ok({
    path,
    url: `http://${host}${root}`,
    close: async () => {
      follower.close();
      const closed = new Promise(resolve => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  });
}

const HEADERS = {
  'cache-control': 'no-store',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;

function isForUs({headers, url = ''}: IncomingMessage, host: string, root: string): boolean {
  if (headers.host !== host) return false;
  const given = Buffer.from(url.slice(0, root.length));
  const expected = Buffer.from(root);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function refuse(response: ServerResponse, status: 404 | 405): void {
  response.writeHead(status, {...HEADERS, 'content-type': 'text/plain; charset=utf-8'});
  response.end(status === 404 ? 'Not found.\n' : 'Only GET.\n');
}

/** Everything so far, or what followed `Last-Event-ID`, and then what comes. */
function stream(request: IncomingMessage, response: ServerResponse, follower: RunFollower): void {
  response.writeHead(200, {...HEADERS, 'content-type': 'text/event-stream; charset=utf-8'});
  const last = Number(request.headers['last-event-id'] ?? 0);
  const leave = follower.subscribe(Number.isSafeInteger(last) ? last : 0, ({version, line}) => {
    // A reader who takes nothing gets nothing more; its browser comes back for the rest.
    if (response.writableLength > MOST_WAITING) response.destroy();
    else response.write(`id: ${version}\ndata: ${line}\n\n`);
  });
  response.once('close', leave);
}

const MOST_WAITING = 64 * 1024 * 1024;
