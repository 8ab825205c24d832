import {
  type CallToolRequest,
  createRequestStateCodec,
  type McpServerFactory,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import {type Clock, systemClock} from '../core/clock.ts';
import {randomHex} from '../core/random.ts';
import type {ToolHost} from '../core/tool-host.ts';
import {type AskedState, callTool} from './call-tool.ts';
import {describeTool} from './describe-tool.ts';
import {instructionsFor} from './instructions.ts';

/** An approval can be given as long as a pending one waits. */
const STATE_LIFETIME_SEC = 3600;
/** Answers within that time; the oldest are forgotten first. */
const MOST_REDEEMED = 10_000;

/** What clients are told of the service, and in which form they get results. */
export interface McpServiceOptions {
  /** Of the package, for the client. */
  readonly version: string;
  /** What a client may put into the prompt of its model. Default: how to choose among the tools that are offered. */
  readonly instructions?: string;
  /** Ruling H8. Default: `both`. */
  readonly results?: 'both' | 'text';
  /** Bytes of an answer as compact JSON. Default: as for every other interface. */
  readonly maxResultBytes?: number;
  /** The time, for tests. Default: that of the system. */
  readonly clock?: Clock;
}

/** What a transport serves. */
export interface McpService {
  /**
   * One server for one connection, one session or one stateless request. Types of the protocol package are not ours
   * to publish.
   * @internal
   */
  readonly createServer: McpServerFactory;
  /** Resolves when no call is running. Calls end when their connection does. */
  readonly settled: () => Promise<void>;
}

/** A host as an MCP server of the 2026-07-28 revision and of those that start with `initialize`. */
export function createMcpService(host: ToolHost, options: McpServiceOptions): McpService {
  const {version, instructions, results = 'both', maxResultBytes, clock = systemClock} = options;
  const running = new Set<Promise<unknown>>();
  // The key lives as long as the process: a question asked by another process is not ours.
  const codec = createRequestStateCodec<AskedState>({key: randomHex(32), ttlSeconds: STATE_LIFETIME_SEC});

  const sign = (state: AskedState) => codec.mint(state);
  const redeemed = new Set<string>();

  const createServer: McpServerFactory = ({era}) => {
    const server = new Server(
      {name: 'forge-tools', title: 'forge-tools', version},
      {
        capabilities: {tools: {}},
        instructions: instructions ?? instructionsFor(host.listTools().map(({name}) => name)),
        requestState: {verify: codec.verify},
        jsonSchemaValidator: {getValidator: unusedValidator},
      },
    );
    const idPrefix = `mcp-${randomHex(6)}`;
    const initialized = () => server.getClientCapabilities();
    const call = (request: CallToolRequest, context: ServerContext) =>
      callTool(request, context, {
        host,
        results,
        maxResultBytes,
        clock,
        era,
        initialized,
        idPrefix,
        sign,
        redeem,
      });
    server.setRequestHandler('tools/list', () => ({
      tools: host.listTools().map(listing => describeTool(listing, results)),
    }));
    server.setRequestHandler('tools/call', (request, context) => track(call(request, context)));
    return server;
  };

  return {
    createServer,
    settled: async () => {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };

  function redeem(nonce: string): boolean {
    if (redeemed.has(nonce)) return false;
    redeemed.add(nonce);
    const [oldest = nonce] = redeemed;
    if (redeemed.size > MOST_REDEEMED) redeemed.delete(oldest);
    return true;
  }

  async function track<Value>(work: Promise<Value>): Promise<Value> {
    running.add(work);
    try {
      return await work;
    } finally {
      running.delete(work);
    }
  }
}

/** Arguments are validated by the host and answers by the form; the SDK's own validator is slow to build. */
function unusedValidator(): never {
  throw new Error('No JSON Schema is validated by the SDK.');
}
