import {createHash} from 'node:crypto';
import {toUrl} from '../../core/text/to-url.ts';

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
 * links tells the server which of n it was, or that it was none.
 */
export class KnownAddresses {
  readonly #bits = new Map<string, number>();
  readonly #requested = new Set<string>();
  readonly #beginnings = new Set<string>();

  /** Takes in the links of one delivered text, and says how many there are. */
  addLinks(text: string): number {
    // Markdown writes an ampersand before what would be an entity with a backslash.
    const links = linksIn(text.replaceAll('\\&', '&'));
    const bits = Math.log2(links.total + 1);
    for (const url of links.found) {
      const key = keyOf(url);
      const known = this.#bits.get(key);
      // On several pages: as dear as on the dearest.
      if (known !== undefined || this.#bits.size < MOST_ADDRESSES) {
        this.#bits.set(key, Math.max(bits, known ?? 0));
      }
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

  /** What the choice of the address says, in bits; `undefined` for one that was not given. */
  bitsOf(url: URL): number | undefined {
    const key = keyOf(url);
    const asked = this.#requested.has(key) ? Math.log2(this.#requested.size + 1) : undefined;
    const given = this.#bits.get(key);
    return asked === undefined || given === undefined ? (asked ?? given) : Math.min(asked, given);
  }

  /** The end of the address that no delivered address begins with. */
  novelPart(url: URL): string {
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
    // Beyond a parenthesis it may be the Markdown around the link, or the link.
    for (const form of new Set([
      link,
      inside,
      ...[/[,.;:!?*_|]+$/, /[),.;:!?*_|]+$/].map(end => link.replace(end, '')),
    ])) {
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
