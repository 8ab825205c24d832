import {ok, type Result} from '../../../core/result.ts';
import {type ContentHash, hashInTurns} from '../../content-hash.ts';
import type {Deadline} from '../../deadline.ts';
import type {FileSystem} from '../../file-system.ts';
import {MAX_WHOLE_FILE_BYTES} from '../../max-whole-file-bytes.ts';
import type {Owner} from '../../owner.ts';
import {byteString, bytesOf} from '../../patch/byte-string.ts';
import type {ReadTracker} from '../../read/read-tracker.ts';
import {fileTooLarge, notAFile, staleRead} from '../../refusals.ts';
import {inTurns, type Turns} from '../../turns.ts';
import type {WritablePath} from '../../workspace-path.ts';
import {isCrlf} from './is-crlf.ts';
import {withCrlf} from './with-crlf.ts';

export interface FileVersion {
  readonly content: Uint8Array;
  readonly hash: ContentHash;
  readonly mode: number;
  readonly owner: Owner | undefined;
}

/** What a change did, or will do: write_file's `data`. */
export interface ChangeSummary {
  readonly path: WritablePath;
  /** Size of the new content. */
  readonly bytes: number;
  /** There was no file before. */
  readonly created: boolean;
  /** False where the content is what was there; nothing is written then. */
  readonly changed: boolean;
}

/** A change that is worked out and not made. Approval and `dry_run` look at the contents and the hashes. */
export interface PreparedChange {
  readonly summary: ChangeSummary;
  /** For undo. Undefined where the file is new. */
  readonly before: FileVersion | undefined;
  readonly after: {readonly content: Uint8Array; readonly hash: ContentHash};
}

export interface PreparedWrite extends PreparedChange {
  /** Ruling W13: the file has CRLF throughout, so the line feeds of the new content became CRLF too. */
  readonly lineEndings: 'crlf' | undefined;
}

/** W6, W11: write_file. A new file, or the whole of one that this session has read. */
export async function prepareWrite(
  fileSystem: FileSystem,
  tracker: ReadTracker,
  path: WritablePath,
  content: string | Uint8Array,
  deadline?: Deadline,
): Promise<Result<PreparedWrite>> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  if (bytes.length > MAX_WHOLE_FILE_BYTES) return fileTooLarge(path, bytes.length);
  const read = await readBaseVersion(fileSystem, tracker, path, deadline);
  if (!read.ok && read.error.code !== 'file_not_found') return read;
  const before = read.ok ? read.value : undefined;
  const adapted = await inTurns(inLineEndingsOf(before, bytes), deadline);
  if (!adapted.ok) return adapted;
  const written = adapted.value ?? bytes;
  if (written.length > MAX_WHOLE_FILE_BYTES) return fileTooLarge(path, written.length);
  const prepared = await prepareChange(path, before, written, deadline);
  if (!prepared.ok) return prepared;
  return ok({...prepared.value, lineEndings: adapted.value === undefined ? undefined : 'crlf'});
}

/** Ruling W13: the content with CRLF; undefined where it stays as it is. */
function* inLineEndingsOf(before: FileVersion | undefined, bytes: Uint8Array): Turns<Uint8Array | undefined> {
  if (before === undefined || bytes.includes(0x0d) || !bytes.includes(0x0a)) return undefined;
  if (!(yield* isCrlf(before.content))) return undefined;
  return bytesOf(yield* withCrlf(byteString(bytes)));
}

/** What a change starts from: the file, if this session has read it as it is now. */
export async function readBaseVersion(
  fileSystem: FileSystem,
  tracker: ReadTracker,
  path: WritablePath,
  deadline?: Deadline,
): Promise<Result<FileVersion>> {
  const stat = await fileSystem.stat(path);
  if (!stat.ok) return stat;
  const {links, kind, mode, owner} = stat.value;
  if (links > 1 && kind === 'file') return notAFile(path, 'hard_linked');
  const opened = await fileSystem.openFile(path);
  if (!opened.ok) return opened;
  await opened.value.close();
  const known = tracker.baseVersion(path);
  if (!known.ok) return known;
  const content = await fileSystem.readFile(path, {deadline});
  if (!content.ok) return content;
  const hash = await inTurns(hashInTurns(content.value), deadline);
  if (!hash.ok) return hash;
  if (hash.value !== known.value) return staleRead(path);
  return ok({content: content.value, hash: hash.value, mode, owner});
}

export async function prepareChange(
  path: WritablePath,
  before: FileVersion | undefined,
  content: Uint8Array,
  deadline?: Deadline,
): Promise<Result<PreparedChange>> {
  const hash = await inTurns(hashInTurns(content), deadline);
  if (!hash.ok) return hash;
  const changed = hash.value !== before?.hash;
  return ok({
    summary: {path, bytes: content.length, created: before === undefined, changed},
    before,
    after: {content, hash: hash.value},
  });
}
