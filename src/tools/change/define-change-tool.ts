// Defines a tool that changes files. It shares the plan, the approval, the change and the answer.

import {z} from 'zod';
import type {Deadline} from '../../core/deadline.ts';
import {type Json, ok, type Result} from '../../core/result.ts';
import {defineTool, type PlanContext, type Tool} from '../../core/tool.ts';
import {changedPaths, type FileChange, fileWrites} from '../../workspace/change/file-change.ts';
import {inTurns} from '../../workspace/open-file.ts';
import {type ByteString, bytesOf, readable} from '../../workspace/patch/patch.ts';
import type {FileDiff} from '../../workspace/patch/unified.ts';
import {bytewise} from '../../workspace/walk/tree-walk.ts';
import {FINISH_MS, schemaOf} from '../define-tool.ts';
import type {WorkspaceSession} from '../files/session.ts';
import {suggestSimilar} from '../files/suggest-similar.ts';
import {makeChange} from './make-change.ts';
import type {PlannedChange} from './record-change.ts';

/** Tool API: milliseconds that a change has. */
export const CHANGE_TIMEOUT_MS = 10_000;

/** What a call would change, and how that is shown. */
interface ChangePlan {
  readonly changes: readonly FileChange[];
  readonly diff: ByteString;
  /** One line for the one who is asked, without the name of the tool. */
  readonly summary: string;
}

interface ChangeTool<Params, Plan, Data> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly params: z.ZodType<Params>;
  readonly data: z.ZodType<Data>;
  /** Default: `CHANGE_TIMEOUT_MS`. */
  readonly timeoutMs?: number;
  /** Default: `patch_file`. */
  readonly action?: 'write_file';
  /** Twice the same call does no more than once. Default: it does. */
  readonly isIdempotent?: boolean;
  /** What is written in `params`; rules on paths are asked before any file is looked at. */
  readonly paths: (params: Params) => readonly string[];
  /** Looks, and changes nothing. */
  readonly plan: (params: Params, context: PlanContext, deadline: Deadline) => Promise<Result<Plan>>;
  /** Default: the summary of the plan, and whether it is a dry run. */
  readonly summarize?: (plan: Plan, dryRun: boolean) => string;
  /** What was submitted, to be kept with the step. Default: the diff of the plan. */
  readonly submitted?: (params: Params) => string;
  /** `undoStep` is the step for `undo`; undefined where nothing was changed. */
  readonly answer: (plan: Plan, undoStep: number | undefined, params: Params) => Data;
  readonly renderText: (data: Data) => string;
  /** Default: what the session knew of the files it knows of them afterwards. */
  readonly afterwards?: PlannedChange['afterwards'];
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
  const {workspace} = session;
  const {name, title, description, timeoutMs = CHANGE_TIMEOUT_MS, renderText} = tool;
  const {action = 'patch_file', isIdempotent = false, isBound = false, summarize = summaryOf} = tool;
  const plans = new PlanOnce(async (request: Params, context: PlanContext) => {
    const planned = await tool.plan(request, context, context.deadline);
    return planned.ok ? planned : suggestSimilar(session, planned, context.deadline.signal);
  });
  const describe = (plan: Plan, request: Params) => ({
    changes: plan.changes,
    patch: tool.submitted?.(request) ?? bytesOf(plan.diff),
    changedFiles: changedPaths(plan.changes).sort(bytewise),
    afterwards: tool.afterwards,
    event: tool.eventOf?.(plan),
  });
  return defineTool({
    name,
    title,
    description,
    annotations: {readOnly: false, destructive: true, idempotent: isIdempotent, openWorld: false},
    params: schemaOf(tool.params),
    data: schemaOf(tool.data),
    badParams: 'invalid_params',
    action,
    timeoutMs: () => timeoutMs,
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
      const {changes, diff} = planned.value;
      const dryRun = isDryRun(request);
      return ok({
        subject: {kind: 'path', values: changedPaths(changes).sort(bytewise)},
        summary: `${name} ${summarize(planned.value, dryRun)}`,
        preview: readable(diff),
        fileHashes: hashesBefore(changes),
        dryRun,
      });
    },
    execute: async (request, context) => {
      const planned = await plans.take(request, context);
      if (!planned.ok) return planned;
      const {plan} = planned.value;
      if (isDryRun(request) || !plan.changes.some(isDifference))
        return ok(tool.answer(plan, undefined, request));
      const replan = isBound ? undefined : planned.value.replan;
      const changed = {plan, replan, describe: (made: Plan) => describe(made, request)};
      const done = await makeChange(session, context, changed);
      return done.ok ? ok(tool.answer(done.value, context.step, request)) : done;
    },
    renderText,
  });
}

function isDryRun(params: object): boolean {
  return 'dry_run' in params && params.dry_run === true;
}

function summaryOf({summary}: ChangePlan, dryRun: boolean): string {
  return `${summary}${dryRun ? ' (dry run)' : ''}`;
}

/** Edits may take each other back, and a file may have its new content already. */
function isDifference({from, old, new: fresh}: FileChange): boolean {
  return from !== undefined || old?.hash !== fresh?.hash || old?.mode !== fresh?.mode;
}

/** Works out what a call would do. */
type Plan<Params, Planned> = (params: Params, context: PlanContext) => Promise<Result<Planned>>;

interface TakenPlan<Planned> {
  readonly plan: Planned;
  /** Works it out anew; undefined where the approver approved this plan and no other. */
  readonly replan: (() => Promise<Result<Planned>>) | undefined;
}

/**
 * What `intend` showed is what `execute` does, not something that is worked out anew. Both get the same object
 * of parameters. A plan that was worked out twice was shown to the approver in between: it is bound to the files
 * as they were then.
 */
export class PlanOnce<Params extends object, Planned> {
  readonly #plan: Plan<Params, Planned>;
  readonly #planned = new WeakMap<Params, {readonly value: Planned; readonly times: number}>();

  constructor(plan: Plan<Params, Planned>) {
    this.#plan = plan;
  }

  /** For `intend`, which is called again after an approval. */
  async plan(params: Params, context: PlanContext): Promise<Result<Planned>> {
    const times = (this.#planned.get(params)?.times ?? 0) + 1;
    this.#planned.delete(params);
    const planned = await this.#plan(params, context);
    if (planned.ok) this.#planned.set(params, {value: planned.value, times});
    return planned;
  }

  /** For `execute`. */
  async take(params: Params, context: PlanContext): Promise<Result<TakenPlan<Planned>>> {
    const planned = this.#planned.get(params);
    this.#planned.delete(params);
    const replan = (): Promise<Result<Planned>> => this.#plan(params, context);
    if (planned !== undefined) {
      return ok({plan: planned.value, replan: planned.times > 1 ? undefined : replan});
    }
    const now = await replan();
    return now.ok ? ok({plan: now.value, replan}) : now;
  }
}

/** What an approval of changes is bound to: the files as they are before. */
export function hashesBefore(changes: readonly FileChange[]): {readonly [path: string]: string} {
  const states = changes.flatMap(change => fileWrites([change]).reverse());
  return Object.fromEntries(states.map(({path, old}) => [path, old?.hash ?? 'absent']));
}

/** What an answer says of each file that was changed. */
export const fileStat = {
  added: z.int().describe('Lines in the diff.'),
  removed: z.int(),
  lines: z.array(z.array(z.int())).describe('First and last line of each place, as numbered now.'),
};

export const undoStep = z.int().exactOptional().describe('The step for undo.');

/** The lines of a diff, as an answer has them. */
export function statOf({added, removed, lines}: Omit<FileDiff, 'path' | 'text'>) {
  return {added, removed, lines: lines.map(place => [...place])};
}

/** Places that a text names. */
const NAMED_PLACES = 8;

interface ChangeFacts {
  readonly name: string;
  readonly lines?: readonly (readonly number[])[];
  readonly added: number;
  readonly removed: number;
}

/** `src/a.c: lines 128–152, 163 · +25 −22 · step 7`: a file that was changed, and what else there is to say. */
export function changeLine(
  {name, lines = [], added, removed}: ChangeFacts,
  ...more: readonly string[]
): string {
  const places = lines
    .slice(0, NAMED_PLACES)
    .map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`));
  if (lines.length > NAMED_PLACES) places.push(`${lines.length - NAMED_PLACES} more places`);
  const [{0: first, 1: last} = []] = lines;
  const where =
    places.length === 0
      ? []
      : [`${lines.length === 1 && first === last ? 'line' : 'lines'} ${places.join(', ')}`];
  return `${name}: ${[...where, `+${added} −${removed}`, ...more].join(' · ')}`;
}

/** The end of a text: what takes the change back. */
export function stepOf(undoStep: number | undefined): readonly string[] {
  return undoStep === undefined ? [] : [`step ${undoStep}`];
}

interface PlannedFile extends Omit<FileDiff, 'path' | 'text'> {
  readonly changes: readonly FileChange[];
  readonly diff: ByteString;
}

/** The change of one file with its diff. */
export async function planFileChange(change: FileChange, deadline?: Deadline): Promise<Result<PlannedFile>> {
  const {renderFileChange} = await import('../../workspace/patch/unified.ts');
  const diff = await inTurns(renderFileChange(change), deadline);
  if (!diff.ok) return diff;
  const {text, added, removed, lines} = diff.value;
  return ok({changes: [change], diff: text, added, removed, lines});
}
