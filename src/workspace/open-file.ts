import {fail} from '../core/failure/fail.ts';
import {ok, type Result} from '../core/result.ts';
import {type ContentHash, ContentHasher} from './content-hash.ts';
import {type Deadline, overdue} from './deadline.ts';
import type {EntryInfo} from './entry-info.ts';
import {attempt} from './io-failure.ts';
import {MAX_WHOLE_FILE_BYTES} from './max-whole-file-bytes.ts';
import {quotePath, type WorkspacePath} from './workspace-path.ts';

/** A regular file open for reading. Whoever opened it closes it. */
export interface OpenFile {
  readonly path: WorkspacePath;
  /** As it was when the file was opened. */
  readonly info: EntryInfo;
  /** Fills `into` from byte `position` on; the number of bytes read, 0 at the end. May throw system errors. */
  readonly read: (into: Uint8Array, position: number) => Promise<number>;
  readonly close: () => Promise<void>;
}

const BLOCK_BYTES = 256 * 1024;

/**
 * Hands the bytes of the file over from `position` on, block by block, until `take` returns false
 * or the file ends. A block is valid until the next one: the buffer is used again.
 */
export async function readBlocks(
  file: OpenFile,
  take: (block: Uint8Array) => boolean | undefined,
  deadline?: Deadline,
  position = 0,
): Promise<Result<undefined>> {
  const buffer = new Uint8Array(Math.min(BLOCK_BYTES, Math.max(4096, file.info.size + 1)));
  for (let at = position; ; ) {
    const late = overdue(deadline);
    if (late !== undefined) return late;
    const here = at;
    const read = await attempt(file.path, 'read', () => file.read(buffer, here));
    if (!read.ok) return read;
    if (read.value === 0 || take(buffer.subarray(0, read.value)) === false) return ok();
    at += read.value;
  }
}

export async function hashOpenFile(file: OpenFile, deadline?: Deadline): Promise<Result<ContentHash>> {
  const hasher = new ContentHasher();
  const done = await readBlocks(
    file,
    block => {
      hasher.add(block);
      return true;
    },
    deadline,
  );
  return done.ok ? ok(hasher.finish()) : done;
}

/** The whole content; closes the file. `file_too_large` also for one that grows while it is read. */
export async function readWhole(file: OpenFile, options: ReadFileOptions = {}): Promise<Result<Uint8Array>> {
  const {maxBytes = MAX_WHOLE_FILE_BYTES, deadline} = options;
  const parts: Uint8Array[] = [];
  let size = 0;
  const take = (block: Uint8Array): boolean => {
    size += block.length;
    if (size <= maxBytes) parts.push(block.slice());
    return size <= maxBytes;
  };
  try {
    if (file.info.size <= maxBytes) {
      const done = await readBlocks(file, take, deadline);
      if (!done.ok) return done;
      if (size <= maxBytes) return ok(Buffer.concat(parts, size));
    }
  } finally {
    await file.close();
  }
  const {path} = file;
  const known = Math.max(size, file.info.size);
  return fail(
    'file_too_large',
    `${quotePath(path)} has ${known} bytes, more than the ${maxBytes} this works on. Use run for a file of that size.`,
    {path, size: known, max_bytes: maxBytes},
  );
}

export interface ReadFileOptions {
  /** `file_too_large` above it. */
  readonly maxBytes?: number | undefined;
  readonly deadline?: Deadline | undefined;
}
