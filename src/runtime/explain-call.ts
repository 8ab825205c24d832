// Says what policy would decide about a call. It runs nothing, asks nobody and writes nothing.
import type {Clock} from '../core/clock.ts';
import {type Json, ok, type Result} from '../core/result.ts';
import type {Intent} from '../core/tool.ts';
import {type ConfirmationPolicy, type PolicyDecision, tighten} from './approvals/policy.ts';
import {prepareCall} from './prepare-call.ts';
import type {Registry} from './registry.ts';
import {runBounded} from './run-bounded.ts';
import type {RunTaint} from './taint/run-taint.ts';

export interface Explanation {
  readonly intent: Intent;
  readonly verdict: PolicyDecision;
}

interface ExplainDeps {
  readonly registry: Registry;
  readonly policy: ConfirmationPolicy;
  readonly clock: Clock;
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
  {registry, policy, clock, taint}: ExplainDeps,
): Promise<Result<Explanation>> {
  const tool = registry.find(name);
  if (!tool.ok) return tool;
  const prepared = prepareCall(tool.value, params);
  if (!prepared.ok) return prepared;
  const {intend, timeoutMs} = prepared.value;
  // There is no run: nothing was changed in it.
  const pastChanges = async () => ok({directory: '', changes: []});
  const bounds = {tool: name, timeoutMs, caller: undefined, clock};
  const intent = await runBounded(deadline => intend({deadline, pastChanges}), bounds);
  if (!intent.ok) return intent;
  const {subject, dryRun} = intent.value;
  const action = dryRun === true ? undefined : tool.value.action;
  const {finding} = tighten(action, {tool: name, subject}, policy, taint);
  return ok({intent: intent.value, verdict: finding});
}
