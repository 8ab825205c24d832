import {lstat, rm} from 'node:fs/promises';
import type {Clock} from '../../../core/clock.ts';
import type {Log} from '../../../core/log.ts';
import {expectedErrorCode} from '../../../system/error-code.ts';
import {entryPath} from '../entry-path.ts';
import type {KeyedLock} from '../keyed-lock.ts';
import {ChangeJournal} from './change-journal.ts';
import {listEntries} from './list-entries.ts';
import {LruIndex} from './lru-index.ts';
import {readLastAccess} from './read-last-access.ts';

export interface InventoryDeps {
  readonly directory: string;
  readonly maxEntries: number;
  readonly maxBytes: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Held, by key, by whoever reads, writes or removes that entry in this process. */
  readonly locks: KeyedLock;
}

const LOOKS_AT_ONCE = 16;

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
    const keys = [...index.undated()];
    const dateSome = async (): Promise<void> => {
      for (let key = keys.pop(); key !== undefined; key = keys.pop()) {
        const lastAccess = await readLastAccess(entryPath(directory, key), maxBytes);
        const known = index.get(key);
        // A hit may have dated it meanwhile.
        if (known?.lastAccess !== undefined) continue;
        if (lastAccess === undefined) index.delete(key);
        else if (known) index.set(key, known.size, lastAccess);
      }
    };
    await Promise.all(Array.from({length: LOOKS_AT_ONCE}, dateSome));
  }

  async #evict(key: string, index: LruIndex): Promise<void> {
    const {directory, maxBytes} = this.#deps;
    const path = entryPath(directory, key);
    const known = index.get(key);
    const lastAccess = await readLastAccess(path, maxBytes);
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
