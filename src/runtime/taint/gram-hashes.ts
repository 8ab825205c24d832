/** Characters of a gram. */
export const GRAM = 8;

const BASE = 0x01000193;
/** `BASE` to the power of `GRAM`. */
const LEAVING = Array.from({length: GRAM}).reduce<number>(power => Math.imul(power, BASE), 1);

/** The two forms in which texts are compared. Their grams never meet. */
const SALTS = {exact: 0, letters: 0x5bd1e995} as const;
export type Form = keyof typeof SALTS;

export const FORMS: readonly Form[] = ['exact', 'letters'];

/** The hash of each eight characters in a row, by where they begin. */
export function hashesOf(codes: Uint16Array, form: Form): Int32Array {
  const hashes = new Int32Array(Math.max(0, codes.length - GRAM + 1));
  const salt = SALTS[form];
  let hash = 0;
  for (let at = 0; at < codes.length; at += 1) {
    const gone = at < GRAM ? 0 : (codes[at - GRAM] ?? 0);
    hash = (Math.imul(hash, BASE) + (codes[at] ?? 0) - Math.imul(gone, LEAVING)) | 0;
    if (at >= GRAM - 1) hashes[at - GRAM + 1] = hash ^ salt;
  }
  return hashes;
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
