import {
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  mkdirSync,
  openSync,
  readSync,
  rmdirSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import {errorCode} from '../../system/error-code.ts';
import {type HeldDirectory, holdDirectory} from './held-directory.ts';

/** One name that is kept, one level deep. */
export interface PlaceHolder {
  readonly name: string;
  /** What the file says; undefined for an empty directory. A file is known by it on later starts. */
  readonly content: string | undefined;
}

/** Makes it, as the owner of the directory. False where another process was faster. */
export function makePlaceHolder(directory: HeldDirectory, {name, content}: PlaceHolder): boolean {
  try {
    if (content !== undefined) writeNew(directory, name, content);
    else {
      mkdirSync(directory.at(name), {mode: 0o755});
      giveToOwner(directory, name);
    }
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
  return true;
}

/** Whether what is there is the file that we make. */
export function isPlaceHolder(directory: HeldDirectory, {name, content}: PlaceHolder): boolean {
  return content !== undefined && readEntry(directory, name, content.length + 1) === content;
}

/** Takes one name away, if it is still what we made. */
export function removePlaceHolder(directory: HeldDirectory, holder: PlaceHolder): void {
  try {
    if (holder.content === undefined) rmdirSync(directory.at(holder.name));
    else if (isPlaceHolder(directory, holder)) unlinkSync(directory.at(holder.name));
  } catch (error) {
    // Somebody has filled it, or taken it away.
    if (errorCode(error) === undefined) throw error;
  }
}

/** The beginning of a regular file, no link followed and no FIFO waited for; undefined where there is none. */
export function readEntry(directory: HeldDirectory, name: string, maxBytes: number): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(
      directory.at(name),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
  try {
    if (!fstatSync(descriptor).isFile()) return undefined;
    const bytes = Buffer.alloc(maxBytes);
    return bytes.toString('utf8', 0, readSync(descriptor, bytes, 0, maxBytes, 0));
  } finally {
    closeSync(descriptor);
  }
}

function writeNew(directory: HeldDirectory, name: string, content: string): void {
  const descriptor = openSync(directory.at(name), 'wx', 0o644);
  try {
    try {
      writeSync(descriptor, content);
      if (process.getuid?.() === 0) {
        fchownSync(descriptor, Number(directory.info.uid), Number(directory.info.gid));
      }
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    // Half of it would not be known again.
    unlinkSync(directory.at(name));
    throw error;
  }
}

/** A directory that root makes belongs to the owner of the one around it. */
export function giveToOwner(directory: HeldDirectory, name: string): void {
  if (process.getuid?.() !== 0) return;
  const made = holdDirectory(directory.at(name));
  if (made === undefined) return;
  // Not by O_PATH, which cannot be changed through; and not by name, which could be a link by now.
  const descriptor = openSync(made.at('.'), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fchownSync(descriptor, Number(directory.info.uid), Number(directory.info.gid));
  } finally {
    closeSync(descriptor);
    made.close();
  }
}
