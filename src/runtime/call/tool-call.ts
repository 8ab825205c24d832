import {type Clock, timestamp} from '../../core/clock.ts';
import type {Failure} from '../../core/failure/failure.ts';
import {FAILURE_CODES} from '../../core/failure/failure-codes.ts';
import type {Json} from '../../core/json.ts';
import type {Log} from '../../core/log.ts';
import {randomHex} from '../../core/random.ts';
import {ok, type Result} from '../../core/result.ts';
import {takeStart} from '../../core/text/take-start.ts';
import {wellFormedJson} from '../../core/text/well-formed-json.ts';
import type {
  ArtifactStream,
  HostDecision,
  Intent,
  ToolContext,
  ToolError,
  ToolRequest,
  ToolResult,
} from '../../core/tool.ts';
import type {FittedAnswer} from '../answer/fit-answer.ts';
import {fitJson} from '../answer/fit-json.ts';
import {RUNTIME_EVENTS} from '../events/run-event.ts';
import {pastChanges} from '../past-changes.ts';
import type {Session} from '../session.ts';
import {type Artifact, hashArtifact, renderCallRecord, stepRecordPath} from './call-record.ts';
import {knownFields} from './known-fields.ts';

export interface CallLimits {
  readonly maxOutputBytes: number;
  readonly availableCapacityBytes: number;
}

export interface CallDeps {
  readonly session: Session;
  readonly clock: Clock;
  readonly log: Log;
  readonly progress: (message: string) => void;
}

const LONGEST_MESSAGE = 4000;

/** While an intent is worked out, nothing is fetched. */
const NOWHERE: HostDecision = {allowed: false, reason: 'Nothing is fetched to work out an intent.'};

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
  #artifacts: Artifact[] = [];
  #hasEnded = false;
  readonly #deps: CallDeps;
  #startedAt: number;
  #startedMonotonic: number;

  constructor(request: ToolRequest, limits: CallLimits, deps: CallDeps) {
    // Ruling H2: missing arguments are `{}`, also where a caller has no compiler.
    this.request = {...request, params: request.params === undefined ? {} : request.params};
    this.requestId = request.request_id === '' ? `call-${randomHex(8)}` : request.request_id;
    this.step = deps.session.nextStep();
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

  context(
    signal: AbortSignal,
    mayReach: ToolContext['mayReach'] = () => NOWHERE,
    approve?: ToolContext['approve'],
  ): ToolContext {
    const {session, log, progress} = this.#deps;
    return {
      requestId: this.requestId,
      step: this.step,
      signal,
      sessionSignal: session.signal,
      mayReach,
      ...(approve === undefined ? {} : {approve}),
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
      pastChanges: () => pastChanges(session.directory.path),
      streamArtifact: (path, maxBytes) => this.#streamArtifact(path, maxBytes),
      artifacts: session.directory.artifacts,
      progress,
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
    return wellFormedJson({
      request_id: this.requestId,
      tool,
      status: outcome.ok ? 'success' : 'error',
      started_at: timestamp(this.#startedAt),
      // By the clock that never jumps, so that it is never before the start, and as far from it as `duration_sec`.
      ended_at: timestamp(this.#startedAt + elapsedMs),
      duration_sec: seconds(elapsedMs),
      data: outcome.ok ? outcome.value.data : null,
      error: outcome.ok ? null : this.#toError(outcome.error),
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

  /** Ruling H1. The list of a failed patch may be long, so details fit too. */
  #toError({code, message, retryable, details}: Failure): ToolError {
    const {maxOutputBytes, availableCapacityBytes} = this.limits;
    const fitted = fitJson({...details, retryable}, Math.min(maxOutputBytes, availableCapacityBytes), true);
    const all = fitted === undefined ? {retryable} : fitted.data;
    return {
      error_type: code,
      message: takeStart(message, LONGEST_MESSAGE),
      // What was an object before it was made to fit is one after.
      details: all as ToolError['details'],
    };
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
