import {constants} from 'node:fs';
import {type FileHandle, open} from 'node:fs/promises';
import {join} from 'node:path';
import {randomHex} from '../../../core/random.ts';
import {expectedErrorCode} from '../../../system/error-code.ts';
import {replaceFile} from '../replace-file.ts';

/** Its name in the cache directory. */
export const JOURNAL = 'changes.log';
/** A new journal is begun above this. */
const RENEW_BYTES = 1_048_576;
const NAME_BYTES = 17;
const LINE = /^([0-9a-f]{8}) ([0-9a-f]{64})$/;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW;

/**
 * How processes that share a directory hear of each other's writes without listing it: one file to which
 * each appends the keys of the entries it has written or removed.
 *
 * A line says only "look at this one again" and is appended after the change, so that whoever reads it
 * finds on the disk a state at least as new as the line, whichever way the lines of two processes fell.
 * The first line is the random name of the journal: a reader that finds another name has missed lines and
 * lists the directory once more. A line appended to a journal in the moment it is replaced is lost; the
 * entry is then uncounted by running processes, and found by the next one to start.
 */
export class ChangeJournal {
  readonly #path: string;
  /** Who we are in the lines; our own are no news. */
  readonly #writer = randomHex(4);
  #name = '';
  #read = 0;

  constructor(directory: string) {
    this.#path = join(directory, JOURNAL);
  }

  /** Keys that others have changed since the last call; `undefined` if that is not known. */
  async news(): Promise<ReadonlySet<string> | undefined> {
    const found = await this.#look();
    if (!found) {
      await this.#renew();
      return undefined;
    }
    const {name, size, tail} = found;
    const known = name === this.#name && size >= this.#read;
    // What follows the last line end is a line that another process is still writing.
    const end = tail.lastIndexOf('\n') + 1;
    this.#read = known ? this.#read + end : size;
    this.#name = name;
    if (size > RENEW_BYTES) await this.#renew();
    return known ? this.#foreign(tail.slice(0, end)) : undefined;
  }

  /** Tells the others that the entry was written or removed. */
  async note(key: string): Promise<void> {
    const file = await open(this.#path, APPEND);
    try {
      // One write of one line in append mode is never mixed with another's.
      await file.write(`${this.#writer} ${key}\n`);
    } finally {
      await file.close();
    }
  }

  #foreign(lines: string): ReadonlySet<string> {
    const keys = new Set<string>();
    for (const line of lines.split('\n')) {
      const [, writer, key] = LINE.exec(line) ?? [];
      if (key !== undefined && writer !== this.#writer) keys.add(key);
    }
    return keys;
  }

  /** The name of the journal, and what was appended since the last look. `undefined` if there is none. */
  async #look(): Promise<{name: string; size: number; tail: string} | undefined> {
    try {
      const file = await open(this.#path, READ);
      try {
        const {size} = await file.stat();
        const name = await readText(file, 0, NAME_BYTES);
        if (name.length < NAME_BYTES || size > 2 * RENEW_BYTES) return undefined;
        return {name, size, tail: await readText(file, this.#read, size - this.#read)};
      } finally {
        await file.close();
      }
    } catch (error) {
      expectedErrorCode(error);
      return undefined;
    }
  }

  async #renew(): Promise<void> {
    const name = `${randomHex(NAME_BYTES >> 1)}\n`;
    await replaceFile(this.#path, Buffer.from(name));
    this.#name = name;
    this.#read = NAME_BYTES;
  }
}

async function readText(file: FileHandle, from: number, length: number): Promise<string> {
  if (length <= 0) return '';
  const {buffer, bytesRead} = await file.read(Buffer.alloc(length), 0, length, from);
  return buffer.toString('latin1', 0, bytesRead);
}
