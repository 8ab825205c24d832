import {isUtf8} from 'node:buffer';
import {ok, type Result} from '../../core/result.ts';
import {hashInTurns} from '../content-hash.ts';
import {type Deadline, overdue} from '../deadline.ts';
import type {Workspace} from '../jail/jail.ts';
import {MAX_WHOLE_FILE_BYTES} from '../max-whole-file-bytes.ts';
import {readWhole} from '../open-file.ts';
import {byteString} from '../patch/byte-string.ts';
import type {FileState} from '../patch/file-change.ts';
import {inTurns} from '../turns.ts';
import type {WorkspacePath, WritablePath} from '../workspace-path.ts';

/** Why a file that matches is not changed. */
export type LeftOutReason = 'not_utf8' | 'protected' | 'hard_linked' | 'too_large';

export interface LeftOut {
  readonly path: string;
  readonly reason: LeftOutReason;
}

export interface LoadedFile {
  readonly path: WritablePath;
  readonly bytes: Buffer;
  readonly state: FileState;
}

interface Loaded {
  readonly files: readonly LoadedFile[];
  readonly leftOut: readonly LeftOut[];
  /** The files have more than `maxBytes` together; some are missing. */
  readonly tooMuch: boolean;
}

/** The files that may be changed, with their contents, and why the others may not. */
export async function loadFiles(
  workspace: Workspace,
  paths: readonly WorkspacePath[],
  maxBytes: number,
  deadline: Deadline,
): Promise<Result<Loaded>> {
  const files: LoadedFile[] = [];
  const leftOut: LeftOut[] = [];
  let room = maxBytes;
  for (const found of paths) {
    const late = overdue(deadline);
    if (late !== undefined) return late;
    const path = workspace.resolveForWrite(found);
    if (!path.ok) {
      leftOut.push({path: found, reason: 'protected'});
      continue;
    }
    const loaded = await load(workspace, path.value, deadline);
    if (!loaded.ok) return loaded;
    if (typeof loaded.value === 'string') {
      leftOut.push({path: found, reason: loaded.value});
      continue;
    }
    room -= loaded.value.bytes.length;
    if (room < 0) return ok({files, leftOut, tooMuch: true});
    files.push(loaded.value);
  }
  return ok({files, leftOut, tooMuch: false});
}

async function load(
  workspace: Workspace,
  path: WritablePath,
  deadline: Deadline,
): Promise<Result<LoadedFile | LeftOutReason>> {
  const file = await workspace.openFile(path);
  if (!file.ok) return file;
  const {links, mode, owner} = file.value.info;
  const read = await readWhole(file.value, {maxBytes: MAX_WHOLE_FILE_BYTES, deadline});
  if (!read.ok) return read.error.code === 'file_too_large' ? ok('too_large') : read;
  if (links > 1) return ok('hard_linked');
  const bytes = Buffer.from(read.value.buffer, read.value.byteOffset, read.value.byteLength);
  // Text has no NUL, as for search.
  if (!isUtf8(bytes) || bytes.includes(0)) return ok('not_utf8');
  const hash = await inTurns(hashInTurns(bytes), deadline);
  if (!hash.ok) return hash;
  return ok({path, bytes, state: {content: byteString(bytes), mode, owner, bytes, hash: hash.value}});
}
