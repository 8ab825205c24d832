import {z} from 'zod';
import {ok} from '../../core/result.ts';
import type {Tool} from '../../core/tool.ts';
import {inTurns} from '../../workspace/turns.ts';
import {byteCount} from '../byte-count.ts';
import {defineChangeTool} from '../change/define-change-tool.ts';
import {schemaOf} from '../schema.ts';
import type {WorkspaceSession} from './workspace-session.ts';

/** As for apply_patch. */
const TIMEOUT_MS = 10_000;

const params = z.strictObject({
  path: z.string().min(1),
  dry_run: z.boolean().default(false).describe('Show the diff only.'),
});

const data = z.object({
  path: z.string(),
  bytes: z.int().describe('Size of what was deleted.'),
  removed: z.int().describe('Lines in the diff.'),
  undo_step: z.int().exactOptional().describe('What undo takes to bring it back.'),
  dry_run: z.boolean(),
});

export function deleteFileTool(session: WorkspaceSession): Tool {
  const {workspace, tracker} = session;
  return defineChangeTool(session, {
    name: 'delete_file',
    title: 'Delete file',
    description: 'Deletes a file; undo brings it back.',
    params: schemaOf(params),
    data: schemaOf(data),
    timeoutMs: TIMEOUT_MS,
    paths: ({path}) => [path],
    isDryRun: ({dry_run}) => dry_run,
    plan: async (request, _, time) => {
      const path = workspace.resolveForWrite(request.path);
      if (!path.ok) return path;
      const {readState} = await import('../../workspace/edit/read-state.ts');
      const old = await readState(workspace, tracker, path.value, time);
      if (!old.ok) return old;
      const {renderFileChange} = await import('../../workspace/patch/diff/render-unified.ts');
      const change = {kind: 'delete', path: path.value, old: old.value} as const;
      const diff = await inTurns(renderFileChange(change), time);
      if (!diff.ok) return diff;
      const {text, removed} = diff.value;
      const bytes = old.value.content.length;
      const summary = `${path.value} (${byteCount(bytes)})`;
      return ok({changes: [change], diff: text, summary, path: path.value, bytes, removed});
    },
    answer: ({path, bytes, removed}, {step}, {dry_run}) => ({
      path,
      bytes,
      removed,
      ...(dry_run ? {} : {undo_step: step}),
      dry_run,
    }),
    renderText: ({path, bytes, removed, undo_step, dry_run}) =>
      dry_run
        ? `Dry run, nothing was changed: ${path} | -${removed} (${byteCount(bytes)})`
        : `${path} | -${removed} (deleted, ${byteCount(bytes)}; undo with step=${undo_step} brings it back)`,
  });
}
