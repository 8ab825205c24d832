import type {Clock} from '../core/clock.ts';
import type {Json} from '../core/json.ts';
import type {Log} from '../core/log.ts';
import {ok, type Result} from '../core/result.ts';
import type {Intent, ToolContext} from '../core/tool.ts';
import type {ConfirmationPolicy, PolicyDecision} from './approvals/confirmation-policy.ts';
import {tighten} from './approvals/tighten.ts';
import {prepareCall} from './call/prepare-call.ts';
import {runBounded} from './call/run-bounded.ts';
import type {Registry} from './registry.ts';
import type {RunTaint} from './taint/run-taint.ts';

export interface Explanation {
  readonly intent: Intent;
  readonly verdict: PolicyDecision;
}

interface ExplainDeps {
  readonly registry: Registry;
  readonly policy: ConfirmationPolicy;
  readonly clock: Clock;
  readonly log: Log;
  /** T1: of the session, where one is open. */
  readonly taint?: RunTaint | undefined;
}

/**
 * `policy explain TOOL JSON`: what would be decided about a call and by which rule. Needs no session:
 * it runs nothing, asks no approver and writes nothing.
 */
export async function explainCall(
  name: string,
  params: Json,
  {registry, policy, clock, log, taint}: ExplainDeps,
): Promise<Result<Explanation>> {
  const tool = registry.find(name);
  if (!tool.ok) return tool;
  const prepared = prepareCall(tool.value, params);
  if (!prepared.ok) return prepared;
  const {intend, timeoutMs} = prepared.value;
  const intent = await runBounded(signal => intend(inertContext(signal, log)), {
    tool: name,
    timeoutMs,
    caller: undefined,
    clock,
  });
  if (!intent.ok) return intent;
  const {subject, dryRun} = intent.value;
  const action = dryRun === true ? undefined : tool.value.action;
  const {finding} = tighten(action, {tool: name, subject}, policy, taint);
  return ok({intent: intent.value, verdict: finding});
}

function inertContext(signal: AbortSignal, log: Log): ToolContext {
  return {
    requestId: 'explain',
    step: 0,
    signal,
    sessionSignal: signal,
    mayReach: () => ({allowed: false, reason: 'Nothing is fetched to explain a call.'}),
    maxOutputBytes: Number.POSITIVE_INFINITY,
    availableCapacityBytes: Number.POSITIVE_INFINITY,
    allowTruncation: true,
    log,
    emit: async () => {},
    saveArtifact: async () => {
      throw new Error('Working out an intent must not save anything.');
    },
    // There is no run: nothing was changed in it.
    pastChanges: async () => ok({directory: '', changes: []}),
    streamArtifact: () => {
      throw new Error('Working out an intent must not save anything.');
    },
    artifacts: {
      list: async () => ok([]),
      open: async () => ok(undefined),
      trim: async () => ok(undefined),
    },
    progress: () => {},
  };
}
