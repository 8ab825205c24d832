// Writes Markdown blocks: containers, prefixes and blank lines.

type BlockKind = 'paragraph' | 'heading' | 'fence' | 'rule' | 'table' | 'quote';

/** An open list item. */
interface Item {
  /** D6: two spaces for every list around its list. */
  readonly indent: number;
  readonly marker: string;
  isWritten: boolean;
  /** Where its further blocks start, so that CommonMark takes them for its own. */
  contentColumn: number;
}

/** The items open since the innermost block quote, or since the start. */
interface Quote {
  readonly items: Item[];
  /** The content columns of the items that CommonMark has open here. */
  readonly columns: number[];
}

/** A page can nest deeper than its text is worth; beyond this, indentation would dwarf it. */
const MAX_LEVELS = 32;
/**
 * Writes blocks one after the other, each behind what its lists and block quotes put in front of a line.
 * Blocks are one blank line apart; a list has no blank lines unless CommonMark would misread it.
 */
export class BlockWriter {
  readonly #output: string[] = [];
  readonly #quotes: Quote[] = [{items: [], columns: []}];
  #listDepth = 0;
  #surplusQuotes = 0;
  /** Changes when an outermost list ends. */
  #listNumber = 0;
  /** The fewest quotes open since the last block. */
  #quoteFloor = 1;
  #last:
    | {kind: BlockKind; list: number; items: number; quotes: number; innermost: Item | undefined}
    | undefined;

  get isInItem(): boolean {
    return this.#itemCount > 0;
  }

  openList(): void {
    this.#listDepth++;
  }

  closeList(): void {
    this.#listDepth--;
    if (this.#listDepth === 0) this.#listNumber++;
  }

  /** `level` counts the lists around the item's own list. */
  openItem(level: number, marker: string): void {
    const indent = Math.min(level, MAX_LEVELS) * 2;
    this.#innermost.items.push({indent, marker, isWritten: false, contentColumn: 0});
  }

  closeItem(): void {
    this.#innermost.items.pop();
  }

  openQuote(): void {
    if (this.#quotes.length > MAX_LEVELS) this.#surplusQuotes++;
    else this.#quotes.push({items: [], columns: []});
  }

  closeQuote(): void {
    if (this.#surplusQuotes > 0) {
      this.#surplusQuotes--;
      return;
    }
    this.#quotes.pop();
    this.#quoteFloor = Math.min(this.#quoteFloor, this.#quotes.length);
  }

  write(kind: BlockKind, text: string): void {
    const itemCount = this.#itemCount;
    if (itemCount === 0 && this.#quotes.length === 1 && this.#quoteFloor === 1) {
      this.#writeOutside(kind, text);
      return;
    }
    this.#writeSeparator(kind);
    const [first, rest] = this.#prefixes(kind);
    // `- ---` would be a rule as a whole.
    const content = kind === 'rule' && first.endsWith('- ') ? '***' : text;
    if (first === '' && rest === '') {
      this.#output.push(content, '\n');
    } else if (!content.includes('\n')) {
      this.#output.push(first, content, '\n');
    } else {
      const blank = rest.trimEnd();
      let prefix = first;
      for (const line of content.split('\n')) {
        this.#output.push(line === '' && prefix === rest ? blank : prefix + line, '\n');
        prefix = rest;
      }
    }
    const innermost = this.#innermost.items.at(-1);
    this.#last = {kind, list: this.#listNumber, items: itemCount, quotes: this.#quotes.length, innermost};
    this.#quoteFloor = this.#quotes.length;
  }

  /** A block in no list and no block quote: nothing stands before its lines. */
  #writeOutside(kind: BlockKind, text: string): void {
    if (this.#last !== undefined) this.#output.push('\n');
    this.#output.push(text, '\n');
    this.#innermost.columns.length = 0;
    this.#last = {kind, list: this.#listNumber, items: 0, quotes: 1, innermost: undefined};
  }

  get isEmpty(): boolean {
    return this.#last === undefined;
  }

  toString(): string {
    return this.#output.join('');
  }

  get #innermost(): Quote {
    return this.#quotes.at(-1) ?? {items: [], columns: []};
  }

  get #itemCount(): number {
    let count = 0;
    for (const quote of this.#quotes) count += quote.items.length;
    return count;
  }

  #writeSeparator(kind: BlockKind): void {
    if (this.#last === undefined || !this.#needsBlankLine(kind)) return;
    let prefix = '';
    for (const [depth, quote] of this.#quotes.slice(0, this.#quoteFloor).entries()) {
      if (depth > 0) prefix += '> ';
      if (depth < this.#quoteFloor - 1) prefix += ' '.repeat(quote.items.at(-1)?.contentColumn ?? 0);
    }
    this.#output.push(prefix.trimEnd(), '\n');
  }

  #needsBlankLine(kind: BlockKind): boolean {
    const last = this.#last;
    const itemCount = this.#itemCount;
    if (last === undefined) return false;
    if (itemCount === 0 || last.items === 0 || last.list !== this.#listNumber) return true;
    const previous = last.quotes > this.#quoteFloor ? 'quote' : last.kind;
    const items = this.#quotes[this.#quoteFloor - 1]?.items ?? [];
    const firstNew = items.find(item => !item.isWritten);
    if (firstNew !== undefined) {
      // An item begins. Right after a paragraph of the item around it, only some markers begin a list.
      const around = items[items.indexOf(firstNew) - 1];
      const interrupts = /^(?:-|1\.) $/.test(firstNew.marker) && kind !== 'fence';
      return previous === 'paragraph' && last.innermost === around && !interrupts;
    }
    if (last.items > itemCount) return true;
    const next = this.#quotes.length > this.#quoteFloor ? 'quote' : kind;
    if (previous === 'quote') return next !== 'fence' && next !== 'heading';
    if (previous === 'table' || next === 'table') return true;
    return previous === 'paragraph' && next === 'rule';
  }

  /** What stands before the first and before every further line of the next block. */
  #prefixes(kind: BlockKind): [first: string, rest: string] {
    let first = '';
    let rest = '';
    for (const [depth, quote] of this.#quotes.entries()) {
      if (depth > 0) {
        first += '> ';
        rest += '> ';
      }
      const written = writeMarkers(quote);
      const column = written === '' ? continuationColumn(quote) : (quote.columns.at(-1) ?? 0);
      first += written || ' '.repeat(column);
      rest += ' '.repeat(column);
    }
    // A fence goes on a line of its own, where every reader looks for it.
    if (kind === 'fence' && first !== rest) first = `${ownLine(first.trimEnd())}\n${rest}`;
    return [first, rest];
  }
}

/** Three dashes on a line of their own would be a rule. */
function ownLine(markers: string): string {
  return markers.endsWith('- - -') ? `${markers.slice(0, -1)}+` : markers;
}

/** The markers of the items that have none yet, on one line; keeps `columns` as CommonMark will read that line. */
function writeMarkers({items, columns}: Quote): string {
  let line = '';
  for (const item of items) {
    if (item.isWritten) continue;
    line += ' '.repeat(Math.max(0, item.indent - line.length)) + item.marker;
    const start = line.length - item.marker.length;
    while ((columns.at(-1) ?? 0) > start) columns.pop();
    // Four columns in, a marker is no marker: where `1.` lists nest deeply, D6 indents less than CommonMark asks.
    if (start - (columns.at(-1) ?? 0) < 4) columns.push(line.length);
    item.isWritten = true;
    item.contentColumn = columns.at(-1) ?? 0;
  }
  return line;
}

function continuationColumn({items, columns}: Quote): number {
  const wanted = items.at(-1)?.contentColumn ?? 0;
  while ((columns.at(-1) ?? 0) > wanted) columns.pop();
  const base = columns.at(-1) ?? 0;
  return wanted - base < 4 ? wanted : base;
}

/** A fence may stand in block quotes and right after a list marker; what follows its backticks holds none. */
const FENCE = /^(?:[ \t>]|[-+*][ \t]|\d{1,9}[.)][ \t])*(`{3,})[^`]*$/;
const CLOSING_FENCE = /^[ \t>]*(`{3,})[ \t]*$/;

const MAX_BLANK_LINES = 2;

/**
 * FR-WF-13b: LF line ends, no blanks at line ends, at most two blank lines in a row, one LF at the end; `''` for
 * text without any content. Between code fences only line ends change (FR-WF-EXT-WS-01). Idempotent.
 */
export function normalizeWhitespace(text: string): string {
  if (text.trim() === '') return '';
  const lines: string[] = [];
  let fence = 0;
  let blankLines = 0;
  for (const rawLine of text.split('\n')) {
    const line = rawLine.endsWith('\r') ? withoutFinal(rawLine, 0x0d) : rawLine;
    if (fence > 0) {
      const closing = line.includes('`') ? CLOSING_FENCE.exec(line)?.[1] : undefined;
      const closes = closing !== undefined && closing.length >= fence;
      lines.push(closes ? line.trimEnd() : line);
      if (closes) fence = 0;
      continue;
    }
    const trimmed = line.trimEnd();
    blankLines = trimmed === '' ? blankLines + 1 : 0;
    if (blankLines > MAX_BLANK_LINES) continue;
    lines.push(trimmed);
    fence = (trimmed.includes('```') ? FENCE.exec(trimmed)?.[1]?.length : undefined) ?? 0;
  }
  return `${withoutFinal(lines.join('\n'), 0x0a)}\n`;
}

/** All CRs before an LF go, so that a second pass finds nothing to do. */
function withoutFinal(text: string, unit: number): string {
  let end = text.length;
  while (text.charCodeAt(end - 1) === unit) end--;
  return text.slice(0, end);
}
