// Reads the record of a step, and plans how to take it back.

import {readFile} from 'node:fs/promises';
import {join} from 'node:path';
import type {Deadline} from '../../core/deadline.ts';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import {type FileChange, type FileState, fileState} from '../../workspace/change/file-change.ts';
import type {Workspace} from '../../workspace/jail/jail.ts';
import {contentHash, hashInTurns, inTurns, overdue, readWhole} from '../../workspace/open-file.ts';
import {attempt} from '../../workspace/refusals.ts';
import type {WritablePath} from '../../workspace/workspace-path.ts';
import {oldContentPath, type RecordedFile, stepPath, type UndoRecord, undoRecord} from './record-change.ts';

export interface RecordedStep {
  readonly runDirectory: string;
  readonly step: number;
  /** review R18: SHA-256 of the record as the event log has it; undefined where the log has no event of the step. */
  readonly recordHash: string | undefined;
}

export interface UndoPlan {
  /** What brings the files back. */
  readonly writes: readonly FileChange[];
  /** Files that are not what the step left; where there are some, nothing may be undone. */
  readonly changed: readonly string[];
}

type RecordedState = RecordedFile['before'];

/** What takes back a step, and only that, from the bytes that were there before. Changes nothing. */
export async function planUndo(
  workspace: Workspace,
  {runDirectory, step, recordHash}: RecordedStep,
  deadline?: Deadline,
): Promise<Result<UndoPlan>> {
  const record = await readRecord({runDirectory, step, recordHash});
  if (!record.ok) return record;
  const writes: FileChange[] = [];
  const changed: string[] = [];
  for (const file of record.value.files) {
    const late = overdue(deadline);
    if (late !== undefined) return late;
    const write = await reversed(workspace, runDirectory, file, deadline);
    if (!write.ok) return write;
    if (write.value === 'changed') changed.push(file.path);
    else writes.push(write.value);
  }
  return ok({writes, changed});
}

/** The write that brings the file back; `changed` if it is not what the step left. */
async function reversed(
  workspace: Workspace,
  runDirectory: string,
  {path: written, before, after}: RecordedFile,
  deadline: Deadline | undefined,
): Promise<Result<FileChange | 'changed'>> {
  const path = workspace.resolveForWrite(written);
  if (!path.ok) return path;
  const now = await presentState(workspace, path.value, deadline);
  if (!now.ok) return now;
  if ((now.value?.hash ?? null) !== (after?.sha256 ?? null)) return ok('changed');
  const old = await oldState(runDirectory, before, deadline);
  return old.ok ? ok({path: path.value, old: now.value, new: old.value}) : old;
}

/** Undefined for no file. */
async function presentState(
  workspace: Workspace,
  path: WritablePath,
  deadline: Deadline | undefined,
): Promise<Result<FileState | undefined>> {
  const file = await workspace.openFile(path);
  if (!file.ok) return file.error.code === 'file_not_found' ? ok(undefined) : file;
  const {info} = file.value;
  const bytes = await readWhole(file.value, {deadline});
  if (!bytes.ok) return bytes;
  const hash = await inTurns(hashInTurns(bytes.value), deadline);
  return hash.ok ? ok(fileState(bytes.value, hash.value, info)) : hash;
}

async function oldState(
  runDirectory: string,
  state: RecordedState,
  deadline: Deadline | undefined,
): Promise<Result<FileState | undefined>> {
  if (state === null) return ok(undefined);
  const path = join(runDirectory, oldContentPath(state.sha256));
  const bytes = await attempt(path, 'read', () => readFile(path));
  if (!bytes.ok) return bytes;
  const hash = await inTurns(hashInTurns(bytes.value), deadline);
  if (!hash.ok) return hash;
  if (hash.value !== state.sha256) return damaged(path);
  const [mode, owner] = [state.mode ?? undefined, state.owner ?? undefined];
  return ok(fileState(bytes.value, hash.value, {mode, owner}));
}

/** The files of a step before and after it. */
export async function readRecord({
  runDirectory,
  step,
  recordHash,
}: RecordedStep): Promise<Result<UndoRecord>> {
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
