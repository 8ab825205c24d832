// Serves MCP to one client on standard input and output.
import type {Readable, Writable} from 'node:stream';
import {StdioServerTransport, serveStdio as serveConnection} from '@modelcontextprotocol/server/stdio';
import type {Log} from '../core/log.ts';
import type {McpService} from './create-mcp-service.ts';
import {logProblem} from './options.ts';

/** Streams of one client on standard input and output. */
export interface StdioOptions {
  /** What the client sends, one JSON-RPC message on each line. */
  readonly input: Readable;
  /** Carries the protocol and nothing else. */
  readonly output: Writable;
  /** Ends the service. */
  readonly signal?: AbortSignal;
  /** Takes what goes wrong with the connection. Default: nothing is logged. */
  readonly log?: Log;
}

/**
 * Serves one client until it closes its end or `signal` fires. Resolves when its calls have ended too,
 * so that nothing they started is left when the process exits.
 */
export async function serveStdio(service: McpService, options: StdioOptions): Promise<void> {
  const {input, output, signal, log} = options;
  // The transport listens once for each answer that waits for a slow reader.
  output.setMaxListeners(0);
  const transport = new StdioServerTransport(input, output);
  const connection = serveConnection(service.createServer, {transport, onerror: logProblem(log)});
  await new Promise<void>(resolve => {
    const {onclose} = transport;
    transport.onclose = () => {
      onclose?.();
      resolve();
    };
    const close = (): void => void connection.close();
    if (signal?.aborted) close();
    else signal?.addEventListener('abort', close, {once: true});
  });
  await service.settled();
}
