import {ok, type Result} from '../../core/result.ts';
import {hashInTurns} from '../content-hash.ts';
import type {Deadline} from '../deadline.ts';
import type {Workspace} from '../jail/jail.ts';
import {MAX_WHOLE_FILE_BYTES} from '../max-whole-file-bytes.ts';
import {readWhole} from '../open-file.ts';
import {byteString} from '../patch/byte-string.ts';
import type {FileState} from '../patch/file-change.ts';
import type {ReadTracker} from '../read/read-tracker.ts';
import {notAFile, staleRead} from '../refusals.ts';
import {inTurns} from '../turns.ts';
import type {WritablePath} from '../workspace-path.ts';

/**
 * A file that is to be moved, removed or changed without naming its text. It need not have been read; but where
 * the session knows it as something else, it is `stale_read`.
 */
export async function readState(
  workspace: Workspace,
  tracker: ReadTracker,
  path: WritablePath,
  deadline?: Deadline,
): Promise<Result<FileState>> {
  const file = await workspace.openFile(path);
  if (!file.ok) return file;
  const {links, mode, owner} = file.value.info;
  const bytes = await readWhole(file.value, {maxBytes: MAX_WHOLE_FILE_BYTES, deadline});
  if (!bytes.ok) return bytes;
  if (links > 1) return notAFile(path, 'hard_linked');
  const hash = await inTurns(hashInTurns(bytes.value), deadline);
  if (!hash.ok) return hash;
  const known = tracker.baseVersion(path);
  if (known.ok && known.value !== hash.value) return staleRead(path);
  return ok({content: byteString(bytes.value), mode, owner, hash: hash.value, bytes: bytes.value});
}
