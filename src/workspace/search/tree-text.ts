// Feeds the text files of a tree to ripgrep as one stream.
import type {Err, Failure, Result} from '../../core/result.ts';
import type {OpenDirectory} from '../jail/read-entries.ts';
import type {OpenFile} from '../open-file.ts';
import {attempt} from '../refusals.ts';
import {canSkip, type FileRun, isUnreadable, type TreeWalk} from '../walk/tree-walk.ts';
import {childPath, type WorkspacePath} from '../workspace-path.ts';

/** Where a byte of the whole text lies. */
export interface TextPlace {
  readonly path: WorkspacePath;
  /** Byte of the file. */
  readonly offset: number;
}

interface TextStart {
  readonly directory: WorkspacePath;
  readonly name: string;
  /** Bytes of the text before the file. */
  readonly at: number;
}

const NEWLINE = 10;
const NUL = 0;
/** A file that is smaller is read at once. */
const SMALL_BYTES = 64 * 1024;
const BLOCK_BYTES = 256 * 1024;

/**
 * W1, review R5: the text files of a walk, one behind the other, read through the jail. Whoever gets the text
 * opens nothing, so that nothing outside the tree has a part in what is found. A file with a NUL is no text, so a NUL
 * can stand between two of them, where a match must not reach from one into the next.
 */
export class TreeText {
  /** Why it ended before its end: something could not be read, or time ran out. */
  failure: Err<Failure> | undefined;
  /** Whether `stop` fired before its end. */
  stopped = false;
  /** Files whose text went out, and files that are no text. */
  files = 0;
  notText = 0;
  #unreadableFiles = 0;
  readonly #walk: TreeWalk;
  readonly #stop: AbortSignal;
  readonly #between: number;
  readonly #starts: TextStart[] = [];
  #forgets = false;
  /** Bytes that went out, and those that wait in `#block`. */
  #sent = 0;
  #block = Buffer.allocUnsafe(BLOCK_BYTES);
  #filled = 0;

  constructor(walk: TreeWalk, stop: AbortSignal, between: 'newline' | 'nul' = 'newline') {
    this.#walk = walk;
    this.#stop = stop;
    this.#between = between === 'nul' ? NUL : NEWLINE;
  }

  async *blocks(): AsyncGenerator<Uint8Array> {
    for await (const run of this.#walk.runs()) {
      for (const name of run.names) {
        if (this.#stop.aborted) {
          this.stopped = true;
          yield* this.#flush();
          return;
        }
        yield* this.#add(run, name);
        if (this.failure !== undefined) return;
      }
    }
    this.failure = this.#walk.failure;
    yield* this.#flush();
  }

  /** Files and directories that may not be read. */
  get unreadable(): number {
    return this.#unreadableFiles + this.#walk.unreadable;
  }

  /** Places are not asked for any more in what comes from now on. */
  forgetPlaces(): void {
    this.#forgets = true;
  }

  /** Where a byte lies that went out before places were forgotten. */
  placeOf(at: number): TextPlace | undefined {
    let low = 0;
    let high = this.#starts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#starts[middle]?.at ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    const start = this.#starts[low - 1];
    if (start === undefined) return undefined;
    return {path: childPath(start.directory, start.name), offset: at - start.at};
  }

  *#flush(): Generator<Uint8Array> {
    if (this.#filled === 0) return;
    const block = this.#block.subarray(0, this.#filled);
    this.#sent += this.#filled;
    // The receiver may read it later.
    this.#block = Buffer.allocUnsafe(BLOCK_BYTES);
    this.#filled = 0;
    yield block;
  }

  async *#add({directory}: FileRun, name: string): AsyncGenerator<Uint8Array> {
    if (this.#block.length - this.#filled <= SMALL_BYTES) yield* this.#flush();
    const room = this.#block.subarray(this.#filled, this.#filled + SMALL_BYTES);
    const read = directory.readSmallFile(name, room);
    if (!read.ok) return this.#passOver(read);
    if (read.value === undefined) return yield* this.#addLarge(directory, name);
    const isText = !room.subarray(0, read.value).includes(NUL);
    if (isText) this.files += 1;
    else this.notText += 1;
    if (read.value === 0 || !isText) return;
    this.#begin(directory, name);
    this.#filled += read.value;
    if (this.#block[this.#filled - 1] === this.#between) return;
    this.#block[this.#filled] = this.#between;
    this.#filled += 1;
  }

  /** Twice through the file: what is known to be no text only at its end has been searched by then. */
  async *#addLarge(directory: OpenDirectory, name: string): AsyncGenerator<Uint8Array> {
    yield* this.#flush();
    const file = await directory.openFile(name);
    if (!file.ok) return this.#passOver(file);
    try {
      for await (const block of this.#read(file.value)) {
        if (!block.includes(NUL)) continue;
        this.notText += 1;
        return;
      }
      if (this.failure !== undefined || this.#stop.aborted) return;
      this.files += 1;
      this.#begin(directory, name);
      let last = NEWLINE;
      for await (const block of this.#read(file.value)) {
        last = block.at(-1) ?? last;
        this.#sent += block.length;
        yield block;
      }
      if (last === this.#between) return;
      this.#sent += 1;
      yield Uint8Array.of(this.#between);
    } finally {
      await file.value.close();
    }
  }

  async *#read(file: OpenFile): AsyncGenerator<Uint8Array> {
    for (let at = 0; !this.#stop.aborted; ) {
      const block = Buffer.allocUnsafe(BLOCK_BYTES);
      const here = at;
      const read: Result<number> = await attempt(file.path, 'read', () => file.read(block, here));
      if (!read.ok) return this.#passOver(read);
      if (read.value === 0) return;
      at += read.value;
      yield block.subarray(0, read.value);
    }
  }

  #begin({path}: OpenDirectory, name: string): void {
    if (!this.#forgets) this.#starts.push({directory: path, name, at: this.#sent + this.#filled});
  }

  #passOver(failure: Err<Failure>): void {
    if (!canSkip(failure.error)) this.failure = failure;
    else if (isUnreadable(failure.error)) this.#unreadableFiles += 1;
  }
}
