// The events of a run, as the log stores them.
import type {Json} from '../core/result.ts';

export type EventPayload = {readonly [field: string]: Json};

/** Ruling W10: one line of `events.jsonl`, beside its hash. */
export interface RunEvent {
  /** 1, 2, 3 … without a gap. */
  readonly seq: number;
  /** RFC 3339 UTC with milliseconds. */
  readonly time: string;
  readonly event: string;
  readonly payload: EventPayload;
}

interface EventEntry {
  readonly when: string;
  readonly payload: readonly string[];
}

/** The events of the runtime. Tools add theirs (`PATCH_APPLIED`) through `ToolContext.emit`. */
export const RUNTIME_EVENTS = {
  session_started: {when: 'A run directory is used for the first time.', payload: ['version']},
  session_resumed: {
    when: 'A run directory is used again. `unfinished` are the steps that a crash cut off.',
    payload: ['steps', 'unfinished'],
  },
  log_repaired: {
    when: 'A crash had left half a line. It is moved to a file beside the log.',
    payload: ['torn_bytes', 'kept_in'],
  },
  session_ended: {when: 'The session was closed normally.', payload: ['steps']},
  tool_call_started: {
    when: 'A call came in. Nothing of it has been done.',
    payload: ['request_id', 'step', 'tool', 'params'],
  },
  tool_call_finished: {
    when: "The call has its result. `duration_sec` excludes the approver's time.",
    payload: [
      'request_id',
      'step',
      'tool',
      'status',
      'duration_sec',
      'approval_wait_sec',
      'error_type',
      'truncated',
      'artifacts',
    ],
  },
  approval_requested: {
    when: 'The user is asked, or an approval waits for the `approve` command.',
    payload: ['request_id', 'step', 'tool', 'action', 'summary', 'by', 'hash', 'approval_id'],
  },
  approval_decided: {
    when: 'A call with side effects was allowed or refused. `by` is the setting, rule or answer that decided.',
    payload: [
      'request_id',
      'step',
      'tool',
      'action',
      'decision',
      'by',
      'reason',
      'hash',
      'wait_sec',
      'rule',
      'rule_problem',
    ],
  },
  taint_delivered: {
    when: 'A call showed the model untrusted or private text for the first time in the run. Only origin and hash are kept.',
    payload: ['request_id', 'step', 'tool', 'kind', 'origin', 'sha256', 'characters', 'links', 'secrets'],
  },
  taint_checked: {
    when: 'Taint has a finding about a call, or the call spent bits of the budget for choices. Mode `warn` decides nothing.',
    payload: [
      'request_id',
      'step',
      'tool',
      'action',
      'mode',
      'finding',
      'about',
      'reason',
      'bits',
      'bits_left',
    ],
  },
  guard_blocked: {
    when: 'A guard refused what the call wanted: an address, a path, a disabled tool.',
    payload: ['request_id', 'step', 'tool', 'error_type', 'message', 'details'],
  },
} as const satisfies Record<string, EventEntry>;

export type RuntimeEvent = keyof typeof RUNTIME_EVENTS;
