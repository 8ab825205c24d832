// Holds an entry of a directory by a handle, whatever happens to its name.
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import {type FileHandle, open} from 'node:fs/promises';
import {errorCode, ifRefusedLater} from '../../system/errors.ts';

/** Linux's O_PATH, which Node does not name: a handle on the entry itself, without opening what it is. */
const O_PATH = 0o10000000;

const READ_AT_ONCE =
  constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** What an entry is, whatever it is called. */
export interface EntryIdentity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/**
 * A hold on one directory entry. While it lasts, `address` leads to that very entry, whatever
 * happens to the names above it, and `${address}/name` to the entries of that very directory.
 */
export interface EntryHandle {
  readonly stats: Stats;
  /** Which entry it is, exactly: the numbers in `stats` lose the last digits of large ones. */
  readonly identify: () => EntryIdentity;
  readonly address: string;
  /** Opens the content. To be used on regular files and directories only. */
  readonly reopen: (flags: number) => Promise<FileHandle>;
  /**
   * Of a directory: opens one of its entries for reading, at once, without waiting for whatever it is; a link is
   * not followed. What it is has to be looked at before it is read. The caller closes the descriptor.
   */
  readonly openEntry: (name: string) => number;
  readonly close: () => void;
}

/** Pins the entry at `address`; a link at its last name is not followed. Throws what the system throws. */
export type HoldEntry = (address: string) => EntryHandle;

/**
 * Linux: race-free. The handle does not open a FIFO or a device, so it cannot block or have
 * effects, and it needs no read permission. Synchronous on purpose: it reads directory entries
 * only, and costs microseconds where a trip through the thread pool costs tens of them.
 */
export const handleByDescriptor: HoldEntry = address => {
  const descriptor = openSync(address, O_PATH | constants.O_NOFOLLOW);
  try {
    const opened = `/proc/self/fd/${descriptor}`;
    let held = true;
    return {
      stats: fstatSync(descriptor),
      identify: () => identityOf(fstatSync(descriptor, {bigint: true})),
      address: opened,
      reopen: flags => open(opened, flags | constants.O_NONBLOCK),
      openEntry: name => openSync(`${opened}/${name}`, READ_AT_ONCE),
      // Once: the number may be another process's by the second time.
      close: () => {
        if (held) letGo(descriptor);
        held = false;
      },
    };
  } catch (error) {
    letGo(descriptor);
    throw error;
  }
};

function identityOf({dev, ino}: BigIntStats): EntryIdentity {
  return {dev, ino};
}

/** The descriptor is free whatever `close` says, and nothing was written through it that could be lost. */
function letGo(descriptor: number): void {
  try {
    closeSync(descriptor);
  } catch (error) {
    // That would be ours: closed twice.
    if (errorCode(error) === undefined || errorCode(error) === 'EBADF') throw error;
  }
}

/**
 * Elsewhere: the name is looked at before and after it is opened. Links are caught, but another process
 * who swaps directories quickly enough while a call runs can defeat it.
 */
export const handleByName: HoldEntry = address => {
  const stats = lstatSync(address);
  return {
    stats,
    identify: () => identityOf(lstatSync(address, {bigint: true})),
    address,
    reopen: async flags => {
      const handle = await open(address, flags | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
      const opened = await handle.stat();
      if (opened.dev === stats.dev && opened.ino === stats.ino && realpathSync(address) === address)
        return handle;
      await handle.close();
      throw exchanged();
    },
    openEntry: name => openByName(`${address}/${name}`),
    close: () => {},
  };
};

function openByName(address: string): number {
  const {dev, ino} = lstatSync(address);
  const descriptor = openSync(address, READ_AT_ONCE);
  const opened = fstatSync(descriptor);
  if (opened.dev === dev && opened.ino === ino && realpathSync(address) === address) return descriptor;
  closeSync(descriptor);
  throw exchanged();
}

function exchanged(): Error {
  return Object.assign(new Error('The file was exchanged while it was opened'), {
    code: 'ESTALE',
    syscall: 'open',
  });
}

/** Makes renames and removals in a directory survive a crash, where the system can do that. */
export async function syncDirectory(directory: EntryHandle): Promise<void> {
  try {
    const handle = await directory.reopen(constants.O_RDONLY);
    try {
      await handle.sync();
    } finally {
      await closeReader(handle);
    }
  } catch (error) {
    // A directory that may be written and not read, or a system that does not synchronise directories.
    if (!['EACCES', 'EPERM', 'EISDIR', 'EINVAL', 'ENOTSUP'].includes(errorCode(error) ?? '')) throw error;
  }
}

/** Closes what was only read from: a system that complains then takes nothing back of what was read. */
export async function closeReader(handle: FileHandle): Promise<void> {
  await ifRefusedLater(() => handle.close());
}
