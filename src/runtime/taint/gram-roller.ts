/** Characters of a gram. */
export const GRAM = 8;

const BASE = 0x01000193;
/** `BASE` to the power of `GRAM`. */
const LEAVING = Array.from({length: GRAM}).reduce<number>(power => Math.imul(power, BASE), 1);

/** The two forms in which texts are compared. Their grams never meet. */
const SALTS = {exact: 0, letters: 0x5bd1e995} as const;
export type Form = keyof typeof SALTS;

/** The hash of the last eight characters of a text, character by character. */
export class GramRoller {
  readonly #window = new Uint16Array(GRAM);
  readonly #salt: number;
  #at = 0;
  #hash = 0;
  /** Characters so far. */
  length = 0;

  constructor(form: Form) {
    this.#salt = SALTS[form];
  }

  /** The hash, or `undefined` while there are fewer than eight. */
  push(code: number): number | undefined {
    const gone = this.#window[this.#at] ?? 0;
    this.#window[this.#at] = code;
    this.#at = (this.#at + 1) % GRAM;
    this.#hash = (Math.imul(this.#hash, BASE) + code - Math.imul(gone, LEAVING)) | 0;
    this.length += 1;
    return this.length < GRAM ? undefined : this.#hash ^ this.#salt;
  }
}

/** One character of the form `exact`: lower case, and any white space as a space. */
export function exactCode(code: number): number {
  if (code >= 65 && code <= 90) return code + 32;
  return code <= 32 || code === 0xa0 ? 32 : code;
}

/** Whether the form `letters` keeps it: a letter or a digit, and everything beyond ASCII. */
export function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code > 0xa0;
}
