import {resolve} from 'node:path';
import {ConfigError} from '../config/config-error.ts';
import type {Config} from '../config/config-schema.ts';
import type {Environment} from '../config/environment.ts';
import type {ResolvedConfig} from '../config/resolve/resolve-config.ts';
import {defaultRunDirectory} from '../config/state-directories.ts';
import type {Lifecycle} from '../core/async/lifecycle.ts';
import {type Clock, timestamp} from '../core/clock.ts';
import type {Log} from '../core/log.ts';
import {randomHex} from '../core/random.ts';
import type {Result} from '../core/result.ts';
import type {Tool} from '../core/tool.ts';
import type {ApprovalRule, Approver} from '../core/tool-host.ts';
import {createConfirmationPolicy} from '../runtime/approvals/confirmation-policy.ts';
import {type OpenToolHost, openToolHost} from '../runtime/open-tool-host.ts';
import {createRegistry, type SwitchedOff} from '../runtime/registry.ts';
import {openSession} from '../runtime/session.ts';
import type {WorkspaceSession} from '../tools/files/workspace-session.ts';
import {STOP_RUN} from '../tools/run/background/stop-run.ts';
import {WAIT_FOR} from '../tools/run/background/wait-for.ts';
import {EGRESS} from '../tools/run/egress-log.ts';
import {READ_OUTPUT} from '../tools/run/kept-output.ts';
import {RUN} from '../tools/run/run.ts';
import {VERIFY_QUOTE} from '../tools/web/verify-quote.ts';
import {WEB_FETCH} from '../tools/web/web-fetch.ts';
import {WEB_READ} from '../tools/web/web-read.ts';
import {outsideGroups} from './tool-groups.ts';

/** Ruling R1: what reads pages does it under the same settings as what fetches them. */
const READING_TOOLS = [WEB_READ, VERIFY_QUOTE];
const COMMAND_TOOLS = [RUN, READ_OUTPUT, WAIT_FOR, STOP_RUN];
const WEB_TOOLS = [WEB_FETCH, ...READING_TOOLS];

/** FR-WF-CFG-PREC-02: what the sections of the configuration do not offer. */
function switchedOff(
  {tools: {access, groups, webfetch, webread, run}}: Config,
  tools: readonly Tool[],
): ReadonlyMap<string, SwitchedOff> {
  const off = (names: readonly string[], setting: string, why: string) =>
    names.map(name => [name, {setting, why}] as const);
  // What was never started is not stopped.
  const changing = tools.filter(
    ({name, action}) => name === STOP_RUN || (action !== undefined && action !== WEB_FETCH),
  );
  return new Map([
    ...outsideGroups(groups, tools),
    ...(webfetch.enabled ? [] : off(WEB_TOOLS, 'tools.webfetch.enabled', 'is false')),
    ...(webread.enabled ? [] : off(READING_TOOLS, 'tools.webread.enabled', 'is false')),
    ...(run.enabled ? [] : off(COMMAND_TOOLS, 'tools.run.enabled', 'is false')),
    ...(access === 'all'
      ? []
      : off(
          changing.map(({name}) => name),
          'tools.access',
          `is "${access}"`,
        )),
  ]);
}

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

export interface HostPorts {
  readonly log: Log;
  readonly clock: Clock;
  readonly environment: Environment;
  readonly lifecycle: Lifecycle;
  readonly approver?: Approver | undefined;
  readonly rememberRule?: ((rule: ApprovalRule) => Promise<Result<undefined>>) | undefined;
  readonly runDirectory?: string | undefined;
  readonly allow?: readonly string[] | undefined;
}

/** SRD 5.2: the registry by mode and switches, the approvals, and a session that opens when it is needed. */
export function assembleHost(
  resolved: ResolvedConfig,
  tools: readonly Tool[],
  workspace: WorkspaceSession | undefined,
  ports: HostPorts,
): OpenToolHost {
  const {config, limitsOutput} = resolved;
  const {mode, definitions, approval, output, webfetch, taint} = config.tools;
  const {log, clock, environment, approver, lifecycle} = ports;
  const registry = createRegistry({
    mode,
    tools,
    switchedOff: switchedOff(config, tools),
    definitions,
  });
  const allowlist = [...approval.allowlist, ...(ports.allow ?? [])];
  const policy = createConfirmationPolicy(
    {...approval, allowlist},
    {
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
    },
  );
  if (!policy.ok) throw new ConfigError(policy.error);
  return openToolHost({
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
      const name = `${timestamp(clock.now()).replace(/[^0-9TZ]/g, '')}-${randomHex(4)}`;
      const directory =
        ports.runDirectory === undefined
          ? defaultRunDirectory(environment, root, name)
          : resolve(environment.cwd, ports.runDirectory);
      const session = await openSession({directory, workspace: root, clock, taint});
      // Review R6: what was taken back is in the log.
      if (session.ok && recovered && recovered.value.undone > 0) {
        session.value.emit('JOURNAL_RECOVERED', {...recovered.value});
      }
      return session;
    },
  });
}
