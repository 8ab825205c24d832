// Keeps the sessions of clients that start with `initialize`.
import {
  isInitializeRequest,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import {randomHex} from '../../core/clock.ts';
import type {McpService} from '../create-mcp-service.ts';

/** About 10 KB each. */
const MOST_SESSIONS = 1024;

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  /** Requests under way. A standing stream is none: it stays open, whether anybody is there or not. */
  open: number;
}

/**
 * Revisions before 2026-07-28 over HTTP. What a client can do (be asked, cancel) is said at `initialize`
 * and used in later requests, so these have sessions: connections, and no state of the tools.
 */
export class LegacySessions {
  readonly #createServer: McpService['createServer'];
  readonly #onProblem: (error: Error) => void;
  readonly #most: number;
  /** Least recently used first. */
  readonly #sessions = new Map<string, Session>();

  constructor(
    createServer: McpService['createServer'],
    onProblem: (error: Error) => void,
    most = MOST_SESSIONS,
  ) {
    this.#most = most;
    this.#createServer = createServer;
    this.#onProblem = onProblem;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** `request.signal` fires when the exchange is over. */
  async serve(request: Request, body: unknown): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    const session = id === null ? undefined : this.#sessions.get(id);
    if (session === undefined && id === null && isInitializeRequest(body)) return this.#open(request, body);
    if (session === undefined || id === null)
      return id === null ? refuse(400, 'The Mcp-Session-Id header is required.') : unknownSession();
    // Used last, so evicted last.
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    if (request.method !== 'GET') {
      session.open += 1;
      request.signal.addEventListener('abort', () => (session.open -= 1), {once: true});
    }
    return session.transport.handleRequest(request, body === undefined ? {} : {parsedBody: body});
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.values()].map(({transport}) => transport.close()));
  }

  async #open(request: Request, body: unknown): Promise<Response> {
    if (this.#sessions.size >= this.#most && !(await this.#evict())) {
      return refuse(503, 'All sessions are in use. Try again later.');
    }
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomHex(16),
      onsessioninitialized: id => {
        this.#sessions.set(id, {transport, open: 0});
      },
    });
    const server = await this.#createServer({era: 'legacy', requestInfo: request});
    transport.onerror = this.#onProblem;
    transport.onclose = () => {
      if (transport.sessionId !== undefined) this.#sessions.delete(transport.sessionId);
    };
    // With `exactOptionalPropertyTypes` the SDK's class does not fit its own interface.
    await server.connect(transport as Parameters<Server['connect']>[0]);
    return transport.handleRequest(request, {parsedBody: body});
  }

  /** Ends the session whose last request is the oldest, with its stream. Its client is told 404 and initializes again. */
  async #evict(): Promise<boolean> {
    const idle = [...this.#sessions.values()].find(({open}) => open === 0);
    await idle?.transport.close();
    return idle !== undefined;
  }
}

function unknownSession(): Response {
  return refuse(404, 'Session not found. Initialize again.', -32_001);
}

function refuse(status: number, message: string, code = -32_000): Response {
  return Response.json({jsonrpc: '2.0', error: {code, message}, id: null}, {status});
}
