// The tool undo: takes back a step of the agent's own run.
import {z} from 'zod';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import type {PastChange, Tool} from '../../core/tool.ts';
import {inTurns} from '../../workspace/open-file.ts';
import type {WorkspaceSession} from '../files/session.ts';
import {defineChangeTool, stepOf, undoStep} from './define-change-tool.ts';
import {planUndo} from './plan-undo.ts';

const NAMED_STEPS = 10;

const params = z.strictObject({
  step: z.int().min(1).optional().describe('As an answer named it. Default: the last change in force.'),
});

const data = z.object({
  step: z.int().describe('The step that was taken back.'),
  restored_files: z.array(z.string()),
  undo_step: undoStep,
});

/** Takes back a step of the agent's own run; a person has `forge-tools undo`, which does the same. */
export function undoTool(session: WorkspaceSession): Tool {
  return defineChangeTool(session, {
    name: 'undo',
    title: 'Undo a change',
    description: 'Takes back what a step changed, if nothing changed it since. Then read again.',
    params,
    data,
    afterwards: 'unread',
    paths: () => [],
    plan: async ({step: wanted}, context, time) => {
      const past = await context.pastChanges();
      if (!past.ok) return past;
      const {directory, changes: steps} = past.value;
      const chosen = choose(steps, wanted);
      if (!chosen.ok) return chosen;
      const {step, recordHash} = chosen.value;
      const planned = await planUndo(session.workspace, {runDirectory: directory, step, recordHash}, time);
      if (!planned.ok) return planned;
      const {writes, changed} = planned.value;
      if (changed.length > 0) return stale(step, changed, steps);
      const {renderFileChanges} = await import('../../workspace/patch/unified.ts');
      const changes = writes.filter(({old, new: restored}) => old !== undefined || restored !== undefined);
      const diffs = await inTurns(renderFileChanges(changes), time);
      if (!diffs.ok) return diffs;
      const diff = diffs.value.map(({text}) => text).join('');
      const count = writes.length === 1 ? writes[0]?.path : `${writes.length} files`;
      return ok({changes, diff, summary: `step ${step} (${count})`, step});
    },
    answer: ({step, changes}, undoes) => ({
      step,
      restored_files: changes.map(({path}) => path).sort(),
      ...(undoes === undefined ? {} : {undo_step: undoes}),
    }),
    eventOf: ({step}) => ({undoes: step}),
    renderText: ({step, restored_files, undo_step}) =>
      [[`Step ${step} is taken back`, ...stepOf(undo_step)].join(' · '), ...restored_files].join('\n'),
  });
}

function choose(steps: readonly PastChange[], wanted: number | undefined): Result<PastChange> {
  const inForce = stepsInForce(steps);
  if (wanted === undefined) {
    const last = inForce.findLast(({undoes}) => undoes === undefined);
    if (last !== undefined) return ok(last);
    return fail('file_not_found', 'No change of this session is left to be taken back.', {});
  }
  const found = steps.find(({step}) => step === wanted);
  if (found === undefined) {
    const named = inForce.slice(-NAMED_STEPS).map(({step}) => step);
    const which = named.length === 0 ? 'No step did.' : `Steps that did: ${named.join(', ')}.`;
    return fail('file_not_found', `Step ${wanted} of this session changed no files. ${which}`, {});
  }
  if (inForce.includes(found)) return ok(found);
  const by = steps.findLast(({undoes}) => undoes === wanted)?.step;
  return fail(
    'stale_read',
    `Step ${wanted} was taken back in step ${by} already. To make it again, undo step ${by}.`,
    {path: found.files[0]},
  );
}

/** The log's last word where it names no more files. */
const CUT_LIST = /^… \d+ more$/;

function stale(step: number, changed: readonly string[], steps: readonly PastChange[]): Err<Failure> {
  const files = changed.map(path => JSON.stringify(path)).join(', ');
  const later = stepsInForce(steps).filter(
    one =>
      one.step > step &&
      one.undoes === undefined &&
      one.files.some(file => changed.includes(file) || CUT_LIST.test(file)),
  );
  const advice =
    later.length === 0
      ? 'Something else than a tool of this session changed it: read it, and change it by hand.'
      : `Steps that changed it: ${later.map(one => one.step).join(', ')}. Undo these first, the last one first.`;
  return fail('stale_read', `Step ${step} cannot be taken back: ${files} changed since. ${advice}`, {
    path: changed[0],
  });
}

/** The changes that were not taken back, oldest first. Where a taking back was taken back, the change is in force again. */
export function stepsInForce(steps: readonly PastChange[]): readonly PastChange[] {
  const targets = new Map(steps.map(({step, undoes}) => [step, undoes]));
  const gone = new Set<number>();
  for (const {undoes} of steps) {
    let isGone = true;
    // What it took back may itself have taken back something.
    for (let step = undoes; step !== undefined; step = targets.get(step)) {
      if (isGone) gone.add(step);
      else gone.delete(step);
      isGone = !isGone;
    }
  }
  return steps.filter(({step}) => !gone.has(step));
}
