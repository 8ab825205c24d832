// Says what policy would decide about a call. It runs nothing, asks nobody and writes nothing.
import type {Clock} from '../core/clock.ts';
import type {FailureCode} from '../core/failure-codes.ts';
import {type Err, type Failure, type Json, ok, type Result} from '../core/result.ts';
import type {CallOutline, Intent} from '../core/tool.ts';
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
  const {intend, outline, timeoutMs} = prepared.value;
  // There is no run: nothing was changed in it.
  const pastChanges = async () => ok({directory: '', changes: []});
  const bounds = {tool: name, timeoutMs, caller: undefined, clock};
  const intent = await runBounded(deadline => intend({deadline, pastChanges}), bounds);
  const planned = intent.ok ? intent.value : outlined(name, outline, intent.error.code);
  if (planned === undefined) return intent as Err<Failure>;
  const {subject, dryRun} = planned;
  const action = dryRun === true ? undefined : tool.value.action;
  const {finding} = tighten(action, {tool: name, subject}, policy, taint);
  return ok({intent: planned, verdict: finding});
}

/** What depends on the files as they are now, and on what a session has read of them. */
const OF_THE_MOMENT: ReadonlySet<FailureCode> = new Set([
  'not_read',
  'stale_read',
  'no_match',
  'ambiguous_match',
  'file_not_found',
  'binary_file',
  'file_too_large',
]);

/** The call by its arguments alone; `undefined` where they do not say what it is about, or it would never run. */
function outlined(tool: string, {subject, dryRun}: CallOutline, code: FailureCode): Intent | undefined {
  if (subject === undefined || !OF_THE_MOMENT.has(code)) return undefined;
  const summary = `${tool} ${subject.values.join(', ')}`;
  return {subject, summary, preview: summary, fileHashes: {}, dryRun: dryRun === true};
}
