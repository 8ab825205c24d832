import {FAILURE_CODES, type FailureCode} from '../../core/failure/failure-codes.ts';
import {objectIn, textIn} from '../json-field.ts';
import type {RecordedCall} from '../run-history.ts';

/** `refused`: a policy, a guard or a person kept it from running. `lost`: a crash cut it off. */
export type CallState = 'running' | 'success' | 'failed' | 'refused' | 'lost';

export function stateOf(call: RecordedCall): CallState {
  if (call.status === undefined) return call.cutOff ? 'lost' : 'running';
  if (call.status === 'success') return 'success';
  return isRefusal(call.errorType) ? 'refused' : 'failed';
}

function isRefusal(code: string | undefined): boolean {
  return code !== undefined && Object.hasOwn(FAILURE_CODES, code)
    ? FAILURE_CODES[code as FailureCode].blame === 'policy'
    : false;
}

/** When the approver was asked, or others were before: from, to. `to` is `undefined` while the question is open. */
export type Waiting = readonly [from: number, to: number | undefined];

export function waitingsOf(call: RecordedCall): readonly Waiting[] {
  const waitings: Waiting[] = [];
  let asked: number | undefined;
  for (const {at, event, payload} of call.events) {
    if (event === 'approval_requested' && textIn(payload, 'approval_id') === undefined) asked = at;
    if (event !== 'approval_decided') continue;
    const waited = typeof payload['wait_sec'] === 'number' ? payload['wait_sec'] * 1000 : 0;
    if (waited > 0) waitings.push([Math.max(call.startedAt, at - waited), at]);
    asked = undefined;
  }
  if (asked !== undefined && call.endedAt === undefined && !call.cutOff) waitings.push([asked, undefined]);
  // Cancelled while it waited: no approver decided, but the end of the call says how long it was.
  if (waitings.length === 0 && call.waitSeconds > 0 && call.endedAt !== undefined) {
    waitings.push([Math.max(call.startedAt, call.endedAt - call.waitSeconds * 1000), call.endedAt]);
  }
  return waitings;
}

/** Who refused it, by which rule: what decides the answer to "what would have to change?". */
export interface Refusal {
  readonly by: string;
  readonly reason: string | undefined;
}

/** Details of failures that name a rule, the most telling first. */
const RULE_DETAILS = ['rule', 'toggle', 'setting', 'cidr', 'allowed_ports', 'reason', 'component', 'scheme'];

export function refusalOf(call: RecordedCall): Refusal | undefined {
  if (stateOf(call) !== 'refused') return undefined;
  const last = (name: string) => call.events.findLast(({event}) => event === name)?.payload;
  const asked = textIn(last('approval_requested'), 'by');
  const decided = last('approval_decided');
  if (textIn(decided, 'decision') === 'refused') {
    const by = textIn(decided, 'by') ?? '?';
    const rule = asked === undefined ? by : `answer "${by}", asked because of ${asked}`;
    return {by: rule, reason: textIn(decided, 'reason')};
  }
  const guard = last('guard_blocked');
  if (guard !== undefined) {
    const details = objectIn(guard, 'details');
    const named = RULE_DETAILS.flatMap(name => {
      const value = details[name] ?? null;
      return value === null ? [] : [`${name} ${typeof value === 'string' ? value : JSON.stringify(value)}`];
    });
    const by = named.slice(0, 2).join(', ');
    return {by: by === '' ? (call.errorType ?? '?') : by, reason: textIn(guard, 'message')};
  }
  if (asked !== undefined) return {by: asked, reason: 'There was no approver to ask.'};
  return {by: call.errorType ?? '?', reason: undefined};
}
