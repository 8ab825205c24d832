// Answers `tools/call`. It runs the call, asks the client where an approval is needed, and hands out tasks.
import {
  type CallToolRequest,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ProgressToken,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import {type Clock, randomHex} from '../core/clock.ts';
import type {Json} from '../core/result.ts';
import type {ToolRequest, ToolResult} from '../core/tool.ts';
import type {CallOptions, ToolHost} from '../core/tool-host.ts';
import {
  approvalForm,
  DeferringApprover,
  elicitingApprover,
  type GivenAnswer,
  questionDigest,
  readApprovalAnswer,
} from './approval.ts';
import {isBareJsonTool, LONGEST_TEXT, presentResult} from './present-result.ts';
import {backgroundTask, canTakeTasks, type TaskStore} from './tasks.ts';

/** Ruling E7: what the caller has left, in bytes of the answer. */
const CAPACITY = 'forge-tools/available_capacity_bytes';
const APPROVAL = 'approval';

/** What a client hands back when it calls again: which question it was asked. Signed, not secret. */
export interface AskedState {
  readonly digest: string;
  readonly nonce: string;
  /** By the clock that never jumps. */
  readonly askedAt: number;
}

interface CallDeps {
  readonly host: ToolHost;
  readonly results: 'both' | 'text';
  readonly maxResultBytes: number | undefined;
  readonly clock: Clock;
  readonly tasks: TaskStore;
  /** Whether the client calls again to answer (2026-07-28) instead of being asked (before). */
  readonly era: 'legacy' | 'modern';
  /** The same object in all calls of one client; `undefined` where there is one client only. */
  readonly client: object | undefined;
  /** Whether later calls of the client are known to be its own. */
  readonly isRecognized: boolean;
  /** What the client said at `initialize`, in the older revisions. */
  readonly initialized: () => ClientCapabilities | undefined;
  /** Prefix that makes the id of a JSON-RPC request unique among all clients. */
  readonly idPrefix: string;
  readonly sign: (state: AskedState) => Promise<string>;
  /** Whether it is used for the first time. */
  readonly redeem: (state: AskedState) => boolean;
}

/** `tools/call`: arguments are checked by the host, so that wrong ones are results a model can read. */
export async function callTool(
  {params}: CallToolRequest,
  context: ServerContext,
  deps: CallDeps,
): Promise<CallToolResult | InputRequiredResult> {
  const {mcpReq} = context;
  const {host} = deps;
  const request: ToolRequest = {
    tool: params.name,
    params: (params.arguments ?? {}) as {readonly [name: string]: Json},
    request_id: `${deps.idPrefix}-${String(mcpReq.id).slice(0, 64)}`,
  };
  const capacity = capacityOf(mcpReq._meta?.[CAPACITY]);
  const deferring = deps.era === 'modern' ? deferringApprover(request, context, deps) : undefined;
  const approver = canShowForms(context, deps)
    ? (deferring ?? elicitingApprover(context, deps.isRecognized))
    : undefined;
  const progress = reportProgress(request.tool, context, deps.clock);
  const options: CallOptions = {
    signal: anyOf([mcpReq.signal, context.http?.req?.signal, deferring?.signal]),
    onProgress: progress.say,
    client: deps.client,
    ...(approver === undefined ? {} : {approver}),
    // web_fetch has its own limits (FR-WF-03a).
    ...(isBareJsonTool(request.tool) ? {} : {maxOutputBytes: limitOf(deps)}),
    ...(capacity === undefined ? {} : {availableCapacityBytes: capacity}),
  };
  try {
    const result = await host.call(request, options);
    const open = deferring?.open;
    if (open === undefined)
      return taskOf(result, context, deps) ?? presentResult(result, host.renderText, deps.results);
    return inputRequired({
      inputRequests: {[APPROVAL]: inputRequired.elicit(approvalForm(open.question, deps.isRecognized))},
      requestState: await deps.sign({
        digest: open.digest,
        nonce: randomHex(16),
        askedAt: deps.clock.monotonic(),
      }),
    });
  } finally {
    progress.stop();
  }
}

/** W21: a client that takes tasks gets the end of a command in the background without asking a tool for it. */
function taskOf(result: ToolResult, context: ServerContext, deps: CallDeps): CallToolResult | undefined {
  const {host, results, tasks, era} = deps;
  if (era !== 'modern' || !canTakeTasks(context)) return undefined;
  const present = (ended: ToolResult, text: string) => presentResult(ended, () => text, results);
  const plan = backgroundTask(result, {host, present});
  const task = plan && tasks.create(plan);
  return task && {...task, resultType: 'task', content: []};
}

/** Where the text is all that a client gets, the tools cut the answer for it, as they know how to go on. */
function limitOf({results, maxResultBytes}: CallDeps): number | undefined {
  return results === 'text' ? Math.min(maxResultBytes ?? LONGEST_TEXT, LONGEST_TEXT) : maxResultBytes;
}

/** A request without the state that we signed, or without an answer that can be read, is asked anew. */
function deferringApprover(
  request: ToolRequest,
  {mcpReq}: ServerContext,
  {redeem, isRecognized}: CallDeps,
): DeferringApprover {
  const state = mcpReq.requestState<AskedState>();
  const response = inputResponse(mcpReq.inputResponses, APPROVAL);
  const given: GivenAnswer | undefined = state && {
    digest: state.digest,
    read: question => readApprovalAnswer(response, question, isRecognized),
    redeem: () => redeem(state),
  };
  return new DeferringApprover(question => questionDigest(request, question), given);
}

function canShowForms({mcpReq}: ServerContext, {era, initialized}: CallDeps): boolean {
  const envelope = mcpReq.envelope as {readonly [key: string]: unknown} | undefined;
  const declared = era === 'modern' ? envelope?.[CLIENT_CAPABILITIES_META_KEY] : initialized();
  const elicitation = (declared as ClientCapabilities | undefined)?.elicitation;
  // Before there were modes, an empty object meant forms.
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

function capacityOf(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `Expected _meta["${CAPACITY}"] to be a whole number of bytes. Correct it or leave it out.`,
  );
}

function anyOf(signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  return AbortSignal.any(signals.filter(signal => signal !== undefined));
}

/** Clients give a request up after 60 s without a word. */
const HEARTBEAT_MS = 10_000;
/** A tool may report for every file; a client need not hear it that often. */
const LEAST_PAUSE_MS = 100;

interface ProgressReport {
  readonly say: (message: string) => void;
  /** Nothing is sent afterwards. */
  readonly stop: () => void;
}

/** Progress notifications with a heartbeat, where the client asked for them with a `progressToken`. */
function reportProgress(tool: string, {mcpReq}: ServerContext, clock: Clock): ProgressReport {
  const progressToken: ProgressToken | undefined = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return {say: () => {}, stop: () => {}};

  const startedAt = clock.monotonic();
  let count = 0;
  let lastSaidAt = Number.NEGATIVE_INFINITY;
  let latest = `${tool} is running`;
  let cancelTimer = clock.after(HEARTBEAT_MS, beat);
  let stopped = false;

  return {
    say: message => {
      latest = message;
      if (!stopped && clock.monotonic() - lastSaidAt >= LEAST_PAUSE_MS) send(message);
    },
    stop: () => {
      stopped = true;
      cancelTimer();
    },
  };

  function beat(): void {
    const seconds = Math.round((clock.monotonic() - startedAt) / 1000);
    send(`${latest} (${seconds} s)`);
    cancelTimer = clock.after(HEARTBEAT_MS, beat);
  }

  function send(message: string): void {
    lastSaidAt = clock.monotonic();
    count += 1;
    const params = {progressToken, progress: count, message};
    // A client that has gone is noticed by the signal of its request.
    mcpReq.notify({method: 'notifications/progress', params}).catch(() => {});
  }
}

/** Within the lifetime of a state. */
const MOST_REMEMBERED = 10_000;

/**
 * The answers that were used, so that none counts twice. Where there are too many, the older half is forgotten; a
 * question that is not younger than the youngest of these is asked anew.
 */
export class RedeemedStates {
  readonly #most: number;
  /** Times of the questions by nonce. */
  readonly #askedAt = new Map<string, number>();
  /** Younger questions are all remembered. */
  #forgottenUntil = Number.NEGATIVE_INFINITY;

  constructor(most = MOST_REMEMBERED) {
    this.#most = most;
  }

  /** False where the answer was used, or may have been. */
  add({nonce, askedAt}: Pick<AskedState, 'nonce' | 'askedAt'>): boolean {
    if (askedAt <= this.#forgottenUntil || this.#askedAt.has(nonce)) return false;
    this.#askedAt.set(nonce, askedAt);
    if (this.#askedAt.size > this.#most) this.#forgetOldestHalf();
    return true;
  }

  #forgetOldestHalf(): void {
    const times = [...this.#askedAt.values()].sort((a, b) => a - b);
    this.#forgottenUntil = times[Math.floor(times.length / 2)] ?? this.#forgottenUntil;
    for (const [nonce, askedAt] of this.#askedAt) {
      if (askedAt <= this.#forgottenUntil) this.#askedAt.delete(nonce);
    }
  }
}
