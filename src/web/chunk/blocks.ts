// Cuts Markdown into blocks: text with its heading, lists and fenced code.

export type BlockKind = 'text' | 'list' | 'code';

export interface Block {
  readonly kind: BlockKind;
  /** From the start of its first line to the end of its last, without trailing white space. */
  readonly text: string;
  /** Where that starts in the document, in UTF-16 units. */
  readonly start: number;
  /** What a heading block names; absent on other blocks and on a heading without text. */
  readonly heading?: string;
}

const HEADING = /^#{1,6}(?:\s(.*))?$/s;
// FR-WF-CHK-LIST-01; deeper markers are continuation lines unless a list is already open.
const ITEM = /^\s{0,3}(?:[-+*]|\d+[.)])\s/;
const DEEP_ITEM = /^\s*(?:[-+*]|\d+[.)])\s/;
const INDENTED = /^(?: {2}|\t)/;
/** A marker is decided by the start of a line; what follows may be megabytes long. */
const MARKER_UNITS = 256;

/** FR-WF-15: headings start blocks, blank lines end them; fences and lists are blocks of their own. */
export function blocksOf(markdown: string): Block[] {
  return new BlockReader(markdown).read();
}

export function startsItem(line: string, inList: boolean): boolean {
  return (inList ? DEEP_ITEM : ITEM).test(line.slice(0, MARKER_UNITS));
}

class BlockReader {
  readonly #markdown: string;
  readonly #blocks: Block[] = [];
  /** Of the open block, or of the last one: a list is open until another block begins. */
  #kind: BlockKind = 'text';
  /** Where the open block starts; -1 if none is open. */
  #start = -1;
  #end = 0;
  #fence: Fence | undefined;
  /** A blank line was seen inside an open list, which goes on if an item follows. */
  #afterBlank = false;
  /** Indented blocks below a list belong to its items, so that their fences may be indented deeper. */
  #inList = false;

  constructor(markdown: string) {
    this.#markdown = markdown;
  }

  read(): Block[] {
    const {length} = this.#markdown;
    for (let next = 0; next < length; ) {
      const newline = this.#markdown.indexOf('\n', next);
      const end = newline < 0 ? length : newline;
      this.#line(next, end);
      next = end + 1;
    }
    this.#close();
    return this.#blocks;
  }

  #line(start: number, end: number): void {
    if (contentStart(this.#markdown, start, end) === end) {
      this.#blank();
      return;
    }
    const line = this.#markdown.slice(start, end);
    if (this.#fence && !leavesItem(line, this.#fence)) {
      this.#end = end;
      if (closesFence(line, this.#fence)) this.#fence = undefined;
      return;
    }
    if (this.#kind === 'list' && this.#continuesList(line, end)) return;
    this.#begin(line, start, end);
  }

  #blank(): void {
    if (this.#fence) return;
    if (this.#kind === 'list') this.#afterBlank = true;
    else this.#close();
  }

  /** FR-WF-CHK-LIST-01: an item, or a line of the item before it. */
  #continuesList(line: string, end: number): boolean {
    if (!startsItem(line, true) && (this.#afterBlank || !INDENTED.test(line))) return false;
    this.#fence = openingFence(line, true);
    this.#afterBlank = false;
    this.#end = end;
    return true;
  }

  #begin(line: string, start: number, end: number): void {
    if (!INDENTED.test(line)) this.#inList = false;
    const fence = openingFence(line, this.#inList);
    const item = !fence && startsItem(line, this.#inList);
    const heading = HEADING.test(line);
    const joins = this.#start >= 0 && this.#kind === 'text' && !fence && !item && !heading;
    if (!joins) {
      this.#close();
      this.#start = start;
      this.#kind = fence ? 'code' : item ? 'list' : 'text';
    }
    this.#fence = item ? openingFence(line, true) : fence;
    if (item) this.#inList = true;
    this.#end = end;
  }

  #close(): void {
    if (this.#start < 0) return;
    const start = this.#start;
    const text = this.#markdown.slice(start, contentEnd(this.#markdown, start, this.#end));
    const kind = this.#kind;
    const heading = headingOf(text);
    const block = {kind, text, start};
    this.#blocks.push(heading === '' ? block : {...block, heading});
    this.#start = -1;
    this.#afterBlank = false;
  }
}

/** FR-WF-CHK-HEAD-01: the text behind the marks of a block that starts with an ATX heading. */
function headingOf(text: string): string {
  const newline = text.indexOf('\n');
  return HEADING.exec(newline < 0 ? text : text.slice(0, newline))?.[1]?.trim() ?? '';
}

/** An open code fence: what has to be seen for it to close. */
export interface Fence {
  readonly mark: '`' | '~';
  readonly length: number;
  /** A fence in a list item also ends where the item does. */
  readonly inItem: boolean;
}

// CommonMark 4.5: the info string of a backtick fence holds no backtick.
const OPENING = /^([ \t]*)(`{3,}(?=[^`]*$)|~{3,})/;
const ITEM_MARKER = /^[ \t]*(?:[-+*]|\d{1,9}[.)])[ \t]/;

/**
 * Outside lists a fence is indented by three blanks at most. In a list it may be indented as deep as its item, or
 * follow the marker of the item. (FR-WF-CHK-CODE-01)
 */
export function openingFence(line: string, inList: boolean): Fence | undefined {
  const marker = inList ? (ITEM_MARKER.exec(line)?.[0] ?? '') : '';
  const [, indent = '', fence] = OPENING.exec(line.slice(marker.length)) ?? [];
  if (fence === undefined) return undefined;
  const inItem = marker !== '' || (inList && INDENTED.test(indent));
  if (!inItem && (indent.length > 3 || indent.includes('\t'))) return undefined;
  return {mark: fence.startsWith('`') ? '`' : '~', length: fence.length, inItem};
}

/** A closing fence is at least as long as the opening one, of the same character, with nothing behind it. */
export function closesFence(line: string, fence: Fence): boolean {
  const mark = line.trim();
  if (mark.length < fence.length) return false;
  for (const character of mark) if (character !== fence.mark) return false;
  return true;
}

/** A line that is indented less than the item ends an unclosed fence inside it. */
export function leavesItem(line: string, fence: Fence): boolean {
  return fence.inItem && !INDENTED.test(line) && contentStart(line, 0, line.length) < line.length;
}

/** Unicode's White_Space, of which every character is a single UTF-16 unit. U+FEFF is not in it. */
export function isWhiteSpace(unit: number): boolean {
  if (unit < 0x80) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  return (
    unit === 0x85 ||
    unit === 0xa0 ||
    unit === 0x1680 ||
    (unit >= 0x2000 && unit <= 0x200a) ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x202f ||
    unit === 0x205f ||
    unit === 0x3000
  );
}

/** The first place in `[from, to)` that is no white space; `to` if there is none. */
export function contentStart(text: string, from: number, to: number): number {
  let at = from;
  while (at < to && isWhiteSpace(text.charCodeAt(at))) at++;
  return at;
}

/** The end of `[from, to)` without its trailing white space. */
export function contentEnd(text: string, from: number, to: number): number {
  let at = to;
  while (at > from && isWhiteSpace(text.charCodeAt(at - 1))) at--;
  return at;
}

/** A carriage return ends a line in CommonMark, and would make counts depend on what follows a cut. */
export function withLineFeeds(markdown: string): string {
  return markdown.includes('\r') ? markdown.replaceAll(/\r\n?/g, '\n') : markdown;
}
