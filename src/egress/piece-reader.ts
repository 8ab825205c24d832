import type {OnReadOpts, Socket} from 'node:net';

/** As much as a socket of Linux has at once. */
const PIECE_BYTES = 262_144;
/** Written at the same time, while one more is there to read into. */
const MOST_UNDER_WAY = 2;

/**
 * Reads a socket into a few buffers, and into each again once it is written. New memory for every read would cost more
 * than to copy what is read.
 */
export class PieceReader {
  readonly #free: Buffer[] = [];
  #current: Buffer = Buffer.allocUnsafeSlow(PIECE_BYTES);
  #underWay = 0;
  #pass: (chunk: Buffer) => boolean = () => false;

  /** For `connect`. The socket has to be paused until `pump` is called. */
  readonly onread: OnReadOpts = {
    buffer: () => this.#current,
    callback: bytes => this.#pass(this.#current.subarray(0, bytes)),
  };

  /** Passes on what `from` says, no faster than `to` takes it. `look` sees each piece first; false where it is not passed on. */
  pump(from: Socket, to: Socket, look: (chunk: Buffer) => boolean): void {
    this.#pass = chunk => {
      if (!look(chunk)) return false;
      const buffer = this.#current;
      let isUnderWay = false;
      to.write(chunk, () => {
        if (!isUnderWay) return;
        this.#underWay -= 1;
        this.#free.push(buffer);
        if (from.isPaused()) from.resume();
      });
      // Most often the system has taken all of it by now.
      if (to.writableLength === 0) return true;
      isUnderWay = true;
      this.#underWay += 1;
      this.#current = this.#free.pop() ?? Buffer.allocUnsafeSlow(PIECE_BYTES);
      if (this.#underWay < MOST_UNDER_WAY) return true;
      from.pause();
      return false;
    };
    from.resume();
  }
}
