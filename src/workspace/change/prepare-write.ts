// Plans write_file, and checks that the session has read what it replaces.
import type {Deadline} from '../../core/deadline.ts';
import {ok, type Result} from '../../core/result.ts';
import type {Workspace} from '../jail/jail.ts';
import {inTurns, type Turns} from '../open-file.ts';
import {byteString, bytesOf} from '../patch/patch.ts';
import type {ReadTracker} from '../read-tracker.ts';
import {fileTooLarge, MAX_WHOLE_FILE_BYTES, notAFile} from '../refusals.ts';
import type {WritablePath} from '../workspace-path.ts';
import {changeTo, type FileChange, type FileState, readKnownState} from './file-change.ts';
import {isCrlf, withCrlf} from './find-occurrences.ts';

export interface PreparedWrite {
  readonly change: FileChange & {readonly new: FileState};
  /** Ruling W13: the file has CRLF throughout, so the line feeds of the new content became CRLF too. */
  readonly lineEndings: 'crlf' | undefined;
}

/** W6, W11: write_file. A new file, or the whole of one that this session has read. */
export async function prepareWrite(
  workspace: Workspace,
  tracker: ReadTracker,
  path: WritablePath,
  content: string | Uint8Array,
  deadline?: Deadline,
): Promise<Result<PreparedWrite>> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  if (bytes.length > MAX_WHOLE_FILE_BYTES) return fileTooLarge(path, bytes.length);
  const read = await readBaseVersion(workspace, tracker, path, deadline);
  if (!read.ok && read.error.code !== 'file_not_found') return read;
  const old = read.ok ? read.value : undefined;
  const adapted = await inTurns(inLineEndingsOf(old, bytes), deadline);
  if (!adapted.ok) return adapted;
  const written = adapted.value ?? bytes;
  if (written.length > MAX_WHOLE_FILE_BYTES) return fileTooLarge(path, written.length);
  const change = await changeTo(path, old, written, deadline);
  if (!change.ok) return change;
  return ok({change: change.value, lineEndings: adapted.value === undefined ? undefined : 'crlf'});
}

/** Ruling W13: the content with CRLF; undefined where it stays as it is. */
function* inLineEndingsOf(old: FileState | undefined, bytes: Uint8Array): Turns<Uint8Array | undefined> {
  if (old === undefined || bytes.includes(0x0d) || !bytes.includes(0x0a)) return undefined;
  if (!(yield* isCrlf(old.bytes))) return undefined;
  return bytesOf(yield* withCrlf(byteString(bytes)));
}

/** What a change starts from: the file, if this session has read it as it is now. */
export async function readBaseVersion(
  workspace: Workspace,
  tracker: ReadTracker,
  path: WritablePath,
  deadline?: Deadline,
): Promise<Result<FileState>> {
  const info = workspace.inspect(path);
  if (!info.ok) return info;
  if (info.value.links > 1 && info.value.kind === 'file') return notAFile(path, 'hard_linked');
  const opened = await workspace.openFile(path);
  if (!opened.ok) return opened;
  await opened.value.close();
  const known = tracker.baseVersion(path);
  return known.ok ? readKnownState(workspace, tracker, path, deadline) : known;
}
