import type {Clock} from '../../core/clock.ts';
import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import type {Json} from '../../core/json.ts';
import {type Err, ok, type Result} from '../../core/result.ts';
import type {Intent, Tool} from '../../core/tool.ts';
import type {ApprovalAnswer, Approver} from '../../core/tool-host.ts';
import {orAborted} from '../call/or-aborted.ts';
import type {Session} from '../session.ts';
import {approvalHash} from './approval-hash.ts';
import type {ConfirmationPolicy, Finding} from './confirmation-policy.ts';
import {deniedFailure} from './deny-early.ts';
import type {Grant} from './grants.ts';
import {noteTaint} from './note-taint.ts';
import type {ApprovalRule} from './options.ts';
import {checkRule} from './rules/check-rule.ts';
import type {CompiledRule} from './rules/compile-rule.ts';
import {suggestRule} from './rules/suggest-rule.ts';
import {sinkOf, TAINT_SETTING, tighten} from './tighten.ts';

export interface ApprovalRequest {
  readonly requestId: string;
  readonly step: number;
  readonly tool: Pick<Tool, 'name' | 'action'>;
  readonly params: Json;
  readonly intent: Intent;
  /** What an operator can set instead, where no list of approvals is the place for it. */
  readonly toAllow?: string;
  readonly signal: AbortSignal;
}

export interface ApprovalDeps {
  readonly policy: ConfirmationPolicy;
  readonly session: Session;
  readonly clock: Clock;
  /** Absent where there is no approver. */
  readonly approver: Approver | undefined;
  /** Keeps a rule beyond the session; absent where the host cannot. */
  readonly rememberRule: ((rule: ApprovalRule) => Promise<Result<undefined>>) | undefined;
}

export interface Approval {
  /** Whether the call may go on. */
  readonly outcome: Result<undefined>;
  /** The setting, rule, grant or answer that allowed it. */
  readonly by: string | undefined;
  /** H4: the approver allowed the change of the files as they were, so they are compared before it is made. */
  readonly isBoundToFiles: boolean;
  /** Time that the approver was asked, or that others were asked before. */
  readonly waitedMs: number;
}

/** Rulings H3, H4: decides about one call, asks where the policy says so, and writes down what came out. */
export async function requestApproval(request: ApprovalRequest, deps: ApprovalDeps): Promise<Approval> {
  const {policy, session, clock} = deps;
  const {tool, intent, signal} = request;
  const hash = await approvalHash({tool: tool.name, params: request.params, fileHashes: intent.fileHashes});
  const about = {
    request_id: request.requestId,
    step: request.step,
    tool: tool.name,
    action: tool.action ?? null,
  };
  let waitedMs = 0;
  let allowedBy: string | undefined;
  const straight = (outcome: Result<undefined>): Approval => ({
    outcome,
    by: allowedBy,
    isBoundToFiles: false,
    waitedMs,
  });
  const bound = (outcome: Result<undefined>): Approval => ({...straight(outcome), isBoundToFiles: true});

  const decided = (
    decision: 'allowed' | 'refused',
    by: string,
    extra: {readonly [field: string]: Json} = {},
  ): Result<undefined> => {
    if (decision === 'allowed') allowedBy = by;
    return session.emit('approval_decided', {
      ...about,
      decision,
      by,
      hash,
      wait_sec: waitedMs / 1000,
      ...extra,
    });
  };
  const call = {tool: tool.name, subject: intent.subject};
  const {finding, taint, isTainted} = tighten(tool.action, call, policy, session.taint);
  // What an "ask" rule asks about, no rule of the configuration answers.
  const isByMode = finding.by === 'tools.approval.mode';
  const configured = isByMode ? policy.allowing(tool.action, call) : [];
  const askedBy = isByMode ? undefined : finding.by;
  const granted = (): Grant | undefined =>
    session.grants.find(hash, tool.name, tool.action, intent.subject, configured, askedBy, isTainted);
  const beside = (): readonly CompiledRule[] =>
    intent.subject.kind === 'command'
      ? [...configured, ...session.grants.rulesAbout(tool.name, tool.action, 'command', askedBy)]
      : [];

  /** T1: nothing may happen between the decision and this, so that two calls do not spend the same bits. */
  const passed = (isUnasked: boolean): void => {
    if (tool.action !== undefined)
      session.taint.passed(sinkOf(tool.action, intent.subject), isUnasked ? taint : undefined);
    if (isUnasked && taint?.decision === 'pass') noteTaint(taint, about, session);
  };
  if (taint !== undefined && taint.decision !== 'pass') noteTaint(taint, about, session);

  if (finding.decision === 'deny') {
    decided('refused', finding.by, {reason: finding.reason});
    return straight(deniedFailure(tool.name, finding.by, finding.reason));
  }
  if (finding.decision === 'allow') {
    // Reading is not worth a line of its own.
    passed(true);
    const isSilent = tool.action === undefined && finding.by === 'read-only';
    return straight(isSilent ? ok() : decided('allowed', finding.by));
  }
  const grant = granted();
  if (grant !== undefined) passed(true);
  if (grant !== undefined) return (grant.isOfCall ? bound : straight)(decided('allowed', grant.by));
  if (await session.pending.redeem(hash)) {
    passed(false);
    return bound(decided('allowed', 'approve command'));
  }
  const {approver} = deps;
  if (approver === undefined) return straight(await unanswered(request, finding, hash, deps));

  const startedAt = clock.monotonic();
  const settled = session.questions.run(async (): Promise<Result<undefined>> => {
    // The answer to the question before may have settled this one.
    const isOpen = !signal.aborted && session.stopped === undefined && granted() === undefined;
    const answer = isOpen ? await ask(approver) : ok(undefined);
    waitedMs = clock.monotonic() - startedAt;
    if (signal.aborted) return cancelled(tool.name);
    return answer.ok ? finish(answer.value) : answer;
  });
  const outcome = await orAborted(settled, signal);
  if (outcome !== 'aborted' && outcome.value.ok) passed(false);
  waitedMs = clock.monotonic() - startedAt;
  return {
    outcome: outcome === 'aborted' ? cancelled(tool.name) : outcome.value,
    by: allowedBy,
    isBoundToFiles: true,
    waitedMs,
  };

  async function ask(present: Approver): Promise<Result<ApprovalAnswer | undefined>> {
    const asked = session.emit('approval_requested', {
      ...about,
      summary: intent.summary,
      by: finding.by,
      hash,
      approval_id: null,
    });
    if (!asked.ok) return asked;
    const question = {
      requestId: request.requestId,
      tool: tool.name,
      action: tool.action,
      summary: intent.summary,
      preview: intent.preview,
      hash,
      by: finding.by,
      reason: finding.reason,
      suggestedRule: suggestRule(tool.name, intent.subject, beside(), isTainted),
      ruleProblem: (rule: ApprovalRule) => {
        const checked = checkRule(rule, tool, intent.subject, beside(), isTainted);
        return checked.ok ? undefined : checked.error;
      },
      canRemember: deps.rememberRule !== undefined,
    };
    const answer = await orAborted(present.ask(question, signal), signal);
    return ok(answer === 'aborted' ? undefined : answer.value);
  }

  async function finish(given: ApprovalAnswer | undefined): Promise<Result<undefined>> {
    if (given === undefined) {
      const earlier = granted();
      if (earlier !== undefined && session.stopped === undefined) return decided('allowed', earlier.by);
      return refused({answer: 'stop', reason: session.stopped ?? ''});
    }
    switch (given.answer) {
      case 'once':
        return decided('allowed', 'once');
      case 'session':
        session.grants.allowCall(hash, isTainted);
        return decided('allowed', 'session');
      case 'session-rule':
      case 'always':
        return byRule(given);
      case 'refuse':
        return refused(given);
      case 'stop':
        session.stop(given.reason ?? '');
        return refused(given);
    }
  }

  /** A rule that does not cover the call in question is not kept; the call was allowed all the same. */
  async function byRule({
    answer: by,
    rule,
  }: Extract<ApprovalAnswer, {rule: ApprovalRule}>): Promise<Result<undefined>> {
    const checked = checkRule(rule, tool, intent.subject, beside(), isTainted);
    if (!checked.ok) return decided('allowed', 'once', {rule_problem: checked.error});
    session.grants.allowByRule(checked.value, finding.by);
    const kept = by === 'always' && deps.rememberRule !== undefined ? await deps.rememberRule(rule) : ok();
    return decided('allowed', by, {rule: {...rule}, ...(kept.ok ? {} : {rule_problem: kept.error.message})});
  }

  function refused({
    answer: by,
    reason = '',
  }: {
    readonly answer: 'refuse' | 'stop';
    readonly reason?: string;
  }) {
    decided('refused', by, {reason});
    const why = reason === '' ? 'no reason was given' : reason.trim().replace(/\.+$/, '');
    const what = by === 'stop' ? 'ended the session' : 'said no';
    return fail(
      'approval_denied',
      `The user was asked about ${tool.name} and ${what}: ${why}. Do not repeat the call.`,
      {
        tool: tool.name,
        reason: why,
        rule: finding.by,
      },
    );
  }
}

/** Ruling H3: refused before any side effect; says which settings and which command would allow it. */
async function unanswered(
  {requestId, step, tool, intent, toAllow}: ApprovalRequest,
  finding: Finding,
  hash: string,
  {policy, session}: ApprovalDeps,
): Promise<Result<never>> {
  const {summary, preview} = intent;
  const stored = await session.pending.add({tool: tool.name, summary, preview, hash});
  const id = stored.ok ? stored.value.id : undefined;
  session.emit('approval_requested', {
    request_id: requestId,
    step,
    tool: tool.name,
    action: tool.action ?? null,
    summary,
    by: finding.by,
    hash,
    approval_id: id ?? null,
  });
  // An "ask" rule is stronger than the lists, so there it is the rule that has to change.
  const isByMode = finding.by === 'tools.approval.mode';
  const {profileToAllow} = policy;
  // Ruling H7: once; every later refusal says what concerns its call.
  const profile =
    isByMode && profileToAllow !== undefined && session.isFirstUnanswered()
      ? [`start with \`--profile ${profileToAllow}\` if the client asks its user itself`]
      : [];
  const [first = '', ...more] = isByMode ? policy.settingsToAllow(tool.name) : [finding.by];
  const settings =
    toAllow !== undefined
      ? [toAllow]
      : isByMode
        ? [`add "${tool.name}" to ${first}`, ...more.map(setting => `set ${setting} = true`)]
        : [`change ${first}`];
  const why = finding.why ?? (finding.by === TAINT_SETTING ? finding.reason : undefined);
  const run = JSON.stringify(session.directory.path);
  const command =
    id === undefined ? [] : [`run \`forge-tools approve ${id} --run-dir ${run}\` and repeat the call`];
  return fail(
    'approval_required',
    `${tool.name} needs an approval and no approver is connected.${why === undefined ? '' : ` ${why}`} The operator can ${[...command, ...profile, ...settings].join(', or ')}.`,
    {tool: tool.name, setting: first, approval_id: id, rule: finding.by},
  );
}

function cancelled(tool: string): Err<Failure> {
  return fail('cancelled', `The call of ${tool} was cancelled while its approval was awaited.`, {
    phase: 'approval',
  });
}
