import {fail} from '../core/failure/fail.ts';
import type {Failure} from '../core/failure/failure.ts';
import {type Err, ok, type Result} from '../core/result.ts';
import {takeStart} from '../core/text/take-start.ts';
import type {Intent, ToolRequest, ToolResult} from '../core/tool.ts';
import type {CallOptions} from '../core/tool-host.ts';
import {type FittedAnswer, fitAnswer} from './answer/fit-answer.ts';
import {outputLimitOf} from './answer/output-limit-of.ts';
import {roomForAnswer} from './answer/room-for-answer.ts';
import {askLater} from './approvals/ask-later.ts';
import {denyEarly} from './approvals/deny-early.ts';
import {requestApproval} from './approvals/request-approval.ts';
import {prepareCall} from './call/prepare-call.ts';
import {runBounded} from './call/run-bounded.ts';
import {ToolCall} from './call/tool-call.ts';
import {unexpectedFailure} from './call/unexpected-failure.ts';
import type {Runtime} from './runtime.ts';
import {deliverAnswer} from './taint/deliver-answer.ts';

/** The spine: a call becomes a result. A bug of a tool becomes `internal` (NFR-WF-REL-02). */
export async function executeCall(
  request: ToolRequest,
  options: CallOptions,
  runtime: Runtime,
): Promise<ToolResult> {
  const {session, clock, log} = runtime;
  const limits = {
    maxOutputBytes: Math.min(
      options.maxOutputBytes ?? Number.POSITIVE_INFINITY,
      outputLimitOf(runtime, request.tool),
    ),
    availableCapacityBytes: options.availableCapacityBytes ?? Number.POSITIVE_INFINITY,
  };
  const call = new ToolCall(request, limits, {
    session,
    clock,
    log,
    progress: options.onProgress ?? (() => {}),
  });
  const outcome = await perform(call, options, runtime).catch(error =>
    unexpectedFailure(error, request.tool, log),
  );
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
  session.taint.addOperatorAddresses(options.operatorAddresses ?? []);
  if (session.stopped !== undefined) return stopped(call.request.tool, session.stopped);
  const found = registry.find(call.request.tool);
  if (!found.ok) return found;
  const tool = found.value;
  const prepared = prepareCall(tool, params);
  if (!prepared.ok) return prepared;
  const {outline, intend, execute, timeoutMs} = prepared.value;
  const early = denyEarly({requestId: call.requestId, step: call.step, tool, outline}, policy, session);
  if (!early.ok) return early;

  const bounds = {tool: tool.name, timeoutMs, finishMs: tool.finishMs, caller, clock};
  const planned = () => runBounded(signal => intend(call.context(signal)), bounds);
  const intent = await planned();
  if (!intent.ok) return intent;
  call.intent = intent.value;

  const acting = intent.value.dryRun === true ? {...tool, action: undefined} : tool;
  const room = roomForAnswer(acting, call.limits);
  if (!room.ok) return room;
  const about = {requestId: call.requestId, step: call.step};
  const deps = {
    policy,
    session,
    clock,
    approver: options.approver ?? runtime.approver,
    rememberRule: runtime.rememberRule,
  };
  const approval = await requestApproval(
    {
      ...about,
      tool: acting,
      params,
      intent: intent.value,
      signal: caller ?? new AbortController().signal,
    },
    deps,
  );
  call.waitedMs = approval.waitedMs;
  call.begin();
  if (!approval.outcome.ok) return approval.outcome;
  const unchanged = approval.isBoundToFiles ? sameFiles(intent.value, await planned()) : ok();
  if (!unchanged.ok) return unchanged;

  const {subject} = intent.value;
  const mayReach = policy.reach(
    acting.action,
    {tool: tool.name, subject},
    {by: approval.by, sessionRules: session.grants.rulesAbout(tool.name, acting.action, subject.kind)},
  );
  const outcome = await runBounded(async signal => {
    const context = call.context(signal, mayReach, (question, until) =>
      askLater(question, about, deps, until),
    );
    const answer = await execute(context);
    return answer.ok ? fitAnswer(answer.value, tool, context) : answer;
  }, bounds);
  await deliverAnswer(outcome, {tool, intent: intent.value, call}, session.taint);
  return outcome;
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
