// Remembers private text as hashes, and finds it again in an address. It also finds the shapes of secrets.
import {nextTurn} from '../../system/errors.ts';

/** So many characters in a row are said to be private text. */
export const PRIVATE_RUN = 16;
/** So many are in an address by chance in hardly any of thousands, however much private text there is. */
const SURE_RUN = {exact: 32, letters: 40} as const;
const SURE_CHANGES = 4;

/** Characters of a gram. */
export const GRAM = 8;
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

const BASE = 0x01000193;
/** `BASE` to the power of `GRAM`. */
const LEAVING = Array.from({length: GRAM}).reduce<number>(power => Math.imul(power, BASE), 1);

/** The two forms in which texts are compared. Their grams never meet. */
const SALTS = {exact: 0, letters: 0x5bd1e995} as const;
type Form = keyof typeof SALTS;

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

/** Bits of each table, the first ones small so that a short run needs little memory. */
const TABLE_BITS = [2 ** 22, 2 ** 24, 2 ** 26, 2 ** 26, 2 ** 26, 2 ** 26, 2 ** 26, 2 ** 26];
/** Then a table answers wrongly for about one gram in a hundred. */
const BITS_A_GRAM = 12;
/** Slots that remember where a gram was from. */
const SOURCE_SLOTS = 2 ** 18;

/**
 * Which grams were seen, in bounded memory: at most 51 MiB, for 35 million grams, which is about 17 MB of text that
 * never repeats itself. It never forgets one, and when it is full it takes no more and says so. Now and then it knows
 * a gram that it was never given; of nine in a row that is as good as impossible.
 */
export class GramTable {
  readonly #tables: Uint32Array[] = [];
  #room = 0;
  #sources: Uint32Array | undefined;
  isFull = false;

  /** `source` is a number below 65,536. */
  add(hash: number, source: number): void {
    this.#sources ??= new Uint32Array(SOURCE_SLOTS);
    this.#sources[hash & (SOURCE_SLOTS - 1)] = ((hash >>> 16) << 16) | source;
    if (this.has(hash) || !this.#makeRoom()) return;
    const table = this.#tables.at(-1);
    if (table === undefined) return;
    this.#room -= 1;
    const mask = table.length * 32 - 1;
    const first = mix(hash);
    const step = mix(first) | 1;
    for (let probe = 0; probe < 3; probe += 1) {
      const bit = (first + Math.imul(step, probe)) & mask;
      table[bit >>> 5] = (table[bit >>> 5] ?? 0) | (1 << (bit & 31));
    }
  }

  has(hash: number): boolean {
    const first = mix(hash);
    const step = mix(first) | 1;
    const third = first + Math.imul(step, 2);
    for (const table of this.#tables) {
      const mask = table.length * 32 - 1;
      if (isSet(table, first & mask) && isSet(table, (first + step) & mask) && isSet(table, third & mask))
        return true;
    }
    return false;
  }

  /** The number that the gram was last added with, where that is still known. */
  sourceOf(hash: number): number | undefined {
    const slot = this.#sources?.[hash & (SOURCE_SLOTS - 1)] ?? 0;
    return slot !== 0 && slot >>> 16 === hash >>> 16 ? slot & 0xffff : undefined;
  }

  #makeRoom(): boolean {
    if (this.#room > 0) return true;
    const bits = TABLE_BITS[this.#tables.length];
    if (bits === undefined) {
      this.isFull = true;
      return false;
    }
    this.#tables.push(new Uint32Array(bits / 32));
    this.#room = Math.floor(bits / BITS_A_GRAM);
    return true;
  }
}

function isSet(table: Uint32Array, bit: number): boolean {
  return (((table[bit >>> 5] ?? 0) >>> (bit & 31)) & 1) === 1;
}

/** The finaliser of MurmurHash3: every bit of the hash counts for every bit of the place. */
function mix(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** Text in which secrets are looked for; a longer one is looked through to here. */
const MOST_CHARACTERS = 4_194_304;
const MOST_FOUND = 64;

const PRIVATE_KEY = /-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]{0,4000}?(?:-----END|$)/g;
/** Prefixes that issuers give their tokens so that they can be found. */
const TOKEN =
  /(?<![\w-])(?:gh[pousr]_\w{16,255}|github_pat_\w{16,255}|glpat-[\w-]{16,255}|sk-[\w-]{16,255}|xox[a-z]-[\w-]{8,255}|A(?:KIA|SIA)[A-Z0-9]{12,64}|AIza[\w-]{20,64}|npm_\w{30,64}|pypi-[\w-]{30,255}|eyJ[\w-]{8,2000}\.[\w-]{8,2000}\.[\w-]{8,2000})/g;
/** `NAME = value`, where the name says that it is one. */
const ASSIGNMENT =
  /(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential)[\w.-]{0,40}["']?[ \t]{0,8}[=:][ \t]{0,8}["']?([^\s"',;]{8,256})/gi;
/** A word has less, a random text of letters and digits more. */
const LEAST_ENTROPY_BITS = 2.8;

/**
 * What looks like a secret: the head of a private key, a token with the prefix of its issuer, an assignment to a name
 * that says so of a value that is no word. A net, not a proof: a passphrase of words passes.
 */
export function findSecrets(text: string): readonly string[] {
  const looked = text.length > MOST_CHARACTERS ? text.slice(0, MOST_CHARACTERS) : text;
  const found = new Set<string>();
  const take = (secret: string): void => {
    if (found.size < MOST_FOUND) found.add(secret);
  };
  for (const [key] of looked.matchAll(PRIVATE_KEY)) {
    const line = key.split('\n').find(one => /^[A-Za-z0-9+/=]{32,}\s*$/.test(one));
    take(line?.trim() ?? '-----BEGIN PRIVATE KEY-----');
  }
  for (const [token] of looked.matchAll(TOKEN)) take(token);
  for (const [, value = ''] of looked.matchAll(ASSIGNMENT)) {
    const isRandom = entropyOf(value) >= LEAST_ENTROPY_BITS && /\d/.test(value) && /[A-Za-z]/.test(value);
    if (isRandom) take(value);
  }
  return [...found];
}

/** Shannon entropy, in bits a character. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
