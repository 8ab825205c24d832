import type {Json} from '../core/json.ts';
import type {EventPayload, RunEvent} from '../runtime/events/run-event.ts';
import {isObject, listIn, numberIn, textIn} from './json-field.ts';

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
