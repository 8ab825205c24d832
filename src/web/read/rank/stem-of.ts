const ACCENTS = /\p{M}/gu;
const ASCII = /^[a-z0-9]*$/;
/** English endings, the longest first, and what stays of a word. */
const ENDINGS: readonly (readonly [ending: string, least: number])[] = [
  ['ations', 4],
  ['ation', 4],
  ['ments', 4],
  ['ment', 4],
  ['ings', 4],
  ['ing', 3],
  ['ies', 3],
  ['ied', 3],
  ['ers', 4],
  ['ed', 3],
  ['er', 4],
  ['es', 3],
  ['ly', 4],
  ['s', 3],
  ['y', 3],
  ['e', 3],
];

/** A word without accents and English endings: the same for those that a question and its answer may use. */
export function stemOf(word: string): string {
  const plain = ASCII.test(word) ? word : word.normalize('NFD').replace(ACCENTS, '');
  if (!ASCII.test(plain) || plain.length < 4) return plain;
  for (const [ending, least] of ENDINGS) {
    if (plain.endsWith(ending) && plain.length - ending.length >= least && !plain.endsWith('ss')) {
      return undoubled(plain.slice(0, -ending.length));
    }
  }
  return plain;
}

/** `stopped` and `stop`. */
function undoubled(stem: string): string {
  const last = stem.at(-1) ?? '';
  return stem.length > 3 && stem.at(-2) === last && !'lsz'.includes(last) ? stem.slice(0, -1) : stem;
}
