import type {Atom} from './atoms.ts';
import {type Limit, tokensOf} from './limit.ts';
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
  readonly #text: string;
  readonly #limit: Limit;
  /** Atom → tokens of `[from, end)`. */
  readonly #known: Int32Array;

  constructor(text: string, atoms: readonly Atom[], limit: Limit) {
    this.#text = text;
    this.atoms = atoms;
    this.#limit = limit;
    this.#known = new Int32Array(atoms.length).fill(NOT_COUNTED);
  }

  /** The tokens from `start`, where the atom begins or was cut, to the end of its text. */
  toEnd(index: number, start: number): number {
    const {from, end} = this.atoms[index] as Atom;
    if (start !== from) return tokensOf(this.#text.slice(start, end), this.#limit);
    if (this.#known[index] === NOT_COUNTED) {
      this.#known[index] = Math.min(tokensOf(this.#text.slice(from, end), this.#limit), FAR_TOO_MANY);
    }
    return this.#known[index] as number;
  }

  /** What the white space behind the atom adds to that. */
  behind(index: number, start: number): number {
    const {end, next} = this.atoms[index] as Atom;
    if (next === end) return 0;
    return tokensAdded(this.#text.slice(start, end), this.#text.slice(end, next), this.#limit.countTokens);
  }
}
