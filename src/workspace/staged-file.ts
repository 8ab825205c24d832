import {constants, renameSync, rmdirSync, unlinkSync} from 'node:fs';
import {open} from 'node:fs/promises';
import {randomHex} from '../core/random.ts';
import {ok, type Result} from '../core/result.ts';
import type {Deadline} from './deadline.ts';
import {errorCode, ioFailure} from './io-failure.ts';
import type {Pin} from './pin-entry.ts';
import {type Ground, type PinnedParent, pinParent} from './pin-path.ts';
import {syncDirectory} from './sync-directory.ts';
import {pathNames, type WritablePath} from './workspace-path.ts';
import {checkTarget, inspectTarget, type Precondition} from './write-target.ts';

export interface StageOptions {
  /** Permission bits. Without it: those of the file that is replaced, or what the umask leaves of `0o666`. */
  readonly mode?: number | undefined;
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
  /** Does nothing after `commit`. */
  readonly discard: () => void;
}

export async function stageFile(
  ground: Ground,
  target: WritablePath,
  content: Uint8Array,
  options: StageOptions = {},
): Promise<Result<StagedFile>> {
  const parent = pinParent(ground, target, true);
  if (!parent.ok) return parent;
  const staged = new Staged(ground, parent.value, target);
  const written = await staged.write(content, options.mode);
  if (written.ok) return ok(staged);
  staged.discard();
  return written;
}

class Staged implements StagedFile {
  readonly path: WritablePath;
  readonly target: WritablePath;
  readonly created: readonly WritablePath[];
  readonly #ground: Ground;
  readonly #parent: PinnedParent;
  /** Through the handle of the directory, never through its name. */
  readonly #address: string;
  #state: 'new' | 'written' | 'ended' = 'new';

  constructor(ground: Ground, parent: PinnedParent, target: WritablePath) {
    const name = `.forge-${randomHex(8)}.tmp`;
    this.path = [...pathNames(target).slice(0, -1), name].join('/') as WritablePath;
    this.target = target;
    this.created = parent.created;
    this.#ground = ground;
    this.#parent = parent;
    this.#address = `${parent.directory.address}/${name}`;
  }

  async write(content: Uint8Array, mode: number | undefined): Promise<Result<undefined>> {
    const replaced = inspectTarget(this.#ground, this.#parent, this.target);
    if (!replaced.ok) return replaced;
    const bits = mode ?? replaced.value?.mode;
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
    try {
      const handle = await open(this.#address, flags, bits ?? 0o666);
      this.#state = 'written';
      try {
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
    if (this.#state !== 'written')
      throw new TypeError(`Expected a staged file to be committed once: ${this.path}`);
    const {directory, name} = this.#parent;
    try {
      const checked = await checkTarget(this.#ground, this.#parent, this.target, expected, deadline);
      if (!checked.ok) return checked;
      renameSync(this.#address, `${directory.address}/${name}`);
      this.#state = 'ended';
      return ok(await synchronised(directory));
    } catch (error) {
      return ioFailure(error, this.target, 'replace');
    } finally {
      if (this.#state === 'ended') directory.close();
      else this.discard();
    }
  };

  readonly discard = (): void => {
    if (this.#state === 'ended') return;
    if (this.#state === 'written') unlessGone(() => unlinkSync(this.#address));
    this.#state = 'ended';
    this.#parent.directory.close();
    for (const made of this.created.toReversed()) removeDirectory(this.#ground, made);
  };
}

/** What was renamed is in its place: a failure from here on is none of the change. */
async function synchronised(directory: Pin): Promise<Durability> {
  try {
    await syncDirectory(directory);
    return 'durable';
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return 'in_place';
  }
}

/** Removes a directory that is empty; leaves it where it is not, or is gone. */
export function removeDirectory(ground: Ground, path: WritablePath): void {
  const parent = pinParent(ground, path);
  if (!parent.ok) return;
  const {directory, name} = parent.value;
  try {
    unlessGone(() => rmdirSync(`${directory.address}/${name}`));
  } finally {
    directory.close();
  }
}

/** Tidying up is best effort: what somebody else moved or filled meanwhile is theirs. */
function unlessGone(remove: () => void): void {
  try {
    remove();
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
  }
}
