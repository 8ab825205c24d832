// Decides on one call: by policy, by an earlier grant, or by asking the user. Each decision is logged.
import {orAborted} from '../../core/async.ts';
import {type Err, type Failure, fail, type Json, ok, type Result} from '../../core/result.ts';
import type {CallOutline, HostDecision, Intent, LaterQuestion, Tool} from '../../core/tool.ts';
import type {ApprovalAnswer, ApprovalRule, Approver} from '../../core/tool-host.ts';
import type {Client, Grant} from '../client.ts';
import type {Runtime} from '../runtime.ts';
import type {Session} from '../session.ts';
import type {TaintFinding} from '../taint/run-taint.ts';
import {approvalHash} from './hash.ts';
import {type ConfirmationPolicy, createSink, type Finding, TAINT_SETTING, tighten} from './policy.ts';
import {type CompiledRule, checkRule, suggestRule} from './rules.ts';

interface ApprovalRequest {
  readonly requestId: string;
  readonly step: number;
  readonly tool: Pick<Tool, 'name' | 'action'>;
  readonly params: Json;
  readonly intent: Intent;
  /** What an operator can set instead, where no list of approvals is the place for it. */
  readonly toAllow?: string;
  readonly signal: AbortSignal;
}

interface ApprovalDeps extends Pick<Runtime, 'policy' | 'session' | 'clock' | 'approver' | 'rememberRule'> {
  /** Whose call it is: to whom a grant or a stop belongs. */
  readonly client: Client;
}

/**
 * Rulings H3, H4: decides about one call, asks where the policy says so, and writes down what came out.
 *
 *     open ──► allowed   by the policy, a grant or the `approve` command
 *          ──► refused   by the policy
 *          ──► stored    nobody can be asked here
 *          ──► asked ──► allowed, refused or cancelled
 */
export class Approval {
  /** Whether the call may go on. */
  outcome: Result<undefined> = ok();
  /** H4: the approver allowed the change of the files as they were, so they are compared before it is made. */
  isBoundToFiles = false;
  /** Time that the approver was asked, or that others were asked before. */
  waitedMs = 0;
  /** The setting, rule, grant or answer that allowed it. */
  #by: string | undefined;
  readonly #request: ApprovalRequest;
  readonly #deps: ApprovalDeps;
  readonly #hash: string;
  readonly #finding: Finding;
  readonly #taint: TaintFinding | undefined;
  /** Only what was given for tainted calls answers the question. */
  readonly #isTainted: boolean;
  /** Rules of the configuration that may answer. What an "ask" rule asks about, they do not answer. */
  readonly #configured: readonly CompiledRule[];
  /** The rule that asks, where it is a rule. */
  readonly #askedBy: string | undefined;

  static async request(request: ApprovalRequest, deps: ApprovalDeps): Promise<Approval> {
    const {tool, params, intent} = request;
    const hash = await approvalHash({tool: tool.name, params, fileHashes: intent.fileHashes});
    const approval = new Approval(request, deps, hash);
    approval.outcome = await approval.#decide();
    return approval;
  }

  private constructor(request: ApprovalRequest, deps: ApprovalDeps, hash: string) {
    const {policy, session} = deps;
    const {tool, intent} = request;
    const call = {tool: tool.name, subject: intent.subject};
    const {finding, taint, isTainted} = tighten(tool.action, call, policy, session.taint);
    const isByMode = finding.by === 'tools.approval.mode';
    this.#request = request;
    this.#deps = deps;
    this.#hash = hash;
    this.#finding = finding;
    this.#taint = taint;
    this.#isTainted = isTainted;
    this.#configured = isByMode ? policy.allowing(tool.action, call) : [];
    this.#askedBy = isByMode ? undefined : finding.by;
  }

  /** The hosts that the call may be led to, once it is allowed. */
  reach(): (host: string) => HostDecision {
    const {tool, intent} = this.#request;
    const {policy, client} = this.#deps;
    const {subject} = intent;
    const sessionRules = client.grants.rulesAbout(tool.name, tool.action, subject.kind);
    return policy.reach(tool.action, {tool: tool.name, subject}, {by: this.#by, sessionRules});
  }

  /**
   * Ruling X1: a call that runs asks about something that nobody was asked about when it began. Decided as a call is,
   * by rules, grants, the approver or the `approve` command, and bound to what is asked about alone.
   */
  async askLater(
    {action, subject, summary, toAllow}: LaterQuestion,
    signal: AbortSignal,
  ): Promise<Result<undefined>> {
    const {requestId, step} = this.#request;
    const tool = {name: action, action};
    const params = {values: subject.values};
    const intent = {subject, summary, preview: subject.values.join('\n'), fileHashes: {}};
    const later = {requestId, step, tool, params, intent, toAllow, signal};
    return (await Approval.request(later, this.#deps)).outcome;
  }

  /** From the strongest to the weakest: denial, leave, grant, `approve` command, question. */
  async #decide(): Promise<Result<undefined>> {
    const {decision, by, reason} = this.#finding;
    const {tool} = this.#request;
    const {session, approver} = this.#deps;
    if (this.#taint?.decision !== 'pass') this.#noteTaint();
    if (decision === 'deny') {
      this.#log('refused', by, {reason});
      return deniedFailure(tool.name, by, reason);
    }
    if (decision === 'allow') {
      this.#pass(true);
      // Reading is not worth a line of its own.
      const isSilent = tool.action === undefined && by === 'read-only';
      return isSilent ? ok() : this.#allowed(by);
    }
    const grant = this.#grant();
    if (grant !== undefined) {
      this.#pass(true);
      this.isBoundToFiles = grant.isOfCall;
      return this.#allowed(grant.by);
    }
    this.isBoundToFiles = true;
    if (await session.pending.redeem(this.#hash)) {
      this.#pass(false);
      return this.#allowed('approve command');
    }
    return approver === undefined ? this.#stored() : this.#asked(approver);
  }

  #allowed(by: string, extra: {readonly [field: string]: Json} = {}): Result<undefined> {
    this.#by = by;
    return this.#log('allowed', by, extra);
  }

  #refused(by: 'refuse' | 'stop', reason = '', isUnanswered = false): Err<Failure> {
    const tool = this.#request.tool.name;
    this.#log('refused', by, {reason});
    const why = reason === '' ? 'no reason was given' : reason.trim().replace(/\.+$/, '');
    const answered = `The user was asked about ${tool} and ${by === 'stop' ? 'ended the session' : 'said no'}`;
    const what = isUnanswered ? `Nobody decided about ${tool}` : answered;
    const details = {tool, reason: why, rule: this.#finding.by};
    return fail('approval_denied', `${what}: ${why}. Do not repeat the call.`, details);
  }

  #cancelled(): Err<Failure> {
    const {name} = this.#request.tool;
    const details = {phase: 'approval'};
    return fail('cancelled', `The call of ${name} was cancelled while its approval was awaited.`, details);
  }

  /** Ruling H3: refused before any side effect; says which settings and which command would allow it. */
  async #stored(): Promise<Result<never>> {
    const {tool, intent, toAllow} = this.#request;
    const {policy, session} = this.#deps;
    const {by, why, reason} = this.#finding;
    const {summary, preview} = intent;
    const stored = await session.pending.add({tool: tool.name, summary, preview, hash: this.#hash});
    const id = stored.ok ? stored.value.id : undefined;
    this.#logQuestion(id ?? null);
    // An "ask" rule is stronger than the lists, so there it is the rule that has to change.
    const isByMode = this.#askedBy === undefined;
    const {profileToAllow} = policy;
    // Ruling H7: once; every later refusal says what concerns its call.
    const profile =
      isByMode && profileToAllow !== undefined && session.isFirstUnanswered()
        ? [`start with \`--profile ${profileToAllow}\` if the client asks its user itself`]
        : [];
    const [first = '', ...more] = isByMode ? policy.settingsToAllow(tool.name) : [by];
    const byMode = [`add "${tool.name}" to ${first}`, ...more.map(setting => `set ${setting} = true`)];
    const settings = toAllow !== undefined ? [toAllow] : isByMode ? byMode : [`change ${first}`];
    const cause = why ?? (by === TAINT_SETTING ? reason : undefined);
    const run = JSON.stringify(session.directory.path);
    const command =
      id === undefined ? [] : [`run \`forge-tools approve ${id} --run-dir ${run}\` and repeat the call`];
    return fail(
      'approval_required',
      `${tool.name} needs an approval and nobody can be asked here.${cause === undefined ? '' : ` ${cause}`} The operator can ${[...command, ...profile, ...settings].join(', or ')}.`,
      {tool: tool.name, setting: first, approval_id: id, rule: by},
    );
  }

  async #asked(approver: Approver): Promise<Result<undefined>> {
    const {signal} = this.#request;
    const {clock, client} = this.#deps;
    const startedAt = clock.monotonic();
    const settled = client.questions.run(async (): Promise<Result<undefined>> => {
      // The answer to the question before may have settled this one.
      const isOpen = !signal.aborted && client.stopped === undefined && this.#grant() === undefined;
      const answer = isOpen ? await this.#ask(approver) : ok(undefined);
      this.waitedMs = clock.monotonic() - startedAt;
      if (signal.aborted) return this.#cancelled();
      return answer.ok ? this.#answered(answer.value) : answer;
    });
    const outcome = await orAborted(settled, signal);
    if (outcome !== 'aborted' && outcome.value.ok) this.#pass(false);
    this.waitedMs = clock.monotonic() - startedAt;
    return outcome === 'aborted' ? this.#cancelled() : outcome.value;
  }

  async #ask(approver: Approver): Promise<Result<ApprovalAnswer | undefined>> {
    const {requestId, tool, intent, signal} = this.#request;
    const {summary, preview, subject} = intent;
    const {by, reason} = this.#finding;
    const asked = this.#logQuestion(null);
    if (!asked.ok) return asked;
    const question = {
      requestId,
      tool: tool.name,
      action: tool.action,
      summary,
      preview,
      hash: this.#hash,
      by,
      reason,
      suggestedRule: suggestRule(tool.name, subject, this.#beside(), this.#isTainted),
      ruleProblem: (rule: ApprovalRule) => {
        const checked = this.#check(rule);
        return checked.ok ? undefined : checked.error;
      },
      canRemember: this.#deps.rememberRule !== undefined,
    };
    const answer = await orAborted(approver.ask(question, signal), signal);
    return ok(answer === 'aborted' ? undefined : answer.value);
  }

  async #answered(given: ApprovalAnswer | undefined): Promise<Result<undefined>> {
    const {client} = this.#deps;
    if (given === undefined) {
      const earlier = this.#grant();
      if (earlier !== undefined && client.stopped === undefined) return this.#allowed(earlier.by);
      return this.#refused('stop', client.stopped);
    }
    switch (given.answer) {
      case 'once':
        return this.#allowed('once');
      case 'session':
        client.grants.allowCall(this.#hash, this.#isTainted);
        return this.#allowed('session');
      case 'session-rule':
      case 'always':
        return this.#allowedByRule(given.answer, given.rule);
      case 'stop':
        client.stop(given.reason ?? '');
        return this.#refused('stop', given.reason);
      case 'refuse':
        return this.#refused('refuse', given.reason, given.unanswered);
    }
  }

  /** A rule that does not cover the call in question is not kept; the call was allowed all the same. */
  async #allowedByRule(by: 'session-rule' | 'always', rule: ApprovalRule): Promise<Result<undefined>> {
    const {client, rememberRule} = this.#deps;
    const checked = this.#check(rule);
    if (!checked.ok) return this.#allowed('once', {rule_problem: checked.error});
    const isToKeep = by === 'always' && rememberRule !== undefined;
    const kept = isToKeep ? await rememberRule(rule) : ok();
    client.grants.allowByRule(checked.value, this.#finding.by, isToKeep && kept.ok);
    return this.#allowed(by, {rule: {...rule}, ...(kept.ok ? {} : {rule_problem: kept.error.message})});
  }

  /** What was granted earlier and covers the call. */
  #grant(): Grant | undefined {
    const {tool, intent} = this.#request;
    const {grants} = this.#deps.client;
    return grants.find(
      this.#hash,
      tool.name,
      tool.action,
      intent.subject,
      this.#configured,
      this.#askedBy,
      this.#isTainted,
    );
  }

  /** Rules that cover other parts of the command than a new one has to. */
  #beside(): readonly CompiledRule[] {
    const {tool, intent} = this.#request;
    if (intent.subject.kind !== 'command') return [];
    const {grants} = this.#deps.client;
    return [...this.#configured, ...grants.rulesAbout(tool.name, tool.action, 'command', this.#askedBy)];
  }

  #check(rule: ApprovalRule): ReturnType<typeof checkRule> {
    const {tool, intent} = this.#request;
    return checkRule(rule, tool, intent.subject, this.#beside(), this.#isTainted);
  }

  /** T1: nothing may happen between the decision and this, so that two calls do not spend the same bits. */
  #pass(isUnasked: boolean): void {
    const {tool, intent} = this.#request;
    const {taint} = this.#deps.session;
    const unasked = isUnasked ? this.#taint : undefined;
    if (tool.action !== undefined) taint.passed(createSink(tool.action, intent.subject), unasked);
    if (unasked?.decision === 'pass') this.#noteTaint();
  }

  /** Writes down what taint said, where that is worth a line. Nothing of it counts but the bits it spent. */
  #noteTaint(): void {
    const taint = this.#taint;
    if (taint === undefined || (taint.decision === 'pass' && taint.bits === 0)) return;
    const {session} = this.#deps;
    session.emit('taint_checked', {
      ...this.#about(),
      mode: session.taint.mode,
      finding: taint.decision,
      about: taint.about,
      reason: taint.reason,
      bits: taint.bits,
      bits_left: session.taint.bitsLeft,
    });
  }

  #log(
    decision: 'allowed' | 'refused',
    by: string,
    extra: {readonly [field: string]: Json},
  ): Result<undefined> {
    const wait_sec = this.waitedMs / 1000;
    const payload = {...this.#about(), decision, by, hash: this.#hash, wait_sec, ...extra};
    return this.#deps.session.emit('approval_decided', payload);
  }

  #logQuestion(approval_id: string | null): Result<undefined> {
    const {summary} = this.#request.intent;
    const payload = {...this.#about(), summary, by: this.#finding.by, hash: this.#hash, approval_id};
    return this.#deps.session.emit('approval_requested', payload);
  }

  #about() {
    const {requestId, step, tool} = this.#request;
    return {request_id: requestId, step, tool: tool.name, action: tool.action ?? null};
  }
}

interface OutlinedCall {
  readonly requestId: string;
  readonly step: number;
  readonly tool: Tool;
  readonly outline: CallOutline;
}

/**
 * Review R12: what the policy denies whatever the call would do is denied before any work is done for it, such
 * as a diff. What it says of calls that are not denied here is asked again, with all that is known then.
 */
export function denyEarly(
  {requestId, step, tool, outline}: OutlinedCall,
  policy: ConfirmationPolicy,
  session: Session,
): Result<undefined> {
  const action = outline.dryRun === true ? undefined : tool.action;
  const subject = outline.subject ?? {kind: 'path', values: []};
  const {decision, by, reason} = policy.check(action, {tool: tool.name, subject});
  if (decision !== 'deny') return ok();
  const about = {request_id: requestId, step, tool: tool.name, action: action ?? null};
  session.emit('approval_decided', {...about, decision: 'refused', by, reason, wait_sec: 0});
  return deniedFailure(tool.name, by, reason);
}

/** A denial by a setting. */
function deniedFailure(tool: string, by: string, reason: string): Err<Failure> {
  return fail(
    'approval_denied',
    `${tool} was refused by ${by}: ${reason} No argument changes that, only the configuration does.`,
    {tool, reason, rule: by},
  );
}
