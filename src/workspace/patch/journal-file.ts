import {open, readdir, readFile, rename, unlink} from 'node:fs/promises';
import {join} from 'node:path';
import {randomHex} from '../../core/random.ts';
import type {ContentHash} from '../content-hash.ts';
import {errorCode} from '../io-failure.ts';
import type {Workspace} from '../jail.ts';
import type {WritablePath} from '../workspace-path.ts';
import {workspaceKey} from './workspace-lock.ts';

/** One file of a transaction, as it was and as it is to be; undefined for no file. */
export interface JournalEntry {
  readonly path: WritablePath;
  readonly old: {readonly bytes: Buffer; readonly hash: ContentHash; readonly mode: number} | undefined;
  readonly newHash: ContentHash | undefined;
}

export interface Journal {
  readonly root: string;
  readonly entries: readonly JournalEntry[];
  /** Directories that were missing before, outermost first. */
  readonly directories: readonly WritablePath[];
  /** Temporary files beside the targets that were there before, and are somebody else's. */
  readonly foreign: readonly WritablePath[];
}

/** The first line of the file. */
interface Head {
  readonly root: string;
  readonly directories: readonly string[];
  readonly foreign: readonly string[];
  readonly entries: readonly {
    readonly path: string;
    readonly old: {readonly hash: ContentHash; readonly mode: number; readonly size: number} | null;
    readonly new_hash: ContentHash | null;
  }[];
}

/**
 * Writes the journal so that it is there whole or not at all, whatever happens: a line of JSON, then the
 * old bytes of all files. Returns its path.
 */
export async function writeJournal(directory: string, journal: Journal): Promise<string> {
  const name = `${workspaceKey(journal.root)}-${randomHex(8)}`;
  const temporary = join(directory, `${name}.unfinished`);
  const path = join(directory, `${name}.journal`);
  const head: Head = {
    root: journal.root,
    directories: journal.directories,
    foreign: journal.foreign,
    entries: journal.entries.map(({path, old, newHash}) => ({
      path,
      old: old === undefined ? null : {hash: old.hash, mode: old.mode, size: old.bytes.length},
      new_hash: newHash ?? null,
    })),
  };
  const handle = await open(temporary, 'wx', 0o600);
  try {
    try {
      await handle.writeFile(`${JSON.stringify(head)}\n`);
      for (const {old} of journal.entries) if (old !== undefined) await handle.writeFile(old.bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
  try {
    await syncOwn(directory);
  } catch (error) {
    // Nothing was changed yet that it could bring back.
    await unlink(path).catch(() => {});
    throw error;
  }
  return path;
}

/** Throws what the system throws, and a `TypeError` for what no `writeJournal` wrote. */
export async function readJournal(path: string, workspace: Workspace): Promise<Journal> {
  const bytes = await readFile(path);
  const newline = bytes.indexOf('\n');
  const head = JSON.parse(bytes.subarray(0, newline).toString('utf8')) as Head;
  const writable = (name: string): WritablePath => {
    const resolved = workspace.resolveForWrite(name);
    if (!resolved.ok)
      throw new TypeError(`Expected paths of this workspace in ${path}: ${resolved.error.message}`);
    return resolved.value;
  };
  let at = newline + 1;
  const entries = head.entries.map(({path: name, old, new_hash}): JournalEntry => {
    const start = at;
    at += old?.size ?? 0;
    return {
      path: writable(name),
      old: old === null ? undefined : {bytes: bytes.subarray(start, at), hash: old.hash, mode: old.mode},
      newHash: new_hash ?? undefined,
    };
  });
  if (at !== bytes.length) throw new TypeError(`Expected ${at} bytes in ${path}, got ${bytes.length}`);
  const {root, directories, foreign} = head;
  return {root, entries, directories: directories.map(writable), foreign: foreign.map(writable)};
}

/** From here on the transaction has happened, or has been undone. */
export async function endJournal(directory: string, path: string): Promise<undefined> {
  try {
    await unlink(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
  try {
    await syncOwn(directory);
  } catch (error) {
    // It is gone, and there is no way back. Should a power failure bring it back, the old state comes whole.
    if (errorCode(error) === undefined) throw error;
  }
  return undefined;
}

/** Keeps the old bytes for a person to look at, where files were changed by others in the meantime. */
export async function setJournalAside(directory: string, path: string): Promise<string> {
  const aside = path.replace(/\.journal$/, '.conflict');
  await rename(path, aside);
  await syncOwn(directory);
  return aside;
}

/** The journals of a workspace that no commit ended. Those that were never finished are removed. */
export async function findJournals(directory: string, root: string): Promise<string[]> {
  const key = workspaceKey(root);
  const names = (await readdir(directory)).filter(name => name.startsWith(`${key}-`)).sort();
  for (const name of names) if (name.endsWith('.unfinished')) await unlink(join(directory, name));
  return names.filter(name => name.endsWith('.journal')).map(name => join(directory, name));
}

async function syncOwn(directory: string): Promise<void> {
  // Windows has no handles on directories; its renames are journaled by the file system.
  if (process.platform === 'win32') return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
