// The tool move_file. It never moves a file over another.
import {z} from 'zod';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import type {Tool} from '../../core/tool.ts';
import type {Workspace} from '../../workspace/jail/jail.ts';
import {quotePath, type WritablePath} from '../../workspace/workspace-path.ts';
import {defineChangeTool, planFileChange, stepOf, undoStep} from '../change/define-change-tool.ts';
import type {WorkspaceSession} from './session.ts';

const params = z.strictObject({
  from: z.string().min(1),
  to: z.string().min(1),
  dry_run: z.boolean().default(false),
});

const data = z.object({
  from: z.string(),
  to: z.string(),
  bytes: z.int(),
  undo_step: undoStep,
  dry_run: z.boolean(),
});

export function moveFileTool(session: WorkspaceSession): Tool {
  const {workspace, tracker} = session;
  return defineChangeTool(session, {
    name: 'move_file',
    title: 'Move file',
    description: 'Moves or renames a file, never over another.',
    params,
    data,
    paths: ({from, to}) => [from, to],
    plan: async (request, _, time) => {
      const from = workspace.resolveForWrite(request.from);
      if (!from.ok) return from;
      const to = workspace.resolveForWrite(request.to);
      if (!to.ok) return to;
      if (from.value === to.value) return refuse(`from and to are both ${quotePath(to.value)}`);
      const {readKnownState} = await import('../../workspace/change/file-change.ts');
      const old = await readKnownState(workspace, tracker, from.value, time);
      if (!old.ok) return old;
      const free = placeable(workspace, from.value, to.value);
      if (!free.ok) return free;
      const change = {path: to.value, from: from.value, old: old.value, new: old.value};
      const planned = await planFileChange(change, time);
      if (!planned.ok) return planned;
      return ok({
        ...planned.value,
        summary: `${from.value} => ${to.value}`,
        from: from.value,
        to: to.value,
        bytes: old.value.bytes.length,
      });
    },
    answer: ({from, to, bytes}, step, {dry_run}) => ({
      from,
      to,
      bytes,
      ...(step === undefined ? {} : {undo_step: step}),
      dry_run,
    }),
    renderText: ({from, to, undo_step, dry_run}) =>
      `${dry_run ? 'Dry run, nothing was changed: ' : ''}${[`${from} => ${to}`, ...stepOf(undo_step)].join(' · ')}`,
  });
}

/** Nothing is there, and everything above it is a directory or not there either. */
function placeable(workspace: Workspace, from: WritablePath, to: WritablePath): Result<undefined> {
  for (let end = to.lastIndexOf('/'); end > 0; end = to.lastIndexOf('/', end - 1)) {
    const above = workspace.resolve(to.slice(0, end));
    if (!above.ok) return above;
    const there = workspace.inspect(above.value);
    if (!there.ok) continue;
    if (there.value.kind === 'directory') break;
    return refuse(`${quotePath(above.value)} is no directory, so nothing can lie below it`);
  }
  const there = workspace.inspect(to);
  if (!there.ok) return there.error.code === 'file_not_found' ? ok() : there;
  if (there.value.kind !== 'directory')
    return refuse(`${quotePath(to)} exists already, and nothing is moved over it`);
  const name = from.slice(from.lastIndexOf('/') + 1);
  return refuse(`${quotePath(to)} is a directory; for a place in it write ${quotePath(`${to}/${name}`)}`);
}

function refuse(reason: string): Err<Failure> {
  return fail('invalid_params', `${reason[0]?.toUpperCase()}${reason.slice(1)}. Correct \`to\`.`, {
    field: 'to',
    reason,
  });
}
