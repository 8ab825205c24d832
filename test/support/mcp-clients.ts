import {PassThrough} from 'node:stream';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
} from '@modelcontextprotocol/client';
import {Client as OlderClient} from '@modelcontextprotocol/sdk/client/index.js';
import {StreamableHTTPClientTransport as OlderHttp} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type {RequestOptions as OlderOptions} from '@modelcontextprotocol/sdk/shared/protocol.js';
import type {Transport as OlderTransport} from '@modelcontextprotocol/sdk/shared/transport.js';
import {ElicitRequestSchema} from '@modelcontextprotocol/sdk/types.js';
import {ReadBuffer, serializeMessage, type Transport} from '@modelcontextprotocol/server';
import {onTestFinished} from 'vitest';
import type {McpService} from '../../src/mcp/create-mcp-service.ts';
import {serveHttp} from '../../src/mcp/http/serve-http.ts';
import {serveStdio} from '../../src/mcp/serve-stdio.ts';

export type Generation = '2026-07-28' | '2025-11-25';
export type Carrier = 'stdio' | 'http';

/** What a person answers in the form that a client shows. */
export type Answer = (message: string) => {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Record<string, string>;
};

export interface ToolAnswer {
  readonly content: readonly {readonly type: string; readonly text?: string}[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

export interface TestClient {
  readonly listTools: () => Promise<{readonly tools: readonly unknown[]}>;
  readonly callTool: (
    params: {name: string; arguments?: Record<string, unknown>; _meta?: Record<string, unknown>},
    options?: {signal?: AbortSignal; onprogress?: (progress: {progress: number; message?: string}) => void},
  ) => Promise<ToolAnswer>;
  readonly close: () => Promise<void>;
  /** Resolves when the server has ended by itself. */
  readonly ended: Promise<void>;
}

/** Every carrier with both generations of the official clients. */
export const COMBINATIONS: readonly (readonly [Carrier, Generation])[] = [
  ['stdio', '2026-07-28'],
  ['stdio', '2025-11-25'],
  ['http', '2026-07-28'],
  ['http', '2025-11-25'],
];

const TOKEN = 'test-token-0123456789-0123456789-0123';

/** A client of the official package of that generation, connected to the service in this process. */
export async function connectClient(
  service: McpService,
  [carrier, generation]: readonly [Carrier, Generation],
  answer?: Answer,
): Promise<TestClient> {
  if (carrier === 'stdio') {
    const {transport, ended} = pipeTo(service);
    return start(generation, transport, ended, answer);
  }
  const served = await serveHttp(service, {token: TOKEN});
  if (!served.ok) throw new Error(served.error.message);
  onTestFinished(served.value.close);
  const options = {requestInit: {headers: {authorization: `Bearer ${TOKEN}`}}};
  const url = new URL(served.value.url);
  const transport = generation === '2026-07-28' ? new ModernHttp(url, options) : new OlderHttp(url, options);
  return start(generation, transport as Transport, new Promise(() => {}), answer);
}

async function start(
  generation: Generation,
  transport: Transport,
  ended: Promise<void>,
  answer: Answer | undefined,
): Promise<TestClient> {
  const info = {name: 'test', version: '1'};
  const capabilities = answer === undefined ? {} : {elicitation: {}};
  if (generation === '2026-07-28') {
    const client = new ModernClient(info, {capabilities, versionNegotiation: {mode: {pin: generation}}});
    if (answer !== undefined) {
      client.setRequestHandler('elicitation/create', ({params}) => ({...answer(params.message)}));
    }
    await client.connect(transport);
    return Object.assign(client, {ended}) as unknown as TestClient;
  }
  const client = new OlderClient(info, {capabilities});
  if (answer !== undefined) {
    client.setRequestHandler(ElicitRequestSchema, ({params}) => ({...answer(params.message)}));
  }
  await client.connect(transport as OlderTransport);
  return {
    listTools: () => client.listTools(),
    callTool: (params, options = {}) =>
      client.callTool(params, undefined, options as OlderOptions) as Promise<ToolAnswer>,
    close: () => client.close(),
    ended,
  };
}

/** The two pipes of a child process, without the process. */
function pipeTo(service: McpService): {readonly transport: Transport; readonly ended: Promise<void>} {
  const input = new PassThrough();
  const output = new PassThrough();
  const ended = serveStdio(service, {input, output});
  const buffer = new ReadBuffer();
  const transport: Transport = {
    start: async () => {
      output.on('data', chunk => {
        buffer.append(chunk);
        for (let message = buffer.readMessage(); message !== null; message = buffer.readMessage()) {
          transport.onmessage?.(message);
        }
      });
    },
    send: async message => {
      input.write(serializeMessage(message));
    },
    close: async () => {
      input.end();
      transport.onclose?.();
    },
  };
  onTestFinished(() => void input.end());
  return {transport, ended};
}
