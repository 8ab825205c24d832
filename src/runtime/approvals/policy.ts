// Decides by settings and rules whether a call is allowed, denied or asked about. Taint can only make it
// stricter.
import {ok, type Result} from '../../core/result.ts';
import {toUrl} from '../../core/text/parse.ts';
import type {ApprovalAction, ApprovalSubject, HostDecision} from '../../core/tool.ts';
import type {RunTaint, Sink, TaintFinding} from '../taint/run-taint.ts';
import type {ApprovalOptions} from './options.ts';
import {type CompiledRule, compileRule, ruleCoverage} from './rules.ts';

/** What is known about the tools when the policy is made. */
interface PolicySurroundings {
  /** Every tool there could be, enabled or not: a list that names another one is wrong. */
  readonly knownTools: readonly string[];
  /** Tools and actions that run without asking in this session, and the flag or option that names them. */
  readonly allow?: {readonly by: string; readonly names: readonly string[]};
  /** FR-WF-OP-02: tool → the setting that may allowlist it, and whether it does. */
  readonly autoExecution: ReadonlyMap<string, {readonly setting: string; readonly enabled: boolean}>;
  /** Ruling H7: tool → why `mode = "auto"` does not cover it here. */
  readonly notByAuto?: ReadonlyMap<string, {readonly by: string; readonly reason: string}>;
  /** Ruling H7: the profile for clients that ask their user themselves, where it would change the mode. */
  readonly profileForClients?: string | undefined;
}

export interface Finding {
  readonly decision: 'allow' | 'ask' | 'deny';
  /** The setting that says so: `tools.approval.denylist`, `tools.approval.rules[2]`. */
  readonly by: string;
  /** One sentence. */
  readonly reason: string;
  /** Another one, where rules allow the call in part. */
  readonly why?: string;
}

export interface PolicyDecision extends Finding {
  /** What also matched and was overruled, strongest first. */
  readonly overruled: readonly Finding[];
}

interface CallToCheck {
  readonly tool: string;
  readonly subject: ApprovalSubject;
}

export interface ConfirmationPolicy {
  /** ADR 08: pure: asks no approver and changes nothing, so it also answers `policy explain`. */
  readonly check: (action: ApprovalAction | undefined, call: CallToCheck) => PolicyDecision;
  /** Review R11: where a call may be led to, once it was allowed by `allowedBy` or by rules of the session. */
  readonly reach: (
    action: ApprovalAction | undefined,
    call: CallToCheck,
    allowed: {readonly by: string | undefined; readonly sessionRules: readonly CompiledRule[]},
  ) => (host: string) => HostDecision;
  /** The rules that allow calls of this kind, for a rule of the session beside them. */
  readonly allowing: (action: ApprovalAction | undefined, call: CallToCheck) => readonly CompiledRule[];
  /** T1: whether rules with `tainted = true` cover the call. */
  readonly allowsTainted: (action: ApprovalAction | undefined, call: CallToCheck) => boolean;
  /** What an operator would set so that calls of the tool run without asking. */
  readonly settingsToAllow: (tool: string) => readonly string[];
  /** What an operator would choose whose client asks its user itself. */
  readonly profileToAllow: string | undefined;
}

const ACTIONS: readonly ApprovalAction[] = ['patch_file', 'write_file', 'run', 'web_fetch', 'egress'];
const SETTING = 'tools.approval';

/** What decides where the approver answered with a rule, for this call or for one before. */
const RULE_ANSWERS: ReadonlySet<string> = new Set(['session rule', 'session-rule', 'always']);

/** The error is everything that makes the settings unusable; start-up stops then. */
export function createConfirmationPolicy(
  options: ApprovalOptions,
  {knownTools, allow, autoExecution, notByAuto, profileForClients}: PolicySurroundings,
): Result<ConfirmationPolicy, readonly string[]> {
  const known = new Set<string>([...knownTools, ...ACTIONS]);
  const compiled = options.rules.map((rule, index) => compileRule(rule, `${SETTING}.rules[${index}]`));
  const problems = [
    ...unknownNames(`${SETTING}.allowlist`, options.allowlist, known),
    ...unknownNames(allow?.by ?? '', allow?.names ?? [], known),
    ...unknownNames(`${SETTING}.denylist`, options.denylist, known),
    ...options.rules.flatMap(({tool}, index) =>
      tool === '*' || tool === '' ? [] : unknownNames(`${SETTING}.rules[${index}].tool`, [tool], known),
    ),
    ...compiled.flatMap(rule => (rule.ok ? [] : rule.error)),
  ];
  if (problems.length > 0) return {ok: false, error: problems};
  const rules = compiled.flatMap(rule => (rule.ok ? [rule.value] : []));

  return ok({
    check: (action, call) => {
      const [first, ...overruled] = findings(action, call);
      if (first === undefined) throw new Error('A policy always has a finding.');
      return {...first, overruled};
    },
    reach: (action, {tool, subject}, {by = '', sessionRules}) => {
      const about = rules.filter(rule => rule.isAbout(tool, action, 'url'));
      const isByRule = rules.some(rule => rule.name === by) || RULE_ANSWERS.has(by);
      const allowing = [...about.filter(({decision}) => decision === 'allow'), ...sessionRules];
      return hostReach({subject, about, within: isByRule ? allowing : undefined});
    },
    allowing: (action, {tool, subject}) =>
      rules.filter(rule => rule.decision === 'allow' && rule.isAbout(tool, action, subject.kind)),
    allowsTainted: (action, {tool, subject}) => {
      const holding = rules.filter(rule => rule.isForTainted && rule.isAbout(tool, action, subject.kind));
      return ruleCoverage(subject, holding).isCovered;
    },
    profileToAllow: options.mode === 'prompt' ? profileForClients : undefined,
    settingsToAllow: tool => {
      const own = autoExecution.get(tool)?.setting;
      return [`${SETTING}.allowlist`, ...(own === undefined ? [] : [own])];
    },
  });

  /** Ruling H3, strongest first; the strictest of the rules on arguments comes before the allowlist. */
  function* findings(action: ApprovalAction | undefined, {tool, subject}: CallToCheck): Generator<Finding> {
    const names = action === undefined ? [tool] : [tool, action];
    const listed = (list: readonly string[]): string | undefined => names.find(name => list.includes(name));
    const about = rules.filter(rule => rule.isAbout(tool, action, subject.kind));
    const hits = (decision: 'ask' | 'deny'): readonly CompiledRule[] =>
      about.filter(rule => rule.decision === decision && subject.values.some(rule.matches));
    const asking = hits('ask');

    // FR-WF-OP-02 (3): nothing overrides deny. What only reads needs no approver, unless a rule asks.
    if (options.mode === 'deny' && (action !== undefined || asking.length > 0)) {
      yield {decision: 'deny', by: `${SETTING}.mode`, reason: `${SETTING}.mode is "deny".`};
    }
    const denied = listed(options.denylist);
    if (denied !== undefined) {
      yield {decision: 'deny', by: `${SETTING}.denylist`, reason: `${SETTING}.denylist names "${denied}".`};
    }
    for (const rule of [...hits('deny'), ...asking]) yield ruleFinding(rule);
    if (action === undefined) {
      yield {decision: 'allow', by: 'read-only', reason: `${tool} has no side effects.`};
    }
    for (const {by, names: list} of [
      {by: `${SETTING}.allowlist`, names: options.allowlist},
      ...(allow === undefined ? [] : [allow]),
    ]) {
      const allowed = listed(list);
      if (allowed !== undefined) yield {decision: 'allow', by, reason: `${by} names "${allowed}".`};
    }
    const own = autoExecution.get(tool);
    if (own?.enabled === true) {
      yield {decision: 'allow', by: own.setting, reason: `${own.setting} is true.`};
    }
    // Every part of the call must be allowed; which rule allows which does not matter.
    const coverage = ruleCoverage(
      subject,
      about.filter(rule => rule.decision === 'allow'),
    );
    if (coverage.isCovered) yield ruleFinding(coverage.by);
    if (action !== undefined && options.mode !== 'deny') {
      const exception = options.mode === 'auto' ? notByAuto?.get(tool) : undefined;
      if (exception !== undefined) yield {decision: 'ask', ...exception};
      const decision = options.mode === 'auto' ? 'allow' : 'ask';
      const reason = `${SETTING}.mode is "${options.mode}".`;
      const why = coverage.isCovered ? undefined : coverage.why;
      yield {decision, by: `${SETTING}.mode`, reason, ...(why === undefined ? {} : {why})};
    }
  }
}

function ruleFinding({decision, name, reason}: CompiledRule): Finding {
  const does = {allow: 'allows', ask: 'asks about', deny: 'denies'}[decision];
  return {decision, by: name, reason: reason === '' ? `${name} ${does} the call.` : reason};
}

/** A denylist that names nothing denies nothing: better no start than that. */
function unknownNames(by: string, names: readonly string[], known: ReadonlySet<string>): readonly string[] {
  return names
    .filter(name => !known.has(name))
    .map(
      name =>
        `${by} names ${JSON.stringify(name)}, which is no tool and no action. Known are ${[...known].join(', ')}.`,
    );
}

/** The setting that says so. */
export const TAINT_SETTING = 'tools.taint.mode';

interface TightenedDecision {
  readonly finding: PolicyDecision;
  /** What taint says, whether it counts or not. */
  readonly taint: TaintFinding | undefined;
  /** Only what was given for tainted calls answers the question. */
  readonly isTainted: boolean;
}

/**
 * T1: what the policy says, or something stricter. A denial comes first, and a rule with `tainted = true` makes what
 * it covers the operator's own. With `mode = "warn"` the question says what taint would do, and nothing changes.
 */
export function tighten(
  action: ApprovalAction | undefined,
  call: CallToCheck,
  policy: ConfirmationPolicy,
  run: RunTaint | undefined,
): TightenedDecision {
  const finding = policy.check(action, call);
  const taint = action === undefined ? undefined : run?.decide(createSink(action, call.subject));
  const unchanged = {finding, taint, isTainted: false};
  if (run === undefined || taint === undefined || taint.decision === 'pass') return unchanged;
  if (finding.decision === 'deny' || policy.allowsTainted(action, call)) return unchanged;
  if (run.mode === 'warn') {
    const reason = `${finding.reason} Note: ${taint.reason}`;
    return {...unchanged, finding: finding.decision === 'ask' ? {...finding, reason} : finding};
  }
  const {overruled, ...before} = finding;
  // What an "ask" rule asks about, an answer to another question does not answer.
  const isByRule = finding.decision === 'ask' && finding.by !== 'tools.approval.mode';
  const by = isByRule ? finding.by : TAINT_SETTING;
  const stricter: Finding = {decision: taint.decision, by, reason: taint.reason};
  return {finding: {...stricter, overruled: [before, ...overruled]}, taint, isTainted: true};
}

/** T1: a connection of a command is about its host; what is sent there is not seen. */
export function createSink(action: ApprovalAction | undefined, subject: ApprovalSubject): Sink {
  const [address = ''] = subject.values;
  return action === 'egress' ? {kind: 'host', host: new URL(address).host} : subject;
}

interface ReachDeps {
  /** The addresses of the call. Their hosts were decided about with the call itself. */
  readonly subject: ApprovalSubject;
  /** The rules on hosts that are about the tool. */
  readonly about: readonly CompiledRule[];
  /** Where `allow` rules decided about the call: those rules. It stays within their hosts then. */
  readonly within: readonly CompiledRule[] | undefined;
}

/**
 * Review R11: rules on hosts hold wherever a call is led, by a redirect, by a page that moves on and by what the
 * page loads. Nobody can be asked half-way, so a host with an `ask` rule is refused there: it can be asked
 * about when it is fetched by itself.
 */
function hostReach({subject, about, within}: ReachDeps): (host: string) => HostDecision {
  const own = new Set(subject.values.map(hostOf));
  return host => {
    const url = addressOf(host);
    if (own.has(hostOf(url))) return {allowed: true};
    for (const decision of ['deny', 'ask'] as const) {
      const rule = about.find(known => known.decision === decision && known.matches(url));
      if (rule !== undefined) return {allowed: false, reason: reasonOf(rule)};
    }
    if (within === undefined || within.some(rule => rule.matches(url))) return {allowed: true};
    return {allowed: false, reason: 'The call was allowed by a rule, and no rule allows this host.'};
  };
}

function reasonOf({decision, name, reason}: CompiledRule): string {
  if (decision === 'deny') return reason === '' ? `${name} denies it.` : `${name} denies it: ${reason}`;
  return `${name} asks about it, and a fetch that is under way cannot ask. Fetch that address in a call of its own.`;
}

/** A name, a name with a port, or an IPv6 address with or without brackets. */
function addressOf(host: string): string {
  const isBareIpv6 = !host.startsWith('[') && host.split(':').length > 2;
  return `http://${isBareIpv6 ? `[${host}]` : host}/`;
}

function hostOf(url: string): string {
  return toUrl(url)?.hostname.replace(/\.$/, '') ?? url;
}
