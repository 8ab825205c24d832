// One call as data: request, record, result, and results of calls that did not start.
import {join} from 'node:path';
import {type Clock, timestamp} from '../core/clock.ts';
import type {Deadline} from '../core/deadline.ts';
import {FAILURE_CODES} from '../core/failure-codes.ts';
import type {Log} from '../core/log.ts';
import {
  type Err,
  type Failure,
  type FailureDetails,
  fail,
  internalFailure,
  type Json,
  ok,
  type Result,
} from '../core/result.ts';
import {takeStart} from '../core/text/cut.ts';
import {wellFormedJson} from '../core/text/parse.ts';
import {
  type ArtifactStream,
  type Intent,
  type PastChange,
  type PastChanges,
  type PlanContext,
  type Tool,
  type ToolContext,
  type ToolRequest,
  type ToolResult,
  toolError,
} from '../core/tool.ts';
import {type FittedAnswer, fitJson} from './answer.ts';
import type {Client} from './client.ts';
import {verifyLog} from './event-log.ts';
import {callId, knownFields} from './prepare-call.ts';
import {type Artifact, hashArtifact, renderCallRecord, stepRecordPath} from './redact.ts';
import {type EventPayload, RUNTIME_EVENTS} from './run-event.ts';
import type {Session} from './session.ts';

export interface CallLimits {
  readonly maxOutputBytes: number;
  readonly availableCapacityBytes: number;
}

interface CallDeps {
  readonly session: Session;
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Log;
  readonly progress: (message: string) => void;
  readonly output: ToolContext['output'];
}

/** One call under way: its number and times, what its tool runs with, and its result. */
export class ToolCall {
  readonly requestId: string;
  readonly step: number;
  readonly request: ToolRequest;
  readonly limits: CallLimits;
  /** Time that the approver was asked; no part of the run time. */
  waitedMs = 0;
  /** What it was going to do, once that is known. */
  intent: Intent | undefined;
  /** T1: whose text the outcome may hold, as far as the call has come; nobody's before anything is looked at. */
  delivers: Tool['delivers'];
  #artifacts: Artifact[] = [];
  #hasEnded = false;
  readonly #deps: CallDeps;
  #startedAt: number;
  #startedMonotonic: number;

  constructor(request: ToolRequest, limits: CallLimits, deps: CallDeps) {
    // Ruling H2: missing arguments are `{}`, also where a caller has no compiler.
    this.request = {...request, params: request.params === undefined ? {} : request.params};
    this.requestId = callId(request);
    this.step = deps.session.nextStep();
    deps.client.made(this.step);
    this.limits = limits;
    this.#deps = deps;
    this.#startedAt = deps.clock.now();
    this.#startedMonotonic = deps.clock.monotonic();
  }

  /** Ruling W8: execution begins when no approver has to be asked any more. What went before is in the events. */
  begin(): void {
    this.#startedAt = this.#deps.clock.now();
    this.#startedMonotonic = this.#deps.clock.monotonic();
  }

  started(): Result<undefined> {
    const {tool, params} = this.request;
    return this.#deps.session.emit('tool_call_started', {...this.#about(), tool, params});
  }

  /** What its intent is worked out with. */
  planContext(deadline: Deadline): PlanContext {
    return {deadline, pastChanges: () => pastChanges(this.#deps.session.directory.path)};
  }

  context(
    deadline: Deadline,
    mayReach: ToolContext['mayReach'],
    approve: ToolContext['approve'],
  ): ToolContext {
    const {session, client, log, progress, output} = this.#deps;
    return {
      requestId: this.requestId,
      step: this.step,
      ...this.planContext(deadline),
      signal: deadline.signal,
      get sessionSignal() {
        return client.signal;
      },
      isOwnStep: step => client.owns(step),
      mayReach,
      metStranger: host =>
        session.taint.assume('untrusted', host, {...this.#about(), tool: this.request.tool}),
      ...(approve && {approve}),
      ...this.limits,
      allowTruncation: true,
      log,
      emit: async (event, payload) => {
        if (Object.hasOwn(RUNTIME_EVENTS, event)) throw new Error(`${event} is an event of the runtime.`);
        // What has happened has happened: a full disk does not make the tool fail after the fact.
        // First, as the log cuts a payload that is too long at its end; and last, as they are not the tool's to set.
        const written = session.emit(event, {
          ...this.#about(),
          ...payload,
          ...this.#savedSince(),
          ...this.#about(),
        });
        if (!written.ok) this.#warn(written.error);
      },
      saveArtifact: (path, content) => this.#saveArtifact(path, content),
      streamArtifact: (path, maxBytes) => this.#streamArtifact(path, maxBytes),
      artifacts: session.directory.artifacts,
      progress,
      output,
    };
  }

  /** Writes the end of the call down and gives its result (Tool API: every field is always there). */
  async finished(outcome: Result<FittedAnswer>): Promise<ToolResult> {
    const {session} = this.#deps;
    const {tool} = this.request;
    const result = this.#toResult(outcome);
    if (!outcome.ok && isGuardBlock(outcome.error)) {
      const {code, message, details} = outcome.error;
      session.emit('guard_blocked', {...this.#about(), tool, error_type: code, message, details});
    }
    await this.#saveRecord(result);
    const written = session.emit('tool_call_finished', {
      ...this.#about(),
      tool,
      status: result.status,
      duration_sec: result.duration_sec,
      approval_wait_sec: seconds(this.waitedMs),
      error_type: outcome.ok ? null : outcome.error.code,
      truncated: outcome.ok && outcome.value.truncated,
      artifacts: this.#takeArtifacts(),
    });
    this.#hasEnded = true;
    if (!written.ok) this.#warn(written.error);
    return result;
  }

  #toResult(outcome: Result<FittedAnswer>): ToolResult {
    const {clock} = this.#deps;
    const elapsedMs = clock.monotonic() - this.#startedMonotonic;
    const {tool} = this.request;
    const maxBytes = Math.min(this.limits.maxOutputBytes, this.limits.availableCapacityBytes);
    return wellFormedJson({
      request_id: this.requestId,
      tool,
      status: outcome.ok ? 'success' : 'error',
      started_at: timestamp(this.#startedAt),
      // By the clock that never jumps, so that it is never before the start, and as far from it as `duration_sec`.
      ended_at: timestamp(this.#startedAt + elapsedMs),
      duration_sec: seconds(elapsedMs),
      data: outcome.ok ? outcome.value.data : null,
      error: outcome.ok ? null : toToolError(outcome.error, maxBytes),
      exit_code: null,
      stdout_path: null,
      stderr_path: null,
      ...(outcome.ok ? outcome.value.fields : knownFields(outcome.error)),
    });
  }

  /** Only the names and hashes of artifacts are in the log, so what they hold is vouched for too. */
  async #saveArtifact(path: string, content: Uint8Array | string): Promise<Result<string>> {
    const saved = await this.#deps.session.directory.saveArtifact(path, content);
    if (saved.ok) this.#artifacts.push(hashArtifact(saved.value, content));
    return saved;
  }

  #streamArtifact(path: string, maxBytes: number): ArtifactStream {
    const {write, finish} = this.#deps.session.directory.streamArtifact(path, maxBytes);
    return {
      write,
      finish: () => {
        const hashed = finish();
        if (!hashed.ok) return hashed;
        if (hashed.value !== undefined) this.#artifacts.push(hashed.value);
        return ok(hashed.value?.path);
      },
    };
  }

  /** For whoever reads the run later. A call does not fail because its record cannot be kept. */
  async #saveRecord(result: ToolResult): Promise<void> {
    const record = renderCallRecord(this.request.params, this.intent, result);
    const saved = await this.#saveArtifact(stepRecordPath(this.step), record);
    if (!saved.ok) this.#warn(saved.error);
  }

  /** W21: the line that vouches for the artifacts of the call is written by then. */
  #savedSince(): {readonly artifacts?: Json} {
    return this.#hasEnded && this.#artifacts.length > 0 ? {artifacts: this.#takeArtifacts()} : {};
  }

  #takeArtifacts(): readonly {readonly [name: string]: Json}[] {
    const taken = this.#artifacts.map(artifact => ({...artifact}));
    this.#artifacts = [];
    return taken;
  }

  #about(): {readonly request_id: string; readonly step: number} {
    return {request_id: this.requestId, step: this.step};
  }

  #warn({code, message}: Failure): void {
    this.#deps.log({level: 'error', event: 'event_not_written', message, error_code: code});
  }
}

/** Approvals have events of their own. */
function isGuardBlock({code}: Failure): boolean {
  return FAILURE_CODES[code].blame === 'policy' && code !== 'approval_required' && code !== 'approval_denied';
}

/** Milliseconds as seconds, to the microsecond. */
function seconds(ms: number): number {
  return Math.round(Math.max(0, ms) * 1000) / 1_000_000;
}

const LONGEST_MESSAGE = 4000;

/** The result of a call that is not in the log of a run. Nothing was run. */
export function unstartedResult(
  request: ToolRequest,
  error: Failure,
  clock: Clock,
  maxBytes = Number.POSITIVE_INFINITY,
): ToolResult {
  const now = timestamp(clock.now());
  return wellFormedJson({
    request_id: request.request_id ?? '',
    tool: request.tool,
    status: 'error',
    started_at: now,
    ended_at: now,
    duration_sec: 0,
    data: null,
    error: toToolError(error, maxBytes),
    exit_code: null,
    stdout_path: null,
    stderr_path: null,
  });
}

/** The list of a failed patch may be long, so details fit too. (H1) */
function toToolError(
  {code, message, retryable, details}: Failure,
  maxBytes: number,
): NonNullable<ToolResult['error']> {
  const fitted = fitJson(details, maxBytes, true);
  return toolError({
    code,
    message: takeStart(message, LONGEST_MESSAGE),
    retryable,
    // What was an object before it was made to fit is one after.
    details: (fitted?.data ?? {}) as FailureDetails,
  });
}

/** NFR-WF-REL-02: a bug ends its call and nothing else. Its stack is in the log, its message in the result. */
export function unexpectedFailure(error: unknown, tool: string, log: Log): Err<Failure> {
  const failure = internalFailure(error);
  const message = error instanceof Error ? (error.stack ?? error.message) : failure.error.message;
  log({
    level: 'error',
    event: 'tool_call_crashed',
    message,
    error_code: 'internal',
    tool: takeStart(tool, 64),
  });
  return failure;
}

/** review R18: what the log of a run, which is verified first, says of its changes. */
export async function pastChanges(directory: string): Promise<Result<PastChanges>> {
  const changes: PastChange[] = [];
  const path = join(directory, 'events.jsonl');
  const verified = await verifyLog(path, ({event, payload}) => {
    const change = event === 'PATCH_APPLIED' ? changeOf(payload) : undefined;
    if (change !== undefined) changes.push(change);
  });
  if (!verified.ok) return verified;
  if (verified.value.state !== 'tampered') return ok({directory, changes});
  return fail(
    'io_error',
    `${path} was changed after it was written, so what it says of earlier steps cannot be trusted. Nothing was undone.`,
    {path, error: 'log_tampered', operation: 'undo'},
  );
}

function changeOf({step, changed_files, undo_record_sha256, undoes}: EventPayload): PastChange | undefined {
  if (typeof step !== 'number' || typeof undo_record_sha256 !== 'string' || !Array.isArray(changed_files))
    return undefined;
  const files = changed_files.filter(file => typeof file === 'string');
  return {
    step,
    files,
    recordHash: undo_record_sha256,
    undoes: typeof undoes === 'number' ? undoes : undefined,
  };
}
