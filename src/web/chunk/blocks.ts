import {closesFence, type Fence, leavesItem, openingFence} from './fence.ts';
import {contentEnd, contentStart} from './white-space.ts';

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
  const reader = new BlockReader();
  const blocks = reader.read(markdown);
  return blocks.concat(reader.finish());
}

export function startsItem(line: string, inList: boolean): boolean {
  return (inList ? DEEP_ITEM : ITEM).test(line.slice(0, MARKER_UNITS));
}

/** Finds the blocks of a document that comes in parts, and holds no more of it than the block that is open. */
export class BlockReader {
  /** The part of the document that is at hand, and where it starts. */
  #markdown = '';
  #offset = 0;
  /** Parts that are still to be read. */
  readonly #waiting: string[] = [];
  #waitingUnits = 0;
  /** Where the next line starts, and where the last block that was closed has ended. These places are in `#markdown`. */
  #next = 0;
  #lastEnd = 0;
  #blocks: Block[] = [];
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

  /** The blocks that end in what is there with this part, which may begin and end within a line. */
  read(part: string): Block[] {
    this.#waiting.push(part);
    this.#waitingUnits += part.length;
    // A block that goes on and on is not looked at again for every part of it.
    if (this.#waitingUnits < this.#markdown.length - this.#lastEnd) return [];
    this.#advance();
    for (let newline = this.#newline(); newline >= 0; newline = this.#newline()) {
      this.#line(this.#next, newline);
      this.#next = newline + 1;
    }
    return this.#take();
  }

  /** The blocks that are left when no further part comes. */
  finish(): Block[] {
    this.#advance();
    while (this.#next < this.#markdown.length) {
      const newline = this.#newline();
      const end = newline < 0 ? this.#markdown.length : newline;
      this.#line(this.#next, end);
      this.#next = end + 1;
    }
    this.#close();
    return this.#take();
  }

  /** The UTF-16 unit at a place of the document, from the end of the last block but one that `read` gave. */
  unitAt(place: number): number {
    return this.#markdown.charCodeAt(place - this.#offset);
  }

  #newline(): number {
    return this.#markdown.indexOf('\n', this.#next);
  }

  #take(): Block[] {
    const blocks = this.#blocks;
    this.#blocks = [];
    return blocks;
  }

  /** Goes on to the parts that wait, and leaves behind what is read. */
  #advance(): void {
    const read = this.#lastEnd;
    this.#markdown = this.#markdown.slice(read) + this.#waiting.join('');
    this.#waiting.length = 0;
    this.#waitingUnits = 0;
    this.#offset += read;
    this.#next -= read;
    this.#end -= read;
    this.#lastEnd = 0;
    if (this.#start >= 0) this.#start -= read;
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
    this.#lastEnd = contentEnd(this.#markdown, start, this.#end);
    const text = this.#markdown.slice(start, this.#lastEnd);
    const kind = this.#kind;
    const heading = headingOf(text);
    const block = {kind, text, start: this.#offset + start};
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
