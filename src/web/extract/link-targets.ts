const UNWANTED_SCHEME = /^(?:javascript|vbscript|data|blob):/i;
/** What would end a link target, or be read as an escape or as code. */
const TO_ENCODE = /[ ()\\`<>]/g;
const ENTITY = /&(?=(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});)/g;

/** Characters that no part of an address changes, and that mean nothing to Markdown; no `%`, for `%2e` is a dot. */
const PLAIN = '[\\w\\-~/?#=&+,:@!$*.]*';
/** A name that is not read as a number: its last label has letters only. */
const PLAIN_ADDRESS = new RegExp(`^https?://(?:[a-z0-9-]+\\.)+[a-z]{2,}/${PLAIN}$`);
const PLAIN_PATH = new RegExp(`^/(?!/)${PLAIN}$`);
const PLAIN_FRAGMENT = new RegExp(`^#${PLAIN}$`);

/** Links repeated by the parser (an unclosed `<a>`) must not make the output much longer than the page. */
const TARGET_CHARACTERS_PER_CHARACTER = 8;
const FREE_TARGET_CHARACTERS = 1_048_576;

/** FR-WF-13d, D7, D10: the targets of links and images of one document. */
export class LinkTargets {
  readonly #base: string | undefined;
  /** What stands before a path, and before a fragment, in an address that is relative to the base. */
  readonly #origin: string | undefined;
  readonly #page: string | undefined;
  readonly #known = new Map<string, string | undefined>();
  #charactersLeft: number;

  constructor(base: string, documentLength: number) {
    this.#base = URL.canParse(base) ? base : undefined;
    const url = this.#base === undefined ? undefined : new URL(this.#base);
    if (url !== undefined && /^https?:$/.test(url.protocol) && url.username + url.password === '') {
      this.#origin = url.origin;
      url.hash = '';
      this.#page = escapeTarget(url.href);
    }
    this.#charactersLeft = documentLength * TARGET_CHARACTERS_PER_CHARACTER + FREE_TARGET_CHARACTERS;
  }

  /** The absolute target as it is written in Markdown, or `undefined` where there is to be no link. */
  resolve(reference: string): string | undefined {
    let target = this.#known.get(reference);
    if (target === undefined && !this.#known.has(reference)) {
      target = this.#serialise(reference);
      this.#known.set(reference, target);
    }
    if (target === undefined || target.length > this.#charactersLeft) return undefined;
    this.#charactersLeft -= target.length;
    return target;
  }

  #serialise(reference: string): string | undefined {
    return this.#plain(reference) ?? this.#parsed(reference);
  }

  /** The result of `#parsed` for the addresses of which that is plain to see: most of them. */
  #plain(reference: string): string | undefined {
    // Dot segments, and names in Punycode, are for the parser.
    if (reference.includes('/.') || reference.includes('xn--')) return undefined;
    if (PLAIN_ADDRESS.test(reference)) return reference;
    if (this.#origin === undefined || this.#page === undefined) return undefined;
    if (PLAIN_PATH.test(reference)) return this.#origin + reference;
    return PLAIN_FRAGMENT.test(reference) ? this.#page + reference : undefined;
  }

  #parsed(reference: string): string | undefined {
    if (!URL.canParse(reference, this.#base)) return undefined;
    const {href} = new URL(reference, this.#base);
    if (UNWANTED_SCHEME.test(href)) return undefined;
    return escapeTarget(href);
  }
}

function escapeTarget(href: string): string {
  return href.replace(TO_ENCODE, percentEncoded).replace(ENTITY, '\\&');
}

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
