import type {ApprovalAction, ApprovalSubject} from '../../core/tool.ts';
import type {RunTaint, Sink, TaintFinding} from '../taint/run-taint.ts';
import type {CallToCheck, ConfirmationPolicy, Finding, PolicyDecision} from './confirmation-policy.ts';

/** The setting that says so. */
export const TAINT_SETTING = 'tools.taint.mode';

export interface TightenedDecision {
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
  const taint = action === undefined ? undefined : run?.decide(sinkOf(action, call.subject));
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
export function sinkOf(action: ApprovalAction | undefined, subject: ApprovalSubject): Sink {
  const [address = ''] = subject.values;
  return action === 'egress' ? {kind: 'host', host: new URL(address).host} : subject;
}
