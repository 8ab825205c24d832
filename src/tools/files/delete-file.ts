// The tool delete_file.
import {z} from 'zod';
import {ok} from '../../core/result.ts';
import type {Tool} from '../../core/tool.ts';
import {
  changeLine,
  defineChangeTool,
  planFileChange,
  stepOf,
  undoStep,
} from '../change/define-change-tool.ts';
import {byteCount} from '../define-tool.ts';
import type {WorkspaceSession} from './session.ts';

const params = z.strictObject({
  path: z.string().min(1),
  dry_run: z.boolean().default(false).describe('Show the diff only.'),
});

const data = z.object({
  path: z.string(),
  bytes: z.int().describe('Size of what was deleted.'),
  removed: z.int().describe('Lines in the diff.'),
  undo_step: undoStep,
  dry_run: z.boolean(),
});

export function deleteFileTool(session: WorkspaceSession): Tool {
  const {workspace, tracker} = session;
  return defineChangeTool(session, {
    name: 'delete_file',
    title: 'Delete file',
    description: 'Deletes a file; undo brings it back.',
    params,
    data,
    paths: ({path}) => [path],
    plan: async (request, _, time) => {
      const path = workspace.resolveForWrite(request.path);
      if (!path.ok) return path;
      const {readKnownState} = await import('../../workspace/change/file-change.ts');
      const old = await readKnownState(workspace, tracker, path.value, time);
      if (!old.ok) return old;
      const planned = await planFileChange({path: path.value, old: old.value, new: undefined}, time);
      if (!planned.ok) return planned;
      const bytes = old.value.bytes.length;
      const summary = `${path.value} (${byteCount(bytes)})`;
      return ok({...planned.value, summary, path: path.value, bytes});
    },
    answer: ({path, bytes, removed}, step, {dry_run}) => ({
      path,
      bytes,
      removed,
      ...(step === undefined ? {} : {undo_step: step}),
      dry_run,
    }),
    renderText: ({path, bytes, removed, undo_step, dry_run}) => {
      const what = dry_run ? [] : ['deleted'];
      const line = changeLine(
        {name: path, added: 0, removed},
        ...what,
        byteCount(bytes),
        ...stepOf(undo_step),
      );
      return dry_run ? `Dry run, nothing was changed: ${line}` : line;
    },
  });
}
