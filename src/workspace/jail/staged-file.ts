// Writes a file beside its target, then renames it into place.

import {constants, renameSync, rmdirSync, unlinkSync} from 'node:fs';
import {type FileHandle, open} from 'node:fs/promises';
import {randomHex} from '../../core/clock.ts';
import type {Deadline} from '../../core/deadline.ts';
import {ok, type Result} from '../../core/result.ts';
import {ifRefused, ifRefusedLater} from '../../system/errors.ts';
import type {Owner} from '../open-file.ts';
import {ioFailure, staleRead} from '../refusals.ts';
import {pathNames, type WritablePath} from '../workspace-path.ts';
import {type EntryHandle, syncDirectory} from './entry-handle.ts';
import {openParent, type ParentHandle, type RootHandle} from './open-path.ts';
import {checkTarget, entryVersion, inspectTarget, type Precondition} from './target.ts';

export interface StageOptions {
  /** Permission bits. Without it: those of the file that is replaced, or what the umask leaves of `0o666`. */
  readonly mode?: number | undefined;
  /** Whose it becomes where this process may give files away. Without it: whose the replaced file is. */
  readonly owner?: Owner | undefined;
  /** 16 hexadecimal digits for the name of the temporary file, so that others can tell whose it is. */
  readonly token?: string | undefined;
}

/** `in_place`: there for everybody to see, but a power failure now might bring the old content back. */
export type Durability = 'durable' | 'in_place';

/**
 * New content, written and synchronised beside its target. `commit` or `discard` ends it. The
 * directory is held until then, so both act where the content was written.
 */
export interface StagedFile {
  /** The temporary file. */
  readonly path: WritablePath;
  readonly target: WritablePath;
  /** Directories made for it, outermost first; `discard` removes them. */
  readonly created: readonly WritablePath[];
  /**
   * Puts it in the place of the target in one step, if `expected` still holds right before
   * (else `stale_read`). After a failure nothing is left of it.
   */
  readonly commit: (expected?: Precondition, deadline?: Deadline) => Promise<Result<Durability>>;
  /** The same, without making sure that a power failure leaves it there: `synchronise` does that. */
  readonly replace: (expected?: Precondition, deadline?: Deadline) => Promise<Result<undefined>>;
  /** After `replace`. Files that share a directory share the work where they get the same `done`. */
  readonly synchronise: (done?: Set<string>) => Promise<Durability>;
  /** Does nothing after `commit`. */
  readonly discard: () => void;
}

export async function stageFile(
  rootHandle: RootHandle,
  target: WritablePath,
  content: Uint8Array,
  options: StageOptions = {},
): Promise<Result<StagedFile>> {
  const parent = openParent(rootHandle, target, true);
  if (!parent.ok) return parent;
  const staged = new Staged(rootHandle, parent.value, target, options.token ?? randomHex(8));
  const written = await staged.write(content, options);
  if (written.ok) return ok(staged);
  staged.discard();
  return written;
}

class Staged implements StagedFile {
  readonly path: WritablePath;
  readonly target: WritablePath;
  readonly created: readonly WritablePath[];
  readonly #rootHandle: RootHandle;
  readonly #parent: ParentHandle;
  /** Through the handle of the directory, never through its name. */
  readonly #address: string;
  #state: 'new' | 'written' | 'replaced' | 'ended' = 'new';

  constructor(rootHandle: RootHandle, parent: ParentHandle, target: WritablePath, token: string) {
    const name = temporaryName(token);
    this.path = temporaryPath(target, token);
    this.target = target;
    this.created = parent.created;
    this.#rootHandle = rootHandle;
    this.#parent = parent;
    this.#address = `${parent.directory.address}/${name}`;
  }

  async write(content: Uint8Array, {mode, owner}: StageOptions): Promise<Result<undefined>> {
    const replaced = inspectTarget(this.#rootHandle, this.#parent, this.target);
    if (!replaced.ok) return replaced;
    const bits = mode ?? replaced.value?.mode;
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
    try {
      const handle = await open(this.#address, flags, bits ?? 0o666);
      this.#state = 'written';
      try {
        await giveTo(handle, owner ?? replaced.value?.owner);
        // The umask took bits from what `open` was given.
        if (bits !== undefined) await handle.chmod(bits & 0o777);
        await handle.writeFile(content);
        await handle.sync();
      } finally {
        await handle.close();
      }
      return ok();
    } catch (error) {
      return ioFailure(error, this.target, 'write');
    }
  }

  readonly commit = async (expected?: Precondition, deadline?: Deadline): Promise<Result<Durability>> => {
    const replaced = await this.replace(expected, deadline);
    return replaced.ok ? ok(await this.synchronise()) : replaced;
  };

  readonly replace = async (expected?: Precondition, deadline?: Deadline): Promise<Result<undefined>> => {
    if (this.#state !== 'written')
      throw new TypeError(`Expected a staged file to be committed once: ${this.path}`);
    const {directory, name} = this.#parent;
    try {
      const checked = await checkTarget(this.#rootHandle, this.#parent, this.target, expected, deadline);
      if (!checked.ok) return checked;
      // W19: the comparison let others run.
      if (checked.value !== undefined && checked.value !== entryVersion(this.#parent))
        return staleRead(this.target);
      renameSync(this.#address, `${directory.address}/${name}`);
      this.#state = 'replaced';
      return ok();
    } catch (error) {
      return ioFailure(error, this.target, 'replace');
    } finally {
      if (this.#state !== 'replaced') this.discard();
    }
  };

  readonly synchronise = async (done: Set<string> = new Set()): Promise<Durability> => {
    const {directory} = this.#parent;
    const key = `${directory.stats.dev}:${directory.stats.ino}`;
    const durability = done.has(key) ? 'durable' : await synchronised(directory);
    if (durability === 'durable') done.add(key);
    this.#state = 'ended';
    directory.close();
    return durability;
  };

  readonly discard = (): void => {
    if (this.#state === 'ended') return;
    if (this.#state === 'replaced') {
      this.#state = 'ended';
      this.#parent.directory.close();
      return;
    }
    // Tidying up is best effort: what another process moved or filled meanwhile is theirs.
    if (this.#state === 'written') ifRefused(() => unlinkSync(this.#address));
    this.#state = 'ended';
    this.#parent.directory.close();
    for (const made of this.created.toReversed()) removeDirectory(this.#rootHandle, made);
  };
}

/** review B7: root keeps whose a file was. Anybody else can keep its group only, and only one that they are in. */
async function giveTo(handle: FileHandle, owner: Owner | undefined): Promise<void> {
  if (owner === undefined) return;
  const made = await handle.stat();
  if (process.geteuid?.() === 0) {
    if (made.uid !== owner.uid || made.gid !== owner.gid) await handle.chown(owner.uid, owner.gid);
    return;
  }
  if (made.gid === owner.gid) return;
  // Not one of ours (EPERM), or none that this user namespace knows (EINVAL): that is no reason not to write.
  await ifRefusedLater(() => handle.chown(made.uid, owner.gid));
}

/** Where `stage` writes the content for `target` first. */
export function temporaryPath(target: WritablePath, token: string): WritablePath {
  return [...pathNames(target).slice(0, -1), temporaryName(token)].join('/') as WritablePath;
}

function temporaryName(token: string): string {
  return `.forge-${token}.tmp`;
}

/** What was renamed is in its place: a failure from here on is none of the change. */
export async function synchronised(directory: EntryHandle): Promise<Durability> {
  return ifRefusedLater(async () => {
    await syncDirectory(directory);
    return 'durable' as const;
  }, 'in_place' as const);
}

/** Removes a directory that is empty; leaves it where it is not, or is gone. */
export function removeDirectory(rootHandle: RootHandle, path: WritablePath): void {
  const parent = openParent(rootHandle, path);
  if (!parent.ok) return;
  const {directory, name} = parent.value;
  try {
    ifRefused(() => rmdirSync(`${directory.address}/${name}`));
  } finally {
    directory.close();
  }
}
