import type {Json} from '../../core/json.ts';
import {ok, type Result} from '../../core/result.ts';
import {defineTool, type Schema, type Tool, type ToolContext} from '../../core/tool.ts';
import {type CallTime, limitCall} from '../../workspace/limit-call.ts';
import {type ByteString, bytesOf, readable} from '../../workspace/patch/byte-string.ts';
import type {FileChange} from '../../workspace/patch/file-change.ts';
import {stateHash} from '../../workspace/patch/state-hash.ts';
import {suggestSimilar} from '../files/suggest-similar.ts';
import type {WorkspaceSession} from '../files/workspace-session.ts';
import {FINISH_MS, OUTER_MS} from '../outer-bound.ts';
import {hashesBefore} from './hashes-before.ts';
import {makeChange} from './make-change.ts';
import {PlanOnce} from './plan-once.ts';
import type {PlannedChange} from './planned-change.ts';

/** What a call would change, and how that is shown. */
export interface ChangePlan {
  readonly changes: readonly FileChange[];
  readonly diff: ByteString;
  /** One line for the one who is asked, without the name of the tool. */
  readonly summary: string;
}

interface ChangeTool<Params, Plan, Data> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly params: Schema<Params>;
  readonly data: Schema<Data>;
  readonly timeoutMs: number;
  /** Default: `patch_file`. */
  readonly action?: 'write_file';
  /** Twice the same call does no more than once. Default: it does. */
  readonly isIdempotent?: boolean;
  /** What is written in `params`; rules on paths are asked before any file is looked at. */
  readonly paths: (params: Params) => readonly string[];
  /** Default: it never is. */
  readonly isDryRun?: (params: Params) => boolean;
  /** Looks, and changes nothing. */
  readonly plan: (params: Params, context: ToolContext, time: CallTime) => Promise<Result<Plan>>;
  readonly answer: (plan: Plan, context: ToolContext, params: Params) => Data;
  readonly renderText: (data: Data) => string;
  /** Default: what the session knew of the files it knows of them afterwards. */
  readonly knows?: PlannedChange['knows'];
  /** The plan is bound to the files as they were; by default it is worked out anew on what this session made of them. */
  readonly isBound?: boolean;
  /** Goes into the event of the change. */
  readonly eventOf?: (plan: Plan) => {readonly [field: string]: Json};
}

/** Ruling W19: a tool whose whole work is a change of files, with its preview, approval, journal and undo. */
export function defineChangeTool<Params extends object, Plan extends ChangePlan, Data extends Json>(
  session: WorkspaceSession,
  tool: ChangeTool<Params, Plan, Data>,
): Tool {
  const {workspace, clock} = session;
  const {name, title, description, params, data, timeoutMs, renderText, isDryRun = () => false} = tool;
  const {action = 'patch_file', isIdempotent = false, isBound = false} = tool;
  const plans = new PlanOnce(async (request: Params, context: ToolContext) => {
    const {signal} = context;
    const planned = await limitCall({tool: name, timeoutMs, clock, signal}, time =>
      tool.plan(request, context, time),
    );
    return planned.ok ? planned : suggestSimilar(session, planned, signal);
  });
  const describe = (plan: Plan) => ({
    changes: plan.changes,
    patch: bytesOf(plan.diff),
    changedFiles: pathsOf(plan.changes),
    knows: tool.knows,
    event: tool.eventOf?.(plan),
  });
  return defineTool({
    name,
    title,
    description,
    annotations: {readOnly: false, destructive: true, idempotent: isIdempotent, openWorld: false},
    params,
    data,
    badParams: 'invalid_params',
    action,
    timeoutMs: () => timeoutMs + OUTER_MS,
    finishMs: FINISH_MS,
    outline: request => {
      const dryRun = isDryRun(request);
      const values = tool.paths(request).flatMap(path => {
        const resolved = workspace.resolveForWrite(path);
        return resolved.ok ? [resolved.value] : [];
      });
      return values.length === 0 ? {dryRun} : {subject: {kind: 'path', values}, dryRun};
    },
    intend: async (request, context) => {
      const planned = await plans.plan(request, context);
      if (!planned.ok) return planned;
      const {changes, diff, summary} = planned.value;
      return ok({
        subject: {kind: 'path', values: pathsOf(changes)},
        summary: `${name} ${summary}${isDryRun(request) ? ' (dry run)' : ''}`,
        preview: readable(diff),
        fileHashes: hashesBefore(changes),
        dryRun: isDryRun(request),
      });
    },
    execute: async (request, context) => {
      const planned = await plans.take(request, context);
      if (!planned.ok) return planned;
      const {plan} = planned.value;
      if (isDryRun(request) || !plan.changes.some(isDifference))
        return ok(tool.answer(plan, context, request));
      const {signal} = context;
      const replan = isBound ? undefined : planned.value.replan;
      const done = await limitCall({tool: name, timeoutMs, clock, signal}, time =>
        makeChange(session, context, {plan, replan, describe, time}),
      );
      return done.ok ? ok(tool.answer(done.value, context, request)) : done;
    },
    renderText,
  });
}

/** Edits may take each other back, and a file may have its new content already. */
function isDifference(change: FileChange): boolean {
  if (change.kind !== 'modify') return true;
  return stateHash(change.old) !== stateHash(change.new) || change.old.mode !== change.new.mode;
}

function pathsOf(changes: readonly FileChange[]): string[] {
  return changes
    .flatMap(change => (change.kind === 'rename' ? [change.from, change.path] : [change.path]))
    .sort();
}
