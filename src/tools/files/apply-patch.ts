// The tool apply_patch: changes several places or files by a patch.
import {z} from 'zod';
import {ok} from '../../core/result.ts';
import type {Tool} from '../../core/tool.ts';
import type {RunPatch} from '../../workspace/patch/cross-check.ts';
import {readable} from '../../workspace/patch/patch.ts';
import type {PatchPlan} from '../../workspace/patch/plan-patch.ts';
import type {ProcessRunner} from '../../workspace/process-runner.ts';
import type {ReadTracker} from '../../workspace/read-tracker.ts';
import {
  changeLine,
  defineChangeTool,
  fileStat,
  statOf,
  stepOf,
  undoStep,
} from '../change/define-change-tool.ts';
import type {WorkspaceSession} from './session.ts';

const params = z.strictObject({
  unified_diff: z
    .string()
    .describe(
      'Unified diff ("--- a/PATH", "+++ b/PATH"; "/dev/null" for none), "*** Begin Patch", or ' +
        'SEARCH/REPLACE with the file name above. Without line numbers, old lines must occur once.',
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
      ...fileStat,
    }),
  ),
  undo_step: undoStep,
  offsets: z
    .array(z.object({path: z.string(), hunk: z.int(), line: z.int(), offset: z.int()}))
    .describe('Hunks that were found elsewhere than they say.'),
  notes: z
    .array(z.object({path: z.string(), hunk: z.int(), text: z.string()}))
    .exactOptional()
    .describe('Hunks that were not found by their exact text.'),
  recounted_hunks: z.int().describe('Hunks whose header had wrong line counts.'),
  cross_check: z.enum(['agrees', 'unavailable']).describe('The opinion of GNU patch.'),
  dry_run: z.boolean(),
  diff: z.string().exactOptional().describe('Of a dry run: what would change.'),
});

export function applyPatchTool(session: WorkspaceSession): Tool {
  const {workspace, journal, processes, patchServer, tracker} = session;
  // W15: a call sent beside this one may change a file, and what was read with it. The line numbers are older than that.
  const knownWhenSent = new WeakMap<z.infer<typeof params>, ReadTracker>();
  return defineChangeTool(session, {
    name: 'apply_patch',
    title: 'Apply patch',
    description: 'Changes several places or files: all or nothing. For one place: str_replace.',
    params,
    data,
    // Which files it names is known once it is read.
    paths: () => [],
    plan: async (request, _, time) => {
      const known = knownWhenSent.get(request) ?? tracker.snapshot();
      knownWhenSent.set(request, known);
      const crossCheck = {
        run: runPatchWith(processes, time.signal),
        warmServer: () => patchServer?.take(time.signal),
        directory: journal.directory,
      };
      const {planPatch} = await import('../../workspace/patch/plan-patch.ts');
      const options = {crossCheck, tracker: known, deadline: time};
      const planned = await planPatch(workspace, request.unified_diff, options);
      if (time.spent) return time.failure();
      if (!planned.ok) return planned;
      const {changedFiles} = planned.value;
      const summary = changedFiles.length === 1 ? `${changedFiles[0]}` : `${changedFiles.length} files`;
      return ok({...planned.value, summary});
    },
    submitted: ({unified_diff}) => unified_diff,
    summarize: ({summary, stat: {added, removed}}, dryRun) =>
      `${summary} (+${added} -${removed}${dryRun ? ', dry run' : ''})`,
    answer: (plan, step, {dry_run}) => answer(plan, step, dry_run),
    renderText: ({stat, undo_step, offsets, notes = [], recounted_hunks, dry_run, diff = ''}) => {
      const isOne = stat.length === 1;
      const lines = stat.map(({path, from, ...file}) =>
        changeLine(
          {name: from === undefined ? path : `${from} => ${path}`, ...file},
          ...(isOne ? stepOf(undo_step) : []),
        ),
      );
      const moved = offsets.map(
        ({path, hunk, line}) => `[hunk ${hunk} of ${path} was applied at line ${line}, not where it says]`,
      );
      const found = notes.map(({path, hunk, text}) => `[hunk ${hunk} of ${path}: ${text}]`);
      const recounted =
        recounted_hunks > 0
          ? [
              `[wrong line counts were corrected in ${recounted_hunks} hunk ${recounted_hunks === 1 ? 'header' : 'headers'}]`,
            ]
          : [];
      const head = isOne ? [] : [[`${stat.length} files`, ...stepOf(undo_step)].join(' · ')];
      const text = [...head, ...lines, ...moved, ...found, ...recounted, ...(dry_run ? [diff] : [])].join(
        '\n',
      );
      return dry_run ? `Dry run, nothing was changed: ${text}` : text;
    },
  });
}

function answer(plan: PatchPlan, step: number | undefined, dryRun: boolean): z.infer<typeof data> {
  return {
    changed_files: [...plan.changedFiles],
    patch_size_bytes: plan.patchSizeBytes,
    stat: plan.stat.files.map(({path, ...stat}, index) => {
      const from = plan.changes[index]?.from;
      return {path, ...(from === undefined ? {} : {from}), ...statOf(stat)};
    }),
    ...(step === undefined ? {} : {undo_step: step}),
    offsets: plan.offsets.map(offset => ({...offset})),
    ...(plan.notes.length === 0 ? {} : {notes: plan.notes.map(note => ({...note}))}),
    recounted_hunks: plan.recounted,
    cross_check: plan.crossCheck,
    dry_run: dryRun,
    ...(dryRun ? {diff: readable(plan.diff)} : {}),
  };
}

const MAX_STDOUT_BYTES = 1024 * 1024;

/** How `crossCheck` runs GNU patch. Rejects where it cannot be started, as it asks for. */
function runPatchWith(processes: ProcessRunner, signal: AbortSignal): RunPatch {
  return async (command, args, {cwd, env, stdin}) => {
    const stdout: Uint8Array[] = [];
    const end = await processes.run({
      command,
      args,
      cwd,
      env,
      stdin: [stdin],
      onStdout: part => {
        stdout.push(part);
        return true;
      },
      maxStdoutBytes: MAX_STDOUT_BYTES,
      signal,
    });
    if (end.end === 'not_started' || end.end === 'broken') {
      const what = end.end === 'broken' ? 'talk to' : 'start';
      const problem = new Error(`Could not ${what} ${command}: ${end.error}`);
      throw Object.assign(problem, {code: end.error, syscall: 'spawn'});
    }
    const text = Buffer.concat(stdout).toString('utf8');
    if (end.end === 'exited') return {exitCode: end.exitCode, stdout: text, stderr: end.stderr};
    return {exitCode: null, stdout: text, stderr: `it was ended (${end.end})`};
  };
}
