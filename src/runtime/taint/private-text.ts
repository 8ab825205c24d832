import {nextTurn} from '../../system/next-turn.ts';
import {exactCode, FORMS, type Form, GRAM, hashesOf, isLetter} from './gram-hashes.ts';
import {GramTable} from './gram-table.ts';

/** So many characters in a row are said to be private text. */
export const PRIVATE_RUN = 16;
/** So many are in an address by chance in hardly any of thousands, however much private text there is. */
const SURE_RUN = {exact: 32, letters: 40} as const;
const SURE_CHANGES = 4;
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
  /** Too long, or too much like a key, to be there by chance: millions of characters have many phrases. */
  readonly isSure: boolean;
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
    for (let at = 0; at < text.length && !this.isFull; at += CHARACTERS_A_TURN) {
      if (at > 0) await nextTurn();
      // A run that goes across the cut is found by the characters that both sides have.
      const piece = text.slice(Math.max(0, at - PRIVATE_RUN), at + CHARACTERS_A_TURN);
      for (const form of FORMS) {
        const codes = codesOf(piece, form);
        const hashes = hashesOf(codes, form);
        for (let index = 0; index < hashes.length; index += 1) this.#grams.add(hashes[index] ?? 0, number);
      }
    }
  }

  /** The longest run of private text in one of the texts, or `undefined`. */
  find(texts: Iterable<string>): PrivateMatch | undefined {
    let longest: PrivateMatch | undefined;
    for (const text of texts) {
      for (const match of [this.#secretIn(text), this.#runIn(text, 'exact'), this.#runIn(text, 'letters')]) {
        if (match !== undefined && weight(match) > weight(longest)) longest = match;
      }
    }
    return longest;
  }

  #secretIn(text: string): PrivateMatch | undefined {
    if (this.#secrets.size === 0) return undefined;
    const lower = text.toLowerCase();
    for (const [words, source] of this.#secrets)
      if (lower.includes(words)) return {words, source, isSure: true};
    return undefined;
  }

  #runIn(text: string, form: Form): PrivateMatch | undefined {
    const codes = codesOf(text, form);
    if (codes.length < PRIVATE_RUN) return undefined;
    const hashes = hashesOf(codes, form);
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
    const isSure = words.length >= SURE_RUN[form] || (form === 'exact' && changes(words) >= SURE_CHANGES);
    return {words, isSure, source: this.#mostOften(hashes.subarray(first, last + 1))};
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

/** A sure match before any other, then the longer one. */
function weight(match: PrivateMatch | undefined): number {
  return match === undefined ? 0 : match.words.length + (match.isSure ? LONGEST_SECRET : 0);
}

function codesOf(text: string, form: Form): Uint16Array {
  const codes = new Uint16Array(text.length);
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = exactCode(text.charCodeAt(at));
    if (form === 'letters' ? !isLetter(code) : code === 32 && codes[length - 1] === 32) continue;
    codes[length] = code;
    length += 1;
  }
  return codes.subarray(0, length);
}

/** How often a digit follows a letter, or a letter a digit: words and dates hardly have that, keys do. */
function changes(words: string): number {
  return words.match(/[a-z](?=[0-9])|[0-9](?=[a-z])/g)?.length ?? 0;
}
