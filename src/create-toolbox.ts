import {resolve} from 'node:path';
import {ConfigError} from './config/config-error.ts';
import type {Config} from './config/config-schema.ts';
import {type Environment, readEnvironment} from './config/environment.ts';
import {type ResolvedConfig, resolveConfig} from './config/resolve-config.ts';
import {defaultRunDirectory, defaultStateDirectory, programDirectories} from './config/state-directories.ts';
import {type Clock, systemClock, timestamp} from './core/clock.ts';
import type {Json} from './core/json.ts';
import {type Log, silentLog} from './core/log.ts';
import {randomHex} from './core/random.ts';
import {ok, type Result} from './core/result.ts';
import type {Tool} from './core/tool.ts';
import type {ApprovalRule, Approver, ToolHost} from './core/tool-host.ts';
import {internalFailure} from './create-toolbox/internal-failure.ts';
import {createConfirmationPolicy} from './runtime/approvals/confirmation-policy.ts';
import type {Explanation} from './runtime/explain-call.ts';
import {openToolHost} from './runtime/open-tool-host.ts';
import {createRegistry} from './runtime/registry.ts';
import {openSession} from './runtime/session.ts';
import {lazySandbox} from './sandbox/lazy-sandbox.ts';
import {RUN, runTool} from './tools/run.ts';
import {
  type FetchPage,
  parseWebFetchArgs,
  WEB_FETCH,
  type WebFetchArgs,
  webFetchTool,
} from './tools/web-fetch.ts';
import {webFetchTextTool} from './tools/web-fetch-text.ts';
import {openWorkspaceSession, type WorkspaceSession} from './tools/workspace-session.ts';
import {workspaceTools} from './tools/workspace-tools.ts';
import type {HostResolver} from './web/guard/host-resolver.ts';
import {openWeb} from './web/open-web.ts';
import type {FetchResponse} from './web/page.ts';

type DeepPartial<Value> = Value extends readonly unknown[]
  ? Value
  : Value extends object
    ? {readonly [Key in keyof Value]?: DeepPartial<Value[Key]>}
    : Value;

/** The seams that a host may fill; each has a real default. */
export interface ToolboxPorts {
  /** Structured log lines (FR-WF-19c). Default: none. */
  readonly log?: Log | undefined;
  /** Host name to addresses. Default: the system's resolver. Its answers are judged like any other. */
  readonly resolver?: HostResolver | undefined;
  /** PEM certificates trusted beside the system's, for a private certificate authority. */
  readonly certificateAuthorities?: readonly string[] | undefined;
  /** Whom to ask about calls with side effects. Default: nobody, which refuses them. */
  readonly approver?: Approver | undefined;
  /** Keeps a rule that somebody answered with beyond the session. Default: such a rule ends with the session. */
  readonly rememberRule?: ((rule: ApprovalRule) => Promise<Result<undefined>>) | undefined;
  readonly clock?: Clock | undefined;
  readonly environment?: Environment | undefined;
  /** Root of the working tree. Without it there are no workspace tools. */
  readonly workspace?: string | undefined;
  /** Files that commands of `run` may not change though they lie in the workspace, such as the configuration. */
  readonly protectedPaths?: readonly string[] | undefined;
  /** Log and artifacts of the calls. Default: a new one in the user's state directory. */
  readonly runDirectory?: string | undefined;
  /** Tools or actions that run without asking, beside `tools.approval.allowlist`. */
  readonly allow?: readonly string[] | undefined;
}

export interface ToolboxOptions extends ToolboxPorts {
  /** The same keys as the TOML file, all optional. Files are not read. */
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

export interface Toolbox extends ToolHost {
  readonly config: Config;
  /** What the configuration says otherwise than it is used; logged at start-up too. */
  readonly warnings: readonly string[];
  /**
   * FR-WF-01: a URL becomes Markdown chunks with exact token counts. Never rejects. A direct call: it
   * asks for no approval and writes no event; what an agent asks for goes through `call`.
   */
  readonly webFetch: (args: WebFetchArgs, context?: CallContext) => Promise<Result<FetchResponse>>;
  /** What the approval settings say of a call, and by which rule. Runs nothing, asks nobody. */
  readonly explainPolicy: (tool: string, params: Json) => Promise<Result<Explanation>>;
  /** Ends connections, threads and the run. Calls under way fail. */
  readonly close: () => Promise<void>;
}

/**
 * A toolbox from a configuration object. Throws `ConfigError` where the configuration cannot be used,
 * so that a wrong one is never silently insecure (FR-WF-SEC-OVR-01).
 */
export function createToolbox(options: ToolboxOptions = {}): Toolbox {
  const environment = options.environment ?? readEnvironment();
  const resolved = resolveConfig(options.config ?? {}, environment);
  if (!resolved.ok) throw new ConfigError(resolved.error);
  return assembleToolbox(resolved.value, {...options, environment});
}

/** The composition root: everything is wired here, and closed by one `close()`. */
export function assembleToolbox(resolved: ResolvedConfig, ports: ToolboxPorts = {}): Toolbox {
  const {config} = resolved;
  const {webfetch, output} = config.tools;
  const {log = silentLog, clock = systemClock, environment = readEnvironment()} = ports;
  const web = openWeb(webfetch, {
    log,
    clock,
    env: environment.env,
    resolver: ports.resolver,
    certificateAuthorities: ports.certificateAuthorities ?? [],
  });
  if (!web.ok) throw new ConfigError(web.error);
  const fetchLogged: FetchPage = web.value.fetch;
  const workspace = openWorkspace({...ports, clock, environment});
  const sandbox =
    workspace &&
    lazySandbox(config.tools.run, {
      workspace: workspace.workspace.root,
      protectedPaths: ports.protectedPaths ?? [],
      env: environment.env,
      clock,
      log,
    });
  const tools = [
    webfetch.output === 'text'
      ? webFetchTextTool(fetchLogged, webfetch, clock)
      : webFetchTool(fetchLogged, webfetch),
    ...(workspace ? workspaceTools(workspace) : []),
    ...(sandbox ? [runTool(sandbox, config.tools.run)] : []),
  ];
  const host = assembleHost(config, tools, workspace, {...ports, log, clock, environment});
  const warnings = [...resolved.warnings, ...web.value.warnings];
  for (const message of warnings) log({level: 'warn', event: 'config_warning', message});

  const webFetch = async (args: WebFetchArgs, context: CallContext = {}): Promise<Result<FetchResponse>> => {
    context.allowTruncation = false;
    const request = parseWebFetchArgs(args, webfetch.default_max_chunk_tokens);
    if (!request.ok) return request;
    const maxBytes = Math.min(
      context.maxOutputBytes ?? output.max_bytes,
      context.availableCapacityBytes ?? Number.POSITIVE_INFINITY,
    );
    const outcome = await fetchLogged(request.value, {maxBytes, signal: context.signal});
    return outcome.ok ? ok(outcome.value.response) : outcome;
  };

  return {
    config,
    warnings,
    webFetch: (args, context) => webFetch(args, context).catch(internalFailure),
    listTools: host.listTools,
    call: host.call,
    renderText: host.renderText,
    explainPolicy: host.explain,
    close: async () => {
      await Promise.all([host.close(), web.value.close(), sandbox?.close()]);
    },
  };
}

type HostPorts = ToolboxPorts & {readonly log: Log; readonly clock: Clock; readonly environment: Environment};

/** SRD 5.2: the registry by mode and switches, the approvals, and a session that opens when it is needed. */
function assembleHost(
  config: Config,
  tools: readonly Tool[],
  workspace: WorkspaceSession | undefined,
  ports: HostPorts,
) {
  const {mode, definitions, approval, output, webfetch, run} = config.tools;
  const {log, clock, environment, approver} = ports;
  const registry = createRegistry({
    mode,
    tools,
    // FR-WF-CFG-PREC-02
    switchedOff: new Map([
      ...(webfetch.enabled ? [] : [[WEB_FETCH, 'tools.webfetch.enabled'] as const]),
      ...(run.enabled ? [] : [[RUN, 'tools.run.enabled'] as const]),
    ]),
    definitions,
  });
  const allowlist = [...approval.allowlist, ...(ports.allow ?? [])];
  const policy = createConfirmationPolicy(
    {...approval, allowlist},
    {
      knownTools: tools.map(({name}) => name),
      // FR-WF-OP-02
      autoExecution: new Map([
        [WEB_FETCH, {setting: 'tools.webfetch.allow_auto_execution', enabled: webfetch.allow_auto_execution}],
      ]),
    },
  );
  if (!policy.ok) throw new ConfigError(policy.error);
  return openToolHost({
    registry,
    policy: policy.value,
    tools,
    clock,
    log,
    approver,
    rememberRule: ports.rememberRule,
    maxOutputBytes: output.max_bytes,
    openSession: async () => {
      const recovered = await workspace?.recover();
      if (recovered && !recovered.ok) return recovered;
      const root = workspace?.workspace.root;
      const name = `${timestamp(clock.now()).replace(/[^0-9TZ]/g, '')}-${randomHex(4)}`;
      const directory =
        ports.runDirectory === undefined
          ? defaultRunDirectory(environment, root, name)
          : resolve(environment.cwd, ports.runDirectory);
      return openSession({directory, workspace: root, clock});
    },
  });
}

type WorkspacePorts = ToolboxPorts & {readonly clock: Clock; readonly environment: Environment};

function openWorkspace({workspace, clock, environment}: WorkspacePorts): WorkspaceSession | undefined {
  if (workspace === undefined) return undefined;
  const root = resolve(environment.cwd, workspace);
  const opened = openWorkspaceSession({
    root,
    stateDirectory: defaultStateDirectory(environment, root),
    programDirectories: programDirectories(environment),
    clock,
  });
  if (!opened.ok) throw new ConfigError([opened.error.message]);
  return opened.value;
}
