// Commits a change to disk: all files or none.
import type {Deadline} from '../../core/deadline.ts';
import {fail, ok, type Result} from '../../core/result.ts';
import type {Workspace} from '../jail/jail.ts';
import {type StagedFile, temporaryPath} from '../jail/staged-file.ts';
import {type ContentHash, overdue} from '../open-file.ts';
import {attempt, staleRead} from '../refusals.ts';
import {quotePath, type WritablePath} from '../workspace-path.ts';
import {currentHash, type FileChange} from './file-change.ts';
import {
  endJournal,
  endPending,
  type Journal,
  setJournalAside,
  transactionTokens,
  writeJournal,
  writePending,
} from './journal.ts';
import {type Recovery, rollBack, STAGED_AT_ONCE} from './recover.ts';

interface LockedDeps {
  readonly directory: string;
  readonly onStep: (step: string) => void;
  readonly recovered: Recovery;
}

/** A workspace while no other process changes it. Only `changeWorkspace` makes one. */
export class LockedWorkspace {
  readonly recovered: Recovery;
  readonly #workspace: Workspace;
  readonly #directory: string;
  readonly #onStep: (step: string) => void;

  constructor(workspace: Workspace, {directory, onStep, recovered}: LockedDeps) {
    this.recovered = recovered;
    this.#workspace = workspace;
    this.#directory = directory;
    this.#onStep = onStep;
  }

  /** The first file that is not what `old` says; undefined where all are. */
  async findOutdated(
    writes: readonly FileChange[],
    deadline?: Deadline,
  ): Promise<Result<{readonly path: WritablePath; readonly now: ContentHash | undefined} | undefined>> {
    for (const {path, old} of writes) {
      const late = overdue(deadline);
      if (late !== undefined) return late;
      const current = await currentHash(this.#workspace, path, deadline);
      if (!current.ok) return current;
      if (current.value !== old?.hash) return ok({path, now: current.value});
    }
    return ok(undefined);
  }

  /**
   * Ruling W19: all files or none, a rename as two of them. The deadline is asked up to the first rename and no more: renaming is the
   * quick part, and what it began it ends. After a failure the files are what they were, and nothing else is left.
   */
  async commit(writes: readonly FileChange[], deadline?: Deadline): Promise<Result<undefined>> {
    const [only] = writes;
    if (only === undefined) return ok();
    if (writes.length === 1) return this.#commitOne(only, deadline);
    return this.#commitAll(writes, deadline);
  }

  /** One rename, or one removal, needs no journal: it has happened or it has not. */
  async #commitOne({path, old, new: fresh}: FileChange, deadline?: Deadline): Promise<Result<undefined>> {
    const late = overdue(deadline);
    if (late !== undefined) return late;
    const expected = old?.hash ?? 'absent';
    if (fresh === undefined) {
      const removed = await this.#workspace.remove(path, expected, deadline);
      if (!removed.ok) return removed;
      this.#onStep(`removed ${path}`);
      return ok();
    }
    const token = transactionTokens()(0);
    const pending = {temporary: temporaryPath(path, token), directories: this.#missingAbove([path])};
    const intent = await attempt(this.#directory, 'write', async () =>
      writePending(this.#directory, this.#workspace.root, pending),
    );
    if (!intent.ok) return intent;
    this.#onStep('intent');
    const {mode, owner} = fresh;
    const staged = await this.#workspace.stage(path, fresh.bytes, {mode, owner, token});
    if (staged.ok) this.#onStep(`staged ${path}`);
    const put = staged.ok ? await staged.value.commit(expected, deadline) : staged;
    if (put.ok) this.#onStep(`replaced ${path}`);
    endPending(intent.value);
    return put.ok ? ok() : put;
  }

  async #commitAll(writes: readonly FileChange[], deadline?: Deadline): Promise<Result<undefined>> {
    // A journal that announces what is out of date would, cut off, look like the change of another process.
    const current = await this.findOutdated(writes, deadline);
    if (!current.ok) return current;
    if (current.value !== undefined) return staleRead(current.value.path);
    const journal = this.#announce(writes);
    const path = await attempt(this.#directory, 'write', () => writeJournal(this.#directory, journal));
    if (!path.ok) return path;
    this.#onStep('journal');
    const touched = new Set<WritablePath>();
    const performed = await this.#perform(writes, journal, touched, deadline);
    const done = performed.ok
      ? await attempt<undefined>(path.value, 'remove', () => endJournal(path.value))
      : performed;
    if (done.ok) {
      this.#onStep('committed');
      return done;
    }
    const left = await this.#takeBack(path.value, journal, touched);
    if (left === undefined) return done;
    return fail('io_error', `${done.error.message} Not everything could be taken back: ${left}`, {
      path: path.value,
      error: done.error.code,
      operation: 'roll_back',
    });
  }

  /** Undefined where everything is as it was; else what is not. */
  async #takeBack(
    path: string,
    journal: Journal,
    touched: ReadonlySet<WritablePath>,
  ): Promise<string | undefined> {
    // What was only staged is gone already.
    const entries = journal.entries.filter(entry => touched.has(entry.path));
    const undone = await rollBack(this.#workspace, {...journal, entries});
    if (!undone.ok) return undone.error.message;
    const {conflicts} = undone.value;
    const put = await attempt<unknown>(path, 'remove', () =>
      conflicts.length > 0 ? setJournalAside(path, 'conflict') : endJournal(path),
    );
    if (!put.ok) return put.error.message;
    return conflicts.length > 0 ? conflicts.join(', ') : undefined;
  }

  #announce(writes: readonly FileChange[]): Journal {
    const tokenOf = transactionTokens();
    return {
      root: this.#workspace.root,
      directories: this.#missingAbove(writes.map(({path}) => path)),
      entries: writes.map(({path, old, new: fresh}, at) => ({
        path,
        temporary: temporaryPath(path, tokenOf(at)),
        old,
        newHash: fresh?.hash,
      })),
    };
  }

  async #perform(
    writes: readonly FileChange[],
    journal: Journal,
    touched: Set<WritablePath>,
    deadline: Deadline | undefined,
  ): Promise<Result<undefined>> {
    const expected = new Map(writes.map(({path, old}) => [path, old?.hash ?? ('absent' as const)]));
    const staged: StagedFile[] = [];
    try {
      for (let at = 0; at < writes.length; at += STAGED_AT_ONCE) {
        const late = overdue(deadline);
        if (late !== undefined) return late;
        const some = writes.slice(at, at + STAGED_AT_ONCE);
        const made = await Promise.all(
          some.map((write, index) => this.#stage(write, journal.entries[at + index]?.temporary)),
        );
        for (const file of made) if (file?.ok) staged.push(file.value);
        const failed = made.find(file => file?.ok === false);
        if (failed?.ok === false) return failed;
        for (const file of made) if (file?.ok) this.#onStep(`staged ${file.value.target}`);
      }
      // All are looked at once more before the first is replaced, and each again right before it is.
      const changed = await this.findOutdated(writes, deadline);
      if (!changed.ok) return changed;
      if (changed.value !== undefined) return staleRead(changed.value.path);
      for (const file of staged) {
        const put = await file.replace(expected.get(file.target));
        if (!put.ok) return put;
        touched.add(file.target);
        this.#onStep(`replaced ${file.target}`);
      }
      for (const write of writes) {
        if (write.new !== undefined) continue;
        const removed = await this.#workspace.remove(write.path, expected.get(write.path));
        if (!removed.ok) return removed;
        touched.add(write.path);
        this.#onStep(`removed ${write.path}`);
        if (removed.value !== 'durable') return notSynchronised(write.path);
      }
      const synchronised = new Set<string>();
      for (const file of staged) {
        // The journal must not go before the renames are sure to stay.
        if ((await file.synchronise(synchronised)) !== 'durable') return notSynchronised(file.target);
      }
      return ok();
    } finally {
      for (const file of staged) file.discard();
    }
  }

  async #stage(
    {path, new: fresh}: FileChange,
    temporary: WritablePath | undefined,
  ): Promise<Result<StagedFile> | undefined> {
    if (fresh === undefined) return undefined;
    const {bytes, mode, owner} = fresh;
    return this.#workspace.stage(path, bytes, {mode, owner, token: temporary?.slice(-20, -4)});
  }

  /** Outermost first. */
  #missingAbove(paths: readonly WritablePath[]): WritablePath[] {
    const missing = new Set<WritablePath>();
    for (const path of paths) {
      const above: WritablePath[] = [];
      for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
        const directory = this.#workspace.resolveForWrite(path.slice(0, end));
        if (!directory.ok || this.#workspace.inspect(directory.value).ok) break;
        above.unshift(directory.value);
      }
      for (const directory of above) missing.add(directory);
    }
    return [...missing];
  }
}

function notSynchronised(path: WritablePath): Result<never> {
  return fail('io_error', `The directory of ${quotePath(path)} could not be synchronised. Check the disk.`, {
    path,
    error: 'not_synchronised',
    operation: 'replace',
  });
}

/** As git does: a directory is gone with its last file. */
export function removeEmptyDirectories(workspace: Workspace, path: WritablePath): void {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    workspace.removeDirectory(path.slice(0, end) as WritablePath);
  }
}
