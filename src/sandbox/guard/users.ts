// Counts the sessions that run commands in one workspace, so that the last one tidies up.
import {lstatSync, mkdirSync, readdirSync, readFileSync, unlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {type Clock, randomHex} from '../../core/clock.ts';
import {errorCode, ifRefused, ifRefusedLater} from '../../system/errors.ts';
import {takeFileLock} from '../../system/file-lock.ts';
import {livenessOf, ownIdentity, type ProcessIdentity} from '../../system/process.ts';

const LOCK_PREFIX = 'lock-';
/** Another session holds the lock for some milliseconds; longer only where its process was stopped. */
const LOCK_WAIT_MS = 2000;

/**
 * Who on this machine runs commands in a workspace: one file for each session, in a directory of this user
 * alone. A name that is held for one session is held for all of them, so it goes with the last one.
 */
export class WorkspaceUsers {
  readonly #directory: string;
  readonly #prefix: string;
  readonly #own: string;
  readonly #lock: string;
  /** `untold`: it is there, and its entry could not be written. */
  #state: 'out' | 'entered' | 'untold' = 'out';

  constructor({dev, ino}: RootIdentity, directory: string) {
    this.#directory = directory;
    this.#prefix = `${dev}-${ino}.`;
    this.#lock = join(directory, `${LOCK_PREFIX}${dev}-${ino}`);
    this.#own = join(directory, `${this.#prefix}${process.pid}.${randomHex(4)}`);
  }

  /**
   * Nobody else enters or leaves until this is released, so a name that the last session is about to take away is
   * not one that the next session relies on. Undefined where it cannot be had.
   */
  async lock(clock: Clock): Promise<(() => void) | undefined> {
    return ifRefusedLater(async () => {
      if (!this.#makeOurs()) return undefined;
      const lock = await takeFileLock(this.#lock, {clock, waitMs: LOCK_WAIT_MS});
      return lock.state === 'held' ? lock.release : undefined;
    });
  }

  /** Before the first look at the workspace. */
  enter(): void {
    if (this.#state === 'entered') return;
    this.#state = 'untold';
    try {
      if (!this.#makeOurs()) return;
      // Whatever workspace they were in: entries of hosts that were killed are not to pile up.
      for (const name of readdirSync(this.#directory)) {
        if (!name.startsWith(LOCK_PREFIX)) isInUse(join(this.#directory, name));
      }
      writeFileSync(this.#own, JSON.stringify(ownIdentity()), {mode: 0o600, flag: 'wx'});
      this.#state = 'entered';
    } catch (error) {
      if (errorCode(error) === undefined) throw error;
      // Half an entry would count as somebody for ever.
      ifRefused(() => unlinkSync(this.#own));
    }
  }

  /** True where no other process is left, also for one that could not enter. False also where that cannot be known. */
  leave(): boolean {
    const state = this.#state;
    if (state === 'out') return false;
    this.#state = 'out';
    return ifRefused(() => {
      if (state === 'entered') unlinkSync(this.#own);
      return this.#isOurs() && !this.#others().some(path => isInUse(path));
    }, false);
  }

  #makeOurs(): boolean {
    mkdirSync(this.#directory, {mode: 0o700, recursive: true});
    return this.#isOurs();
  }

  /** Another user could have made it first. */
  #isOurs(): boolean {
    const info = lstatSync(this.#directory);
    const uid = process.getuid?.();
    return info.isDirectory() && (uid === undefined || info.uid === uid) && (info.mode & 0o077) === 0;
  }

  #others(): readonly string[] {
    return readdirSync(this.#directory)
      .filter(name => name.startsWith(this.#prefix))
      .map(name => join(this.#directory, name));
  }
}

/** Takes the entry of a host that was killed away. */
function isInUse(path: string): boolean {
  const identity = readIdentity(path);
  if (identity === undefined) return true;
  if (livenessOf(identity) !== 'gone') return true;
  ifRefused(() => unlinkSync(path));
  return false;
}

function readIdentity(path: string): ProcessIdentity | undefined {
  try {
    const {pid, started, host, namespace} = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof pid !== 'number') return undefined;
    return {pid, started: String(started), host: String(host), namespace: String(namespace)};
  } catch {
    // Half written: its session is just beginning.
    return undefined;
  }
}

/** Tells a directory from every other one, whatever its name. */
export interface RootIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** review R4: what a session began with. Another directory of the same name is another workspace; undefined if none is there. */
export function rootIdentity(workspace: string): RootIdentity | undefined {
  const info = lstatSync(workspace, {bigint: true, throwIfNoEntry: false});
  return info?.isDirectory() ? {dev: info.dev, ino: info.ino} : undefined;
}
