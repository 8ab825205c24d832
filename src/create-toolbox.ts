// The composition root of the library: makes a toolbox from options, with a typed method for every tool.
// Everything is closed by one `close()`.
import {existsSync} from 'node:fs';
import {resolve} from 'node:path';
import {ConfigError} from './config/config-error.ts';
import type {Config} from './config/config-schema.ts';
import {
  believedDirectories,
  defaultSessionsDirectory,
  defaultStateDirectory,
  type Environment,
  programDirectories,
  readEnvironment,
  startedIn,
} from './config/environment.ts';
import {wrongGroups} from './config/profiles.ts';
import {type ResolvedConfig, resolveConfig} from './config/resolve-config.ts';
import {inOrder, Lifecycle} from './core/async.ts';
import {type Clock, randomHex, systemClock} from './core/clock.ts';
import {harmlessLog, type Log, silentLog} from './core/log.ts';
import {closedFailure, fail, internalFailure, type Json, ok, type Result} from './core/result.ts';
import {bareFailure, type Tool, type ToolRequest, type ToolResult} from './core/tool.ts';
import type {ApprovalRule, Approver, CallOptions, ToolHost} from './core/tool-host.ts';
import {assembleHost, protectedPaths} from './create-toolbox/assemble-host.ts';
import {openEgress} from './create-toolbox/open-egress.ts';
import {lazyHub} from './create-toolbox/open-hub.ts';
import {stoppedByMode} from './create-toolbox/switched-off.ts';
import type {Explanation} from './runtime/explain-call.ts';
import {lazySandbox} from './sandbox/lazy-sandbox.ts';
import {workspaceTools} from './tools/files/file-tools.ts';
import {openWorkspaceSession, type WorkspaceSession} from './tools/files/session.ts';
import type {Probe} from './tools/probe-dependencies.ts';
import {BackgroundCommands} from './tools/run/background.ts';
import {RUN} from './tools/run/run.ts';
import {runTools} from './tools/run/run-tools.ts';
import {TOOL_METHODS, type ToolMethods, type ToolTypes} from './tools/tool-methods.data.ts';
import {verifyQuoteTool} from './tools/web/verify-quote.ts';
import {
  type FetchPage,
  parseWebFetchArgs,
  type WebFetchArgs,
  webFetchTextTool,
  webFetchTool,
} from './tools/web/web-fetch.ts';
import {webReadTool} from './tools/web/web-read.ts';
import {webSearchTool} from './tools/web/web-search.ts';
import type {HostResolver} from './web/guard/resolver.ts';
import {openWeb} from './web/open-web.ts';
import {readableMedia} from './web/options.ts';
import type {FetchResponse} from './web/page.ts';

type DeepPartial<Value> = Value extends readonly (infer Entry)[]
  ? readonly DeepPartial<Entry>[]
  : Value extends object
    ? {readonly [Key in keyof Value]?: DeepPartial<Value[Key]>}
    : Value;

/** Parts that you may replace. Each has a default. */
export interface ToolboxPorts {
  /** Receives structured log lines. Default: none. */
  readonly log?: Log | undefined;
  /** Host name to addresses. Default: the system's resolver. Its answers are checked like any other. */
  readonly resolver?: HostResolver | undefined;
  /** PEM certificates trusted beside the system's, for a private certificate authority. */
  readonly certificateAuthorities?: readonly string[] | undefined;
  /** The approver of calls with side effects. Default: none, which refuses them. */
  readonly approver?: Approver | undefined;
  /** Keeps a rule that the approver answered with beyond the session. Default: such a rule ends with the session. */
  readonly rememberRule?: ((rule: ApprovalRule) => Promise<Result<undefined>>) | undefined;
  /** The time, for tests. Default: that of the system. */
  readonly clock?: Clock | undefined;
  /** Environment variables. Default: those of the process. */
  readonly environment?: Environment | undefined;
  /** Root of the working tree. Without it there are no workspace tools. */
  readonly workspace?: string | undefined;
  /** Without a workspace: a sentence for `unknown_tool` that says why, and what to do. Default: one for programmers. */
  readonly withoutWorkspace?: string | undefined;
  /** Files that no tool and no command may change though they lie in the workspace, such as the configuration. */
  readonly protectedPaths?: readonly string[] | undefined;
  /** Log and artifacts of the calls. Default: a new one in the user's state directory. */
  readonly runDirectory?: string | undefined;
  /** Tools or actions that run without asking, beside `tools.approval.allowlist`. */
  readonly allow?: readonly string[] | undefined;
  /** Groups of tools that are offered, instead of `tools.groups`. */
  readonly groups?: readonly string[] | undefined;
}

/** Options of `createToolbox`, all optional. With a workspace there are file tools and `run`. */
export interface ToolboxOptions extends ToolboxPorts {
  /**
   * The same keys as the TOML file, all optional. Files are not read. Without `profile` and without `tools.mode`
   * the profile `guarded` fills the rest: every tool, and questions about calls with side effects.
   */
  readonly config?: DeepPartial<Config>;
}

/** Options of a call of `webFetch`. */
export interface CallContext {
  /** Cancels the call. */
  readonly signal?: AbortSignal;
  /** Bytes of the answer as compact JSON. Default: `tools.output.max_bytes`. */
  readonly maxOutputBytes?: number;
  /** Bytes that the caller has left. The smaller of the two counts. */
  readonly availableCapacityBytes?: number;
  /** `webFetch` sets it to false: its answer fits the limit without a cut. */
  allowTruncation?: boolean;
}

/** One call; the name of the tool gives the types of its parameters. */
export type ToolRequestOf<Name extends string = string> = Omit<ToolRequest, 'tool' | 'params'> & {
  /** Name of the tool, such as `read_file`. */
  readonly tool: Name;
  /** Its parameters, as its schema has them. */
  readonly params: Name extends keyof ToolTypes ? ToolTypes[Name]['params'] : ToolRequest['params'];
};

/** What a call answers; the name of the tool gives the type of its data. */
export type ToolResultOf<Name extends string = string> = ToolResult<
  Name extends keyof ToolTypes ? ToolTypes[Name]['data'] : Json
>;

/** Tools that are ready to be called. */
export interface Toolbox extends Omit<ToolMethods, 'webFetch'>, ToolHost {
  /** For hosts that hand on what a model asked for. Never rejects; a failure is in `error`. */
  readonly call: <Name extends string>(
    request: ToolRequestOf<Name>,
    options?: CallOptions,
  ) => Promise<ToolResultOf<Name>>;
  /** The configuration in use, frozen, with all defaults. */
  readonly config: Config;
  /** Settings that were corrected or ignored, one sentence each. They are logged too. */
  readonly warnings: readonly string[];
  /** One sentence for each setting that keeps tools from being offered, with the line that turns them on. */
  readonly switchedOff: readonly string[];
  /** Reads a web page as Markdown chunks with exact token counts, without approval and without a line in the log. */
  readonly webFetch: (args: WebFetchArgs, context?: CallContext) => Promise<Result<FetchResponse>>;
  /** Says whether a call would be allowed, and by which rule. It runs nothing and asks nobody. */
  readonly explainPolicy: (tool: string, params: Json) => Promise<Result<Explanation>>;
  /**
   * Cancels the calls under way and waits until each has written its end, then ends the run, its processes
   * and connections. Calls that come later fail with `cancelled`. Closing twice is fine.
   */
  readonly close: () => Promise<void>;
}

/** A toolbox that can be examined. */
export interface OpenToolbox extends Toolbox {
  /** Opens each part as a call would. */
  readonly probe: (signal: AbortSignal) => Promise<readonly Probe[]>;
}

/** Makes a toolbox from a configuration. Throws `ConfigError` where the configuration cannot be used. */
export function createToolbox(options: ToolboxOptions = {}): Toolbox {
  const environment = options.environment ?? readEnvironment();
  const resolved = resolveConfig(options.config, environment);
  if (!resolved.ok) throw new ConfigError(resolved.error);
  const toolbox = assembleToolbox(resolved.value, {...options, environment});
  if (options.config === undefined && options.workspace !== undefined) announce(toolbox, options);
  return toolbox;
}

/** Ruling H7: one line says what is on. */
function announce(toolbox: Toolbox, {log, workspace, approver}: ToolboxOptions): void {
  const tools = toolbox.listTools().length;
  const asked = approver === undefined ? 'refused, as no approver is given' : 'asked about';
  const message = `No configuration is given, so the profile "${toolbox.config.profile}" holds: ${tools} tools for ${workspace}; calls with side effects are ${asked}.`;
  harmlessLog(log ?? silentLog)({level: 'info', event: 'tools_offered', message});
}

/** The composition root: everything is wired here, and closed by one `close()`. */
export function assembleToolbox(read: ResolvedConfig, ports: ToolboxPorts = {}): OpenToolbox {
  const resolved = ports.groups === undefined ? read : withGroups(read, ports.groups);
  const origin = {configFile: read.configFile, hasGroupsFlag: ports.groups !== undefined};
  const {config, configFile} = resolved;
  const {webfetch, webread, websearch, output, groups} = config.tools;
  const wrong = wrongGroups(groups, 'tools.groups');
  if (wrong.length > 0) throw new ConfigError(wrong);
  const {clock = systemClock, environment = readEnvironment()} = ports;
  const log = harmlessLog(ports.log ?? silentLog);
  const lifecycle = new Lifecycle();
  const stopped = stoppedByMode(resolved, origin);
  const closed = closedPaths(ports, environment, webfetch.cache_dir);
  const workspace = openWorkspace({...ports, clock, environment, protectedPaths: closed});
  const untrustedTrees = workspace === undefined ? startedIn(environment) : [workspace.workspace.root];
  const hub = lazyHub(config.tools.hub, {env: environment.env, clock, log});
  const web = openWeb(webfetch, webread, {
    replicas: hub.replicas,
    log,
    clock,
    env: environment.env,
    ownsProcess: environment.ownsProcess,
    configFile,
    resolver: ports.resolver,
    certificateAuthorities: ports.certificateAuthorities ?? [],
    reads: readableMedia(webread),
    searching: websearch,
    untrustedTrees,
  });
  if (!web.ok) throw new ConfigError(web.error);
  const fetchLogged: FetchPage = web.value.fetch;
  const egress =
    workspace &&
    openEgress(config.tools.run, {
      web: webfetch,
      certificateAuthorities: ports.certificateAuthorities ?? [],
      resolver: ports.resolver,
      env: environment.env,
      workspace: workspace.workspace.root,
      clock,
    });
  if (egress?.ok === false) throw new ConfigError(egress.error);
  const sandbox =
    workspace &&
    lazySandbox(config.tools.run, {
      workspace: workspace.workspace.root,
      root: workspace.workspace.identity,
      protectedPaths: closed,
      sessions: defaultSessionsDirectory(environment, workspace.workspace.root),
      env: environment.env,
      egress: egress?.value,
      clock,
      log,
    });
  const background = sandbox && new BackgroundCommands(sandbox, config.tools.run, clock);
  const newBoundary = config.tools.taint.mode === 'off' ? undefined : () => randomHex(4);
  const tools = [
    webfetch.output === 'text'
      ? webFetchTextTool(fetchLogged, webfetch, clock)
      : webFetchTool(fetchLogged, webfetch, configFile),
    webReadTool(web.value, webfetch, newBoundary, configFile),
    verifyQuoteTool(web.value, webfetch, configFile),
    ...(websearch.engines.length > 0 ? [webSearchTool(web.value, websearch, webfetch, newBoundary)] : []),
    ...(workspace ? workspaceTools(workspace) : []),
    ...(workspace && sandbox && background
      ? runTools(sandbox, config.tools.run, {
          workspace,
          background,
          clock,
          offersBackground: groups.includes('background'),
        })
      : []),
  ];
  const host = assembleHost(resolved, tools, workspace, {
    ...ports,
    log,
    clock,
    environment,
    lifecycle,
    origin,
  });
  const warnings = [...resolved.warnings, ...web.value.warnings, ...believedInside(ports, closed)];
  for (const message of warnings) log({level: 'warn', event: 'config_warning', message});

  const webFetch = async (
    args: WebFetchArgs,
    context: CallContext,
    signal: AbortSignal,
  ): Promise<Result<FetchResponse>> => {
    context.allowTruncation = false;
    if (stopped !== undefined) return stopped;
    const request = parseWebFetchArgs(args, webfetch.default_max_chunk_tokens);
    if (!request.ok) return request;
    const maxBytes = Math.min(
      context.maxOutputBytes ?? output.max_bytes,
      context.availableCapacityBytes ?? Number.POSITIVE_INFINITY,
    );
    const outcome = await fetchLogged(request.value, {maxBytes, signal});
    return outcome.ok ? ok(outcome.value.response) : outcome;
  };

  return {
    ...methodsOf(host.call, workspace === undefined ? tools : undefined),
    config,
    warnings,
    webFetch: (args, context = {}) =>
      lifecycle
        .run(context.signal, signal => webFetch(args, context, signal))
        .then(outcome => (outcome === 'closed' ? closedFailure('toolbox') : outcome))
        .catch(internalFailure),
    switchedOff: host.switchedOff,
    listTools: host.listTools,
    call: host.call as Toolbox['call'],
    renderText: host.renderText,
    explainPolicy: host.explain,
    probe: async signal => {
      const {probeToolbox} = await import('./create-toolbox/probe-toolbox.ts');
      const offersRun = host.listTools().some(({name}) => name === RUN);
      const parts = {config, environment, untrustedTrees, protectedPaths: closed, web: web.value};
      return probeToolbox({...parts, sandbox: offersRun ? sandbox : undefined}, signal);
    },
    close: () =>
      lifecycle.close(() =>
        inOrder(
          // Ruling W21: their ends are written before that of the session.
          () => background?.close(),
          host.closeSession,
          () => sandbox?.close(),
          () => egress?.value?.close(),
          () => web.value.close(),
          hub.close,
          async () => workspace?.close(),
        ),
      ),
  };
}

/** `only` are the tools that there are without a workspace. */
function methodsOf(call: ToolHost['call'], only: readonly Tool[] | undefined): ToolMethods {
  const method = (tool: string) => async (params: ToolRequest['params'], options: CallOptions) => {
    if (only?.every(({name}) => name !== tool)) {
      const message = `${tool} needs a workspace. Name its directory: createToolbox({workspace: "DIR"}).`;
      return fail('unknown_tool', message, {tool, available: only.map(({name}) => name)});
    }
    const {data, error} = await call({tool, params}, options);
    return error === null ? ok(data) : {ok: false, error: bareFailure(error)};
  };
  const methods = Object.entries(TOOL_METHODS).map(([name, tool]) => [name, method(tool)]);
  return Object.fromEntries(methods);
}

function withGroups(resolved: ResolvedConfig, groups: readonly string[]): ResolvedConfig {
  return {...resolved, config: {...resolved.config, tools: {...resolved.config.tools, groups}}};
}

/** Reviews R8, R9: what of the workspace is closed to tools and commands. */
function closedPaths(
  {workspace, protectedPaths: named = []}: ToolboxPorts,
  environment: Environment,
  cacheDirectory: string,
): readonly string[] {
  if (workspace === undefined) return [];
  const root = resolve(environment.cwd, workspace);
  const absolute = named.map(path => resolve(environment.cwd, path));
  const cache = cacheDirectory === '' ? [] : [cacheDirectory];
  return protectedPaths({
    root,
    named: absolute,
    state: [...believedDirectories(environment, root), ...cache],
  });
}

/** One line for each file that the host named, lies in the workspace, and is there. */
function believedInside(
  {protectedPaths: named = []}: ToolboxPorts,
  closed: readonly string[],
): readonly string[] {
  return named
    .filter(path => closed.includes(path) && existsSync(path))
    .map(
      path =>
        `${path} lies in the workspace. No tool and no command can change it; keep it outside of what models work on.`,
    );
}

type WorkspacePorts = ToolboxPorts & {readonly clock: Clock; readonly environment: Environment};

function openWorkspace({
  workspace,
  clock,
  environment,
  protectedPaths,
}: WorkspacePorts): WorkspaceSession | undefined {
  if (workspace === undefined) return undefined;
  const root = resolve(environment.cwd, workspace);
  const opened = openWorkspaceSession({
    root,
    stateDirectory: defaultStateDirectory(environment, root),
    programDirectories: programDirectories(environment),
    protectedPaths,
    clock,
  });
  if (!opened.ok) throw new ConfigError([opened.error.message]);
  return opened.value;
}
