// Tells Markdown syntax from text: marks each unit, makes plain text, cuts segments, lists links.

import {
  type Block,
  blocksOf,
  closesFence,
  contentStart,
  type Fence,
  isWhiteSpace,
  openingFence,
} from '../chunk/blocks.ts';

const PUNCTUATION = /[!-/:-@[-`{-~]/;
const AUTOLINK = /^<[a-z][a-z0-9+.-]{1,31}:/i;
const AUTOLINK_UNITS = 40;

/** `[from, to)` of a text. */
type Stretch = readonly [from: number, to: number];

interface Bracket {
  readonly at: number;
  readonly isPicture: boolean;
}

/** Marks the inline syntax of `[from, to)`, which lies in one block. Linear in its length. */
export function markInline(markdown: string, from: number, to: number, marks: Uint8Array): void {
  const brackets: Bracket[] = [];
  const pictures: Stretch[] = [];
  const struck: Stretch[] = [];
  let strikeStart: number | undefined;
  let spans: CodeSpans | undefined;
  for (let at = from; at < to; ) {
    if (marks[at] === SYNTAX.block) {
      at += 1;
      continue;
    }
    switch (markdown[at]) {
      case '\\':
        if (at + 1 < to && PUNCTUATION.test(markdown.charAt(at + 1))) {
          marks[at] = SYNTAX.inline;
          at += 1;
        }
        at += 1;
        break;
      case '`': {
        spans ??= new CodeSpans(markdown, from, to);
        const length = runLength(markdown, at, to);
        const close = spans.closing(at + length, length);
        if (close !== undefined) {
          marks.fill(SYNTAX.inline, at, at + length);
          marks.fill(SYNTAX.inline, close, close + length);
          at = close;
        }
        at += length;
        break;
      }
      case '!':
        if (markdown[at + 1] === '[' && at + 1 < to) {
          brackets.push({at, isPicture: true});
          at += 1;
        }
        at += 1;
        break;
      case '[':
        brackets.push({at, isPicture: false});
        at += 1;
        break;
      case ']':
        {
          const bracket = brackets.pop();
          const end = closeBracket(markdown, bracket, at, to, marks);
          if (bracket?.isPicture && marks[at + 1] === SYNTAX.link) pictures.push([bracket.at, at]);
          at = end;
        }
        break;
      case '<': {
        const end = autolinkEnd(markdown, at, to);
        if (end !== undefined) {
          marks[at] = SYNTAX.inline;
          marks[end - 1] = SYNTAX.inline;
        }
        at = end ?? at + 1;
        break;
      }
      case '*':
      case '_':
      case '~': {
        const length = runLength(markdown, at, to);
        if (isStyle(markdown, at, length, from, to)) {
          marks.fill(SYNTAX.inline, at, at + length);
          if (markdown[at] === '~') {
            if (strikeStart === undefined) {
              if (!isWhiteSpace(markdown.charCodeAt(at + length))) strikeStart = at + length;
            } else if (!isWhiteSpace(markdown.charCodeAt(at - 1))) {
              struck.push([strikeStart, at]);
              strikeStart = undefined;
            }
          }
        }
        at += length;
        break;
      }
      default:
        at += 1;
    }
  }
  markText(struck, SYNTAX.struck, marks);
  markText(pictures, SYNTAX.picture, marks);
}

/** Marks what is text in the stretches, which may lie in each other: each unit is looked at once. */
function markText(stretches: readonly Stretch[], mark: number, marks: Uint8Array): void {
  let done = 0;
  for (const [from, to] of [...stretches].sort((a, b) => a[0] - b[0])) {
    for (let at = Math.max(from, done); at < to; at += 1) if (marks[at] === SYNTAX.text) marks[at] = mark;
    done = Math.max(done, to);
  }
}

/** Marks a link or picture that ends here, and says where to go on. */
function closeBracket(
  markdown: string,
  bracket: Bracket | undefined,
  at: number,
  to: number,
  marks: Uint8Array,
): number {
  if (bracket === undefined) return at + 1;
  const end = linkTargetEnd(markdown, at + 1, to);
  const {at: open, isPicture} = bracket;
  const textStart = open + (isPicture ? 2 : 1);
  if (isPicture) {
    const isBare = end !== undefined && textStart === at;
    marks.fill(isBare ? SYNTAX.link : SYNTAX.block, open, textStart);
    marks[at] = isBare ? SYNTAX.link : SYNTAX.block;
    if (end !== undefined) marks.fill(SYNTAX.link, at + 1, end);
  } else if (end !== undefined) {
    marks[open] = SYNTAX.link;
    marks.fill(SYNTAX.link, at, end);
  }
  return end ?? at + 1;
}

/**
 * Whether a run of marks can be emphasis or strike-through. Between two letters it counts as text, whatever
 * CommonMark makes of it: what is marked may be left out of a comparison, and no two words become one.
 */
function isStyle(markdown: string, at: number, length: number, from: number, to: number): boolean {
  if (markdown[at] === '~' && length !== 2) return false;
  const end = at + length;
  const isOpenBefore = at === from || isWhiteSpace(markdown.charCodeAt(at - 1));
  const isOpenBehind = end >= to || isWhiteSpace(markdown.charCodeAt(end));
  if (isOpenBefore && isOpenBehind) return false;
  return isOpenBefore || isOpenBehind || !(isWordAt(markdown, at - 1) && isWordAt(markdown, end));
}

function autolinkEnd(markdown: string, at: number, to: number): number | undefined {
  if (!AUTOLINK.test(markdown.slice(at, at + AUTOLINK_UNITS))) return undefined;
  for (let end = at + 1; end < to; end += 1) {
    const unit = markdown.charCodeAt(end);
    if (unit === 0x3e) return end + 1;
    if (unit === 0x3c || isWhiteSpace(unit)) return undefined;
  }
  return undefined;
}

function runLength(markdown: string, at: number, to: number): number {
  const mark = markdown.charCodeAt(at);
  let end = at + 1;
  while (end < to && markdown.charCodeAt(end) === mark) end += 1;
  return end - at;
}

/** The runs of backticks of a stretch, so that each is looked at once however many find no partner. */
class CodeSpans {
  /** Length of a run → where runs of that length start, the last one first. */
  readonly #runs = new Map<number, number[]>();

  constructor(markdown: string, from: number, to: number) {
    const found: [at: number, length: number][] = [];
    for (let at = markdown.indexOf('`', from); at >= 0 && at < to; at = markdown.indexOf('`', at)) {
      const length = runLength(markdown, at, to);
      found.push([at, length]);
      at += length;
    }
    for (const [at, length] of found.reverse()) {
      const runs = this.#runs.get(length);
      if (runs) runs.push(at);
      else this.#runs.set(length, [at]);
    }
  }

  /** The first run of `length` from `from` on. Asked for in rising order only. */
  closing(from: number, length: number): number | undefined {
    const runs = this.#runs.get(length) ?? [];
    while (runs.length > 0 && (runs.at(-1) ?? 0) < from) runs.pop();
    return runs.at(-1);
  }
}

const HEADING = /^ {0,3}#{1,6}(?=\s|$)/;
const QUOTE = /^ {0,3}(?:> ?)+/;
/** An item's bullet. Numbers stay text: a sentence of a plain-text page may start a line with one. */
const BULLET = /^\s*[-+*](?=\s|$)/;
const DELIMITER_ROW = /^\s*\|?[\s:|-]*-[\s:|-]*$/;
const RULE = /^ {0,3}(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$/;
const TABLE_ROW = /^\s*\|/;
/** What decides about a line stands at its start; the rest may be megabytes long. */
const LOOK_AHEAD = 256;

/** For each UTF-16 unit of a document, one of `SYNTAX`. Linear in its length. */
export function markSyntax(markdown: string, segments: readonly Segment[]): Uint8Array {
  const marks = new Uint8Array(markdown.length);
  for (const segment of segments) {
    markBlock(markdown, segment, marks);
    dropEmptied(markdown, segment, marks);
  }
  return marks;
}

/** Line by line; what lies between two fences, or a fence and an end, is inline text. */
function markBlock(markdown: string, {start, end, block}: Segment, marks: Uint8Array): void {
  const isList = block.kind === 'list';
  let fence: Fence | undefined;
  let inlineFrom = start;
  for (let from = start; from < end; ) {
    const newline = markdown.indexOf('\n', from);
    const to = newline < 0 || newline >= end ? end : newline;
    const line = markdown.slice(from, to);
    if (fence) {
      if (closesFence(line, fence)) {
        marks.fill(SYNTAX.block, from, to);
        fence = undefined;
      }
      inlineFrom = to;
    } else {
      fence = block.kind === 'text' ? undefined : openingFence(line, isList);
      if (fence) {
        markInline(markdown, inlineFrom, from, marks);
        marks.fill(SYNTAX.block, from, to);
        inlineFrom = to;
      } else {
        markLine(line, from, marks);
      }
    }
    from = to + 1;
  }
  markInline(markdown, inlineFrom, end, marks);
}

function markLine(line: string, from: number, marks: Uint8Array): void {
  const start = line.slice(0, LOOK_AHEAD);
  if (
    line.length < LOOK_AHEAD &&
    (RULE.test(start) || (TABLE_ROW.test(start) && DELIMITER_ROW.test(start)))
  ) {
    marks.fill(SYNTAX.block, from, from + line.length);
    return;
  }
  const quoteEnd = QUOTE.exec(start)?.[0].length ?? 0;
  const heading = HEADING.exec(start.slice(quoteEnd))?.[0].length;
  const at = quoteEnd + (heading ?? BULLET.exec(start.slice(quoteEnd))?.[0].length ?? 0);
  // The lines of a quoted paragraph go on across their marks, as they do across the line break.
  marks.fill(SYNTAX.inline, from, from + quoteEnd);
  marks.fill(SYNTAX.block, from + quoteEnd, from + at);
  // A heading ends with its line, whatever stands in the next one.
  if (heading !== undefined) marks.fill(SYNTAX.block, from + line.length, from + line.length + 1);
  if (!TABLE_ROW.test(start)) return;
  for (let bar = line.indexOf('|'); bar >= 0; bar = line.indexOf('|', bar + 1)) {
    if (line.charAt(bar - 1) !== '\\') marks[from + bar] = SYNTAX.block;
  }
}

/**
 * Without links, a block starts with what is not blank, as it does with them; a block of links without text is
 * nothing. So counts of tokens add up from block to block in both forms.
 */
function dropEmptied(markdown: string, {start, end, block}: Segment, marks: Uint8Array): void {
  const from = Math.max(start, block.start);
  const first = contentStart(markdown, from, end);
  if (first === end || marks[first] !== SYNTAX.link) return;
  let at = first;
  while (at < end && (marks[at] === SYNTAX.link || contentStart(markdown, at, at + 1) > at)) {
    marks[at] = SYNTAX.link;
    at += 1;
  }
  if (at === end) marks.fill(SYNTAX.link, from, first);
}

const SCHEME = /^\(<?[a-z][a-z0-9+.-]{0,31}:/i;
const SCHEME_UNITS = 36;

/**
 * The end of `(target)` or `(target "title")` at `at`. The target is absolute, as every link that was converted
 * is: in a plain-text page `list[i](x)` is no link. It holds no bare parenthesis, so what has no end is given up
 * at the next one, and a page of nothing but openings costs no more than its length.
 */
function linkTargetEnd(markdown: string, at: number, to: number): number | undefined {
  if (!SCHEME.test(markdown.slice(at, at + SCHEME_UNITS))) return undefined;
  for (let end = at + 1; end < to; end += 1) {
    const unit = markdown.charCodeAt(end);
    if (unit === 0x29) return end + 1;
    if (unit === 0x28) return undefined;
    if (isWhiteSpace(unit)) return titleEnd(markdown, end, to);
  }
  return undefined;
}

function titleEnd(markdown: string, from: number, to: number): number | undefined {
  if (markdown.charCodeAt(from + 1) !== 0x22) return undefined;
  for (let end = from + 2; end < to; end += 1) {
    const unit = markdown.charCodeAt(end);
    if (unit === 0x0a) return undefined;
    if (unit === 0x22) return markdown.charCodeAt(end + 1) === 0x29 && end + 1 < to ? end + 2 : undefined;
  }
  return undefined;
}

const WORD = /[\p{L}\p{N}\p{M}]/u;

/** Whether the code point that the unit at `at` belongs to is part of a word. */
export function isWordAt(text: string, at: number): boolean {
  if (at < 0 || at >= text.length) return false;
  const unit = text.charCodeAt(at);
  if (unit < 0x80) {
    return (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x30 && unit <= 0x39);
  }
  const isLowHalf = (unit & 0xfc00) === 0xdc00;
  return WORD.test(String.fromCodePoint(text.codePointAt(isLowHalf ? at - 1 : at) ?? 0));
}

/** What a reader sees of a text, in one spelling, and where each unit of it comes from. */
export interface PlainText {
  readonly text: string;
  /** Of each unit of `text`: the place in the source. */
  readonly places: Int32Array;
}

const SPACE = 0x20;
/** Of a block, cell or item: where `borders` are asked for, it stands in place of the blank. */
const BORDER = 0x0a;
/** Typographic characters and what they are compared as. */
const FOLDED: ReadonlyMap<number, string> = new Map([
  ...'‘’‚‛′´'.split('').map(mark => [mark.charCodeAt(0), "'"] as const),
  ...'“”„‟«»″'.split('').map(mark => [mark.charCodeAt(0), '"'] as const),
  ...'‐‑‒–—―−'.split('').map(mark => [mark.charCodeAt(0), '-'] as const),
  ['…'.charCodeAt(0), '...'],
]);
/** Seen by nobody: soft hyphen, zero-width space, word joiner, byte order mark. */
const UNSEEN: ReadonlySet<number> = new Set([0xad, 0x200b, 0x2060, 0xfeff]);

/**
 * Runs of white space are one blank, quotation marks and dashes are ASCII, accents are composed. With `marks`,
 * Markdown syntax is gone too. No letter or digit is lost, added or moved, so two texts that are the same here
 * have the same words. Without `folds`, characters stay as the page has them. With `borders`, a line feed stands
 * wherever a block, an item, a cell or a picture begins or ends.
 */
export function plainTextOf(
  source: string,
  marks?: Uint8Array,
  {folds = true, borders = false} = {},
): PlainText {
  const writer = new PlainWriter(source.length);
  let lineFeeds = 0;
  for (let at = 0; at < source.length; at += 1) {
    const mark = marks?.[at] ?? SYNTAX.text;
    if (mark === SYNTAX.link || mark === SYNTAX.inline) continue;
    const unit = source.charCodeAt(at);
    if (mark === SYNTAX.block || isWhiteSpace(unit)) {
      if (unit === BORDER) lineFeeds += 1;
      writer.blank(borders && (mark === SYNTAX.block || lineFeeds > 1));
      continue;
    }
    lineFeeds = 0;
    if (unit < 0x80 || !folds) writer.put(unit, at);
    else if (!UNSEEN.has(unit)) writer.fold(unit, at);
  }
  return writer.finish();
}

class PlainWriter {
  #units: Uint16Array;
  #places: Int32Array;
  #length = 0;
  /** What stands before the next character: `SPACE`, `BORDER` or nothing (0). */
  #blank = 0;

  constructor(length: number) {
    this.#units = new Uint16Array(length + 16);
    this.#places = new Int32Array(length + 16);
  }

  blank(isBorder: boolean): void {
    if (this.#length > 0) this.#blank = isBorder || this.#blank === BORDER ? BORDER : SPACE;
  }

  put(unit: number, place: number): void {
    if (this.#length + 2 > this.#units.length) this.#grow();
    if (this.#blank !== 0) {
      this.#units[this.#length] = this.#blank;
      this.#blank = 0;
      this.#places[this.#length] = place;
      this.#length += 1;
    }
    this.#units[this.#length] = unit;
    this.#places[this.#length] = place;
    this.#length += 1;
  }

  fold(unit: number, place: number): void {
    if (unit >= 0x300 && unit <= 0x36f && this.#compose(unit)) return;
    const folded = FOLDED.get(unit);
    if (folded === undefined) this.put(unit, place);
    else for (let index = 0; index < folded.length; index += 1) this.put(folded.charCodeAt(index), place);
  }

  finish(): PlainText {
    const parts: string[] = [];
    for (let from = 0; from < this.#length; from += 8192) {
      const units = this.#units.subarray(from, Math.min(this.#length, from + 8192));
      parts.push(String.fromCharCode(...units));
    }
    return {text: parts.join(''), places: this.#places.slice(0, this.#length)};
  }

  /** Makes one character of a letter and the accent behind it, if there is one. */
  #compose(accent: number): boolean {
    if (this.#blank !== 0 || this.#length === 0) return false;
    const letter = this.#units[this.#length - 1] as number;
    const composed = String.fromCharCode(letter, accent).normalize('NFC');
    if (composed.length !== 1) return false;
    this.#units[this.#length - 1] = composed.charCodeAt(0);
    return true;
  }

  #grow(): void {
    const units = new Uint16Array(2 * this.#units.length);
    units.set(this.#units);
    this.#units = units;
    const places = new Int32Array(2 * this.#places.length);
    places.set(this.#places);
    this.#places = places;
  }
}

/** What a UTF-16 unit of a document is for. */
export const SYNTAX = {
  /** Seen by a reader. */
  text: 0,
  /** The target of a link and the brackets around its text, or the target of a picture. */
  link: 1,
  /** Emphasis, backslashes of escapes, backticks, marks of quoted lines: gone when the page is rendered, with nothing in their place. */
  inline: 2,
  /** Marks of headings, items, tables, pictures and fences: gone, and a quote does not go on across them. */
  block: 3,
  /** Alternative text of a picture: read by who does not see the picture. */
  picture: 4,
  /** Text that is struck out. */
  struck: 5,
} as const;

/** A block with the white space behind it. Segments in order are the document. */
export interface Segment {
  readonly start: number;
  readonly end: number;
  readonly block: Block;
  /** 1 to 6 where the block is a heading with text; else 0. */
  readonly level: number;
}

/** `markdown` has line feeds only. White space in front of the first block belongs to its segment. */
export function segmentsOf(markdown: string): readonly Segment[] {
  const blocks = blocksOf(markdown);
  if (blocks.length === 0 && markdown !== '') blocks.push({kind: 'text', text: '', start: 0});
  return blocks.map((block, index) => ({
    start: index === 0 ? 0 : block.start,
    end: blocks[index + 1]?.start ?? markdown.length,
    block,
    level: block.heading === undefined ? 0 : block.text.search(/[^#]/),
  }));
}

const AUTOLINK_ANYWHERE = /<(https?:[^\s<>]{1,8192})>/gi;

/**
 * The addresses that a document links to, each once, in the order in which they come; no more than `most`. Images are
 * none. Targets are absolute, as every link that was converted is.
 */
export function linksOf(markdown: string, most: number): readonly string[] {
  const links = new Set<string>();
  for (let at = markdown.indexOf(']('); at >= 0 && links.size < most; at = markdown.indexOf('](', at + 2)) {
    const end = linkTargetEnd(markdown, at + 1, markdown.length);
    if (end === undefined || isImage(markdown, at)) continue;
    const [target = ''] = markdown.slice(at + 2, end - 1).split(/\s/, 1);
    links.add(target.replace(/^<|>$/g, '').replace(/\\([!-/:-@[-`{-~])/g, '$1'));
  }
  for (const [, target = ''] of markdown.matchAll(AUTOLINK_ANYWHERE)) {
    if (links.size >= most) break;
    links.add(target);
  }
  return [...links];
}

/** `![text](target)`, of which the text holds no bracket: a picture that is itself a link ends with `)](`. */
function isImage(markdown: string, close: number): boolean {
  const open = markdown.lastIndexOf('[', close - 1);
  return open > 0 && markdown[open - 1] === '!' && !markdown.slice(open, close).includes(']');
}
