// Writes and reads the journal of a change, from which a killed process is recovered.
import {constants, readdirSync, unlinkSync, writeFileSync} from 'node:fs';
import {open, rename, unlink} from 'node:fs/promises';
import {join} from 'node:path';
import {randomHex} from '../../core/clock.ts';
import {type Err, type Failure, fail, ok, type Result} from '../../core/result.ts';
import {ifRefused, ifRefusedLater} from '../../system/errors.ts';
import {replaceFile, syncDirectoryOf} from '../../system/replace-file.ts';
import type {Workspace} from '../jail/jail.ts';
import {temporaryPath} from '../jail/staged-file.ts';
import {type ContentHash, contentHash, type Owner} from '../open-file.ts';
import {attempt} from '../refusals.ts';
import type {WritablePath} from '../workspace-path.ts';
import {type FileState, fileState} from './file-change.ts';

/** One file of a transaction, as it was and as it is to be; undefined for no file. */
export interface JournalEntry {
  readonly path: WritablePath;
  /** Where its new content is written first. */
  readonly temporary: WritablePath;
  readonly old: FileState | undefined;
  readonly newHash: ContentHash | undefined;
}

export interface Journal {
  readonly root: string;
  readonly entries: readonly JournalEntry[];
  /** Directories that were missing before, outermost first. */
  readonly directories: readonly WritablePath[];
}

/** What a transaction of a single rename leaves behind if it is cut off: never more than this. */
export interface PendingWrite {
  readonly temporary: WritablePath;
  readonly directories: readonly WritablePath[];
}

/** The first line of a journal. */
interface JournalHead {
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

/** A new file that nobody gave a mode. */
const DEFAULT_MODE = 0o644;

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
          : {
              hash: old.hash,
              mode: old.mode ?? DEFAULT_MODE,
              size: old.bytes.length,
              owner: old.owner ?? null,
            },
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
export function writePending(
  directory: string,
  root: string,
  {temporary, directories}: PendingWrite,
): string {
  const path = join(directory, `${workspaceKey(root)}-${randomHex(8)}.intent`);
  try {
    writeFileSync(path, JSON.stringify({root, temporary, directories}), {flag: 'wx', mode: 0o600});
  } catch (error) {
    endPending(path);
    throw error;
  }
  return path;
}

export function endPending(path: string): void {
  // If it stays, the next recovery finds nothing of what it names.
  ifRefused(() => unlinkSync(path));
}

/** From here on the transaction has happened, or has been undone. */
export async function endJournal(path: string): Promise<undefined> {
  await ifRefusedLater(() => unlink(path), undefined, 'ENOENT');
  // It is gone, and there is no way back. Should a power failure bring it back, the old state comes whole.
  await ifRefusedLater(() => syncDirectoryOf(path));
  return undefined;
}

/** Keeps a journal for a person to look at, where it cannot be followed. The value is its new path. */
export async function setJournalAside(path: string, as: 'conflict' | 'damaged'): Promise<string> {
  const aside = path.replace(/journal$/, as);
  await rename(path, aside);
  await syncDirectoryOf(aside);
  return aside;
}

interface FoundJournals {
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

/** Why a journal is not followed. */
interface JournalProblem {
  readonly kind: 'damaged' | 'foreign' | 'unreadable';
  readonly failure: Err<Failure>;
}

const HASH = /^[0-9a-f]{64}$/;
const TOKEN = /^[0-9a-f]{16}$/;

/**
 * Reads a journal back. review R6: one that another program wrote is `foreign`. review B5: one that no
 * `writeJournal` wrote, or that lost a part since, is `damaged`, and not a bug.
 */
export async function readJournal(
  path: string,
  workspace: Workspace,
): Promise<Result<Journal, JournalProblem>> {
  const read = await attempt(path, 'read', () => readOwn(path));
  if (!read.ok) return {ok: false, error: {kind: 'unreadable', failure: read}};
  if (read.value === undefined) {
    const failure = fail(
      'io_error',
      `The journal ${path} belongs to another user, so it is not followed. Move it away, or let its owner open the workspace once.`,
      {path, error: 'foreign_journal', operation: 'recover'},
    );
    return {ok: false, error: {kind: 'foreign', failure}};
  }
  const journal = parse(read.value, workspace);
  return journal === undefined ? {ok: false, error: {kind: 'damaged', failure: damaged(path)}} : ok(journal);
}

/** What an intent names; undefined where it was cut off, as it may be. */
export async function readPending(path: string, workspace: Workspace): Promise<PendingWrite | undefined> {
  const read = await attempt(path, 'read', () => readOwn(path));
  const value = read.ok && read.value !== undefined ? parseJson(read.value) : undefined;
  const intent = value as {root?: unknown; temporary?: unknown; directories?: unknown} | null | undefined;
  if (typeof intent !== 'object' || intent === null || intent.root !== workspace.root) return undefined;
  const [temporary] = pathsIn([intent.temporary], workspace) ?? [];
  const directories = pathsIn(intent.directories, workspace);
  const isOurs = temporary !== undefined && /(?:^|\/)\.forge-[0-9a-f]{16}\.tmp$/.test(temporary);
  return isOurs && directories !== undefined ? {temporary, directories} : undefined;
}

function damaged(path: string): Err<Failure> {
  return fail(
    'io_error',
    `The journal ${path} of an interrupted change is damaged, so the change could not be taken back. Compare the workspace with its version control.`,
    {path, error: 'damaged_journal', operation: 'recover'},
  );
}

/** Undefined where it is no file of ours. */
async function readOwn(path: string): Promise<Buffer | undefined> {
  const handle = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | constants.O_NONBLOCK);
  try {
    const info = await handle.stat();
    const self = process.getuid?.();
    const isOwn = self === undefined || (info.uid === self && (info.mode & 0o022) === 0);
    return info.isFile() && isOwn ? await handle.readFile() : undefined;
  } finally {
    await handle.close();
  }
}

function parse(bytes: Buffer, workspace: Workspace): Journal | undefined {
  const newline = bytes.indexOf('\n');
  const head = parseJson(bytes.subarray(0, Math.max(0, newline)));
  if (newline === -1 || !isHead(head) || head.root !== workspace.root) return undefined;
  const directories = pathsIn(head.directories, workspace);
  if (directories === undefined) return undefined;
  const entries: JournalEntry[] = [];
  let at = newline + 1;
  for (const {path: name, token, old, new_hash} of head.entries) {
    const [path] = pathsIn([name], workspace) ?? [];
    if (path === undefined) return undefined;
    const content = bytes.subarray(at, at + (old?.size ?? 0));
    at += old?.size ?? 0;
    // The bytes that would be brought back are those that were there.
    if (old !== null && contentHash(content) !== old.hash) return undefined;
    entries.push({
      path,
      temporary: temporaryPath(path, token),
      old:
        old === null
          ? undefined
          : fileState(content, old.hash as ContentHash, {mode: old.mode, owner: old.owner ?? undefined}),
      newHash: (new_hash as ContentHash | null) ?? undefined,
    });
  }
  return at === bytes.length ? {root: head.root, entries, directories} : undefined;
}

function isHead(value: unknown): value is JournalHead {
  const head = value as Partial<JournalHead> | null | undefined;
  if (typeof head !== 'object' || head === null || head.version !== 2) return false;
  return Array.isArray(head.entries) && head.entries.every(isEntry);
}

function isEntry(value: unknown): boolean {
  const entry = value as Partial<JournalHead['entries'][number]> | null;
  if (typeof entry !== 'object' || entry === null || typeof entry.path !== 'string') return false;
  const {token, old, new_hash} = entry;
  if (typeof token !== 'string' || !TOKEN.test(token)) return false;
  if (new_hash !== null && (typeof new_hash !== 'string' || !HASH.test(new_hash))) return false;
  if (old === null) return true;
  if (typeof old !== 'object' || !HASH.test(String(old.hash))) return false;
  const isOwner = old.owner === null || (isCount(old.owner?.uid) && isCount(old.owner?.gid));
  return isCount(old.mode) && old.mode <= 0o777 && isCount(old.size) && isOwner;
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Undefined where they are no list of places that may be written. */
function pathsIn(names: unknown, workspace: Workspace): readonly WritablePath[] | undefined {
  if (!Array.isArray(names)) return undefined;
  const paths: WritablePath[] = [];
  for (const name of names) {
    const resolved = typeof name === 'string' ? workspace.resolveForWrite(name) : undefined;
    if (resolved?.ok !== true) return undefined;
    paths.push(resolved.value);
  }
  return paths;
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A name for the files that concern one workspace, as several share a state directory. */
export function workspaceKey(root: string): string {
  return contentHash(Buffer.from(root)).slice(0, 16);
}
