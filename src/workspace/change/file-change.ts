// A file before and after a change, how it is read, and what is written of it.
import type {Deadline} from '../../core/deadline.ts';
import {ok, type Result} from '../../core/result.ts';
import type {Workspace} from '../jail/jail.ts';
import {type ContentHash, hashInTurns, hashOpenFile, inTurns, type Owner, readWhole} from '../open-file.ts';
import {type ByteString, byteString} from '../patch/patch.ts';
import type {ReadTracker} from '../read-tracker.ts';
import {MAX_WHOLE_FILE_BYTES, notAFile, staleRead} from '../refusals.ts';
import type {WorkspacePath, WritablePath} from '../workspace-path.ts';

/** A file at one time. */
export interface FileState {
  readonly bytes: Uint8Array;
  readonly hash: ContentHash;
  /** The bytes as text; worked out once, when it is asked for. */
  readonly content: ByteString;
  /** Permission bits; undefined for a new file, which gets what the umask leaves. */
  readonly mode: number | undefined;
  /** Of a file on disk. */
  readonly owner?: Owner | undefined;
}

/** One file before and after; undefined for no file. */
export interface FileChange {
  readonly path: WritablePath;
  /** Its old name, where it is renamed. */
  readonly from?: WritablePath;
  readonly old: FileState | undefined;
  readonly new: FileState | undefined;
}

/** With the text, where it is there already. */
export function fileState(
  bytes: Uint8Array,
  hash: ContentHash,
  {mode, owner}: {readonly mode?: number | undefined; readonly owner?: Owner | undefined} = {},
  text?: ByteString,
): FileState {
  let known = text;
  return {
    bytes,
    hash,
    mode,
    owner,
    get content() {
      known ??= byteString(bytes);
      return known;
    },
  };
}

/** The change of a file to another content; it keeps its mode and its owner. */
export async function changeTo(
  path: WritablePath,
  old: FileState | undefined,
  content: Uint8Array,
  deadline?: Deadline,
): Promise<Result<FileChange & {readonly new: FileState}>> {
  const hash = await inTurns(hashInTurns(content), deadline);
  return hash.ok ? ok({path, old, new: fileState(content, hash.value, old)}) : hash;
}

/** Both names of a file that is renamed. */
export function changedPaths(changes: readonly FileChange[]): WritablePath[] {
  return changes.flatMap(({path, from}) => (from === undefined ? [path] : [from, path]));
}

/** The same as changes that name one path each: a rename is a new file and a removal. */
export function fileWrites(changes: readonly FileChange[]): FileChange[] {
  return changes.flatMap(({path, from, old, new: fresh}) => {
    // A file that is there keeps its owner, whoever that is then.
    if (from === undefined)
      return [{path, old, new: fresh && {...fresh, owner: old === undefined ? fresh.owner : undefined}}];
    return [
      // review B7: it stays whose it was under its new name.
      {path, old: undefined, new: fresh && {...fresh, owner: old?.owner}},
      {path: from, old, new: undefined},
    ];
  });
}

export function isExecutable({mode = 0}: Pick<FileState, 'mode'>): boolean {
  return (mode & 0o100) !== 0;
}

/** Sets or clears the executable bit for everybody who may read. */
export function withExecutable(
  mode: number | undefined,
  executable: boolean | undefined,
): number | undefined {
  if (executable === undefined || executable === isExecutable({mode})) return mode;
  if (mode === undefined) return 0o755;
  return executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
}

/** A file that is to be changed, moved or removed, as it is now. */
export async function readState(
  workspace: Workspace,
  path: WritablePath,
  deadline?: Deadline,
): Promise<Result<FileState>> {
  const file = await workspace.openFile(path);
  if (!file.ok) return file;
  const {info} = file.value;
  const bytes = await readWhole(file.value, {maxBytes: MAX_WHOLE_FILE_BYTES, deadline});
  if (!bytes.ok) return bytes;
  if (info.links > 1) return notAFile(path, 'hard_linked');
  const hash = await inTurns(hashInTurns(bytes.value), deadline);
  return hash.ok ? ok(fileState(bytes.value, hash.value, info)) : hash;
}

/** The same. It need not have been read; but where the session knows it as something else, it is `stale_read`. */
export async function readKnownState(
  workspace: Workspace,
  tracker: ReadTracker,
  path: WritablePath,
  deadline?: Deadline,
): Promise<Result<FileState>> {
  const state = await readState(workspace, path, deadline);
  const known = tracker.baseVersion(path);
  return state.ok && known.ok && known.value !== state.value.hash ? staleRead(path) : state;
}

/** The hash of what a file says now; undefined where there is no file. */
export async function currentHash(
  workspace: Workspace,
  path: WorkspacePath,
  deadline?: Deadline,
): Promise<Result<ContentHash | undefined>> {
  const file = await workspace.openFile(path);
  if (!file.ok) return file.error.code === 'file_not_found' ? ok(undefined) : file;
  try {
    return await hashOpenFile(file.value, deadline);
  } finally {
    await file.value.close();
  }
}
