import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {fail} from '../core/failure.ts';
import {ok, type Result} from '../core/result.ts';
import {contentHash} from '../workspace/content-hash.ts';
import {attempt} from '../workspace/io-failure.ts';
import {readWhole} from '../workspace/open-file.ts';
import {commitPlan, planPatch} from '../workspace/patch/apply-patch.ts';
import {stepPath} from './step-path.ts';
import {type UndoRecord, undoRecord} from './undo-record.ts';
import type {WorkspaceSession} from './workspace-session.ts';

export interface UndoneStep {
  readonly step: number;
  /** Files that are now as they were before the step. */
  readonly restored_files: readonly string[];
}

/**
 * Takes back what a step changed, and only that, all of it or nothing. `stale_read` if one of its files is not
 * what the step left; `file_not_found` for a step that changed nothing.
 */
export async function undoStep(
  session: Pick<WorkspaceSession, 'workspace' | 'journal' | 'ledger'>,
  runDirectory: string,
  step: number,
): Promise<Result<UndoneStep>> {
  const {workspace, journal, ledger} = session;
  const read = await readRecord(runDirectory, step);
  if (!read.ok) return read;
  const {record, patch} = read.value;
  const changed: string[] = [];
  for (const {path, after} of record.files) {
    const now = await currentHash(session, path);
    if (!now.ok) return now;
    if (now.value !== after) changed.push(path);
  }
  if (changed.length > 0) {
    const named = changed.map(path => JSON.stringify(path)).join(', ');
    return fail(
      'stale_read',
      `Step ${step} cannot be undone: ${named} changed since, or the step did not take place. Undo later steps first.`,
      {path: changed[0]},
    );
  }
  const plan = await planPatch(workspace, patch);
  if (!plan.ok) return plan;
  const done = await commitPlan(workspace, plan.value, journal);
  if (!done.ok) return done;
  for (const {path} of record.files) {
    const resolved = workspace.resolve(path);
    // What the session knew of it is no more; it has to be read again.
    if (resolved.ok) ledger.forget(resolved.value);
  }
  return ok({step, restored_files: done.value.changed_files});
}

async function readRecord(
  runDirectory: string,
  step: number,
): Promise<Result<{readonly record: UndoRecord; readonly patch: Uint8Array}>> {
  const recordPath = join(runDirectory, stepPath(step, 'undo.json'));
  const text = await attempt(recordPath, 'read', () => readFile(recordPath, 'utf8'));
  if (!text.ok) {
    if (text.error.code !== 'file_not_found') return text;
    return fail('file_not_found', `Step ${step} of this run changed no files, so there is nothing to undo.`, {
      path: recordPath,
    });
  }
  const patchPath = join(runDirectory, stepPath(step, 'undo.patch'));
  const patch = await attempt(patchPath, 'read', () => readFile(patchPath));
  if (!patch.ok) return patch;
  const record = undoRecord.safeParse(parseJson(text.value));
  if (record.success) return ok({record: record.data, patch: patch.value});
  return fail(
    'io_error',
    `${JSON.stringify(recordPath)} is not what was written there. Restore it from a backup.`,
    {
      path: recordPath,
      error: 'damaged',
      operation: 'read',
    },
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `null` for no file. */
async function currentHash(
  {workspace}: Pick<WorkspaceSession, 'workspace'>,
  path: string,
): Promise<Result<string | null>> {
  const resolved = workspace.resolveForWrite(path);
  if (!resolved.ok) return resolved;
  const file = await workspace.openFile(resolved.value);
  if (!file.ok) return file.error.code === 'file_not_found' ? ok(null) : file;
  const content = await readWhole(file.value);
  return content.ok ? ok(contentHash(content.value)) : content;
}
