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
  const scanner = new BlockScanner(markdown);
  for (let start = 0; start < markdown.length; ) {
    const newline = markdown.indexOf('\n', start);
    const end = newline < 0 ? markdown.length : newline;
    scanner.line(start, end);
    start = end + 1;
  }
  return scanner.finish();
}

export function startsItem(line: string, inList: boolean): boolean {
  return (inList ? DEEP_ITEM : ITEM).test(line.slice(0, MARKER_UNITS));
}

class BlockScanner {
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

  line(start: number, end: number): void {
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

  finish(): Block[] {
    this.#close();
    return this.#blocks;
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
    this.#blocks.push(heading === '' ? {kind, text, start} : {kind, text, start, heading});
    this.#start = -1;
    this.#afterBlank = false;
  }
}

/** FR-WF-CHK-HEAD-01: the text behind the marks of a block that starts with an ATX heading. */
function headingOf(text: string): string {
  const newline = text.indexOf('\n');
  return HEADING.exec(newline < 0 ? text : text.slice(0, newline))?.[1]?.trim() ?? '';
}
