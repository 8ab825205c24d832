import {ok, type Result} from '../core/result.ts';
import {type ContentHash, contentHash} from './content-hash.ts';
import type {Deadline} from './deadline.ts';
import type {FileSystem} from './file-system.ts';
import type {ReadLedger} from './read-ledger.ts';
import {notAFile, staleRead} from './refusals.ts';
import type {WritablePath} from './workspace-path.ts';

export interface FileVersion {
  readonly content: Uint8Array;
  readonly hash: ContentHash;
  readonly mode: number;
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

/**
 * A change that is worked out and not made. Approval and `dry_run` look at the contents and the hashes;
 * `commit` makes exactly this change, or none if the file is another one by then.
 */
export interface PreparedChange {
  readonly summary: ChangeSummary;
  /** For undo. Undefined where the file is new. */
  readonly before: FileVersion | undefined;
  readonly after: {readonly content: Uint8Array; readonly hash: ContentHash};
  /** Writes it and opens the lock for the new content. `stale_read` if the file changed since. */
  readonly commit: (deadline?: Deadline) => Promise<Result<ChangeSummary>>;
}

/** W6, W11: write_file. A new file, or the whole of one that this session has read. */
export async function prepareWrite(
  fileSystem: FileSystem,
  ledger: ReadLedger,
  path: WritablePath,
  content: string | Uint8Array,
  deadline?: Deadline,
): Promise<Result<PreparedChange>> {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const before = await readBasis(fileSystem, ledger, path, deadline);
  if (before.ok) return ok(prepareChange(fileSystem, ledger, path, before.value, bytes));
  if (before.error.code !== 'file_not_found') return before;
  return ok(prepareChange(fileSystem, ledger, path, undefined, bytes));
}

/** What a change starts from: the file, if this session has read it as it is now. */
export async function readBasis(
  fileSystem: FileSystem,
  ledger: ReadLedger,
  path: WritablePath,
  deadline?: Deadline,
): Promise<Result<FileVersion>> {
  const stat = await fileSystem.stat(path);
  if (!stat.ok) return stat;
  if (stat.value.links > 1 && stat.value.kind === 'file') return notAFile(path, 'hard_linked');
  const opened = await fileSystem.openFile(path);
  if (!opened.ok) return opened;
  await opened.value.close();
  const known = ledger.basis(path);
  if (!known.ok) return known;
  const content = await fileSystem.readFile(path, {deadline});
  if (!content.ok) return content;
  const hash = contentHash(content.value);
  if (hash !== known.value) return staleRead(path);
  return ok({content: content.value, hash, mode: stat.value.mode});
}

export function prepareChange(
  fileSystem: FileSystem,
  ledger: ReadLedger,
  path: WritablePath,
  before: FileVersion | undefined,
  content: Uint8Array,
): PreparedChange {
  const after = {content, hash: contentHash(content)};
  const changed = after.hash !== before?.hash;
  const summary = {path, bytes: content.length, created: before === undefined, changed};
  return {
    summary,
    before,
    after,
    commit: async deadline => {
      if (changed) {
        const expected = before?.hash ?? 'absent';
        const written = await fileSystem.writeFile(path, content, {expected, deadline});
        if (!written.ok) return written;
      }
      ledger.record(path, after.hash);
      return ok(summary);
    },
  };
}
