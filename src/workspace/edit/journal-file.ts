import {readdirSync, unlinkSync, writeFileSync} from 'node:fs';
import {rename, unlink} from 'node:fs/promises';
import {join} from 'node:path';
import {randomHex} from '../../core/random.ts';
import {errorCode} from '../../system/error-code.ts';
import {replaceFile, syncDirectoryOf} from '../../system/replace-file.ts';
import type {ContentHash} from '../content-hash.ts';
import type {Owner} from '../owner.ts';
import type {WritablePath} from '../workspace-path.ts';
import {workspaceKey} from './workspace-key.ts';

/** A file as it was, with all that it takes to bring it back. */
export interface OldFile {
  readonly bytes: Uint8Array;
  readonly hash: ContentHash;
  readonly mode: number;
  readonly owner: Owner | undefined;
}

/** One file of a transaction, as it was and as it is to be; undefined for no file. */
export interface JournalEntry {
  readonly path: WritablePath;
  /** Where its new content is written first. */
  readonly temporary: WritablePath;
  readonly old: OldFile | undefined;
  readonly newHash: ContentHash | undefined;
}

export interface Journal {
  readonly root: string;
  readonly entries: readonly JournalEntry[];
  /** Directories that were missing before, outermost first. */
  readonly directories: readonly WritablePath[];
}

/** What a transaction of a single rename leaves behind if it is cut off: never more than this. */
export interface Leftovers {
  readonly temporary: WritablePath;
  readonly directories: readonly WritablePath[];
}

/** The first line of a journal. */
export interface JournalHead {
  readonly version: 2;
  readonly root: string;
  readonly directories: readonly string[];
  readonly entries: readonly {
    readonly path: string;
    readonly token: string;
    readonly old: {
      readonly hash: string;
      readonly mode: number;
      readonly size: number;
      readonly owner: Owner | null;
    } | null;
    readonly new_hash: string | null;
  }[];
}

/** Names of one transaction: the temporary file number `at`. */
export function transactionTokens(): (at: number) => string {
  const transaction = randomHex(5);
  return at => `${transaction}${at.toString(16).padStart(6, '0')}`;
}

/**
 * Writes the journal so that it is there whole or not at all, whatever happens: a line of JSON, then the
 * old bytes of all files. It is on the disk when its path is returned.
 */
export async function writeJournal(directory: string, journal: Journal): Promise<string> {
  const path = join(directory, `${workspaceKey(journal.root)}-${randomHex(8)}.journal`);
  const head: JournalHead = {
    version: 2,
    root: journal.root,
    directories: journal.directories,
    entries: journal.entries.map(({path: name, temporary, old, newHash}) => ({
      path: name,
      token: temporary.slice(-20, -4),
      old:
        old === undefined
          ? null
          : {hash: old.hash, mode: old.mode, size: old.bytes.length, owner: old.owner ?? null},
      new_hash: newHash ?? null,
    })),
  };
  const contents = journal.entries.flatMap(({old}) => (old === undefined ? [] : [old.bytes]));
  const temporary = path.replace(/journal$/, 'unfinished');
  try {
    await replaceFile(path, [`${JSON.stringify(head)}\n`, ...contents], {durable: true, temporary});
  } catch (error) {
    // Nothing was changed yet that it could bring back.
    await unlink(path).catch(() => {});
    throw error;
  }
  return path;
}

/**
 * Says before a single rename what it could leave behind. It need not survive a power failure and is not
 * synchronised, so that the change of one file stays cheap.
 */
export function writeIntent(directory: string, root: string, {temporary, directories}: Leftovers): string {
  const path = join(directory, `${workspaceKey(root)}-${randomHex(8)}.intent`);
  try {
    writeFileSync(path, JSON.stringify({root, temporary, directories}), {flag: 'wx', mode: 0o600});
  } catch (error) {
    endIntent(path);
    throw error;
  }
  return path;
}

export function endIntent(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    // The next recovery finds nothing of what it names.
    if (errorCode(error) === undefined) throw error;
  }
}

/** From here on the transaction has happened, or has been undone. */
export async function endJournal(path: string): Promise<undefined> {
  try {
    await unlink(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  try {
    await syncDirectoryOf(path);
  } catch (error) {
    // It is gone, and there is no way back. Should a power failure bring it back, the old state comes whole.
    if (errorCode(error) === undefined) throw error;
  }
  return undefined;
}

/** Keeps a journal for a person to look at, where it cannot be followed. The value is its new path. */
export async function setJournalAside(path: string, as: 'conflict' | 'damaged'): Promise<string> {
  const aside = path.replace(/journal$/, as);
  await rename(path, aside);
  await syncDirectoryOf(aside);
  return aside;
}

export interface FoundJournals {
  readonly journals: readonly string[];
  readonly intents: readonly string[];
}

/** The journals of a workspace that no commit ended. Those that were never finished are removed. */
export function findJournals(directory: string, root: string): FoundJournals {
  const key = workspaceKey(root);
  const names = readdirSync(directory)
    .filter(name => name.startsWith(`${key}-`))
    .sort();
  for (const name of names) if (name.endsWith('.unfinished')) unlinkSync(join(directory, name));
  const ending = (suffix: string): string[] =>
    names.filter(name => name.endsWith(suffix)).map(name => join(directory, name));
  return {journals: ending('.journal'), intents: ending('.intent')};
}
