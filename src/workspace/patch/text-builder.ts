import {LINES_A_TURN} from '../turns.ts';

/** A text from very many pieces, none of whose steps takes long: they are joined now and then. */
export class TextBuilder {
  readonly #blocks: string[] = [];
  #pieces: string[] = [];

  push(piece: string): void {
    this.#pieces.push(piece);
    if (this.#pieces.length < LINES_A_TURN) return;
    this.#blocks.push(this.#pieces.join(''));
    this.#pieces = [];
  }

  finish(): string {
    return this.#blocks.join('') + this.#pieces.join('');
  }
}
