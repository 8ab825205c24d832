import {join, resolve} from 'node:path';
import type {Environment} from '../../config/environment.ts';
import {systemClock} from '../../core/clock.ts';
import type {Toolbox} from '../../create-toolbox.ts';
import type {McpServiceOptions} from '../../mcp/create-mcp-service.ts';
import type {CommandContext, CommandDefinition} from '../command.ts';
import {EXIT, type ExitCode} from '../exit-codes.ts';
import {integerFlag, listFlag, parseFlags} from '../flags/parse-flags.ts';
import {SESSION_FLAGS} from '../flags/session-flags.ts';
import {UsageError} from '../flags/usage-error.ts';
import {openToolbox, type ToolboxFlagValues} from '../open-toolbox.ts';
import {renderFailure} from '../render/render-failure.ts';
import {CLIENTS, type Client} from '../setup/clients.data.ts';
import {mergeSettings} from '../setup/merge-settings.ts';
import {requireProject} from '../setup/require-project.ts';
import {settingsFile} from '../setup/settings-file.ts';
import {thisLauncher} from '../setup/start-command.ts';

const FLAGS = {
  http: {
    type: 'string',
    value: 'HOST:PORT',
    help: 'Serve streamable HTTP there instead of standard input and output. A port alone is on 127.0.0.1.',
  },
  'token-file': {
    type: 'string',
    value: 'FILE',
    help: 'With --http: gets the bearer token, readable by you alone. $FORGE_MCP_TOKEN chooses the token instead.',
  },
  'allow-host': {
    type: 'string',
    value: 'NAMES',
    help: 'With --http: further host names by which clients may call.',
  },
  'allow-origin': {
    type: 'string',
    value: 'NAMES',
    help: 'With --http: hosts of web pages that may call.',
  },
  drain: {
    type: 'string',
    value: 'SECONDS',
    help: 'With --http: how long calls under way may go on after a signal, while /readyz says 503. 0 to 600. Default: 10.',
  },
  results: {
    type: 'string',
    value: 'CHANNEL',
    help: 'What clients get of an answer: both (text and structure) or text, which costs a model less where its client shows the structure only.',
  },
  'print-config': {
    type: 'string',
    value: 'CLIENT',
    help: `Print what makes a client start this installation with these flags, and exit: ${CLIENTS.join(', ')}. "setup" is for the published package.`,
  },
  ...SESSION_FLAGS,
} as const;

export const mcpCommand: CommandDefinition = {
  usage: '[--http HOST:PORT | --print-config CLIENT]',
  flags: FLAGS,
  examples: [
    'forge-tools mcp --workspace ~/project',
    'forge-tools mcp --http 127.0.0.1:8931 --allow patch_file,write_file',
    'forge-tools mcp --workspace . --print-config claude > .mcp.json',
  ],
  async run(argv, context) {
    const {values, positionals} = parseFlags(argv, FLAGS);
    if (positionals.length > 0) throw new UsageError('mcp takes no arguments.');
    const http = values.http === undefined ? undefined : parseListenAddress(values.http);
    if (http === undefined) {
      const stray = (['token-file', 'allow-host', 'allow-origin', 'drain'] as const).find(
        name => values[name] !== undefined,
      );
      if (stray !== undefined) throw new UsageError(`--${stray} goes with --http.`);
    }
    if (values['print-config'] !== undefined) {
      if (http !== undefined) throw new UsageError('--print-config is for standard input and output.');
      return printConfig(values['print-config'], values, context);
    }
    const results = resultsFlag(values.results);
    const drainSec = integerFlag('drain', values.drain, 0, 600) ?? 10;
    const toolbox = await openToolbox(values, context, {start: 'service'});
    try {
      if (http === undefined) await serveOnStdio(toolbox, results, context);
      else {
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
};

/** Says the same to a client as was said here, with paths that hold wherever the client starts it. */
async function printConfig(
  written: string,
  flags: Pick<
    ToolboxFlagValues,
    'workspace' | 'run-dir' | 'config' | 'profile' | 'allow' | 'groups' | 'log-level'
  > & {
    readonly results?: string | undefined;
  },
  {console, environment, program, version}: CommandContext,
): Promise<ExitCode> {
  const {cwd} = environment;
  // An older name.
  const client: Client | undefined =
    written === 'claude' ? 'claude-code' : CLIENTS.find(known => known === written);
  if (client === undefined) {
    throw new UsageError(`--print-config takes one of ${CLIENTS.join(', ')}, got "${written}".`);
  }
  if (flags.workspace === undefined) requireProject(environment);
  const given = (
    ['config', 'profile', 'run-dir', 'allow', 'groups', 'log-level', 'results'] as const
  ).flatMap(name => {
    const value = flags[name];
    if (value === undefined) return [];
    return [`--${name}`, name === 'config' || name === 'run-dir' ? resolve(cwd, value) : value];
  });
  const workspace = ['--workspace', resolve(cwd, flags.workspace ?? '.')];
  const {platform} = process;
  const launcher = thisLauncher({program, version, platform});
  const text = mergeSettings(client, '', [...launcher, 'mcp', ...workspace, ...given]);
  if (!text.ok) throw new Error(text.error);
  await console.out(text.value);
  const file =
    settingsFile(client, 'user', environment, platform) ??
    settingsFile(client, 'project', environment, platform);
  if (console.errInteractive) console.err(`\nThis goes into ${file}.\n`);
  return EXIT.ok;
}

type Results = 'both' | 'text' | undefined;

function resultsFlag(written: string | undefined): Results {
  if (written === undefined || written === 'both' || written === 'text') return written;
  throw new UsageError(`--results takes both or text, got "${written}".`);
}

/** Ruling H8: the flag, else the configuration. */
function serviceOptions({config}: Toolbox, results: Results, version: string): McpServiceOptions {
  const {mcp} = config.tools;
  return {version, results: results ?? mcp.results, maxResultBytes: mcp.max_result_bytes};
}

async function serveOnStdio(
  toolbox: Toolbox,
  results: Results,
  {console, signal, version}: CommandContext,
): Promise<void> {
  const [{createMcpService}, {serveStdio}] = await Promise.all([
    import('../../mcp/create-mcp-service.ts'),
    import('../../mcp/serve-stdio.ts'),
  ]);
  const {input, output} = console;
  await serveStdio(createMcpService(toolbox, serviceOptions(toolbox, results, version)), {
    input,
    output,
    signal,
  });
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
): Promise<ExitCode> {
  const [{createMcpService}, {serveHttp}, {CallMetrics}] = await Promise.all([
    import('../../mcp/create-mcp-service.ts'),
    import('../../mcp/http/serve-http.ts'),
    import('../../mcp/metrics/call-metrics.ts'),
  ]);
  const metrics = new CallMetrics(systemClock);
  const service = await serveHttp(
    createMcpService(metrics.measure(toolbox), serviceOptions(toolbox, results, version)),
    {...options, metrics},
  );
  if (!service.ok) {
    console.err(renderFailure(service.error, undefined, console));
    return EXIT.failed;
  }
  const where = options.tokenFile === undefined ? '$FORGE_MCP_TOKEN' : options.tokenFile;
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
  const token = env['FORGE_MCP_TOKEN'];
  if (token !== undefined && token !== '') {
    if (file !== undefined)
      throw new UsageError('Both --token-file and $FORGE_MCP_TOKEN are given. Use one.');
    return {token};
  }
  if (file !== undefined) return {tokenFile: resolve(cwd, file)};
  return {tokenFile: join(env['XDG_RUNTIME_DIR'] || tempDir, `forge-mcp-${port}.token`)};
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
