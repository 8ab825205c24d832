import type {Clock} from '../core/clock.ts';
import {type Failure, fail} from '../core/failure.ts';
import type {Log} from '../core/log.ts';
import {type Err, ok, type Result} from '../core/result.ts';
import type {Intent, ToolRequest, ToolResult} from '../core/tool.ts';
import type {Approver, CallOptions} from '../core/tool-host.ts';
import type {ConfirmationPolicy} from './approvals/confirmation-policy.ts';
import type {ApprovalRule} from './approvals/options.ts';
import {requestApproval} from './approvals/request-approval.ts';
import {type FittedAnswer, fitAnswer} from './fit-answer.ts';
import {prepareCall} from './prepare-call.ts';
import type {Registry} from './registry.ts';
import {runBounded} from './run-bounded.ts';
import type {Session} from './session.ts';
import {ToolCall} from './tool-call.ts';

/** What every call of a run shares. */
export interface Runtime {
  readonly registry: Registry;
  readonly policy: ConfirmationPolicy;
  readonly session: Session;
  readonly clock: Clock;
  readonly log: Log;
  /** Ruling E7: `tools.output.max_bytes`. */
  readonly maxOutputBytes: number;
  /** Whom to ask where the call brings nobody. */
  readonly approver?: Approver | undefined;
  /** Keeps a rule that somebody said "always" to. */
  readonly rememberRule?: ((rule: ApprovalRule) => Promise<Result<undefined>>) | undefined;
}

/** The spine: a call becomes a result. Never rejects (NFR-WF-REL-02). */
export async function executeCall(
  request: ToolRequest,
  options: CallOptions,
  runtime: Runtime,
): Promise<ToolResult> {
  const {session, clock, log} = runtime;
  const limits = {
    maxOutputBytes: Math.min(options.maxOutputBytes ?? Number.POSITIVE_INFINITY, runtime.maxOutputBytes),
    availableCapacityBytes: options.availableCapacityBytes ?? Number.POSITIVE_INFINITY,
  };
  const call = new ToolCall(request, limits, {
    session,
    clock,
    log,
    progress: options.onProgress ?? (() => {}),
  });
  const outcome = await perform(call, options, runtime).catch(error => unexpected(error, request.tool, log));
  return call.finished(outcome);
}

/** The order is the security model: nothing runs that was not written down, validated and allowed. */
async function perform(
  call: ToolCall,
  options: CallOptions,
  runtime: Runtime,
): Promise<Result<FittedAnswer>> {
  const {session, registry, policy, clock} = runtime;
  const {params} = call.request;
  const caller = options.signal;

  const started = call.started();
  if (!started.ok) return started;
  if (session.stopped !== undefined) return stopped(call.request.tool, session.stopped);
  const found = registry.find(call.request.tool);
  if (!found.ok) return found;
  const tool = found.value;
  const prepared = prepareCall(tool, params);
  if (!prepared.ok) return prepared;
  const {intend, execute, timeoutMs} = prepared.value;

  const bounds = {tool: tool.name, timeoutMs, caller, clock};
  const planned = () => runBounded(signal => intend(call.context(signal)), bounds);
  const intent = await planned();
  if (!intent.ok) return intent;
  call.intent = intent.value;

  const approval = await requestApproval(
    {
      requestId: call.requestId,
      step: call.step,
      tool: intent.value.dryRun === true ? {...tool, action: undefined} : tool,
      params,
      intent: intent.value,
      signal: caller ?? new AbortController().signal,
    },
    {
      policy,
      session,
      clock,
      approver: options.approver ?? runtime.approver,
      rememberRule: runtime.rememberRule,
    },
  );
  call.waitedMs = approval.waitedMs;
  if (!approval.outcome.ok) return approval.outcome;
  const unchanged = approval.asked ? sameFiles(intent.value, await planned()) : ok();
  if (!unchanged.ok) return unchanged;

  return runBounded(async signal => {
    const context = call.context(signal);
    const answer = await execute(context);
    return answer.ok ? fitAnswer(answer.value, tool, context) : answer;
  }, bounds);
}

/** What was approved is what was shown: the decision is bound to the files as they were then. */
function sameFiles(approved: Intent, now: Result<Intent>): Result<undefined> {
  if (!now.ok) return now;
  const before = approved.fileHashes;
  const after = now.value.fileHashes;
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = paths.find(path => before[path] !== after[path]);
  if (changed === undefined) return ok();
  return fail(
    'stale_read',
    `${JSON.stringify(changed)} changed while the approval was awaited, so the approval does not hold. Read it again and repeat the call.`,
    {path: changed},
  );
}

function stopped(tool: string, reason: string): Err<Failure> {
  const why = reason === '' ? 'no reason was given' : reason;
  return fail('approval_denied', `The session was stopped: ${why}. No further call is run.`, {
    tool: tool.slice(0, 64),
    reason: why,
    rule: 'stop',
  });
}

/** The one place that catches: a bug ends its call and nothing else. */
function unexpected(error: unknown, tool: string, log: Log): Err<Failure> {
  const text = (error instanceof Error ? error.message : String(error)).slice(0, 500);
  const stack = error instanceof Error ? (error.stack ?? text) : text;
  log({
    level: 'error',
    event: 'tool_call_crashed',
    message: stack,
    error_code: 'internal',
    tool: tool.slice(0, 64),
  });
  return fail('internal', `Unexpected error: ${text}. Please report it.`, {error: text});
}
