import {ok, type Result} from '../../core/result.ts';
import type {ApprovalAction, ApprovalSubject, HostDecision} from '../../core/tool.ts';
import {hostReach} from './host-reach.ts';
import type {ApprovalOptions} from './options.ts';
import {ruleCoverage} from './rule-coverage.ts';
import {type CompiledRule, compileRule} from './rules/compile-rule.ts';

/** What is known about the tools when the policy is made. */
export interface PolicySurroundings {
  /** Every tool there could be, enabled or not: a list that names another one is wrong. */
  readonly knownTools: readonly string[];
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

export interface CallToCheck {
  readonly tool: string;
  readonly subject: ApprovalSubject;
}

export interface ConfirmationPolicy {
  /** ADR 08. Pure: asks no approver and changes nothing, so it also answers `policy explain`. */
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
  {knownTools, autoExecution, notByAuto, profileForClients}: PolicySurroundings,
): Result<ConfirmationPolicy, readonly string[]> {
  const known = new Set<string>([...knownTools, ...ACTIONS]);
  const compiled = options.rules.map((rule, index) => compileRule(rule, `${SETTING}.rules[${index}]`));
  const problems = [
    ...unknownNames('allowlist', options.allowlist, known),
    ...unknownNames('denylist', options.denylist, known),
    ...options.rules.flatMap(({tool}, index) =>
      tool === '*' || tool === '' ? [] : unknownNames(`rules[${index}].tool`, [tool], known),
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
    const allowed = listed(options.allowlist);
    if (allowed !== undefined) {
      yield {
        decision: 'allow',
        by: `${SETTING}.allowlist`,
        reason: `${SETTING}.allowlist names "${allowed}".`,
      };
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
function unknownNames(key: string, names: readonly string[], known: ReadonlySet<string>): readonly string[] {
  return names
    .filter(name => !known.has(name))
    .map(
      name =>
        `${SETTING}.${key} names ${JSON.stringify(name)}, which is no tool and no action. Known are ${[...known].join(', ')}.`,
    );
}
