import {type Clock, timestamp} from '../core/clock.ts';
import type {Failure} from '../core/failure.ts';
import {FAILURE_CODES} from '../core/failure-codes.ts';
import type {Log} from '../core/log.ts';
import {randomHex} from '../core/random.ts';
import type {Result} from '../core/result.ts';
import type {ToolContext, ToolError, ToolRequest, ToolResult} from '../core/tool.ts';
import {RUNTIME_EVENTS} from './events/run-event.ts';
import type {FittedAnswer} from './fit-answer.ts';
import {fitJson} from './fit-json.ts';
import type {Session} from './session.ts';

export interface CallLimits {
  readonly maxOutputBytes: number;
  readonly availableCapacityBytes: number;
}

export interface CallParts {
  readonly session: Session;
  readonly clock: Clock;
  readonly log: Log;
  readonly progress: (message: string) => void;
}

const LONGEST_MESSAGE = 4000;

/** One call under way: its number and times, what its tool runs with, and its result. */
export class ToolCall {
  readonly requestId: string;
  readonly step: number;
  readonly request: ToolRequest;
  /** Time that somebody was asked; no part of the run time. */
  waitedMs = 0;
  readonly #limits: CallLimits;
  readonly #parts: CallParts;
  readonly #startedAt: number;
  readonly #startedMonotonic: number;

  constructor(request: ToolRequest, limits: CallLimits, parts: CallParts) {
    // Ruling H2: missing arguments are `{}`, also where a caller has no compiler.
    this.request = {...request, params: request.params === undefined ? {} : request.params};
    this.requestId = request.request_id === '' ? `call-${randomHex(8)}` : request.request_id;
    this.step = parts.session.nextStep();
    this.#limits = limits;
    this.#parts = parts;
    this.#startedAt = parts.clock.now();
    this.#startedMonotonic = parts.clock.monotonic();
  }

  started(): Result<undefined> {
    const {tool, params} = this.request;
    return this.#parts.session.emit('tool_call_started', {...this.#about(), tool, params});
  }

  context(signal: AbortSignal): ToolContext {
    const {session, log, progress} = this.#parts;
    return {
      requestId: this.requestId,
      step: this.step,
      signal,
      ...this.#limits,
      allowTruncation: true,
      log,
      emit: async (event, payload) => {
        if (Object.hasOwn(RUNTIME_EVENTS, event)) throw new Error(`${event} is an event of the runtime.`);
        // What has happened has happened: a full disk does not make the tool fail after the fact.
        const written = session.emit(event, {...payload, ...this.#about()});
        if (!written.ok) this.#warn(written.error);
      },
      saveArtifact: session.directory.saveArtifact,
      progress,
    };
  }

  /** Writes the end of the call down and gives its result (Tool API: every field is always there). */
  finished(outcome: Result<FittedAnswer>): ToolResult {
    const {session, clock} = this.#parts;
    const {tool} = this.request;
    const ended = clock.now();
    const elapsedMs = clock.monotonic() - this.#startedMonotonic;
    const durationSec = seconds(elapsedMs - this.waitedMs);
    if (!outcome.ok && isGuardBlock(outcome.error)) {
      const {code, message, details} = outcome.error;
      session.emit('guard_blocked', {...this.#about(), tool, error_type: code, message, details});
    }
    const written = session.emit('tool_call_finished', {
      ...this.#about(),
      tool,
      status: outcome.ok ? 'success' : 'error',
      duration_sec: durationSec,
      approval_wait_sec: seconds(this.waitedMs),
      error_type: outcome.ok ? null : outcome.error.code,
      truncated: outcome.ok && outcome.value.truncated,
    });
    if (!written.ok) this.#warn(written.error);
    return {
      request_id: this.requestId,
      tool,
      status: outcome.ok ? 'success' : 'error',
      started_at: timestamp(this.#startedAt),
      ended_at: timestamp(ended),
      duration_sec: durationSec,
      data: outcome.ok ? outcome.value.data : null,
      error: outcome.ok ? null : this.#toError(outcome.error),
      exit_code: null,
      stdout_path: null,
      stderr_path: null,
      ...(outcome.ok ? outcome.value.fields : {}),
    };
  }

  /** Ruling H1. The list of a failed patch may be long, so details fit too. */
  #toError({code, message, retryable, details}: Failure): ToolError {
    const {maxOutputBytes, availableCapacityBytes} = this.#limits;
    const fitted = fitJson({...details, retryable}, Math.min(maxOutputBytes, availableCapacityBytes), true);
    const all = fitted === undefined ? {retryable} : fitted.data;
    return {
      error_type: code,
      message: message.slice(0, LONGEST_MESSAGE),
      // What was an object before it was made to fit is one after.
      details: all as ToolError['details'],
    };
  }

  #about(): {readonly request_id: string; readonly step: number} {
    return {request_id: this.requestId, step: this.step};
  }

  #warn({code, message}: Failure): void {
    this.#parts.log({level: 'error', event: 'event_not_written', message, error_code: code});
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
