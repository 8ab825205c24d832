// Puts the events of a log together into calls and incidents.
import {FAILURE_CODES, type FailureCode} from '../core/failure-codes.ts';
import type {Json} from '../core/result.ts';
import type {EventPayload, RunEvent} from '../runtime/run-event.ts';

/** An event that belongs to a call, as it is shown in it. */
export interface CallEvent {
  readonly at: number;
  readonly event: string;
  readonly payload: EventPayload;
}

export interface NamedArtifact {
  readonly path: string;
  /** As the log says; `undefined` where it does not. */
  readonly sha256: string | undefined;
}

/** One call, as far as the log knows it. Times are milliseconds since the epoch. */
export interface RecordedCall {
  readonly step: number;
  readonly requestId: string;
  readonly tool: string;
  readonly params: Json;
  readonly startedAt: number;
  /** `undefined` while it runs, and for ever where a crash cut it off. */
  endedAt: number | undefined;
  status: 'success' | 'error' | undefined;
  errorType: string | undefined;
  runSeconds: number | undefined;
  waitSeconds: number;
  /** The session of a later line has begun, so it will not end any more. */
  cutOff: boolean;
  readonly artifacts: NamedArtifact[];
  /** Approvals, refusals of guards, and what tools say. */
  readonly events: CallEvent[];
}

/** What happened to the run itself. */
export type RunIncident = CallEvent;

const CALL_EVENTS = 50;

/**
 * What a run consists of, event by event. The chain says that no line was changed, not that a line is
 * one of ours: a field of another type than ours counts as missing.
 */
export class RunHistory {
  readonly calls = new Map<number, RecordedCall>();
  /** Calls and incidents in the order in which they began. */
  readonly entries: (RecordedCall | RunIncident)[] = [];
  /** The last event says that the session was closed in good order. */
  ended = false;
  firstAt: number | undefined;
  lastAt: number | undefined;
  readonly #changed = new Set<number>();

  add({time, event, payload}: RunEvent): void {
    const at = Date.parse(time);
    if (Number.isNaN(at)) return;
    this.firstAt ??= at;
    this.lastAt = at;
    this.ended = event === 'session_ended';
    const step = numberIn(payload, 'step');
    if (step === undefined || !Number.isSafeInteger(step) || step < 1) this.#addToRun({at, event, payload});
    else this.#addToCall(step, {at, event, payload});
  }

  /** The steps about which something was added since this was asked last. */
  takeChanged(): readonly number[] {
    const steps = [...this.#changed].sort((one, other) => one - other);
    this.#changed.clear();
    return steps;
  }

  #addToRun(incident: RunIncident): void {
    this.entries.push(incident);
    if (incident.event !== 'session_resumed') return;
    for (const call of this.calls.values()) {
      if (call.endedAt !== undefined || call.cutOff) continue;
      call.cutOff = true;
      this.#changed.add(call.step);
    }
  }

  #addToCall(step: number, {at, event, payload}: CallEvent): void {
    this.#changed.add(step);
    const call = this.calls.get(step) ?? this.#begin(step, at, payload);
    if (event === 'tool_call_started') return;
    if (event === 'tool_call_finished') {
      call.endedAt = at;
      call.status = textIn(payload, 'status') === 'success' ? 'success' : 'error';
      call.errorType = textIn(payload, 'error_type');
      call.runSeconds = numberIn(payload, 'duration_sec');
      call.waitSeconds = numberIn(payload, 'approval_wait_sec') ?? 0;
      for (const artifact of listIn(payload, 'artifacts')) addArtifact(call, artifact);
      return;
    }
    // Of a run that was recorded before artifacts were listed, or of a call that did not come to its end.
    const patch = textIn(payload, 'patch_path');
    if (patch !== undefined) addArtifact(call, {path: patch});
    // W21: what is saved after the end of a call is named by the event that says so.
    for (const artifact of listIn(payload, 'artifacts')) addArtifact(call, artifact);
    if (call.events.length < CALL_EVENTS) call.events.push({at, event, payload});
  }

  #begin(step: number, at: number, payload: EventPayload): RecordedCall {
    const call: RecordedCall = {
      step,
      requestId: textIn(payload, 'request_id') ?? '',
      tool: textIn(payload, 'tool') ?? '?',
      params: payload['params'] ?? {},
      startedAt: at,
      endedAt: undefined,
      status: undefined,
      errorType: undefined,
      runSeconds: undefined,
      waitSeconds: 0,
      cutOff: false,
      artifacts: [],
      events: [],
    };
    this.calls.set(step, call);
    this.entries.push(call);
    return call;
  }
}

function addArtifact(call: RecordedCall, artifact: Json): void {
  const path = textIn(artifact, 'path');
  if (!isObject(artifact) || path === undefined) return;
  const known = call.artifacts.findIndex(other => other.path === path);
  const named = {path, sha256: textIn(artifact, 'sha256')};
  if (known === -1) call.artifacts.push(named);
  else call.artifacts[known] = named;
}

/** `refused`: a policy, a guard or a person kept it from running. `lost`: a crash cut it off. */
type CallState = 'running' | 'success' | 'failed' | 'refused' | 'lost';

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
type Waiting = readonly [from: number, to: number | undefined];

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
interface Refusal {
  readonly by: string;
  readonly reason: string | undefined;
}

/** Details of failures that name a rule, the most telling first, and the word for each. */
const RULE_DETAILS = {
  rule: 'rule',
  toggle: 'setting',
  setting: 'setting',
  cidr: 'range',
  allowed_ports: 'allowed ports',
  reason: '',
  component: 'part',
  scheme: 'scheme',
};

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
    const named = Object.entries(RULE_DETAILS).flatMap(([name, word]) => {
      const value = details[name] ?? null;
      if (value === null) return [];
      const written = typeof value === 'string' ? value : JSON.stringify(value);
      return [word === '' ? written.replaceAll('_', ' ') : `${word} ${written}`];
    });
    const by = named.slice(0, 2).join(', ');
    return {by: by === '' ? (call.errorType ?? '?') : by, reason: textIn(guard, 'message')};
  }
  if (asked !== undefined) return {by: asked, reason: 'There was no approver to ask.'};
  return {by: call.errorType ?? '?', reason: undefined};
}

export type JsonObject = {readonly [name: string]: Json};

/** Fields of JSON that another program wrote: of another type than expected, they are not there. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function objectIn(value: Json | undefined, name: string): JsonObject {
  const found = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return isObject(found) ? found : {};
}

export function textIn(value: Json | undefined, name: string): string | undefined {
  const found = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return typeof found === 'string' ? found : undefined;
}

export function numberIn(value: Json | undefined, name: string): number | undefined {
  const found = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined;
}

export function listIn(value: Json | undefined, name: string): readonly Json[] {
  const found = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return Array.isArray(found) ? found : [];
}
