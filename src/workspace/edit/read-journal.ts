import {constants} from 'node:fs';
import {open} from 'node:fs/promises';
import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import {type Err, ok, type Result} from '../../core/result.ts';
import {type ContentHash, contentHash} from '../content-hash.ts';
import {attempt} from '../io-failure.ts';
import type {Workspace} from '../jail/jail.ts';
import {temporaryPath} from '../jail/staged-file.ts';
import type {WritablePath} from '../workspace-path.ts';
import type {Journal, JournalEntry, JournalHead, Leftovers} from './journal-file.ts';

/** Why a journal is not followed. */
export interface JournalProblem {
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
export async function readIntent(path: string, workspace: Workspace): Promise<Leftovers | undefined> {
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
          : {bytes: content, hash: old.hash as ContentHash, mode: old.mode, owner: old.owner ?? undefined},
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
