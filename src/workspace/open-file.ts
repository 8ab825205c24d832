// Reads and hashes open files, within a deadline and with turns for others.
import {createHash} from 'node:crypto';
import type {Stats} from 'node:fs';
import type {Deadline} from '../core/deadline.ts';
import {type Brand, type Err, type Failure, fail, ok, type Result} from '../core/result.ts';
import {nextTurn} from '../system/errors.ts';
import {attempt, MAX_WHOLE_FILE_BYTES} from './refusals.ts';
import {quotePath, type WorkspacePath} from './workspace-path.ts';

/** A regular file open for reading. The opener closes it. */
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

/** The failure to return if no more work may be done. Asked between blocks, so at most one block late. */
export function overdue(deadline: Deadline | undefined): Err<Failure> | undefined {
  return deadline?.spent ? deadline.failure() : undefined;
}

/** Whose a file is. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

export type EntryKind = 'file' | 'directory' | 'symlink' | 'fifo' | 'socket' | 'device';

/** What lies at a path; a symbolic link is described, never followed. */
export interface EntryInfo {
  readonly kind: EntryKind;
  /** Bytes. */
  readonly size: number;
  /** Permission bits, `0o777` at most. */
  readonly mode: number;
  /** Hard links to it. */
  readonly links: number;
  /** Of an entry on disk. */
  readonly owner?: Owner;
}

/** `Stats` and `Dirent` both answer these. */
interface Typed {
  readonly isFile: () => boolean;
  readonly isDirectory: () => boolean;
  readonly isSymbolicLink: () => boolean;
  readonly isFIFO: () => boolean;
  readonly isSocket: () => boolean;
}

export function entryKind(entry: Typed): EntryKind {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  if (entry.isSymbolicLink()) return 'symlink';
  if (entry.isFIFO()) return 'fifo';
  return entry.isSocket() ? 'socket' : 'device';
}

export function entryInfo(stats: Stats): EntryInfo {
  return {
    kind: entryKind(stats),
    size: stats.size,
    mode: stats.mode & 0o777,
    links: stats.nlink,
    owner: {uid: stats.uid, gid: stats.gid},
  };
}

// What others wait for while one piece is worked on; each is some milliseconds of work.
/** Lines that are looked at one by one. */
export const LINES_A_TURN = 16_384;
/** Bytes that are looked at one by one. */
export const BYTES_A_TURN = 1_048_576;

/** Work that can be let go on later: at each `yield` others that wait for the event loop may have a turn. */
export type Turns<Value> = Generator<undefined, Value, undefined>;

/** Does all of the work at once. */
export function atOnce<Value>(work: Turns<Value>): Value {
  for (;;) {
    const turn = work.next();
    if (turn.done === true) return turn.value;
  }
}

/** review R12: does the work with a turn for others at each `yield`, and no further than up to the deadline. */
export async function inTurns<Value>(work: Turns<Value>, deadline?: Deadline): Promise<Result<Value>> {
  for (;;) {
    const turn = work.next();
    if (turn.done === true) return ok(turn.value);
    await nextTurn();
    const late = overdue(deadline);
    if (late !== undefined) return late;
  }
}

/** SHA-256 of the bytes of a file, lower-case hexadecimal. */
export type ContentHash = Brand<string, 'ContentHash'>;

export function contentHash(bytes: Uint8Array): ContentHash {
  return createHash('sha256').update(bytes).digest('hex') as ContentHash;
}

/** The same for content that may be large. */
export function* hashInTurns(bytes: Uint8Array): Turns<ContentHash> {
  const hasher = new ContentHasher();
  for (let at = 0; at < bytes.length; at += BYTES_A_TURN) {
    if (at > 0) yield;
    hasher.add(bytes.subarray(at, at + BYTES_A_TURN));
  }
  return hasher.finish();
}

/** The same for content that comes in blocks. */
export class ContentHasher {
  readonly #hash = createHash('sha256');

  add(block: Uint8Array): void {
    this.#hash.update(block);
  }

  finish(): ContentHash {
    return this.#hash.digest('hex') as ContentHash;
  }
}
