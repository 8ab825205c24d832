import {mkdir} from 'node:fs/promises';
import type {Clock} from '../../core/clock.ts';
import {fail} from '../../core/failure.ts';
import {ok, type Result} from '../../core/result.ts';
import {type ContentHash, contentHash} from '../content-hash.ts';
import {attempt} from '../io-failure.ts';
import type {Workspace} from '../jail.ts';
import {staleRead} from '../refusals.ts';
import type {StagedFile} from '../staged-file.ts';
import {quotePath, type WritablePath} from '../workspace-path.ts';
import {
  endJournal,
  findJournals,
  type Journal,
  readJournal,
  setJournalAside,
  writeJournal,
} from './journal-file.ts';
import {currentHash, rollBack, temporaryFiles} from './roll-back.ts';
import {lockWorkspace} from './workspace-lock.ts';

/** One file, before and after; undefined for no file. */
export interface FileWrite {
  readonly path: WritablePath;
  readonly old: {readonly bytes: Buffer; readonly mode: number} | undefined;
  /** Without a mode, a new file gets what the umask leaves. */
  readonly new: {readonly bytes: Buffer; readonly mode: number | undefined} | undefined;
}

export interface JournalOptions {
  /** For lock and journals: outside the workspace, the same for all processes that change it. */
  readonly directory: string;
  readonly clock: Clock;
  /** How long to wait for another call that changes the workspace. */
  readonly waitMs?: number;
  /** Told after each step that changed something on disk. For tests that stop there. */
  readonly onStep?: (step: string) => void;
}

export interface Recovery {
  /** Calls that were interrupted and have been taken back. */
  readonly undone: number;
  /** Files that somebody changed after the interruption, and that were left alone. */
  readonly conflicts: readonly WritablePath[];
}

/**
 * Writes all files or none. The journal with the old bytes is on disk before the first change, and its
 * removal is the moment at which the new state counts; whatever ends the process before, the next
 * `recoverJournal` (or commit) brings the old state back. `stale_read` if a file is not what `old` says.
 */
export async function commitWrites(
  workspace: Workspace,
  writes: readonly FileWrite[],
  options: JournalOptions,
): Promise<Result<undefined>> {
  const {directory, onStep = () => {}} = options;
  if (writes.length === 0) return ok();
  const lock = await lockWorkspace(workspace.root, options);
  if (!lock.ok) return lock;
  try {
    onStep('locked');
    const recovered = await recoverLocked(workspace, directory);
    if (!recovered.ok) return recovered;
    const hashes = new Map(writes.map(write => [write.path, write.old && contentHash(write.old.bytes)]));
    const unchanged = await verify(workspace, hashes);
    if (!unchanged.ok) return unchanged;
    const journal = await announce(workspace, writes, hashes);
    const path = await attempt(directory, 'write', () => writeJournal(directory, journal));
    if (!path.ok) return path;
    onStep('journal');
    const touched = new Set<WritablePath>();
    const performed = await perform(workspace, writes, hashes, step => {
      if (step.kind !== 'staged') touched.add(step.path);
      onStep(`${step.kind} ${step.path}`);
    });
    const done = performed.ok
      ? await attempt<undefined>(path.value, 'remove', () => endJournal(directory, path.value))
      : performed;
    if (done.ok) {
      onStep('committed');
      return done;
    }
    const undone = await settle(workspace, directory, path.value, journal, touched);
    if (undone.ok && undone.value.length === 0) return done;
    const left = undone.ok ? undone.value.join(', ') : undone.error.message;
    return fail('io_error', `${done.error.message} Not everything could be taken back: ${left}`, {
      path: path.value,
      error: done.error.code,
      operation: 'roll_back',
    });
  } finally {
    await lock.value();
  }
}

/** To be called once at the start: takes back what an interrupted call left half done. */
export async function recoverJournal(
  workspace: Workspace,
  options: JournalOptions,
): Promise<Result<Recovery>> {
  const made = await attempt(options.directory, 'create', () =>
    mkdir(options.directory, {recursive: true, mode: 0o700}),
  );
  if (!made.ok) return made;
  const lock = await lockWorkspace(workspace.root, options);
  if (!lock.ok) return lock;
  try {
    return await recoverLocked(workspace, options.directory);
  } finally {
    await lock.value();
  }
}

async function recoverLocked(workspace: Workspace, directory: string): Promise<Result<Recovery>> {
  const found = await attempt(directory, 'list', () => findJournals(directory, workspace.root));
  if (!found.ok) return found;
  const conflicts: WritablePath[] = [];
  for (const path of found.value) {
    const journal = await attempt(path, 'read', () => readJournal(path, workspace));
    if (!journal.ok) return journal;
    const settled = await settle(workspace, directory, path, journal.value);
    if (!settled.ok) return settled;
    conflicts.push(...settled.value);
  }
  return ok({undone: found.value.length, conflicts});
}

/**
 * Rolls back and puts the journal away. The value names files in conflict; where it is known which files
 * were replaced, only those count.
 */
async function settle(
  workspace: Workspace,
  directory: string,
  path: string,
  journal: Journal,
  touched?: ReadonlySet<WritablePath>,
): Promise<Result<readonly WritablePath[]>> {
  const undone = await rollBack(workspace, journal);
  if (!undone.ok) return undone;
  const conflicts = undone.value.filter(file => touched?.has(file) ?? true);
  const put = await attempt<unknown>(path, 'remove', () =>
    conflicts.length > 0 ? setJournalAside(directory, path) : endJournal(directory, path),
  );
  return put.ok ? ok(conflicts) : put;
}

async function announce(
  workspace: Workspace,
  writes: readonly FileWrite[],
  hashes: ReadonlyMap<WritablePath, ContentHash | undefined>,
): Promise<Journal> {
  const paths = writes.map(write => write.path);
  const directories = new Set<WritablePath>();
  for (const path of paths) {
    for (const above of missingDirectories(workspace, path)) directories.add(above);
  }
  return {
    root: workspace.root,
    directories: [...directories],
    foreign: await temporaryFiles(workspace, paths),
    entries: writes.map(write => {
      const hash = hashes.get(write.path);
      return {
        path: write.path,
        old: write.old === undefined || hash === undefined ? undefined : {...write.old, hash},
        newHash: write.new && contentHash(write.new.bytes),
      };
    }),
  };
}

/** Outermost first. */
function missingDirectories(workspace: Workspace, path: WritablePath): WritablePath[] {
  const missing: WritablePath[] = [];
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const above = workspace.resolveForWrite(path.slice(0, end));
    if (!above.ok || workspace.inspect(above.value).ok) break;
    missing.unshift(above.value);
  }
  return missing;
}

async function perform(
  workspace: Workspace,
  writes: readonly FileWrite[],
  hashes: ReadonlyMap<WritablePath, ContentHash | undefined>,
  onStep: (step: {kind: 'staged' | 'replaced' | 'removed'; path: WritablePath}) => void,
): Promise<Result<undefined>> {
  const staged: StagedFile[] = [];
  try {
    for (const write of writes) {
      if (write.new === undefined) continue;
      const file = await workspace.stage(write.path, write.new.bytes, {mode: write.new.mode});
      if (!file.ok) return file;
      staged.push(file.value);
      onStep({kind: 'staged', path: write.path});
    }
    // All are looked at once more before the first is replaced, and each again right before it is.
    const unchanged = await verify(workspace, hashes);
    if (!unchanged.ok) return unchanged;
    for (const file of staged) {
      const put = await file.commit(hashes.get(file.target) ?? 'absent');
      if (!put.ok) return put;
      onStep({kind: 'replaced', path: file.target});
      // The journal must not go before the renames are sure to stay.
      if (put.value !== 'durable') return notSynchronised(file.target);
    }
    for (const write of writes) {
      if (write.new !== undefined) continue;
      const removed = await workspace.remove(write.path, hashes.get(write.path) ?? 'absent');
      if (!removed.ok) return removed;
      onStep({kind: 'removed', path: write.path});
    }
    return ok();
  } finally {
    for (const file of staged) file.discard();
  }
}

function notSynchronised(path: WritablePath): Result<never> {
  return fail('io_error', `The directory of ${quotePath(path)} could not be synchronised. Check the disk.`, {
    path,
    error: 'not_synchronised',
    operation: 'replace',
  });
}

async function verify(
  workspace: Workspace,
  hashes: ReadonlyMap<WritablePath, ContentHash | undefined>,
): Promise<Result<undefined>> {
  for (const [path, expected] of hashes) {
    const current = await currentHash(workspace, path);
    if (!current.ok) return current;
    if (current.value !== expected) return staleRead(path);
  }
  return ok();
}
