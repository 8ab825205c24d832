// `mcp`: serves the tools on standard input and output or over HTTP. The roots of a client can choose the
// workspace.
import {stat} from 'node:fs/promises';
import {join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import type {Environment} from '../../config/environment.ts';
import {startedIn} from '../../config/environment.ts';
import {systemClock} from '../../core/clock.ts';
import type {Toolbox} from '../../create-toolbox.ts';
import type {McpServiceOptions} from '../../mcp/create-mcp-service.ts';
import {type Answer, type CommandContext, defineCommand, EXIT} from '../command.ts';
import {integerFlag, listFlag, UsageError} from '../flags.ts';
import {openToolbox} from '../open-toolbox.ts';
import {SESSION_FLAGS} from '../session-flags.ts';

// biome-ignore format: a flag is a line
const FLAGS = {
  http: {type: 'string', value: 'HOST:PORT', help: 'Serve streamable HTTP there instead of standard input and output. A port alone is on 127.0.0.1.'},
  'token-file': {type: 'string', value: 'FILE', help: 'With --http: gets the bearer token, readable by you alone. $FORGE_TOOLS_MCP_TOKEN chooses the token instead.'},
  'allow-host': {type: 'string', value: 'NAMES', help: 'With --http: further host names by which clients may call.'},
  'allow-origin': {type: 'string', value: 'NAMES', help: 'With --http: hosts of web pages that may call.'},
  drain: {type: 'string', value: 'SECONDS', help: 'With --http: how long calls under way may go on after a signal, while /readyz says 503. 0 to 600. Default: 10.'},
  results: {type: 'string', value: 'CHANNEL', choices: ['both', 'text'], help: 'What clients get of an answer: text, or both (text and structure). Default: tools.mcp.results; every profile sets text.'},
  ...SESSION_FLAGS,
} as const;

export const mcpCommand = defineCommand({
  usage: '[--http HOST:PORT]',
  takes: [args => args.length === 0, 'mcp takes no arguments.'],
  flags: FLAGS,
  examples: [
    'forge-tools mcp --workspace ~/project',
    'forge-tools mcp --http 127.0.0.1:8931 --allow str_replace,write_file',
  ],
  async run({values, args: _, ...context}) {
    const http = values.http === undefined ? undefined : parseListenAddress(values.http);
    if (http === undefined) {
      const stray = (['token-file', 'allow-host', 'allow-origin', 'drain'] as const).find(
        name => values[name] !== undefined,
      );
      if (stray !== undefined) throw new UsageError(`--${stray} goes with --http.`);
    }
    const {results} = values;
    const drainSec = integerFlag('drain', values.drain, 0, 600) ?? 10;
    let toolbox = await openToolbox(values, context, {start: 'service'});
    const hostAt = async (roots: readonly string[]): Promise<Toolbox> => {
      const workspace = await workspaceAmong(roots, context.environment);
      if (workspace === undefined) return toolbox;
      // Two toolboxes must not share a run directory.
      await toolbox.close();
      toolbox = await openToolbox({...values, workspace}, context, {start: 'service'});
      return toolbox;
    };
    try {
      if (http === undefined) {
        await serveOnStdio(toolbox, results, values.workspace === undefined ? hostAt : undefined, context);
      } else {
        return await serveOnHttp(toolbox, results, context, {
          ...http,
          ...tokenOptions(values['token-file'], http.port, context.environment),
          allowedHosts: listFlag('allow-host', values['allow-host']),
          allowedOrigins: listFlag('allow-origin', values['allow-origin']),
          drainMs: drainSec * 1000,
        });
      }
      return context.signal.aborted ? EXIT.interrupted : EXIT.ok;
    } finally {
      await toolbox.close();
    }
  },
});

type Results = 'both' | 'text' | undefined;

/** Ruling H8: the flag, else the configuration. */
function serviceOptions({config}: Toolbox, results: Results, version: string): McpServiceOptions {
  const {mcp} = config.tools;
  return {version, results: results ?? mcp.results, maxResultBytes: mcp.max_result_bytes};
}

/** The first root that is a project on this machine and not the working directory, which is open already. */
async function workspaceAmong(
  roots: readonly string[],
  {cwd, homeDir}: Environment,
): Promise<string | undefined> {
  for (const root of roots) {
    const path = localPath(root);
    if (path === undefined || startedIn({cwd: path, homeDir}).length === 0) continue;
    const info = await stat(path).catch(() => undefined);
    if (info?.isDirectory()) return path === cwd ? undefined : path;
  }
  return undefined;
}

function localPath(root: string): string | undefined {
  try {
    return resolve(fileURLToPath(root));
  } catch {
    // Roots of other schemes, and of other machines, are no directories here.
    return undefined;
  }
}

async function serveOnStdio(
  toolbox: Toolbox,
  results: Results,
  hostAt: McpServiceOptions['hostAt'],
  {console, signal, version}: CommandContext,
): Promise<void> {
  const [{createMcpService}, {serveStdio}] = await Promise.all([
    import('../../mcp/create-mcp-service.ts'),
    import('../../mcp/serve-stdio.ts'),
  ]);
  const {input, output} = console;
  const options = {...serviceOptions(toolbox, results, version), ...(hostAt === undefined ? {} : {hostAt})};
  await serveStdio(createMcpService(toolbox, options), {input, output, signal});
}

interface Listening {
  readonly host: string;
  readonly port: number;
  readonly token?: string;
  readonly tokenFile?: string;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly drainMs: number;
}

/** Serves until Ctrl-C, which is how such a server ends in good order. */
async function serveOnHttp(
  toolbox: Toolbox,
  results: Results,
  {console, signal, version}: CommandContext,
  options: Listening,
): Promise<Answer> {
  const [{createMcpService}, {serveHttp}, {CallMetrics}] = await Promise.all([
    import('../../mcp/create-mcp-service.ts'),
    import('../../mcp/http/serve-http.ts'),
    import('../../mcp/metrics.ts'),
  ]);
  const metrics = new CallMetrics(systemClock);
  const service = await serveHttp(
    createMcpService(metrics.measure(toolbox), serviceOptions(toolbox, results, version)),
    {...options, metrics},
  );
  if (!service.ok) return service;
  const where = options.tokenFile === undefined ? '$FORGE_TOOLS_MCP_TOKEN' : options.tokenFile;
  console.err(`Serving MCP at ${service.value.url}; the bearer token is in ${where}.\n`);
  await new Promise<void>(done => {
    if (signal.aborted) done();
    else signal.addEventListener('abort', () => done(), {once: true});
  });
  await service.value.close();
  return EXIT.ok;
}

/** A token on the command line would be seen by every user of the machine. */
function tokenOptions(
  file: string | undefined,
  port: number,
  {env, cwd, tempDir}: Environment,
): {readonly token: string} | {readonly tokenFile: string} {
  const token = env['FORGE_TOOLS_MCP_TOKEN'];
  if (token !== undefined && token !== '') {
    if (file !== undefined)
      throw new UsageError('Both --token-file and $FORGE_TOOLS_MCP_TOKEN are given. Use one.');
    return {token};
  }
  if (file !== undefined) return {tokenFile: resolve(cwd, file)};
  return {tokenFile: join(env['XDG_RUNTIME_DIR'] || tempDir, `forge-tools-mcp-${port}.token`)};
}

/** `127.0.0.1:8931`, `[::1]:8931`, `localhost:8931`, `:8931` and `8931`. */
function parseListenAddress(written: string): {readonly host: string; readonly port: number} {
  const [, address = '', digits = ''] = /^(?:(\[[^\]]+\]|[^:[\]]*):)?(\d{1,5})$/.exec(written) ?? [];
  const port = Number(digits);
  if (digits === '' || port > 65_535) {
    throw new UsageError(`--http takes HOST:PORT, such as 127.0.0.1:8931, got "${written}".`);
  }
  return {host: address === '' ? '127.0.0.1' : address.replace(/^\[|\]$/g, ''), port};
}
