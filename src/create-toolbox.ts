import {existsSync} from 'node:fs';
import {resolve} from 'node:path';
import {ConfigError} from './config/config-error.ts';
import type {Config} from './config/config-schema.ts';
import {type Environment, readEnvironment} from './config/environment.ts';
import {UNCONFIGURED} from './config/fill-profile.ts';
import {type ResolvedConfig, resolveConfig} from './config/resolve/resolve-config.ts';
import {believedDirectories, defaultStateDirectory, programDirectories} from './config/state-directories.ts';
import {wrongGroups} from './config/tool-groups.ts';
import {Lifecycle} from './core/async/lifecycle.ts';
import {type Clock, systemClock} from './core/clock.ts';
import {closedFailure} from './core/failure/closed-failure.ts';
import {internalFailure} from './core/failure/internal-failure.ts';
import {harmlessLog} from './core/harmless-log.ts';
import type {Json} from './core/json.ts';
import {type Log, silentLog} from './core/log.ts';
import {randomHex} from './core/random.ts';
import {ok, type Result} from './core/result.ts';
import type {ApprovalRule, Approver, ToolHost} from './core/tool-host.ts';
import {assembleHost} from './create-toolbox/assemble-host.ts';
import {inOrder} from './create-toolbox/in-order.ts';
import {lazyHub} from './create-toolbox/lazy-hub.ts';
import {openEgress} from './create-toolbox/open-egress.ts';
import {protectedPaths} from './create-toolbox/protected-paths.ts';
import {startedIn} from './create-toolbox/started-in.ts';
import {stoppedByMode} from './create-toolbox/stopped-by-mode.ts';
import type {Explanation} from './runtime/explain-call.ts';
import {lazySandbox} from './sandbox/lazy-sandbox.ts';
import {openWorkspaceSession, type WorkspaceSession} from './tools/files/workspace-session.ts';
import {workspaceTools} from './tools/files/workspace-tools.ts';
import {BackgroundCommands} from './tools/run/background/background-commands.ts';
import {runTools} from './tools/run/run-tools.ts';
import {verifyQuoteTool} from './tools/web/verify-quote.ts';
import {type FetchPage, parseWebFetchArgs, type WebFetchArgs, webFetchTool} from './tools/web/web-fetch.ts';
import {webFetchTextTool} from './tools/web/web-fetch-text.ts';
import {webReadTool} from './tools/web/web-read.ts';
import type {HostResolver} from './web/guard/dns/host-resolver.ts';
import {openWeb} from './web/open-web.ts';
import type {FetchResponse} from './web/page.ts';
import {readableMedia} from './web/read/options.ts';

type DeepPartial<Value> = Value extends readonly (infer Entry)[]
  ? readonly DeepPartial<Entry>[]
  : Value extends object
    ? {readonly [Key in keyof Value]?: DeepPartial<Value[Key]>}
    : Value;

/** The seams that a host may fill; each has a real default. */
export interface ToolboxPorts {
  /** Structured log lines (FR-WF-19c). Default: none. */
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
  /** Files that no tool and no command may change though they lie in the workspace, such as the configuration. */
  readonly protectedPaths?: readonly string[] | undefined;
  /** Log and artifacts of the calls. Default: a new one in the user's state directory. */
  readonly runDirectory?: string | undefined;
  /** Tools or actions that run without asking, beside `tools.approval.allowlist`. */
  readonly allow?: readonly string[] | undefined;
}

/** What a toolbox is made from. Nothing is needed; a workspace gives the file tools and `run`. */
export interface ToolboxOptions extends ToolboxPorts {
  /**
   * The same keys as the TOML file, all optional. Files are not read. Where it is left out and a workspace is
   * named, the profile `guarded` holds: every tool, and questions about calls with side effects.
   */
  readonly config?: DeepPartial<Config>;
}

/** What a direct call of `webFetch` is run with, besides its arguments (SRD 3.1, appendix E.3). */
export interface CallContext {
  /** Cancels the call. */
  readonly signal?: AbortSignal;
  /** Bytes of the answer as compact JSON. Default: `tools.output.max_bytes`. */
  readonly maxOutputBytes?: number;
  /** Bytes that the caller has left. The smaller of the two counts. */
  readonly availableCapacityBytes?: number;
  /** FR-WF-03a: set to false by `web_fetch`, whose answer fits by itself. */
  allowTruncation?: boolean;
}

/** Tools that are ready to be called. */
export interface Toolbox extends ToolHost {
  /** The configuration in use, frozen, with all defaults. */
  readonly config: Config;
  /** What the configuration says otherwise than it is used; logged at start-up too. */
  readonly warnings: readonly string[];
  /**
   * FR-WF-01: a URL becomes Markdown chunks with exact token counts. Never rejects. A direct call: it
   * asks for no approval and writes no event; what an agent asks for goes through `call`.
   */
  readonly webFetch: (args: WebFetchArgs, context?: CallContext) => Promise<Result<FetchResponse>>;
  /** What the approval settings say of a call, and by which rule. Runs nothing, asks no approver. */
  readonly explainPolicy: (tool: string, params: Json) => Promise<Result<Explanation>>;
  /**
   * Cancels the calls under way and waits until each has written its end, then ends the run, its processes
   * and connections. Calls that come later fail with `cancelled`. Closing twice is fine.
   */
  readonly close: () => Promise<void>;
}

/**
 * A toolbox from a configuration object. Throws `ConfigError` where the configuration cannot be used,
 * so that a wrong one is never silently insecure (FR-WF-SEC-OVR-01).
 */
export function createToolbox(options: ToolboxOptions = {}): Toolbox {
  const environment = options.environment ?? readEnvironment();
  const resolved = resolveConfig(options.config ?? unconfigured(options), environment);
  if (!resolved.ok) throw new ConfigError(resolved.error);
  const toolbox = assembleToolbox(resolved.value, {...options, environment});
  if (options.config === undefined && options.workspace !== undefined) announce(toolbox, options);
  return toolbox;
}

/** Ruling H7: who names a workspace and nothing else wants its tools; who names nothing fetches by hand. */
function unconfigured({workspace}: ToolboxOptions): unknown {
  return workspace === undefined ? {} : {profile: UNCONFIGURED};
}

/** Ruling H7: one line says what is on. */
function announce(toolbox: Toolbox, {log, workspace, approver}: ToolboxOptions): void {
  const tools = toolbox.listTools().length;
  const asked = approver === undefined ? 'refused, as no approver is given' : 'asked about';
  const message = `No configuration is given, so the profile "${UNCONFIGURED}" holds: ${tools} tools for ${workspace}; calls with side effects are ${asked}.`;
  harmlessLog(log ?? silentLog)({level: 'info', event: 'tools_offered', message});
}

/** The composition root: everything is wired here, and closed by one `close()`. */
export function assembleToolbox(resolved: ResolvedConfig, ports: ToolboxPorts = {}): Toolbox {
  const {config} = resolved;
  const {webfetch, webread, output, groups} = config.tools;
  const wrong = wrongGroups(groups, 'tools.groups');
  if (wrong.length > 0) throw new ConfigError(wrong);
  const {clock = systemClock, environment = readEnvironment()} = ports;
  const log = harmlessLog(ports.log ?? silentLog);
  const lifecycle = new Lifecycle();
  const stopped = stoppedByMode(resolved);
  const closed = closedPaths(ports, environment);
  const workspace = openWorkspace({...ports, clock, environment, protectedPaths: closed});
  const hub = lazyHub(config.tools.hub, {env: environment.env, clock, log});
  const web = openWeb(webfetch, webread, {
    replicas: hub.replicas,
    log,
    clock,
    env: environment.env,
    ownsProcess: environment.ownsProcess,
    resolver: ports.resolver,
    certificateAuthorities: ports.certificateAuthorities ?? [],
    reads: readableMedia(config.tools.webread),
    untrustedTrees: workspace === undefined ? startedIn(environment) : [workspace.workspace.root],
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
      env: environment.env,
      egress: egress?.value,
      clock,
      log,
    });
  const background = sandbox && new BackgroundCommands(sandbox, config.tools.run, clock);
  const tools = [
    webfetch.output === 'text'
      ? webFetchTextTool(fetchLogged, webfetch, clock)
      : webFetchTool(fetchLogged, webfetch),
    webReadTool(web.value, webfetch, config.tools.taint.mode === 'off' ? undefined : () => randomHex(4)),
    verifyQuoteTool(web.value, webfetch),
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
  const host = assembleHost(resolved, tools, workspace, {...ports, log, clock, environment, lifecycle});
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
    config,
    warnings,
    webFetch: (args, context = {}) =>
      lifecycle
        .run(context.signal, signal => webFetch(args, context, signal))
        .then(outcome => (outcome === 'closed' ? closedFailure('toolbox') : outcome))
        .catch(internalFailure),
    listTools: host.listTools,
    call: host.call,
    renderText: host.renderText,
    explainPolicy: host.explain,
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

/** Reviews R8, R9: what of the workspace is closed to tools and commands. */
function closedPaths(
  {workspace, protectedPaths: named = []}: ToolboxPorts,
  environment: Environment,
): readonly string[] {
  if (workspace === undefined) return [];
  const root = resolve(environment.cwd, workspace);
  const absolute = named.map(path => resolve(environment.cwd, path));
  return protectedPaths({root, named: absolute, state: believedDirectories(environment, root)});
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
