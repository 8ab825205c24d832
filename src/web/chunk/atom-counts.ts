import type {Atom} from './atoms.ts';
import type {Block} from './blocks.ts';
import {type Limit, tokensOf} from './limit.ts';
import type {Counted, TokenCounter} from './token-counter.ts';
import {tokensAdded} from './tokens-added.ts';

/**
 * Tokens of the atoms of one block, each counted once: an atom behind a cut is looked at again for the
 * next piece.
 */
export class AtomCounts {
  readonly atoms: readonly Atom[];
  readonly #block: Block;
  readonly #limit: Limit;
  readonly #counter: TokenCounter;
  /** Atom → `[from, end)`. Atoms are looked at in their order. */
  readonly #counted: Counted[] = [];

  constructor(block: Block, atoms: readonly Atom[], limit: Limit, counter: TokenCounter) {
    this.#block = block;
    this.atoms = atoms;
    this.#limit = limit;
    this.#counter = counter;
  }

  /** The tokens from `start`, where the atom begins or was cut, to the end of its text. */
  toEnd(index: number, start: number): number {
    const {from, end} = this.atoms[index] as Atom;
    const {text} = this.#block;
    if (start !== from) return tokensOf(text.slice(start, end), this.#limit);
    this.#counted[index] ??= this.#counter.count(this.#block.start + from, text.slice(from, end));
    return this.#counted[index].tokens;
  }

  /** What the white space behind the atom adds to that. */
  behind(index: number, start: number): number {
    const {from, end, next} = this.atoms[index] as Atom;
    if (next === end) return 0;
    const {text} = this.#block;
    const space = text.slice(end, next);
    const counted = start === from ? this.#counted[index] : undefined;
    if (counted) return this.#counter.behind(counted, text.slice(from, end), space);
    return tokensAdded(text.slice(start, end), space, this.#limit.countTokens);
  }
}
