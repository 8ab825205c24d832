// The targets of links and images of one document: made absolute, and written so that Markdown reads them.

import {toUrl} from '../../core/text/parse.ts';

const UNWANTED_SCHEME = /^(?:javascript|vbscript|data|blob):/i;
/** What would end a link target, or be read as an escape or as code. */
const TO_ENCODE = /[ ()\\`<>]/g;
const ENTITY = /&(?=(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});)/g;

/** Characters that no part of an address changes. */
const PLAIN = '\\w\\-~/?#=&+,:@!$*.%()';
/** Of them those that may mean something to Markdown. */
const MEANT = /[();]/;
/** Dot segments, and names in Punycode, are for the parser. */
const FOR_PARSER = /\/\.|%2e|xn--/i;
/** A name that is not read as a number: its last label has letters only. */
const PLAIN_ADDRESS = new RegExp(`^https?://(?:[a-z0-9-]+\\.)+[a-z]{2,}/[${PLAIN};]*$`);
const PLAIN_PATH = new RegExp(`^/(?!/)[${PLAIN};]*$`);
/** Without `;`, with which a `&` at the end of the page's own address would be an entity. */
const PLAIN_FRAGMENT = new RegExp(`^#[${PLAIN}]*$`);

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
    const url = toUrl(base);
    this.#base = url?.href;
    if (url !== undefined && /^https?:$/.test(url.protocol) && url.username + url.password === '') {
      this.#origin = url.origin;
      url.hash = '';
      this.#page = escapeTarget(url.href);
    }
    this.#charactersLeft = documentLength * TARGET_CHARACTERS_PER_CHARACTER + FREE_TARGET_CHARACTERS;
  }

  /** The absolute target as it is written in Markdown, or `undefined` where there is to be no link. */
  resolve(reference: string): string | undefined {
    const target = this.#plain(reference) ?? this.#remembered(reference);
    if (target === undefined || target.length > this.#charactersLeft) return undefined;
    this.#charactersLeft -= target.length;
    return target;
  }

  #remembered(reference: string): string | undefined {
    let target = this.#known.get(reference);
    if (target === undefined && !this.#known.has(reference)) {
      target = this.#parsed(reference);
      this.#known.set(reference, target);
    }
    return target;
  }

  /** The result of `#parsed` for the addresses of which that is plain to see: most of them. */
  #plain(reference: string): string | undefined {
    const before = this.#beforePlain(reference);
    if (before === undefined || FOR_PARSER.test(reference)) return undefined;
    return before + (MEANT.test(reference) ? escapeTarget(reference) : reference);
  }

  /** What makes a plain reference absolute; `undefined` for others. */
  #beforePlain(reference: string): string | undefined {
    switch (reference.charAt(0)) {
      case '/':
        return PLAIN_PATH.test(reference) ? this.#origin : undefined;
      case '#':
        return PLAIN_FRAGMENT.test(reference) ? this.#page : undefined;
      default:
        return PLAIN_ADDRESS.test(reference) ? '' : undefined;
    }
  }

  #parsed(reference: string): string | undefined {
    const href = toUrl(reference, this.#base)?.href;
    return href === undefined || UNWANTED_SCHEME.test(href) ? undefined : escapeTarget(href);
  }
}

function escapeTarget(href: string): string {
  return href.replace(TO_ENCODE, percentEncoded).replace(ENTITY, '\\&');
}

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
