const UNWANTED_SCHEME = /^(?:javascript|vbscript|data|blob):/i;
/** What would end a link target, or be read as an escape or as code. */
const TO_ENCODE = /[ ()\\`<>]/g;
const ENTITY = /&(?=(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});)/g;

/** Links repeated by the parser (an unclosed `<a>`) must not make the output much longer than the page. */
const TARGET_CHARACTERS_PER_CHARACTER = 8;
const FREE_TARGET_CHARACTERS = 1_048_576;

/** FR-WF-13d, D7, D10: the targets of links and images of one document. */
export class LinkTargets {
  readonly #base: string | undefined;
  readonly #known = new Map<string, string | undefined>();
  #charactersLeft: number;

  constructor(base: string, documentLength: number) {
    this.#base = URL.canParse(base) ? base : undefined;
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
    if (!URL.canParse(reference, this.#base)) return undefined;
    const {href} = new URL(reference, this.#base);
    if (UNWANTED_SCHEME.test(href)) return undefined;
    return href.replace(TO_ENCODE, percentEncoded).replace(ENTITY, '\\&');
  }
}

function percentEncoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}
