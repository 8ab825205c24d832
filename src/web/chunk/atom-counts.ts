import type {Atom} from './atoms.ts';
import type {Block} from './blocks.ts';
import {type Limit, tokensOf} from './limit.ts';
import type {TokenCounter} from './token-counter.ts';
import {tokensAdded} from './tokens-added.ts';

const NOT_COUNTED = -1;
/** Stands for `Infinity`. */
const FAR_TOO_MANY = 0x7fff_ffff;

/**
 * Tokens of the atoms of one block, each counted once: an atom behind a cut is looked at again for the
 * next piece.
 */
export class AtomCounts {
  readonly atoms: readonly Atom[];
  readonly #block: Block;
  readonly #limit: Limit;
  readonly #counter: TokenCounter;
  /** Atom → tokens of `[from, end)`, and where the counter keeps them. A block may have a million atoms. */
  readonly #tokens: Int32Array;
  readonly #slots: Int32Array;

  constructor(block: Block, atoms: readonly Atom[], limit: Limit, counter: TokenCounter) {
    this.#block = block;
    this.atoms = atoms;
    this.#limit = limit;
    this.#counter = counter;
    this.#tokens = new Int32Array(atoms.length).fill(NOT_COUNTED);
    this.#slots = new Int32Array(atoms.length);
  }

  /** The tokens from `start`, where the atom begins or was cut, to the end of its text. */
  toEnd(index: number, start: number): number {
    const {from, end} = this.atoms[index] as Atom;
    const {text} = this.#block;
    if (start !== from) return tokensOf(text.slice(start, end), this.#limit);
    if (this.#tokens[index] === NOT_COUNTED) {
      const {tokens, slot} = this.#counter.count(this.#block.start + from, text.slice(from, end));
      this.#tokens[index] = Math.min(tokens, FAR_TOO_MANY);
      this.#slots[index] = slot;
    }
    return this.#tokens[index] as number;
  }

  /** What the white space behind the atom adds to that, which was asked for before. */
  behind(index: number, start: number): number {
    const {from, end, next} = this.atoms[index] as Atom;
    if (next === end) return 0;
    const {text} = this.#block;
    const space = text.slice(end, next);
    if (start === from) {
      const [tokens, slot] = [this.#tokens[index] as number, this.#slots[index] as number];
      return this.#counter.behind({tokens, slot}, text.slice(from, end), space);
    }
    return tokensAdded(text.slice(start, end), space, this.#limit.countTokens);
  }
}
