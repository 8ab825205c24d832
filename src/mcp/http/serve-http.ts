// Serves MCP over streamable HTTP to those who hold the bearer token.
import {createServer, type IncomingMessage, type Server, type ServerResponse} from 'node:http';
import type {AddressInfo} from 'node:net';
import {getHeapStatistics} from 'node:v8';
import {createMcpHandler, isLegacyRequest, validateHostHeader} from '@modelcontextprotocol/server';
import {type Clock, randomHex, systemClock} from '../../core/clock.ts';
import type {Log} from '../../core/log.ts';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import {errorReason} from '../../system/errors.ts';
import type {McpService} from '../create-mcp-service.ts';
import type {CallMetrics} from '../metrics.ts';
import {logProblem} from '../options.ts';
import {type AccessRules, ConnectionPlaces, checkRequest, isBearerToken, writeTokenFile} from './access.ts';
import {BodyBudget, readJsonBody, sendRefusal, sendResponse} from './exchange.ts';
import {LegacySessions} from './legacy-sessions.ts';
import {ReplicaState} from './replica-state.ts';

/** How the service is reached over HTTP, and by whom. */
export interface HttpOptions {
  /** Address or name to bind to. Default: 127.0.0.1. Any other than loopback needs `token`. */
  readonly host?: string;
  /** Default: 0, a free one. */
  readonly port?: number;
  /** At least 32 characters. Default: a random one, in `tokenFile`. */
  readonly token?: string;
  /** Gets the token, mode 0600; removed when the service is closed. */
  readonly tokenFile?: string;
  /** Names without port by which clients may call us, beside the loopback ones and `host`. */
  readonly allowedHosts?: readonly string[];
  /** Hosts of web pages that may call us, beside loopback ones. Other programs send no `Origin`. */
  readonly allowedOrigins?: readonly string[];
  /** Bytes of a request. Default: 4 MiB. */
  readonly maxBodyBytes?: number;
  /** Bytes of all requests at the same time. Default: 64 MiB, less where the heap of the process is small. */
  readonly maxBodiesBytes?: number;
  /** Requests at the same time, open streams included. Default: 2048. */
  readonly maxConcurrent?: number;
  /** Milliseconds for the headers of a request. Default: 10,000. */
  readonly headersTimeoutMs?: number;
  /** Milliseconds for a whole request. Default: 60,000. */
  readonly requestTimeoutMs?: number;
  /**
   * Milliseconds that calls under way get when the service is closed, while `/readyz` says 503 and further ones are still
   * served. Default: 0.
   */
  readonly drainMs?: number;
  /** What `/metrics` says beside what the service counts itself. Default: nothing. */
  readonly metrics?: CallMetrics;
  /** The time, for tests. Default: that of the system. */
  readonly clock?: Clock;
  /** Takes what goes wrong with requests. Default: nothing is logged. */
  readonly log?: Log;
}

/** A service that listens. */
export interface HttpService {
  /** The address for clients, such as `http://127.0.0.1:8931/mcp`. */
  readonly url: string;
  /** Drains for `drainMs`; then takes no more requests, ends the running calls and every connection. */
  readonly close: () => Promise<void>;
}

const PATH = '/mcp';
const SUBSCRIPTION = 'subscriptions/listen';
/** Connections at the same time that have sent no token within two seconds. */
const MOST_UNPROVEN = 256;
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** Serves Streamable HTTP for both generations of the protocol, to clients that have the bearer token. */
export async function serveHttp(service: McpService, options: HttpOptions): Promise<Result<HttpService>> {
  const {host = '127.0.0.1', port = 0, maxBodyBytes = 4 * 1024 * 1024, maxConcurrent = 2048} = options;
  const {headersTimeoutMs = 10_000, requestTimeoutMs = 60_000, clock = systemClock} = options;
  const problem = unusable(host, options);
  if (problem !== undefined) return problem;
  const token = options.token ?? randomHex(32);
  const accessRules: AccessRules = {
    path: PATH,
    token,
    allowedHosts: [...LOOPBACK, bracketed(host), ...(options.allowedHosts ?? [])],
    allowedOrigins: [...LOOPBACK, ...(options.allowedOrigins ?? [])],
  };
  const onProblem = logProblem(options.log);
  const sessions = new LegacySessions(service.createServer, onProblem);
  const modern = createMcpHandler(service.createServer, {legacy: 'reject', onerror: onProblem});
  // A request is kept here while it is served: its signal dies with it if nobody else holds it.
  const open = new Set<Request>();
  // Of these, the streams that clients keep open for what they may be told: nothing is under way in them.
  const standing = new Set<Request>();
  const bodies = new BodyBudget(options.maxBodiesBytes ?? roomForBodies(maxBodyBytes));

  const server = createServer(
    {
      maxHeaderSize: 16_384,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      // Review R18: Node looks every 30 s by itself.
      connectionsCheckingInterval: Math.min(1000, headersTimeoutMs),
    },
    (incoming, outgoing) => {
      serve(incoming, outgoing).catch((error: unknown) => {
        onProblem(error instanceof Error ? error : new Error(String(error)));
        if (outgoing.headersSent) outgoing.destroy();
        else sendRefusal({status: 500, message: 'Internal error.', code: -32_603}, outgoing);
      });
    },
  );
  const state = new ReplicaState({
    token,
    isOurHost: name => validateHostHeader(name, [...accessRules.allowedHosts]).ok,
    metrics: () => options.metrics?.read() ?? [],
    open: () => open.size,
    underWay: () => open.size - standing.size,
    sessions: () => sessions.size,
    clock,
  });
  const mostAtOnce = MOST_UNPROVEN + maxConcurrent;
  const places = new ConnectionPlaces({most: MOST_UNPROVEN, mostAtOnce}, clock);
  server.on('connection', socket => places.add(socket));
  // Beyond those that get an answer, room for some that are told to try again, and for those without a token.
  server.maxConnections = maxConcurrent + 64 + mostAtOnce;

  const bound = await listen(server, {host, port, onProblem});
  if (!bound.ok) return bound;
  const file = options.tokenFile === undefined ? undefined : await writeTokenFile(options.tokenFile, token);
  if (file?.ok === false) {
    server.close();
    return file;
  }
  return ok({
    url: `http://${bracketed(host)}:${bound.value}${PATH}`,
    close: async () => {
      await state.drain(options.drainMs ?? 0);
      const closed = new Promise(resolve => server.close(resolve));
      await Promise.all([modern.close(), sessions.close(), file?.value.remove()]);
      await service.settled();
      server.closeAllConnections();
      await closed;
    },
  });

  async function serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const asked = state.answer(incoming);
    if (asked !== undefined) {
      outgoing.writeHead(asked.status, {'content-type': asked.type, connection: 'close'});
      outgoing.end(incoming.method === 'HEAD' ? undefined : asked.text);
      return;
    }
    outgoing.once('close', () => state.countAnswer(outgoing.headersSent ? outgoing.statusCode : 499));
    const refusal = checkRequest(incoming, accessRules);
    if (refusal !== undefined) return sendRefusal(refusal, outgoing);
    places.prove(incoming.socket);
    if (open.size >= maxConcurrent) {
      const headers = {'retry-after': '1'};
      return sendRefusal(
        {status: 503, message: 'Too many requests at the same time. Try again.', headers},
        outgoing,
      );
    }
    const controller = new AbortController();
    const request = new Request(`http://${LOOPBACK[0]}${PATH}`, {
      method: incoming.method ?? 'POST',
      headers: webHeaders(incoming),
      signal: controller.signal,
    });
    const share = bodies.share();
    open.add(request);
    // Over, whether the answer was delivered or the client has gone: then its call is cancelled.
    outgoing.once('close', () => {
      open.delete(request);
      standing.delete(request);
      share.giveBack();
      controller.abort();
      state.ended();
    });
    const body = incoming.method === 'POST' ? await readJsonBody(incoming, maxBodyBytes, share) : ok();
    if (!body.ok) return sendRefusal(body.error, outgoing);
    if (isStanding(incoming.method, body.value)) {
      standing.add(request);
      state.ended();
    }
    await sendResponse(await answer(request, body.value), outgoing);
  }

  async function answer(request: Request, body: unknown): Promise<Response> {
    if (await isLegacyRequest(request, body)) return sessions.serve(request, body);
    return modern.fetch(request, {parsedBody: body});
  }
}

/** Of the older revisions a GET, of 2026-07-28 a subscription. */
function isStanding(method: string | undefined, body: unknown): boolean {
  if (method === 'GET') return true;
  return typeof body === 'object' && body !== null && 'method' in body && body.method === SUBSCRIPTION;
}

/** JSON takes up to some thirty times its bytes once it is parsed. One body always has room. */
function roomForBodies(maxBodyBytes: number): number {
  const {heap_size_limit: heap} = getHeapStatistics();
  return Math.max(maxBodyBytes, Math.min(64 * 1024 * 1024, heap / 32));
}

function unusable(host: string, {token, tokenFile}: HttpOptions): Err<Failure> | undefined {
  if (token !== undefined && !isBearerToken(token)) {
    const message =
      'Expected a token of at least 32 letters, digits and ._~+/-. Make one with `openssl rand -hex 32`.';
    return fail('invalid_params', message, {field: 'token', reason: 'too short or with other characters'});
  }
  if (token !== undefined) return undefined;
  if (!isLoopback(host)) {
    const message = `"${host}" can be reached from other machines. Set a token of at least 32 characters in FORGE_TOOLS_MCP_TOKEN, or bind to 127.0.0.1.`;
    return fail('invalid_params', message, {field: 'token', reason: 'required beyond loopback'});
  }
  if (tokenFile !== undefined) return undefined;
  return fail(
    'invalid_params',
    'The random token would be written nowhere. Name a token file, or choose a token.',
    {
      field: 'token_file',
      reason: 'missing',
    },
  );
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function webHeaders({headersDistinct}: IncomingMessage): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  return headers;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** What goes wrong while it listens, such as a connection that the system cannot take. It goes on listening. */
  readonly onProblem: (error: Error) => void;
}

/** Binds a server; the value is its port. */
export function listen(server: Server, {host, port, onProblem}: ListenOptions): Promise<Result<number>> {
  return new Promise(resolve => {
    const refused = (error: Error): void => {
      const code = errorReason(error);
      const where = `${host.includes(':') ? `[${host}]` : host}:${port}`;
      const message = `Cannot listen on ${where} (${code}). Choose another port or address.`;
      resolve(fail('io_error', message, {error: code, operation: 'listen'}));
    };
    server.once('error', refused);
    server.listen({host, port}, () => {
      server.off('error', refused);
      server.on('error', onProblem);
      resolve(ok((server.address() as AddressInfo).port));
    });
  });
}
