import {
  type CallToolRequest,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type {Clock} from '../core/clock.ts';
import type {Json} from '../core/json.ts';
import {randomHex} from '../core/random.ts';
import type {ToolRequest, ToolResult} from '../core/tool.ts';
import type {CallOptions, ToolHost} from '../core/tool-host.ts';
import {approvalForm, questionDigest, readApprovalAnswer} from './approval/approval-form.ts';
import {DeferringApprover, type GivenAnswer} from './approval/deferring-approver.ts';
import {elicitingApprover} from './approval/eliciting-approver.ts';
import {isBareJsonTool, LONGEST_TEXT, presentResult} from './present-result.ts';
import {reportProgress} from './report-progress.ts';
import {backgroundTask} from './tasks/background-task.ts';
import {canTakeTasks} from './tasks/serve-tasks.ts';
import type {TaskStore} from './tasks/task-store.ts';

/** Ruling E7: what the caller has left, in bytes of the answer. */
const CAPACITY = 'forge-tools/available_capacity_bytes';
const APPROVAL = 'approval';

/** What a client hands back when it calls again: which question it was asked. Signed, not secret. */
export interface AskedState {
  readonly digest: string;
  readonly nonce: string;
}

export interface CallDeps {
  readonly host: ToolHost;
  readonly results: 'both' | 'text';
  readonly maxResultBytes: number | undefined;
  readonly clock: Clock;
  readonly tasks: TaskStore;
  /** Whether the client calls again to answer (2026-07-28) instead of being asked (before). */
  readonly era: 'legacy' | 'modern';
  /** What the client said at `initialize`, in the older revisions. */
  readonly initialized: () => ClientCapabilities | undefined;
  /** Prefix that makes the id of a JSON-RPC request unique among all clients. */
  readonly idPrefix: string;
  readonly sign: (state: AskedState) => Promise<string>;
  /** Whether the nonce is seen for the first time. */
  readonly redeem: (nonce: string) => boolean;
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
  const approver = canShowForms(context, deps) ? (deferring ?? elicitingApprover(context)) : undefined;
  const progress = reportProgress(request.tool, context, deps.clock);
  const options: CallOptions = {
    signal: anyOf([mcpReq.signal, context.http?.req?.signal, deferring?.signal]),
    onProgress: progress.say,
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
      inputRequests: {[APPROVAL]: inputRequired.elicit(approvalForm(open.question))},
      requestState: await deps.sign({digest: open.digest, nonce: randomHex(16)}),
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
  {redeem}: CallDeps,
): DeferringApprover {
  const state = mcpReq.requestState<AskedState>();
  const response = inputResponse(mcpReq.inputResponses, APPROVAL);
  const given: GivenAnswer | undefined = state && {
    digest: state.digest,
    read: question => readApprovalAnswer(response, question),
    redeem: () => redeem(state.nonce),
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
