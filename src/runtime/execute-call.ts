// The spine of a call: record, validate, decide, act, fit the answer. The order is the security model.
import {type Err, type Failure, fail, type Json, ok, type Result} from '../core/result.ts';
import {takeStart} from '../core/text/cut.ts';
import {bareFailure, type Intent, type Tool, type ToolRequest, type ToolResult} from '../core/tool.ts';
import type {CallOptions} from '../core/tool-host.ts';
import {type FittedAnswer, fitAnswer} from './answer.ts';
import {Approval, denyEarly} from './approvals/approval.ts';
import type {Client} from './client.ts';
import {prepareCall} from './prepare-call.ts';
import {runBounded} from './run-bounded.ts';
import {outputLimitOf, type Runtime} from './runtime.ts';
import {deliverAnswer} from './taint/deliver-answer.ts';
import {type CallLimits, ToolCall, unexpectedFailure} from './tool-call.ts';

/** The spine: a call becomes a result. A bug of a tool becomes `internal` (NFR-WF-REL-02). */
export async function executeCall(
  request: ToolRequest,
  options: CallOptions,
  runtime: Runtime,
): Promise<ToolResult> {
  const {session, clock, log} = runtime;
  const client = session.client(options.client);
  const limits = {
    maxOutputBytes: Math.min(
      options.maxOutputBytes ?? Number.POSITIVE_INFINITY,
      outputLimitOf(runtime, request.tool),
    ),
    availableCapacityBytes: options.availableCapacityBytes ?? Number.POSITIVE_INFINITY,
  };
  const call = new ToolCall(request, limits, {
    session,
    client,
    clock,
    log,
    progress: options.onProgress ?? (() => {}),
    output: options.onOutput,
  });
  const unexpected = (error: unknown): Err<Failure> => unexpectedFailure(error, request.tool, log);
  const outcome = await perform(call, client, options, runtime).catch(unexpected);
  // T1: every exit delivers, also that of a plan that fails and of a bug.
  const delivered = await deliverAnswer(outcome, call, session.taint).then(() => outcome, unexpected);
  return call.finished(delivered);
}

/** The order is the security model: nothing runs that was not written down, validated and allowed. */
async function perform(
  call: ToolCall,
  client: Client,
  options: CallOptions,
  runtime: Runtime,
): Promise<Result<FittedAnswer>> {
  const {session, registry, policy, clock} = runtime;
  const {requestId, step} = call;
  const {params} = call.request;
  const caller = options.signal;

  // Written down, and not stopped.
  const started = call.started();
  if (!started.ok) return started;
  session.taint.addOperatorAddresses(options.operatorAddresses ?? []);
  if (client.stopped !== undefined) return stopped(call.request.tool, client.stopped);

  // Validated. What no work is needed to deny is denied here.
  const found = registry.find(call.request.tool);
  if (!found.ok) return found;
  const tool = found.value;
  const prepared = prepareCall(tool, params);
  if (!prepared.ok) return prepared;
  const {outline, intend, execute, timeoutMs} = prepared.value;
  const early = denyEarly({requestId, step, tool, outline}, policy, session);
  if (!early.ok) return early;

  // Planned. T1: a plan looks at files and at no server.
  const bounds = {tool: tool.name, timeoutMs, finishMs: tool.finishMs, caller, clock};
  const planned = () => runBounded(deadline => intend(call.planContext(deadline)), bounds);
  const {delivers = 'private'} = tool;
  const looked = delivers === 'private' ? delivers : undefined;
  call.delivers = looked;
  const intent = await planned();
  if (!intent.ok) return intent;
  call.intent = intent.value;
  const acting = intent.value.dryRun === true ? {...tool, action: undefined} : tool;
  const room = roomForAnswer(acting, call.limits);
  if (!room.ok) return room;

  // Decided. The policy and the approver say nothing of what is in files.
  call.delivers = undefined;
  const approval = await Approval.request(
    {
      requestId,
      step,
      tool: acting,
      params,
      intent: intent.value,
      signal: caller ?? new AbortController().signal,
    },
    {...runtime, client, approver: options.approver ?? runtime.approver},
  );
  call.waitedMs = approval.waitedMs;
  call.begin();
  if (!approval.outcome.ok) return approval.outcome;
  call.delivers = looked;
  const unchanged = approval.isBoundToFiles ? sameFiles(intent.value, await planned()) : ok();
  if (!unchanged.ok) return unchanged;

  // Done, and made to fit.
  const mayReach = approval.reach();
  call.delivers = delivers;
  return runBounded(async deadline => {
    const context = call.context(deadline, mayReach, (question, until) => approval.askLater(question, until));
    const answer = await execute(context);
    return answer.ok ? fitAnswer(answer.value, tool, context) : answer;
  }, bounds);
}

/** Execute exactly the plan that was shown for approval: the decision is bound to the files as they were then. */
function sameFiles(approved: Intent, now: Result<Intent>): Result<undefined> {
  if (!now.ok) return now;
  const before = approved.fileHashes;
  const after = now.value.fileHashes;
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = paths.find(path => before[path] !== after[path]);
  if (changed === undefined) return ok();
  return fail(
    'stale_read',
    `${JSON.stringify(changed)} changed since it was approved, so the approval does not hold. Read it again and repeat the call.`,
    {path: changed},
  );
}

function stopped(tool: string, reason: string): Err<Failure> {
  const why = reason === '' ? 'no reason was given' : reason;
  return fail('approval_denied', `The session was stopped: ${why}. No further call is run.`, {
    tool: takeStart(tool, 64),
    reason: why,
    rule: 'stop',
  });
}

/** Which of several kinds of a failure it is, and what a sentence was made from: for programs. */
const FOR_PROGRAMS = new Set(['error', 'field', 'reason', 'validation', 'operation']);

/** Ruling H2. `web_fetch` fails with the bare envelope (FR-ERR-JSON-01), the others with a sentence. */
export function renderResult({error, data}: ToolResult, tool: Tool | undefined): string {
  if (!error) return tool ? tool.renderText(data) : JSON.stringify(data);
  if (tool?.badParams === 'bad_args') return JSON.stringify(bareFailure(error));
  const {code, message, retryable, details} = error;
  const retry = retryable ? ' (may work when retried)' : '';
  const unsaid = Object.entries(details).filter(
    ([name, value]) => !FOR_PROGRAMS.has(name) && !isSaid(value, message),
  );
  const more = unsaid.length === 0 ? '' : `\n${JSON.stringify(Object.fromEntries(unsaid))}`;
  return `${code}: ${message}${retry}${more}`;
}

/** Whether a model that reads the message knows the value. */
function isSaid(value: Json, message: string): boolean {
  switch (typeof value) {
    case 'string':
      return message.includes(value) || message.includes(JSON.stringify(value).slice(1, -1));
    case 'number':
      return message.replace(/(?<=\d),(?=\d{3})/g, '').includes(String(value));
    case 'boolean':
      return true;
    default:
      return value === null || Object.values(value).every(one => isSaid(one, message));
  }
}

/** The answer of each tool that changes something fits into it, cut if need be. A configuration has no less. */
const LEAST_BYTES = 1024;

/**
 * W19: a call that answers with a failure has changed nothing, so a change is not made where there is no room to
 * say so. A fetch changes nothing here and makes its answer fit by itself.
 */
export function roomForAnswer(
  {name, action}: Tool,
  {maxOutputBytes, availableCapacityBytes}: CallLimits,
): Result<undefined> {
  const maxBytes = Math.min(maxOutputBytes, availableCapacityBytes);
  if (action === undefined || action === 'web_fetch' || maxBytes >= LEAST_BYTES) return ok();
  return fail(
    'internal',
    `${name} was not run: its answer may have ${maxBytes} bytes and needs ${LEAST_BYTES}. Allow more output and repeat the call.`,
    {error: 'tool_output_limit', max_bytes: maxBytes},
    {retryable: false},
  );
}
