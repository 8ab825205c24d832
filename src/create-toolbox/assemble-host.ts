// Assembles the tool host: which tools are offered, how calls are approved, and a session that opens when it is
// needed.
import {existsSync, realpathSync} from 'node:fs';
import {basename, dirname, isAbsolute, join, relative, resolve, sep} from 'node:path';
import {fileURLToPath} from 'node:url';
import {ConfigError} from '../config/config-error.ts';
import type {Config} from '../config/config-schema.ts';
import {defaultRunDirectory, defaultRunsRoot, type Environment} from '../config/environment.ts';
import type {ResolvedConfig} from '../config/resolve-config.ts';
import type {Lifecycle} from '../core/async.ts';
import type {Clock} from '../core/clock.ts';
import type {Log} from '../core/log.ts';
import {packageFile} from '../core/package-file.ts';
import type {Result} from '../core/result.ts';
import type {Tool} from '../core/tool.ts';
import type {ApprovalRule, Approver} from '../core/tool-host.ts';
import {createConfirmationPolicy} from '../runtime/approvals/policy.ts';
import {DAY_MS, newRunName, pruneOnceAnHour, type Retention} from '../runtime/kept-runs.ts';
import {type OpenToolHost, openToolHost} from '../runtime/open-tool-host.ts';
import {offByMode} from '../runtime/prepare-call.ts';
import {createRegistry} from '../runtime/registry.ts';
import {openSession} from '../runtime/session.ts';
import type {WorkspaceSession} from '../tools/files/session.ts';
import {EGRESS} from '../tools/run/egress-log.ts';
import {RUN} from '../tools/run/run.ts';
import {
  type SettingsOrigin,
  switchedOff,
  switchedOffSentences,
  turnModeOn,
  WEB_TOOLS,
} from './switched-off.ts';

const WITHOUT_WORKSPACE = 'File tools and run are off: createToolbox was given no workspace.';

/** Ruling X1: a mode answers for calls of tools; a host is opened by whoever names it. */
const NOT_BY_MODE = {
  by: 'tools.run.egress.allow',
  reason: 'tools.run.egress.allow does not name the host, and no mode opens one.',
};

/** Ruling H7: the profile "trusted" lets commands run in a sandbox. Whoever wants them to run without one writes it down. */
function uncontained({config, writesApprovalMode}: ResolvedConfig) {
  const {sandbox} = config.tools.run;
  const exception = {
    by: 'profile',
    reason: `profile = "${config.profile}" lets run pass in a sandbox only, and tools.run.sandbox is "none".`,
  };
  const isUncontained = sandbox === 'none' && !writesApprovalMode;
  return new Map([...(isUncontained ? [[RUN, exception] as const] : []), [EGRESS, NOT_BY_MODE] as const]);
}

/** M1 */
export function retentionOf({runs}: Config): Retention {
  return {maxAgeMs: runs.keep_days * DAY_MS, maxBytes: runs.keep_mb * 1024 * 1024};
}

interface HostPorts {
  readonly log: Log;
  readonly clock: Clock;
  readonly environment: Environment;
  readonly lifecycle: Lifecycle;
  readonly approver?: Approver | undefined;
  readonly rememberRule?: ((rule: ApprovalRule) => Promise<Result<undefined>>) | undefined;
  readonly runDirectory?: string | undefined;
  readonly allow?: readonly string[] | undefined;
  readonly origin: SettingsOrigin;
  readonly withoutWorkspace?: string | undefined;
}

interface AssembledHost extends OpenToolHost {
  /** One sentence for each setting that keeps tools from being offered. */
  readonly switchedOff: readonly string[];
}

/** SRD 5.2: the registry by mode and switches, the approvals, and a session that opens when it is needed. */
export function assembleHost(
  resolved: ResolvedConfig,
  tools: readonly Tool[],
  workspace: WorkspaceSession | undefined,
  ports: HostPorts,
): AssembledHost {
  const {config, limitsOutput} = resolved;
  const {mode, definitions, approval, output, webfetch, taint} = config.tools;
  const {log, clock, environment, approver, lifecycle} = ports;
  const turnOn = turnModeOn(ports.origin);
  const byTool = switchedOff(config, tools, ports.origin);
  const registry = createRegistry({
    mode,
    turnModeOn: turnOn,
    tools,
    switchedOff: byTool,
    definitions,
    absent: workspace === undefined ? (ports.withoutWorkspace ?? WITHOUT_WORKSPACE) : undefined,
  });
  const policy = createConfirmationPolicy(approval, {
    ...(ports.allow && {
      allow: {by: resolved.configFile === undefined ? 'allow' : '--allow', names: ports.allow},
    }),
    knownTools: tools.map(({name}) => name),
    // FR-WF-OP-02
    autoExecution: new Map(
      WEB_TOOLS.map(name => [
        name,
        {setting: 'tools.webfetch.allow_auto_execution', enabled: webfetch.allow_auto_execution},
      ]),
    ),
    notByAuto: uncontained(resolved),
    profileForClients: resolved.writesApprovalMode ? undefined : 'trusted',
  });
  if (!policy.ok) throw new ConfigError(policy.error);
  const host = openToolHost({
    registry,
    policy: policy.value,
    tools,
    clock,
    log,
    lifecycle,
    approver,
    rememberRule: ports.rememberRule,
    maxOutputBytes: output.max_bytes,
    maxOutputBytesIsDefault: !limitsOutput,
    openSession: async () => {
      const recovered = await workspace?.recover();
      if (recovered && !recovered.ok) return recovered;
      const root = workspace?.workspace.root;
      const directory =
        ports.runDirectory === undefined
          ? defaultRunDirectory(environment, root, newRunName(clock))
          : resolve(environment.cwd, ports.runDirectory);
      const session = await openSession({directory, workspace: root, clock, taint});
      const runsRoot = defaultRunsRoot(environment);
      if (session.ok && ports.runDirectory === undefined && dirname(directory) === runsRoot) {
        const pruned = await pruneOnceAnHour(runsRoot, retentionOf(config), clock);
        if (!pruned.ok) log({level: 'warn', event: 'runs_not_removed', message: pruned.error.message});
      }
      // Review R6: what was taken back is in the log.
      if (session.ok && recovered && recovered.value.undone > 0) {
        session.value.emit('JOURNAL_RECOVERED', {...recovered.value});
      }
      return session;
    },
  });
  return {...host, switchedOff: switchedOffSentences(offByMode(mode, turnOn), byTool, tools)};
}

/** What this package loads beside its own code, where the workspace is the package itself. */
const LOADED = ['node_modules', 'vocabulary', 'assets', 'package.json'];

interface ProtectedDeps {
  /** The workspace, an absolute path. */
  readonly root: string;
  /** Files that the host names, such as the configuration, there or not. */
  readonly named: readonly string[];
  /** Where runs, locks and journals are kept. */
  readonly state: readonly string[];
}

/**
 * Reviews R8 and R9: what of a workspace no tool and no command may change, because we believe it or execute it:
 * the configuration, this package with all it loads, the executable of Node, and our own state. Absolute paths
 * that lie in the workspace.
 */
export function protectedPaths({root, named, state}: ProtectedDeps): readonly string[] {
  const real = existingRealPath(root);
  const isWithin = (path: string): boolean => isInside(root, path) || isInside(real, path);
  const paths = [...named, ...state, process.execPath].map(path => resolve(path));
  const believed = [...new Set([...paths, ...paths.map(existingRealPath)])].filter(isWithin);
  return [...believed, ...packageParts(real)];
}

/** The outermost `node_modules` that holds the package, else the package, else what of it is in use. */
function packageParts(root: string): readonly string[] {
  const home = existingRealPath(fileURLToPath(packageFile('.')));
  if (home === root) {
    // The code in use is `dist` or `src`; the other one can be worked on.
    const [code = ''] = relative(home, existingRealPath(fileURLToPath(import.meta.url))).split(sep);
    return [code, ...LOADED].map(part => join(home, part)).filter(existsSync);
  }
  if (!isInside(root, home)) return [];
  const names = relative(root, home).split(sep);
  const outermost = names.indexOf('node_modules');
  return [outermost === -1 ? home : join(root, ...names.slice(0, outermost + 1))];
}

function isInside(root: string, path: string): boolean {
  const inside = relative(root, path);
  return inside !== '' && inside !== '..' && !inside.startsWith(`..${sep}`) && !isAbsolute(inside);
}

/** Of what is not there, the place where it would be. */
function existingRealPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(existingRealPath(above), basename(path));
  }
}
