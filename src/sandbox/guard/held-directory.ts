// Holds a directory by a handle, so that a swapped name does not mislead.
import {type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync} from 'node:fs';
import {ifRefused} from '../../system/errors.ts';

/** Linux's O_PATH, which Node does not name: a handle on the entry itself. */
const O_PATH = 0o10000000;

/**
 * A directory by a handle. Its entries are reached as `${address}/name`, whatever happens to the names above
 * it. Elsewhere than on Linux the address is the name, so whoever swaps names quickly enough can mislead it.
 */
export class HeldDirectory {
  readonly address: string;
  readonly info: BigIntStats;
  readonly #descriptor: number | undefined;

  /** A link is not followed. Throws what the system throws. */
  constructor(path: string) {
    if (process.platform !== 'linux') {
      this.address = path;
      this.info = lstatSync(path, {bigint: true});
      return;
    }
    const descriptor = openSync(path, O_PATH | constants.O_NOFOLLOW | constants.O_DIRECTORY);
    this.#descriptor = descriptor;
    this.address = `/proc/self/fd/${descriptor}`;
    try {
      this.info = fstatSync(descriptor, {bigint: true});
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
  }

  at(name: string): string {
    return `${this.address}/${name}`;
  }

  /** Undefined where there is no such entry. */
  look(name: string): BigIntStats | undefined {
    return lstatSync(this.at(name), {bigint: true, throwIfNoEntry: false});
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
  }
}

/** Undefined where nothing is there, or something that is no directory. */
export function holdDirectory(path: string): HeldDirectory | undefined {
  return ifRefused(() => new HeldDirectory(path), undefined, 'ENOENT', 'ENOTDIR', 'ELOOP');
}
