// Serves the page of a run on loopback, and follows the run in it.
import {timingSafeEqual} from 'node:crypto';
import {createServer, type IncomingMessage, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {type Clock, randomHex} from '../core/clock.ts';
import {fail, ok, type Result} from '../core/result.ts';
import {embedJson, type SafeHtml} from './markup.ts';
import {netChanges} from './net-changes.ts';
import {renderCallLine, renderIncidentLine} from './render-line.ts';
import {
  contentSecurityPolicy,
  loadAssets,
  type PageHead,
  renderChangesLine,
  renderPage,
} from './render-page.ts';
import {RunReader} from './run-reader.ts';

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

/** How often the log is looked at. */
const INTERVAL_MS = 300;
const MOST_CHARACTERS = 24_000_000;
/** How long a run will be is not known, so a call gets so much of what is left. */
const PART = 1 / 100;

/** A line of the page's data that is new or has changed. Versions count up. */
export interface Change {
  readonly version: number;
  readonly line: SafeHtml;
}

export interface RunFollower {
  readonly head: () => PageHead;
  /** Hands on every line that changed after `version`, and then each that does. Returns how to leave. */
  readonly subscribe: (version: number, onChange: (change: Change) => void) => () => void;
  readonly close: () => void;
}

/** Reads a run again and again, and keeps the latest line of everything in it. */
export async function followRun(path: string, clock: Clock): Promise<Result<RunFollower>> {
  const reader = new RunReader(path);
  const first = await reader.readOn();
  if (!first.ok) return first;
  const latest = new Map<string, Change>();
  const subscribers = new Set<(change: Change) => void>();
  let version = 0;
  let characters = 0;
  let incidents = 0;
  let head = await reader.head([]);
  let closed = false;
  let cancel = (): void => {};

  await publishNew();
  schedule();
  return ok({
    head: () => head,
    subscribe: (from, onChange) => {
      const missed = [...latest.values()].filter(change => change.version > from);
      for (const change of missed.sort((one, other) => one.version - other.version)) onChange(change);
      subscribers.add(onChange);
      return () => subscribers.delete(onChange);
    },
    close: () => {
      closed = true;
      cancel();
    },
  });

  function schedule(): void {
    if (!closed) cancel = clock.after(INTERVAL_MS, () => void look());
  }

  async function look(): Promise<void> {
    const read = await reader.readOn();
    const problem = read.ok ? [] : [read.error.message];
    await publishNew();
    const now = await reader.head(problem);
    if (JSON.stringify(now) !== JSON.stringify(head)) {
      head = now;
      publish('head', embedJson({head}));
    }
    schedule();
  }

  async function publishNew(): Promise<void> {
    const {history} = reader;
    for (const [index, entry] of [...history.entries].entries()) {
      if (index < incidents) continue;
      incidents = index + 1;
      if (!('step' in entry)) publish(`incident ${index}`, renderIncidentLine(entry, index).line);
    }
    let isChanged = false;
    for (const step of history.takeChanged()) {
      const call = history.calls.get(step);
      if (call === undefined) continue;
      isChanged ||= call.artifacts.some(({path}) => path.endsWith('.undo.json'));
      const {line} = await renderCallLine(path, call, Math.max(0, MOST_CHARACTERS - characters) * PART);
      publish(`call ${step}`, line);
    }
    if (isChanged) publish('net', renderChangesLine(await netChanges(path, history.calls.values())));
  }

  function publish(key: string, line: SafeHtml): void {
    characters += line.length - (latest.get(key)?.line.length ?? 0);
    version += 1;
    const change = {version, line};
    latest.set(key, change);
    for (const subscriber of subscribers) subscriber(change);
  }
}
