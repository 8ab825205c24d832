import {nextTurn} from '../../system/next-turn.ts';
import {exactCode, type Form, GRAM, GramRoller, isLetter} from './gram-roller.ts';
import {GramTable} from './gram-table.ts';

/** So many characters in a row are private text and no chance. */
export const PRIVATE_RUN = 16;
/** Any run of `PRIVATE_RUN` characters has a gram that begins at a multiple of this. */
const STRIDE = PRIVATE_RUN - GRAM + 1;
/** Characters that are taken in before others have a turn: some milliseconds of work. */
const CHARACTERS_A_TURN = 131_072;
/** Shorter secrets would be found in everything. */
const SHORTEST_SECRET = 8;
const LONGEST_SECRET = 512;
const MOST_SECRETS = 256;
const MOST_SOURCES = 65_535;

export interface PrivateMatch {
  /** The words, as they were compared: in lower case. */
  readonly words: string;
  /** Number of the delivery that they are from, where that is still known. */
  readonly source: number | undefined;
}

/** The private text of a run, by its grams. The text itself is not kept, but for what looked like a secret. */
export class PrivateText {
  readonly #grams = new GramTable();
  readonly #secrets = new Map<string, number>();

  /** More was delivered than the table holds: what it does not know may be private all the same. */
  get isFull(): boolean {
    return this.#grams.isFull;
  }

  /** Takes a text in, in turns. `source` is any number; the same one comes back with a match. */
  async add(text: string, source: number, secrets: readonly string[] = []): Promise<void> {
    const number = Math.min(source, MOST_SOURCES);
    for (const secret of secrets) {
      const known = secret.toLowerCase();
      const fits = known.length >= SHORTEST_SECRET && known.length <= LONGEST_SECRET;
      if (fits && this.#secrets.size < MOST_SECRETS) this.#secrets.set(known, number);
    }
    const exact = new GramRoller('exact');
    const letters = new GramRoller('letters');
    let before = 0;
    for (let at = 0; at < text.length && !this.isFull; at += 1) {
      if (at % CHARACTERS_A_TURN === CHARACTERS_A_TURN - 1) await nextTurn();
      const code = exactCode(text.charCodeAt(at));
      if (code !== 32 || before !== 32) this.#take(exact.push(code), number);
      before = code;
      if (isLetter(code)) this.#take(letters.push(code), number);
    }
  }

  /** The longest run of private text in one of the texts, or `undefined`. */
  find(texts: Iterable<string>): PrivateMatch | undefined {
    let longest: PrivateMatch | undefined;
    for (const text of texts) {
      for (const match of [this.#secretIn(text), this.#runIn(text, 'exact'), this.#runIn(text, 'letters')]) {
        if (match !== undefined && match.words.length > (longest?.words.length ?? 0)) longest = match;
      }
    }
    return longest;
  }

  #take(hash: number | undefined, source: number): void {
    if (hash !== undefined) this.#grams.add(hash, source);
  }

  #secretIn(text: string): PrivateMatch | undefined {
    if (this.#secrets.size === 0) return undefined;
    const lower = text.toLowerCase();
    for (const [words, source] of this.#secrets) if (lower.includes(words)) return {words, source};
    return undefined;
  }

  #runIn(text: string, form: Form): PrivateMatch | undefined {
    const codes = codesOf(text, form);
    if (codes.length < PRIVATE_RUN) return undefined;
    const roller = new GramRoller(form);
    const hashes = new Int32Array(codes.length - GRAM + 1);
    for (const [at, code] of codes.entries()) {
      const hash = roller.push(code);
      if (hash !== undefined) hashes[at - GRAM + 1] = hash;
    }
    const isKnown = (at: number): boolean =>
      at >= 0 && at < hashes.length && this.#grams.has(hashes[at] ?? 0);
    let best: readonly [number, number] | undefined;
    for (let at = 0; at < hashes.length; at += STRIDE) {
      if (!isKnown(at)) continue;
      let first = at;
      while (isKnown(first - 1)) first -= 1;
      let last = at;
      while (isKnown(last + 1)) last += 1;
      if (last - first + 1 >= STRIDE && (best === undefined || last - first > best[1] - best[0])) {
        best = [first, last];
      }
      at += Math.floor((last - at) / STRIDE) * STRIDE;
    }
    if (best === undefined) return undefined;
    const [first, last] = best;
    const words = String.fromCharCode(...codes.slice(first, Math.min(last + GRAM, first + LONGEST_SECRET)));
    return {words, source: this.#mostOften(hashes.subarray(first, last + 1))};
  }

  #mostOften(hashes: Int32Array): number | undefined {
    const votes = new Map<number, number>();
    for (const hash of hashes) {
      const source = this.#grams.sourceOf(hash);
      if (source !== undefined) votes.set(source, (votes.get(source) ?? 0) + 1);
    }
    return [...votes].sort(([, one], [, other]) => other - one)[0]?.[0];
  }
}

function codesOf(text: string, form: Form): readonly number[] {
  const codes: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const code = exactCode(text.charCodeAt(at));
    const isKept = form === 'letters' ? isLetter(code) : code !== 32 || codes.at(-1) !== 32;
    if (isKept) codes.push(code);
  }
  return codes;
}
