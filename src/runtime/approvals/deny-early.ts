import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import {type Err, ok, type Result} from '../../core/result.ts';
import type {CallOutline, Tool} from '../../core/tool.ts';
import type {Session} from '../session.ts';
import type {ConfirmationPolicy} from './confirmation-policy.ts';

export interface OutlinedCall {
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
export function deniedFailure(tool: string, by: string, reason: string): Err<Failure> {
  return fail(
    'approval_denied',
    `${tool} was refused by ${by}: ${reason} No argument changes that; only the operator can.`,
    {tool, reason, rule: by},
  );
}
