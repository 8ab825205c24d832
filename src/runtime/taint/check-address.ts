// Checks whether an address carries private text. It is done before any name is looked up.
import {isUtf8} from 'node:buffer';
import {createHash} from 'node:crypto';
import {toUrl} from '../../core/text/parse.ts';
import {GRAM, type PrivateMatch, type PrivateText} from './private-text.ts';

type AddressFinding =
  /** Word for word from a delivered page, or asked for before. */
  | {readonly kind: 'given'; readonly bits: number}
  /** Made up by the model. */
  | {
      readonly kind: 'made-up';
      /** The end that no delivered address begins with. */
      readonly novel: string;
      readonly match: PrivateMatch | undefined;
      /** It has more to look through than is looked through. */
      readonly isCut: boolean;
    }
  /** No address that anything would be asked of. */
  | {readonly kind: 'none'};

/** T1: what an address would tell whoever answers it. Pure, and done before any name is looked up: a look-up tells. */
export function checkAddress(
  written: string,
  known: KnownAddresses,
  privateText: PrivateText,
): AddressFinding {
  const text = written.trim();
  const url = toUrl(text);
  if (url === undefined) return {kind: 'none'};
  const bits = known.bitsOf(url);
  if (bits !== undefined) return {kind: 'given', bits};
  const novel = known.newPart(url);
  // What begins as a delivered address does tells nothing by its beginning.
  const isNew = url.href.endsWith(`//${novel}`);
  const {texts, isCut} = textsInAddress(isNew ? url : new URL(`http://known.invalid/${novel}`));
  return {kind: 'made-up', novel, match: privateText.find(texts), isCut};
}

/** A longer address is not looked through; nobody follows one to read a page. */
export const LONGEST_ADDRESS = 8192;
/** Characters that are looked through for one address, all readings together. */
const MOST_CHARACTERS = 200_000;
const LAYERS = 2;
/** What 16 characters become, at the least, in each encoding. */
const BASE64_RUN = /[A-Za-z0-9+/_-]{21,}/g;
const BASE32_RUN = /[A-Za-z2-7]{25,}/g;
const HEX_RUN = /[0-9A-Fa-f]{30,}/g;
/** Of bytes that were no text, nothing is left: each of them is readable once in three times. */
const READABLE = 12;
const READABLE_RUN = /[\t\n\r\x20-\x7e\u00a0-\ufffc]{12,}/g;
const READABLE_BYTES = Uint8Array.from({length: 256}, (_, byte) =>
  byte === 9 || byte === 10 || byte === 13 || (byte >= 32 && byte <= 126) ? 1 : 0,
);
/** RFC 4648, in either case: the five bits of a character. */
const BASE32_LETTERS = 'abcdefghijklmnopqrstuvwxyz234567';
const BASE32_BITS = Uint8Array.from({length: 128}, (_, code) =>
  Math.max(0, BASE32_LETTERS.indexOf(String.fromCharCode(code).toLowerCase())),
);

interface AddressTexts {
  readonly texts: readonly string[];
  /** There was more to look through than there is time for. */
  readonly isCut: boolean;
}

/**
 * Everything that an address may say: its labels, path, query and fragment, each as it is, put together without what
 * separates them, backwards, and out of percent, base64, base32 and hexadecimal digits, up to two layers deep. The
 * registered domain itself says nothing: whoever wants to be told must own it.
 */
export function textsInAddress(address: URL): AddressTexts {
  if (address.href.length > LONGEST_ADDRESS) return {texts: [], isCut: true};
  const seen = new Set<string>();
  let left = MOST_CHARACTERS;
  const take = (texts: Iterable<string>): readonly string[] => {
    const fresh: string[] = [];
    for (const text of texts) {
      if (text.length < GRAM || seen.has(text)) continue;
      left -= text.length;
      if (left < 0) break;
      seen.add(text);
      fresh.push(text);
    }
    return fresh;
  };
  let layer = take(written(address));
  for (let depth = 0; depth < LAYERS && layer.length > 0; depth += 1)
    layer = take(layer.flatMap(text => [...decoded(text)]));
  return {texts: [...seen], isCut: left < 0};
}

/** The address as it is, and its pieces put together: what separates them may have been put in between. */
function written({hostname, username, password, pathname, search, hash}: URL): readonly string[] {
  // A dot behind the last name makes no other host.
  const labels = /^[\d.]+$|:/.test(hostname) ? [] : hostname.replace(/\.$/, '').split('.').slice(0, -2);
  const segments = pathname.split('/').map(percentDecoded);
  const pairs = search
    .slice(1)
    .split('&')
    .map(pair => pair.split('='));
  const names = pairs.map(([name = '']) => percentDecoded(name));
  const values = pairs.map(([, ...value]) => percentDecoded(value.join('=')));
  const said = `${pathname}${search}${hash}`;
  return [
    percentDecoded(said),
    // In most queries a plus is a space.
    ...(said.includes('+') ? [percentDecoded(said.replaceAll('+', ' '))] : []),
    segments.join(''),
    values.join(''),
    ...(names.length > 2 ? [names.join('')] : []),
    labels.join(''),
    percentDecoded(`${username}${password}`),
    ...(labels.length > 0 ? [[...labels, ...segments, ...values].join('')] : []),
  ];
}

/** One layer off. Where an encoding begins is not known, so every offset is tried. */
function* decoded(text: string): Generator<string> {
  yield reversed(text);
  if (text.includes('%')) yield percentDecoded(text);
  // What separates groups may have been put in between.
  const joined = text.replace(/[^A-Za-z0-9+/]/g, '');
  for (const source of new Set([text, joined])) {
    for (const [run] of source.matchAll(HEX_RUN)) {
      for (const offset of [0, 1]) yield* readable(Buffer.from(evenLength(run.slice(offset)), 'hex'));
    }
    for (const [run] of source.matchAll(BASE64_RUN)) {
      for (const offset of [0, 1, 2, 3]) yield* readable(Buffer.from(run.slice(offset), 'base64'));
    }
    for (const [run] of source.matchAll(BASE32_RUN)) {
      for (let offset = 0; offset < 8; offset += 1) yield* readable(base32(run.slice(offset)));
    }
  }
}

/** By code units: a surrogate pair that comes apart matches nothing. */
function reversed(text: string): string {
  let backwards = '';
  for (let at = text.length - 1; at >= 0; at -= 1) backwards += text.charAt(at);
  return backwards;
}

function readable(bytes: Buffer): readonly string[] {
  if (isUtf8(bytes)) return bytes.toString('utf8').match(READABLE_RUN) ?? [];
  // Most of these are bytes of no meaning, for which strings would be made in vain.
  const texts: string[] = [];
  let start = 0;
  for (let at = 0; at <= bytes.length; at += 1) {
    if (READABLE_BYTES[bytes[at] ?? 0] === 1) continue;
    if (at - start >= READABLE) texts.push(bytes.toString('latin1', start, at));
    start = at + 1;
  }
  return texts;
}

function evenLength(digits: string): string {
  return digits.length % 2 === 0 ? digits : digits.slice(0, -1);
}

/** Without padding. */
function base32(text: string): Buffer {
  const bytes = Buffer.alloc(Math.floor((text.length * 5) / 8));
  let bits = 0;
  let value = 0;
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    value = ((value << 5) | (BASE32_BITS[text.charCodeAt(at)] ?? 0)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes[length] = (value >>> bits) & 0xff;
    length += 1;
  }
  return bytes.subarray(0, length);
}

/** What cannot be decoded stays as it is. */
function percentDecoded(text: string): string {
  return text.replace(/(?:%[0-9A-Fa-f]{2})+/g, run =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}

/** More links than these are not remembered; they count as made up then, which is stricter. */
const MOST_ADDRESSES = 65_536;
const MOST_BEGINNINGS = 131_072;
const MOST_A_TEXT = 20_000;
const LONGEST = 4096;
/** Directories of an address that are remembered as beginnings of others. */
const DEEPEST = 12;

const LINK = /https?:\/\/[^\s<>"'`\\\]]+/gi;

/**
 * The addresses that a run has been given, by their hashes, and what it costs to choose one: whoever follows one of n
 * links tells the server which of n it was, or that it was none. The links of all texts count, as a page may have its
 * links on many others, and be read in many parts.
 */
export class KnownAddresses {
  readonly #given = new Set<string>();
  readonly #requested = new Set<string>();
  readonly #beginnings = new Set<string>();

  /** Takes in the links of one delivered text, and says how many there are. */
  addLinks(text: string): number {
    // Markdown writes an ampersand before what would be an entity with a backslash.
    const links = linksIn(text.replaceAll('\\&', '&'));
    for (const url of links.found) {
      if (this.#given.size < MOST_ADDRESSES) this.#given.add(keyOf(url));
      this.#addBeginnings(url);
    }
    return links.total;
  }

  /** An address that was asked for before, by whatever decision: to ask again says which of them. */
  addRequested(url: URL): void {
    if (this.#requested.size >= MOST_ADDRESSES) return;
    this.#requested.add(keyOf(url));
    this.#addBeginnings(url);
  }

  /** What the choice of the address says now, in bits; `undefined` for one that was not given. */
  bitsOf(url: URL): number | undefined {
    const key = keyOf(url);
    const choices = [this.#given, this.#requested].filter(all => all.has(key)).map(({size}) => size);
    return choices.length === 0 ? undefined : Math.log2(Math.min(...choices) + 1);
  }

  /** The end of the address that no delivered address begins with. */
  newPart(url: URL): string {
    const beginnings = beginningsOf(url);
    const known = beginnings.findLast(beginning => this.#beginnings.has(hashOf(beginning))) ?? '';
    return known === '' ? url.href.replace(/^https?:\/\//, '') : url.href.slice(known.length);
  }

  #addBeginnings(url: URL): void {
    for (const beginning of beginningsOf(url)) {
      if (this.#beginnings.size < MOST_BEGINNINGS) this.#beginnings.add(hashOf(beginning));
    }
  }
}

function linksIn(text: string): {readonly found: readonly URL[]; readonly total: number} {
  const written = new Set<string>();
  let total = 0;
  for (const [match] of text.matchAll(LINK)) {
    total += 1;
    if (written.size < MOST_A_TEXT && match.length <= LONGEST) written.add(match);
  }
  const distinct = written.size < MOST_A_TEXT ? written.size : total;
  const found: URL[] = [];
  for (const link of written) {
    const [inside = ''] = link.split(')', 1);
    // Beyond a parenthesis it is the Markdown around the link, unless the link has opened one. Each reading is a choice.
    const whole = link.includes('(') ? [link, inside] : [inside];
    const ends = [/[,.;:!?*_|]+$/, /[),.;:!?*_|]+$/];
    for (const form of new Set(whole.flatMap(one => [one, ...ends.map(end => one.replace(end, ''))]))) {
      const url = toUrl(form);
      if (url !== undefined) found.push(url);
    }
  }
  return {found, total: distinct};
}

/** `https://a.example/`, `https://a.example/b/`, … */
function beginningsOf({origin, pathname}: URL): readonly string[] {
  const names = pathname.split('/').slice(1, -1).slice(0, DEEPEST);
  return [`${origin}/`, ...names.map((_, at) => `${origin}/${names.slice(0, at + 1).join('/')}/`)];
}

function keyOf({href, hash}: URL): string {
  // An empty fragment is none.
  return hashOf(hash === '' ? href.replace(/#$/, '') : href);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64').slice(0, 16);
}
