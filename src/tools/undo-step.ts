import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import {type Failure, fail} from '../core/failure.ts';
import {type Err, ok, type Result} from '../core/result.ts';
import {contentHash} from '../workspace/content-hash.ts';
import {changeWorkspace, type FileWrite} from '../workspace/edit/change-workspace.ts';
import {removeEmptyDirectories} from '../workspace/edit/remove-empty-directories.ts';
import {attempt} from '../workspace/io-failure.ts';
import {readWhole} from '../workspace/open-file.ts';
import type {WritablePath} from '../workspace/workspace-path.ts';
import {stepPath} from './step-path.ts';
import {oldContentPath, type UndoRecord, undoRecord} from './undo-record.ts';
import type {WorkspaceSession} from './workspace-session.ts';

export interface UndoneStep {
  readonly step: number;
  /** Files that are now as they were before the step. */
  readonly restored_files: readonly string[];
}

export interface UndoOptions {
  /** review R18: SHA-256 of the record as the event log has it; undefined where the log has no event of the step. */
  readonly recordHash?: string | undefined;
}

type Undoing = Pick<WorkspaceSession, 'workspace' | 'journal' | 'ledger'>;
type RecordedFile = UndoRecord['files'][number];
type RecordedState = RecordedFile['before'];

/**
 * Takes back what a step changed, and only that, all of it or nothing, from the bytes that were there before.
 * `stale_read` if one of its files is not what the step left; `file_not_found` for a step that changed nothing.
 */
export async function undoStep(
  session: Undoing,
  runDirectory: string,
  step: number,
  {recordHash}: UndoOptions = {},
): Promise<Result<UndoneStep>> {
  const {workspace, journal, ledger} = session;
  const record = await readRecord(runDirectory, step, recordHash);
  if (!record.ok) return record;
  const {files} = record.value;
  return changeWorkspace(workspace, journal, undefined, async held => {
    const writes: FileWrite[] = [];
    const changed: string[] = [];
    for (const file of files) {
      const write = await reversed(session, runDirectory, file);
      if (!write.ok) return write;
      if (write.value === 'changed') changed.push(file.path);
      else writes.push(write.value);
    }
    if (changed.length > 0) return stale(step, changed);
    const done = await held.commit(writes);
    if (!done.ok) return done;
    for (const {path, new: restored} of writes) {
      if (restored === undefined) removeEmptyDirectories(workspace, path);
      // What the session knew of it is no more; it has to be read again.
      ledger.forget(path);
    }
    return ok({step, restored_files: writes.map(({path}) => path).sort()});
  });
}

/** The write that brings the file back; `changed` if it is not what the step left. */
async function reversed(
  {workspace}: Undoing,
  runDirectory: string,
  {path: written, before, after}: RecordedFile,
): Promise<Result<FileWrite | 'changed'>> {
  const path = workspace.resolveForWrite(written);
  if (!path.ok) return path;
  const now = await presentState(workspace, path.value);
  if (!now.ok) return now;
  if ((now.value?.hash ?? null) !== (after?.sha256 ?? null)) return ok('changed');
  const old = await oldState(runDirectory, before);
  return old.ok ? ok({path: path.value, old: now.value, new: old.value}) : old;
}

/** Undefined for no file. */
async function presentState(
  workspace: Undoing['workspace'],
  path: WritablePath,
): Promise<Result<FileWrite['old']>> {
  const file = await workspace.openFile(path);
  if (!file.ok) return file.error.code === 'file_not_found' ? ok(undefined) : file;
  const {mode, owner} = file.value.info;
  const bytes = await readWhole(file.value);
  return bytes.ok ? ok({bytes: bytes.value, hash: contentHash(bytes.value), mode, owner}) : bytes;
}

async function oldState(runDirectory: string, state: RecordedState): Promise<Result<FileWrite['new']>> {
  if (state === null) return ok(undefined);
  const path = join(runDirectory, oldContentPath(state.sha256));
  const bytes = await attempt(path, 'read', () => readFile(path));
  if (!bytes.ok) return bytes;
  const hash = contentHash(bytes.value);
  if (hash !== state.sha256) return damaged(path);
  return ok({bytes: bytes.value, hash, mode: state.mode ?? undefined, owner: state.owner ?? undefined});
}

async function readRecord(
  runDirectory: string,
  step: number,
  recordHash: string | undefined,
): Promise<Result<UndoRecord>> {
  const path = join(runDirectory, stepPath(step, 'undo.json'));
  const text = await attempt(path, 'read', () => readFile(path));
  if (!text.ok) {
    if (text.error.code !== 'file_not_found') return text;
    return fail('file_not_found', `Step ${step} of this run changed no files, so there is nothing to undo.`, {
      path,
    });
  }
  const isLogged = recordHash === undefined || contentHash(text.value) === recordHash;
  const record = undoRecord.safeParse(parseJson(text.value.toString('utf8')));
  return record.success && isLogged ? ok(record.data) : damaged(path);
}

function stale(step: number, changed: readonly string[]): Err<Failure> {
  const named = changed.map(path => JSON.stringify(path)).join(', ');
  return fail(
    'stale_read',
    `Step ${step} cannot be undone: ${named} changed since, or the step did not take place. Undo later steps first.`,
    {path: changed[0]},
  );
}

function damaged(path: string): Err<Failure> {
  return fail(
    'io_error',
    `${JSON.stringify(path)} is not what was written there. Restore it from a backup.`,
    {path, error: 'damaged', operation: 'read'},
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
