import {codeSpan} from '../code-fence.ts';
import type {Emphasis} from './check-emphasis.ts';
import {escapeLines, type InlineKind} from './escape-lines.ts';
import {type Delimiters, escapeText} from './escape-text.ts';
import {CODE, EMPHASIS, IMAGE, type InlineBuffer, NO_LINK, STRONG, STRUCK, TEXT} from './inline-buffer.ts';
import {RunEnds} from './run-ends.ts';

export interface WrittenPieces {
  /** Joined, they are the Markdown; every delimiter is a part of its own. */
  readonly parts: readonly string[];
  readonly emphases: readonly Emphasis[];
}

/** Outermost first where two styles cover the same text. */
const STYLES = [STRUCK, EMPHASIS, STRONG];
const DELIMITERS = new Map([
  [EMPHASIS, '*'],
  [STRONG, '**'],
  [STRUCK, '~~'],
]);

/** Writes pieces with the delimiters of their styles and links: properly nested, each style wholly in or around a link. */
export function writePieces(buffer: InlineBuffer, delimiters: Delimiters, kind: InlineKind): WrittenPieces {
  const writer = new PieceWriter(buffer, delimiters, kind);
  for (let piece = 0; piece < buffer.kinds.length; piece++) writer.write(piece);
  writer.end();
  return writer;
}

class PieceWriter implements WrittenPieces {
  readonly parts: string[] = [];
  readonly emphases: Emphasis[] = [];
  readonly #buffer: InlineBuffer;
  readonly #delimiters: Delimiters;
  readonly #kind: InlineKind;
  readonly #ends: RunEnds;
  readonly #open: Emphasis[] = [];
  #link = NO_LINK;
  /** How many of the open emphases are around the open link. */
  #linkBase = 0;

  constructor(buffer: InlineBuffer, delimiters: Delimiters, kind: InlineKind) {
    this.#buffer = buffer;
    this.#delimiters = delimiters;
    this.#kind = kind;
    this.#ends = new RunEnds(buffer);
  }

  write(piece: number): void {
    const wanted = this.#buffer.styles[piece] ?? 0;
    const link = this.#buffer.links[piece] ?? NO_LINK;
    if (link !== this.#link) {
      this.#closeLink(piece);
      if (link !== NO_LINK) this.#openLink(link, wanted, piece);
    }
    if (this.#open.length > this.#linkBase) {
      const ending = this.#open.findIndex(
        ({style}, depth) => depth >= this.#linkBase && (wanted & style) === 0,
      );
      if (ending !== -1) this.#closeDownTo(ending, piece);
    }

    let text = this.#buffer.texts[piece] ?? '';
    const kind = this.#buffer.kinds[piece];
    if (kind === TEXT) text = this.#withoutFirstBlanks(text, wanted);
    if (text === '') return;
    this.#openStyles(wanted, piece, 0);
    if (kind === CODE) this.parts.push(codeSpan(text));
    else if (kind === IMAGE) this.parts.push(this.#image(text, this.#buffer.targets[piece] ?? ''));
    else this.parts.push(this.#text(text));
  }

  end(): void {
    const end = this.#buffer.kinds.length;
    this.#closeLink(end);
    this.#closeDownTo(0, end);
  }

  #text(text: string): string {
    const inLink = this.#link !== NO_LINK;
    // A line break may be a part of its own, where a style or a link has ended before it.
    const startsBlock = this.parts.length === 0 || this.parts[this.parts.length - 1]?.endsWith('\n') === true;
    return escapeLines(text, {delimiters: this.#delimiters, inLink, startsBlock, kind: this.#kind});
  }

  #image(alt: string, target: string): string {
    return `![${escapeText(alt, this.#delimiters, true)}](${target})`;
  }

  /** Blanks start no block, and stay outside a style that opens again because another has closed. */
  #withoutFirstBlanks(text: string, wanted: number): string {
    const isFirst = this.parts.length === 0;
    if (!isFirst && this.#openStyleMask() === wanted) return text;
    const core = text.trimStart();
    if (!isFirst && core.length < text.length) this.parts.push(text.slice(0, text.length - core.length));
    return core;
  }

  #openStyleMask(): number {
    let mask = 0;
    for (const {style} of this.#open) mask |= style;
    return mask;
  }

  #openLink(link: number, wanted: number, piece: number): void {
    if (wanted !== 0 || this.#open.length > 0) this.#changeStyles(wanted, piece, this.#ends.ofLink(piece));
    this.#guardBang(piece);
    this.parts.push('[');
    this.#link = link;
    this.#linkBase = this.#open.length;
  }

  /** Before a link that ends at `linkEnd`: a style is wholly in or around it. */
  #changeStyles(wanted: number, piece: number, linkEnd: number): void {
    const ending = this.#open.findIndex(
      ({style}) => (wanted & style) === 0 || this.#ends.ofStyle(style, piece) < linkEnd,
    );
    if (ending !== -1) this.#closeDownTo(ending, piece);
    this.#openStyles(wanted, piece, linkEnd);
  }

  #closeLink(piece: number): void {
    if (this.#link === NO_LINK) return;
    this.#closeDownTo(this.#linkBase, piece);
    this.parts.push(`](${this.#buffer.linkTargets[this.#link] ?? ''})`);
    this.#link = NO_LINK;
    this.#linkBase = 0;
  }

  /** `!` before a link would make it an image. */
  #guardBang(piece: number): void {
    const last = this.parts[this.parts.length - 1];
    if (this.#buffer.kinds[piece - 1] === TEXT && last?.endsWith('!')) {
      this.parts[this.parts.length - 1] = `${last.slice(0, -1)}\\!`;
    }
  }

  /** Opens the styles of a piece that last at least up to `end`, the longest first. */
  #openStyles(wanted: number, piece: number, end: number): void {
    const open = this.#openStyleMask();
    if ((wanted & ~open) === 0) return;
    const missing = STYLES.filter(style => (wanted & ~open & style) !== 0)
      .filter(style => this.#ends.ofStyle(style, piece) >= end)
      .sort((a, b) => this.#ends.ofStyle(b, piece) - this.#ends.ofStyle(a, piece));
    for (const style of missing) {
      const openPart = this.parts.push(DELIMITERS.get(style) ?? '') - 1;
      const emphasis = {style, firstPiece: piece, endPiece: piece, openPart, closePart: openPart};
      this.#open.push(emphasis);
      this.emphases.push(emphasis);
    }
  }

  #closeDownTo(depth: number, piece: number): void {
    while (this.#open.length > depth) {
      const emphasis = this.#open.pop();
      if (emphasis === undefined) return;
      emphasis.closePart = this.parts.push(DELIMITERS.get(emphasis.style) ?? '') - 1;
      emphasis.endPiece = piece;
    }
  }
}
