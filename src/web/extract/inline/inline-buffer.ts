// Holds the inline content of one block: pieces of text with their styles and links.

import {collapseBlanks, visibleText} from '../tree/visible-text.ts';
import {hasSpecial} from './escape.ts';

export const EMPHASIS = 1;
export const STRONG = 2;
export const STRUCK = 4;

/** Kinds of pieces. */
export const TEXT = 0;
export const CODE = 1;
export const IMAGE = 2;

/** No link around a piece. */
export const NO_LINK = 0;

const BLANK = /\s/;
/** What HTML does not collapse to one space. */
const SHOWN = /[^ \t\n\f\r]/;
/** What most texts have nothing of, and are written as they are: all but printable ASCII, and of that markup (`SPECIAL`) and two blanks. */
const UNUSUAL = /[^ !-%'-)+-;=-Z^a-}]| {2}/;
const FIRST_PLAIN = 0x21;
const LAST_PLAIN = 0x7e;

/**
 * The inline content of one block: pieces of text, code and images, each with the styles and the link it is in.
 * Markup is made of it when the block ends, so empty emphasis never exists and blanks are never inside an edge (D11).
 */
export class InlineBuffer {
  readonly kinds: number[] = [];
  readonly texts: string[] = [];
  readonly styles: number[] = [];
  readonly links: number[] = [];
  /** The target of an image piece, else empty. */
  readonly targets: string[] = [];
  /** The targets of the links that pieces name; index 0 is no link. */
  readonly linkTargets: string[] = [''];
  /** False where no text has a character that could be markup. */
  mayHoldMarkup = false;
  #blank = '';
  #blankStyle = 0;
  #blankLink = NO_LINK;

  get isEmpty(): boolean {
    return this.kinds.length === 0;
  }

  /** True after a line break that nothing has followed yet. */
  get endsWithLineBreak(): boolean {
    return this.#blank === '\n';
  }

  openLink(target: string): number {
    return this.linkTargets.push(target) - 1;
  }

  text(raw: string, style: number, link: number): void {
    // Most texts between tags are a line end and its indentation.
    if (!SHOWN.test(raw)) {
      if (raw !== '') this.blank(style, link);
      return;
    }
    let text = raw;
    if (UNUSUAL.test(raw)) {
      text = collapseBlanks(visibleText(raw));
      if (text === '') return;
      this.mayHoldMarkup ||= hasSpecial(text);
    }
    const start = text.startsWith(' ') ? 1 : 0;
    if (start === 1) this.blank(style, link);
    if (text.length === start) return;
    if (isBlankAt(text, start) && text.trim() === '') {
      // No-break spaces alone: on a line of their own they would be a blank line.
      this.blank(style, link);
      return;
    }
    const end = text.endsWith(' ') ? text.length - 1 : text.length;
    this.#appendText(start === 0 && end === text.length ? text : text.slice(start, end), style, link);
    if (end < text.length) this.blank(style, link);
  }

  code(raw: string, style: number, link: number): void {
    const text = collapseBlanks(visibleText(raw));
    if (text.startsWith(' ')) this.blank(style, link);
    const content = text.trim();
    if (content !== '') this.#append(CODE, content, style, link, '');
    if (text.endsWith(' ')) this.blank(style, link);
  }

  image(alt: string, target: string, style: number, link: number): void {
    this.mayHoldMarkup = true;
    this.#append(IMAGE, alt, style, link, target);
  }

  /** White space; it belongs to the styles that are open before, at and after it. */
  blank(style: number, link: number): void {
    this.#setBlank(this.#blank || ' ', style, link);
  }

  lineBreak(style: number, link: number): void {
    this.#setBlank('\n', style, link);
  }

  clear(): void {
    this.#blank = '';
    this.mayHoldMarkup = false;
    if (this.kinds.length > 0) this.#truncate(0);
  }

  /** Joins neighbours that no longer differ in style. */
  mergePieces(): void {
    let last = -1;
    for (let piece = 0; piece < this.kinds.length; piece++) {
      const kind = this.kinds[piece] ?? TEXT;
      const joins =
        last >= 0 &&
        kind !== IMAGE &&
        this.kinds[last] === kind &&
        this.styles[last] === this.styles[piece] &&
        this.links[last] === this.links[piece];
      if (joins) {
        this.texts[last] += this.texts[piece] ?? '';
        continue;
      }
      last++;
      this.kinds[last] = kind;
      this.texts[last] = this.texts[piece] ?? '';
      this.styles[last] = this.styles[piece] ?? 0;
      this.links[last] = this.links[piece] ?? NO_LINK;
      this.targets[last] = this.targets[piece] ?? '';
    }
    this.#truncate(last + 1);
  }

  #truncate(length: number): void {
    // Faster than setting lengths: there are few pieces, and very many blocks.
    while (this.kinds.length > length) {
      this.kinds.pop();
      this.texts.pop();
      this.styles.pop();
      this.links.pop();
      this.targets.pop();
    }
  }

  #setBlank(blank: string, style: number, link: number): void {
    const isFirst = this.#blank === '';
    this.#blankStyle = isFirst ? style : this.#blankStyle & style;
    this.#blankLink = isFirst || this.#blankLink === link ? link : NO_LINK;
    this.#blank = blank;
  }

  /** D11 for blanks that HTML does not collapse: a no-break space at the edge of emphasis moves outside too. */
  #appendText(text: string, style: number, link: number): void {
    if (style === 0 || !(isBlankAt(text, 0) || isBlankAt(text, text.length - 1))) {
      this.#append(TEXT, text, style, link, '');
      return;
    }
    const core = text.trim();
    const start = text.length - text.trimStart().length;
    if (start > 0) this.#append(TEXT, text.slice(0, start), 0, link, '');
    if (core !== '') this.#append(TEXT, core, style, link, '');
    const end = start + core.length;
    if (end < text.length) this.#append(TEXT, text.slice(end), 0, link, '');
  }

  #append(kind: number, text: string, style: number, link: number, target: string): void {
    const last = this.kinds.length - 1;
    if (last >= 0 && this.#blank !== '') {
      const blankStyle = this.#blankStyle & style & (this.styles[last] ?? 0);
      const blankLink = this.#blankLink === link && this.links[last] === link ? link : NO_LINK;
      const blank = this.#blank;
      this.#blank = '';
      this.#append(TEXT, blank, blankStyle, blankLink, '');
      this.#append(kind, text, style, link, target);
      return;
    }
    this.#blank = '';
    const continues =
      last >= 0 &&
      kind !== IMAGE &&
      this.kinds[last] === kind &&
      this.styles[last] === style &&
      this.links[last] === link;
    if (continues) {
      this.texts[last] += text;
      return;
    }
    this.kinds.push(kind);
    this.texts.push(text);
    this.styles.push(style);
    this.links.push(link);
    this.targets.push(target);
  }
}

function isBlankAt(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return (unit < FIRST_PLAIN || unit > LAST_PLAIN) && BLANK.test(text.charAt(at));
}

const STYLES = [EMPHASIS, STRONG, STRUCK];
/** Room for an end per style, found by the style's bit. */
const WIDTH = STRUCK + 1;

/** For every piece of a block, how far its styles and its link last: one pass from the end, when first asked. */
export class RunEnds {
  readonly #buffer: InlineBuffer;
  #styleEnds: readonly number[] | undefined;
  #linkEnds: readonly number[] | undefined;

  constructor(buffer: InlineBuffer) {
    this.#buffer = buffer;
  }

  /** The piece that no longer has the style that `piece` has. */
  ofStyle(style: number, piece: number): number {
    this.#styleEnds ??= styleEnds(this.#buffer);
    return this.#styleEnds[piece * WIDTH + style] ?? 0;
  }

  ofLink(piece: number): number {
    this.#linkEnds ??= linkEnds(this.#buffer);
    return this.#linkEnds[piece] ?? 0;
  }
}

function styleEnds({styles}: InlineBuffer): readonly number[] {
  const ends = new Array<number>(styles.length * WIDTH).fill(0);
  for (let piece = styles.length - 1; piece >= 0; piece--) {
    for (const style of STYLES) {
      if (((styles[piece] ?? 0) & style) === 0) continue;
      ends[piece * WIDTH + style] = ends[(piece + 1) * WIDTH + style] || piece + 1;
    }
  }
  return ends;
}

function linkEnds({links}: InlineBuffer): readonly number[] {
  const ends = new Array<number>(links.length).fill(0);
  for (let piece = links.length - 1; piece >= 0; piece--) {
    ends[piece] = links[piece] === links[piece + 1] ? (ends[piece + 1] ?? 0) : piece + 1;
  }
  return ends;
}
