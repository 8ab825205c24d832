// Writes collected inline content as Markdown, with emphasis that parses as meant.

import {
  BLANK,
  characterClass,
  codeSpan,
  type Delimiters,
  escapeLines,
  escapeText,
  hasSpecial,
  type InlineKind,
  mayOpen,
  NOTHING_SPECIAL,
  pairingDelimiters,
  surelyOpens,
} from './escape.ts';
import {
  CODE,
  EMPHASIS,
  IMAGE,
  type InlineBuffer,
  NO_LINK,
  RunEnds,
  STRONG,
  STRUCK,
  TEXT,
} from './inline-buffer.ts';

export interface InlineContext {
  readonly kind: InlineKind;
  /** True where CommonMark may read the block together with its neighbours (lists, cells): nothing is left to pair. */
  readonly isJoined: boolean;
}

const MAX_ATTEMPTS = 4;

/** Turns the inline content of a block into Markdown; `''` for none. Lines are separated by LF. */
export function renderInline(buffer: InlineBuffer, context: InlineContext): string {
  const {kinds, texts, styles, links} = buffer;
  if (kinds.length === 1 && kinds[0] === TEXT && styles[0] === 0 && links[0] === NO_LINK) {
    const text = (texts[0] ?? '').trim();
    const delimiters = delimitersOf(buffer, context);
    const escaped = escapeLines(text, {delimiters, inLink: false, startsBlock: true, kind: context.kind});
    const markdown = finish(escaped, text, context);
    return isDefinition(markdown, context) ? `\\${markdown}` : markdown;
  }
  for (let attempt = 1; ; attempt++) {
    const {parts, emphases} = writePieces(buffer, delimitersOf(buffer, context), context.kind);
    const misread = emphases.length === 0 ? NOTHING : misreadEmphasis(parts, emphases);
    if (misread.size > 0) {
      dropStyles(buffer, attempt === MAX_ATTEMPTS ? new Set(emphases) : misread);
      continue;
    }
    const markdown = finish(parts.join('').trim(), texts.at(-1) ?? '', context);
    if (!isDefinition(markdown, context)) return markdown;
    if (links[0] === NO_LINK) return `\\${markdown}`;
    dropFirstLink(buffer);
  }
}

const NOTHING: ReadonlySet<Emphasis> = new Set();

function delimitersOf(buffer: InlineBuffer, context: InlineContext): Delimiters {
  const {kinds, texts, styles} = buffer;
  if (!buffer.mayHoldMarkup) return NOTHING_SPECIAL;
  const prose: string[] = [];
  for (const [piece, text] of texts.entries()) {
    if (kinds[piece] === CODE || !hasSpecial(text)) continue;
    // Blanks at the edge of a style go outside, and what was behind them is next to a delimiter then.
    prose.push(styles[piece] === 0 ? text : text.trim());
  }
  if (prose.length === 0) return NOTHING_SPECIAL;
  const delimiters = pairingDelimiters(prose, context.isJoined);
  delimiters.mail = texts.length > 1 && texts.some(text => text.includes('@'));
  for (const [piece, style] of styles.entries()) {
    if ((style & (EMPHASIS | STRONG)) !== 0) delimiters.star = true;
    if ((style & STRUCK) !== 0) delimiters.tilde = true;
    if (kinds[piece] === CODE) delimiters.backtick = true;
  }
  return delimiters;
}

/** What depends on the block as a whole. `lastText` is its last piece as in the page. */
function finish(markdown: string, lastText: string, context: InlineContext): string {
  if (context.kind === 'heading') return escapeClosingSequence(markdown, lastText.trimEnd());
  if (!markdown.includes('\n')) return markdown;
  return markdown
    .split('\n')
    .map(line => line.trimEnd())
    .join('\n');
}

/** A run of # at the end of a heading line, after a blank, would vanish. */
function escapeClosingSequence(markdown: string, lastText: string): string {
  if (!lastText.endsWith('#') || !markdown.endsWith('#')) return markdown;
  let start = markdown.length;
  while (markdown.charAt(start - 1) === '#') start--;
  const isSequence = start === 0 || /\s/.test(markdown.charAt(start - 1));
  return isSequence ? `${markdown.slice(0, start)}\\${markdown.slice(start)}` : markdown;
}

const DEFINITION = /^\[(?:[^\\[\]]|\\[^\n])*\]:/;

/** A paragraph that begins like a link reference definition vanishes; even code in it does not help. */
function isDefinition(markdown: string, context: InlineContext): boolean {
  return context.kind === 'paragraph' && markdown.startsWith('[') && DEFINITION.test(markdown);
}

function dropFirstLink(buffer: InlineBuffer): void {
  const first = buffer.links[0];
  for (let piece = 0; buffer.links[piece] === first && piece < buffer.links.length; piece++) {
    buffer.links[piece] = NO_LINK;
  }
  buffer.mergePieces();
}

function dropStyles(buffer: InlineBuffer, misread: ReadonlySet<Emphasis>): void {
  for (const {style, firstPiece, endPiece} of misread) {
    for (let piece = firstPiece; piece < endPiece; piece++) {
      buffer.styles[piece] = (buffer.styles[piece] ?? 0) & ~style;
    }
  }
  buffer.mergePieces();
}

/** A pair of delimiters of ours, by the positions of the two among the parts of a block. */
interface Emphasis {
  readonly style: number;
  readonly firstPiece: number;
  endPiece: number;
  readonly openPart: number;
  closePart: number;
}

/** Delimiters side by side, which CommonMark reads as one run. */
interface Run {
  readonly opens: Emphasis[];
  readonly closes: Emphasis[];
  readonly character: string;
  length: number;
  canOpen: boolean;
  canClose: boolean;
}

/**
 * Reads the delimiters as CommonMark does (its "process emphasis") and returns those that would not pair up
 * as meant, none where all do.
 */
function misreadEmphasis(parts: readonly string[], emphases: readonly Emphasis[]): ReadonlySet<Emphasis> {
  if (isUnambiguous(parts, emphases)) return NOTHING;
  const misread = new Set<Emphasis>();
  const runs = collectRuns(parts, emphases, misread);
  if (misread.size === 0) pairRuns(runs, misread);
  return misread;
}

/** Most blocks: no delimiter of ours is inside or beside another pair, and each can be read in one way only. */
function isUnambiguous(parts: readonly string[], emphases: readonly Emphasis[]): boolean {
  let end = -1;
  for (const {openPart, closePart} of emphases) {
    if (openPart <= end + 1 && end !== -1) return false;
    if (!isSureOpener(classBefore(parts, openPart), classAfter(parts, openPart))) return false;
    if (!isSureOpener(classAfter(parts, closePart), classBefore(parts, closePart))) return false;
    end = closePart;
  }
  return true;
}

/** Whether a delimiter opens in every reading and closes in none; the other way round for its mirror image. */
function isSureOpener(before: number, after: number): boolean {
  return surelyOpens(before, after) && !mayOpen(after, before);
}

function classBefore(parts: readonly string[], part: number): number {
  const previous = parts[part - 1] ?? '';
  return characterClass(previous.charCodeAt(previous.length - 1));
}

function classAfter(parts: readonly string[], part: number): number {
  return characterClass((parts[part + 1] ?? '').charCodeAt(0));
}

function collectRuns(parts: readonly string[], emphases: readonly Emphasis[], misread: Set<Emphasis>): Run[] {
  const opening = new Map(emphases.map(emphasis => [emphasis.openPart, emphasis]));
  const closing = new Map(emphases.map(emphasis => [emphasis.closePart, emphasis]));
  const isDelimiter = (part: number): boolean => opening.has(part) || closing.has(part);
  const runs: Run[] = [];
  const positions = [...opening.keys(), ...closing.keys()].sort((a, b) => a - b);
  for (let index = 0; index < positions.length; ) {
    const first = positions[index] ?? 0;
    const character = (parts[first] ?? '').charAt(0);
    const run: Run = {opens: [], closes: [], character, length: 0, canOpen: false, canClose: false};
    let part = first;
    while (isDelimiter(part) && (parts[part] ?? '').charAt(0) === character) {
      const opened = opening.get(part);
      const closed = closing.get(part);
      if (opened) run.opens.push(opened);
      if (closed) run.closes.push(closed);
      run.length += (parts[part] ?? '').length;
      part++;
      index++;
    }
    const previous = first === 0 ? '' : (parts[first - 1] ?? '');
    const before = characterClass(previous.charCodeAt(previous.length - 1));
    const after = part < parts.length ? characterClass((parts[part] ?? '').charCodeAt(0)) : BLANK;
    run.canOpen = mayOpen(before, after);
    run.canClose = mayOpen(after, before);
    if (!surelyOpens(before, after)) for (const emphasis of run.opens) misread.add(emphasis);
    if (!surelyOpens(after, before)) for (const emphasis of run.closes) misread.add(emphasis);
    if (character === '~' && run.opens.length + run.closes.length > 1) {
      for (const emphasis of [...run.opens, ...run.closes]) misread.add(emphasis);
    }
    runs.push(run);
  }
  return runs;
}

interface Opener {
  readonly run: Run;
  left: number;
}

function pairRuns(runs: readonly Run[], misread: Set<Emphasis>): void {
  const openers: Opener[] = [];
  for (const run of runs) {
    if (run.character === '~') continue;
    let left = run.length;
    let closed = 0;
    for (let at = openers.length - 1; at >= 0 && left > 0 && run.canClose; ) {
      const opener = openers[at];
      if (opener === undefined) break;
      if (isOddMatch(opener.run, run)) {
        at--;
        continue;
      }
      const width = opener.left >= 2 && left >= 2 ? 2 : 1;
      const inner = opener.run.opens.at(-1);
      const meant = run.closes[closed];
      if (at !== openers.length - 1 || inner === undefined || inner !== meant || widthOf(inner) !== width) {
        for (const emphasis of [...opener.run.opens, ...run.closes]) misread.add(emphasis);
        for (const skipped of openers.slice(at))
          for (const emphasis of skipped.run.opens) misread.add(emphasis);
        for (const emphasis of run.opens) misread.add(emphasis);
        return;
      }
      opener.run.opens.pop();
      opener.left -= width;
      left -= width;
      closed++;
      if (opener.left === 0) {
        openers.pop();
        at = openers.length - 1;
      }
    }
    for (const emphasis of run.closes.slice(closed)) misread.add(emphasis);
    if (run.opens.length > 0) openers.push({run, left});
  }
  for (const {run} of openers) for (const emphasis of run.opens) misread.add(emphasis);
}

/** CommonMark's rule of three. */
function isOddMatch(opener: Run, closer: Run): boolean {
  const either = opener.canClose || closer.canOpen;
  const sum = opener.length + closer.length;
  return either && sum % 3 === 0 && !(opener.length % 3 === 0 && closer.length % 3 === 0);
}

function widthOf(emphasis: Emphasis): number {
  return emphasis.style === 1 ? 1 : 2;
}

interface WrittenPieces {
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
function writePieces(buffer: InlineBuffer, delimiters: Delimiters, kind: InlineKind): WrittenPieces {
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
