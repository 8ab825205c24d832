import {z} from 'zod';
import {ok} from '../../core/result.ts';
import {defineTool, type Tool} from '../../core/tool.ts';
import {limitCall} from '../../workspace/limit-call.ts';
import type {PatchPlan} from '../../workspace/patch/plan-patch.ts';
import {runPatchWith} from '../../workspace/process/run-patch-with.ts';
import type {ReadTracker} from '../../workspace/read/read-tracker.ts';
import {hashesBefore} from '../change/hashes-before.ts';
import {makeChange} from '../change/make-change.ts';
import {PlanOnce} from '../change/plan-once.ts';
import {FINISH_MS, OUTER_MS} from '../outer-bound.ts';
import {schemaOf} from '../schema.ts';
import {suggestSimilar} from './suggest-similar.ts';
import type {WorkspaceSession} from './workspace-session.ts';

/** Tool API, apply_patch. */
const TIMEOUT_MS = 10_000;

const params = z.strictObject({
  unified_diff: z
    .string()
    .describe(
      'Unified diff ("--- a/PATH", "+++ b/PATH", "@@"; "/dev/null" for none) or "*** Begin Patch". ' +
        'Without line numbers, old lines must occur once.',
    ),
  dry_run: z.boolean().default(false).describe('Show the diff only.'),
});

const data = z.object({
  changed_files: z.array(z.string()),
  patch_size_bytes: z.int(),
  stat: z.array(
    z.object({
      path: z.string(),
      from: z.string().exactOptional().describe('Its old name, where it was renamed.'),
      added: z.int(),
      removed: z.int(),
    }),
  ),
  offsets: z
    .array(z.object({path: z.string(), hunk: z.int(), line: z.int(), offset: z.int()}))
    .describe('Hunks that were found elsewhere than they say.'),
  recounted_hunks: z.int().describe('Hunks whose header had wrong line counts.'),
  cross_check: z.enum(['agrees', 'unavailable']).describe('What GNU patch makes of it.'),
  dry_run: z.boolean(),
  diff: z.string().exactOptional().describe('Of a dry run: what would change.'),
});

export function applyPatchTool(session: WorkspaceSession): Tool {
  const {workspace, clock, journal, processes, patchServer, tracker} = session;
  // W15: a call sent beside this one may change a file, and what was read with it. The line numbers are older than that.
  const knownWhenSent = new WeakMap<z.infer<typeof params>, ReadTracker>();
  const plans = new PlanOnce(async (request: z.infer<typeof params>, {signal}) => {
    const {unified_diff} = request;
    const known = knownWhenSent.get(request) ?? tracker.snapshot();
    knownWhenSent.set(request, known);
    const planned = await limitCall(
      {tool: 'apply_patch', timeoutMs: TIMEOUT_MS, clock, signal},
      async time => {
        const crossCheck = {
          run: runPatchWith(processes, time.signal),
          kept: () => patchServer?.offer(time.signal),
          directory: journal.directory,
        };
        const {planPatch} = await import('../../workspace/patch/plan-patch.ts');
        const plan = await planPatch(workspace, unified_diff, {crossCheck, tracker: known, deadline: time});
        return time.spent ? time.failure() : plan;
      },
    );
    return planned.ok ? planned : suggestSimilar(session, planned, signal);
  });
  return defineTool({
    name: 'apply_patch',
    title: 'Apply patch',
    description:
      'Changes several places or files by a patch: all of it, or nothing. For one place: str_replace.',
    annotations: {readOnly: false, destructive: true, idempotent: false, openWorld: false},
    params: schemaOf(params),
    data: schemaOf(data),
    badParams: 'invalid_params',
    action: 'patch_file',
    timeoutMs: () => TIMEOUT_MS + OUTER_MS,
    finishMs: FINISH_MS,
    outline: ({dry_run}) => ({dryRun: dry_run}),
    intend: async (request, context) => {
      const planned = await plans.plan(request, context);
      if (!planned.ok) return planned;
      const {changedFiles, stat, diff, changes} = planned.value;
      const count = changedFiles.length === 1 ? changedFiles[0] : `${changedFiles.length} files`;
      return ok({
        subject: {kind: 'path', values: changedFiles},
        summary: `apply_patch ${count} (+${stat.added} -${stat.removed}${request.dry_run ? ', dry run' : ''})`,
        preview: diff,
        fileHashes: hashesBefore(changes),
        dryRun: request.dry_run,
      });
    },
    execute: async (request, context) => {
      const planned = await plans.take(request, context);
      if (!planned.ok) return planned;
      let {plan} = planned.value;
      if (!request.dry_run && plan.changes.length > 0) {
        const {unified_diff: patch} = request;
        const describe = ({changes, changedFiles}: PatchPlan) => ({patch, changes, changedFiles});
        const {signal} = context;
        const done = await limitCall({tool: 'apply_patch', timeoutMs: TIMEOUT_MS, clock, signal}, time =>
          makeChange(session, context, {...planned.value, describe, time}),
        );
        if (!done.ok) return done;
        plan = done.value;
      }
      return ok(answer(plan, request.dry_run));
    },
    renderText: ({stat, changed_files, offsets, recounted_hunks, dry_run, diff = ''}) => {
      const lines = stat.map(({path, from, added, removed}) => {
        const name = from === undefined ? path : `${from} => ${path}`;
        return `${name} | +${added} -${removed}`;
      });
      const moved = offsets.map(
        ({path, hunk, line}) => `[hunk ${hunk} of ${path} was applied at line ${line}, not where it says]`,
      );
      const recounted =
        recounted_hunks > 0
          ? [
              `[wrong line counts were corrected in ${recounted_hunks} hunk ${recounted_hunks === 1 ? 'header' : 'headers'}]`,
            ]
          : [];
      const count = changed_files.length === 1 ? '1 file' : `${changed_files.length} files`;
      const head = `${dry_run ? 'Dry run, nothing was changed: ' : ''}${count}`;
      return [head, ...lines, ...moved, ...recounted, ...(dry_run ? [diff] : [])].join('\n');
    },
  });
}

function answer(plan: PatchPlan, dryRun: boolean): z.infer<typeof data> {
  return {
    changed_files: [...plan.changedFiles],
    patch_size_bytes: plan.patchSizeBytes,
    stat: plan.stat.files.map((file, index) => {
      const change = plan.changes[index];
      return change?.kind === 'rename' ? {...file, from: change.from} : {...file};
    }),
    offsets: plan.offsets.map(offset => ({...offset})),
    recounted_hunks: plan.recounted,
    cross_check: plan.crossCheck,
    dry_run: dryRun,
    ...(dryRun ? {diff: plan.diff} : {}),
  };
}
