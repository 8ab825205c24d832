// Knows what the cache directory holds, and evicts what exceeds the limits. A journal tells it what other processes
// have changed.

import {constants} from 'node:fs';
import {type FileHandle, lstat, open, readdir, rm} from 'node:fs/promises';
import {join} from 'node:path';
import {type Clock, randomHex} from '../../core/clock.ts';
import type {Log} from '../../core/log.ts';
import {expectedErrorCode} from '../../system/errors.ts';
import {type EntryHead, LARGEST_ENTRY, parseEntry, parseEntryHead} from './entry.ts';
import {cacheKey, entryPath, type FileContent, type KeyedLock, readFile, replaceFile} from './files.ts';

interface InventoryDeps {
  readonly directory: string;
  readonly maxEntries: number;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Held, by key, by whoever reads, writes or removes that entry in this process. */
  readonly locks: KeyedLock;
}

export const LOOKS_AT_ONCE = 16;

/**
 * FR-WF-16e, FR-WF-16f, ruling F6: knows what the directory holds and makes room in it. The directory is
 * listed once, names and sizes only; after that the index follows what this process does, and the journal
 * tells of the others. When an entry was last used is read from it when something has to go, and once more
 * right before it goes, so that what another process has used meanwhile stays.
 *
 * Processes that write at the same instant do not see each other's entry yet. So the limits are exceeded by
 * at most one entry for each other process, until the next write of any of them.
 */
export class Inventory {
  readonly #deps: InventoryDeps;
  readonly #journal: ChangeJournal;
  #listing: Promise<LruIndex> | undefined;
  #index: LruIndex | undefined;

  constructor(deps: InventoryDeps) {
    this.#deps = deps;
    this.#journal = new ChangeJournal(deps.directory);
  }

  /** Starts to list the directory if that has not been done. A miss is a good time: a write follows. */
  prepare(): Promise<LruIndex> {
    this.#listing ??= this.#list();
    return this.#listing;
  }

  /** The entry was read, and says so itself by now. */
  accessed(key: string, size: number, at: number): void {
    // While nothing is listed yet, there is nothing to keep right.
    this.#index?.set(key, size, at);
  }

  /** Evicts until an entry of this size fits. What it replaces, if anything, counts no longer. */
  async makeRoom(key: string, size: number): Promise<void> {
    const index = await this.#current();
    index.delete(key);
    const {maxEntries, maxBytes} = this.#deps;
    while (index.count >= maxEntries || index.bytes + size > maxBytes) {
      await this.#date(index);
      const victim = index.oldest();
      if (victim === undefined) return;
      await this.#deps.locks.hold(victim, () => this.#evict(victim, index));
    }
  }

  async written(key: string, size: number, at: number): Promise<void> {
    (await this.prepare()).set(key, size, at);
    await this.#note(key);
  }

  /** A write has failed; what there was before may still be there. */
  async notWritten(key: string): Promise<void> {
    await this.#lookAgain(key, await this.prepare());
  }

  async removed(key: string): Promise<void> {
    (await this.prepare()).delete(key);
    await this.#note(key);
  }

  async #list(): Promise<LruIndex> {
    const {directory, clock} = this.#deps;
    // First, so that what others write during the listing is news afterwards.
    await this.#news();
    const index = new LruIndex();
    for (const {key, size} of await listEntries(directory, clock.now())) index.set(key, size);
    this.#index = index;
    return index;
  }

  /** The index, with what other processes have done. */
  async #current(): Promise<LruIndex> {
    const index = await this.prepare();
    const news = await this.#news();
    if (!news) {
      this.#listing = undefined;
      return this.prepare();
    }
    for (const key of news) await this.#lookAgain(key, index);
    return index;
  }

  async #news(): Promise<ReadonlySet<string> | undefined> {
    try {
      return await this.#journal.news();
    } catch (error) {
      this.#warn('cache_journal_failed', error);
      return new Set();
    }
  }

  async #note(key: string): Promise<void> {
    try {
      await this.#journal.note(key);
    } catch (error) {
      // Without its journal the directory is listed anew at the next write, and the journal begun again.
      if (expectedErrorCode(error) !== 'ENOENT') this.#warn('cache_journal_failed', error);
    }
  }

  async #lookAgain(key: string, index: LruIndex): Promise<void> {
    try {
      const status = await lstat(entryPath(this.#deps.directory, key));
      index.set(key, status.size);
    } catch (error) {
      expectedErrorCode(error);
      index.delete(key);
    }
  }

  async #date(index: LruIndex): Promise<void> {
    const {directory, maxBytes} = this.#deps;
    await eachOf(index.undated(), LOOKS_AT_ONCE, async key => {
      const lastAccess = await readLastAccess(entryPath(directory, key), key, maxBytes);
      const known = index.get(key);
      // A hit may have dated it meanwhile.
      if (known?.lastAccess !== undefined) return;
      if (lastAccess === undefined) index.delete(key);
      else if (known) index.set(key, known.size, lastAccess);
    });
  }

  async #evict(key: string, index: LruIndex): Promise<void> {
    const {directory, maxBytes} = this.#deps;
    const path = entryPath(directory, key);
    const known = index.get(key);
    const lastAccess = await readLastAccess(path, key, maxBytes);
    if (known && lastAccess !== undefined && lastAccess !== known.lastAccess) {
      // Used since, by another process: it takes its new place, and another one goes.
      index.set(key, known.size, lastAccess);
      return;
    }
    index.delete(key);
    try {
      await rm(path, {force: true});
      await this.#note(key);
    } catch (error) {
      // Not ours to remove. It is counted no longer, or no write would ever end.
      this.#warn('cache_evict_failed', error);
    }
  }

  #warn(event: string, error: unknown): void {
    this.#deps.log({level: 'warn', event, message: `${event}: ${expectedErrorCode(error)}`});
  }
}

interface Known {
  readonly size: number;
  /** Milliseconds since the epoch; unknown until another process looks into the file. */
  readonly lastAccess: number | undefined;
}

interface Dated {
  readonly key: string;
  readonly lastAccess: number;
}

/**
 * What is in the cache, how large, and which entry was used least recently. In memory only. Entries are sorted when
 * the queue runs out: of 10,000 once in as many evictions. What is used meanwhile is dated behind its end. (F6)
 */
export class LruIndex {
  readonly #known = new Map<string, Known>();
  readonly #undated = new Set<string>();
  /** The least recently used comes last. One whose date has changed since is dropped when it comes up. */
  #queue: Dated[] = [];
  #bytes = 0;

  get count(): number {
    return this.#known.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Known | undefined {
    return this.#known.get(key);
  }

  /** Entries whose last access is not known. */
  undated(): readonly string[] {
    return [...this.#undated];
  }

  set(key: string, size: number, lastAccess?: number): void {
    this.delete(key);
    this.#known.set(key, {size, lastAccess});
    this.#bytes += size;
    if (lastAccess === undefined) this.#undated.add(key);
    else this.#date({key, lastAccess});
  }

  delete(key: string): void {
    this.#bytes -= this.#known.get(key)?.size ?? 0;
    this.#known.delete(key);
    this.#undated.delete(key);
  }

  /** Of the dated entries the one used least recently; ties go by key. (FR-WF-CCH-LRU-01) */
  oldest(): string | undefined {
    for (let next = this.#queue.at(-1); next; next = this.#queue.at(-1)) {
      if (this.#known.get(next.key)?.lastAccess === next.lastAccess) return next.key;
      this.#queue.pop();
    }
    this.#queue = [...this.#known]
      .flatMap(([key, {lastAccess}]) => (lastAccess === undefined ? [] : [{key, lastAccess}]))
      .sort((one, other) => (precedes(one, other) ? 1 : -1));
    return this.#queue.at(-1)?.key;
  }

  #date(dated: Dated): void {
    const newest = this.#queue[0];
    if (!newest || precedes(newest, dated)) return;
    // It has changed places so often that sorting anew is cheaper.
    if (this.#queue.length > 2 * this.#known.size) this.#queue = [];
    else this.#queue.splice(this.#queue.findLastIndex(other => precedes(dated, other)) + 1, 0, dated);
  }
}

function precedes(one: Dated, other: Dated): boolean {
  if (one.lastAccess !== other.lastAccess) return one.lastAccess < other.lastAccess;
  return one.key < other.key;
}

/** Its name in the cache directory. */
export const JOURNAL = 'changes.log';
/** A new journal is begun above this. */
const RENEW_BYTES = 1_048_576;
const NAME_BYTES = 17;
const LINE = /^([0-9a-f]{8}) ([0-9a-f]{64})$/;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW;

/**
 * How processes that share a directory hear of each other's writes without listing it: one file to which
 * each appends the keys of the entries it has written or removed.
 *
 * A line says only "look at this one again" and is appended after the change, so that whoever reads it
 * finds on the disk a state at least as new as the line, whichever way the lines of two processes fell.
 * The first line is the random name of the journal: a reader that finds another name has missed lines and
 * lists the directory once more. A line appended to a journal in the moment it is replaced is lost; the
 * entry is then uncounted by running processes, and found by the next one to start.
 */
export class ChangeJournal {
  readonly #path: string;
  /** Who we are in the lines; our own are no news. */
  readonly #writer = randomHex(4);
  #name = '';
  #read = 0;

  constructor(directory: string) {
    this.#path = join(directory, JOURNAL);
  }

  /** Keys that others have changed since the last call; `undefined` if that is not known. */
  async news(): Promise<ReadonlySet<string> | undefined> {
    const found = await this.#look();
    if (!found) {
      await this.#renew();
      return undefined;
    }
    const {name, size, tail} = found;
    const known = name === this.#name && size >= this.#read;
    // What follows the last line end is a line that another process is still writing.
    const end = tail.lastIndexOf('\n') + 1;
    this.#read = known ? this.#read + end : size;
    this.#name = name;
    if (size > RENEW_BYTES) await this.#renew();
    return known ? this.#foreign(tail.slice(0, end)) : undefined;
  }

  /** Tells the others that the entry was written or removed. */
  async note(key: string): Promise<void> {
    const file = await open(this.#path, APPEND);
    try {
      // One write of one line in append mode is never mixed with another's.
      await file.write(`${this.#writer} ${key}\n`);
    } finally {
      await file.close();
    }
  }

  #foreign(lines: string): ReadonlySet<string> {
    const keys = new Set<string>();
    for (const line of lines.split('\n')) {
      const [, writer, key] = LINE.exec(line) ?? [];
      if (key !== undefined && writer !== this.#writer) keys.add(key);
    }
    return keys;
  }

  /** The name of the journal, and what was appended since the last look. `undefined` if there is none. */
  async #look(): Promise<{name: string; size: number; tail: string} | undefined> {
    try {
      const file = await open(this.#path, READ);
      try {
        const {size} = await file.stat();
        const name = await readText(file, 0, NAME_BYTES);
        if (name.length < NAME_BYTES || size > 2 * RENEW_BYTES) return undefined;
        return {name, size, tail: await readText(file, this.#read, size - this.#read)};
      } finally {
        await file.close();
      }
    } catch (error) {
      expectedErrorCode(error);
      return undefined;
    }
  }

  async #renew(): Promise<void> {
    const name = `${randomHex(NAME_BYTES >> 1)}\n`;
    await replaceFile(this.#path, Buffer.from(name));
    this.#name = name;
    this.#read = NAME_BYTES;
  }
}

async function readText(file: FileHandle, from: number, length: number): Promise<string> {
  if (length <= 0) return '';
  const {buffer, bytesRead} = await file.read(Buffer.alloc(length), 0, length, from);
  return buffer.toString('latin1', 0, bytesRead);
}

interface ListedEntry {
  readonly key: string;
  readonly size: number;
}

const SHARD = /^[0-9a-f]{2}$/;
const ENTRY = /^([0-9a-f]{64})\.json$/;
/** Of an entry, or of the journal beside the shards. */
const TEMPORARY = /^(?:[0-9a-f]{64}|changes)\.tmp\.[0-9a-f]+$/;
/** A write lasts milliseconds; what is this old was left by a process that died. */
const STALE_MS = 3_600_000;
const SHARDS_AT_ONCE = 8;

/** All entries below the directory, by name and size only. Clears away what dead writers left. */
export async function listEntries(directory: string, now: number): Promise<readonly ListedEntry[]> {
  const names = await namesIn(directory);
  for (const name of names) if (TEMPORARY.test(name)) await lookAt(directory, name, now);
  const shards = names.filter(name => SHARD.test(name));
  const entries: ListedEntry[] = [];
  await eachOf(shards, SHARDS_AT_ONCE, async shard => {
    for (const name of await namesIn(join(directory, shard))) {
      const entry = await lookAt(join(directory, shard), name, now);
      if (entry?.key.startsWith(shard)) entries.push(entry);
    }
  });
  return entries;
}

async function lookAt(shard: string, name: string, now: number): Promise<ListedEntry | undefined> {
  const key = ENTRY.exec(name)?.[1];
  if (key === undefined && !TEMPORARY.test(name)) return undefined;
  const path = join(shard, name);
  try {
    const status = await lstat(path);
    if (key !== undefined) return status.isFile() ? {key, size: status.size} : undefined;
    if (now - status.mtimeMs > STALE_MS) await rm(path, {force: true});
  } catch (error) {
    // Gone since it was listed, or not ours to touch.
    expectedErrorCode(error);
  }
  return undefined;
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    expectedErrorCode(error);
    return [];
  }
}

/** Does the work for each of them, for so many at once. */
export async function eachOf<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items];
  const workThrough = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item);
  };
  await Promise.all(Array.from({length: atOnce}, workThrough));
}

export interface FoundHead extends Pick<FileContent, 'size' | 'inode' | 'changedMs'> {
  /** `undefined` for a file that no fetch would serve. */
  readonly head: EntryHead | undefined;
}

/** Something stands there, and no fetch would read it. */
const UNREADABLE: FoundHead = {head: undefined, size: 0, inode: 0, changedMs: 0};
/** Longer than everything that precedes the page, but for a very long URL. */
const HEAD_BYTES = 4096;

/**
 * Reads the start of an entry, and the whole of it only where the start does not say all. `undefined` if
 * there is no such file any more. Never throws for what the file system says, and not for what it holds.
 */
export async function readEntryHead(
  path: string,
  key: string,
  maxBytes: number = LARGEST_ENTRY,
): Promise<FoundHead | undefined> {
  try {
    const start = await readFile(path, HEAD_BYTES, 'head');
    if (!start) return UNREADABLE;
    const {size, inode, changedMs} = start;
    if (size > LARGEST_ENTRY) return {head: undefined, size, inode, changedMs};
    let head = size <= HEAD_BYTES ? parseEntry(start.bytes) : parseEntryHead(start.bytes);
    if (!head && size > HEAD_BYTES && size <= maxBytes) {
      const whole = await readFile(path, maxBytes);
      head = whole && parseEntry(whole.bytes);
    }
    // What a fetch would not serve under this key is no entry. (F4)
    const fits = head !== undefined && cacheKey(head.canonical_url, head.rendering_method) === key;
    return {head: fits ? head : undefined, size, inode, changedMs};
  } catch (error) {
    return expectedErrorCode(error) === 'ENOENT' ? undefined : UNREADABLE;
  }
}

/**
 * When an entry was last used, in milliseconds since the epoch; 0 if it does not say, so that it is the
 * first to go. `undefined` if there is no such file.
 */
export async function readLastAccess(
  path: string,
  key: string,
  maxBytes: number,
): Promise<number | undefined> {
  const found = await readEntryHead(path, key, maxBytes);
  return found && (Date.parse(found.head?.last_accessed_at ?? '') || 0);
}
