import type {CellSpan} from './tree/cell-span.ts';

/** One wide row above many short ones must not make a table of their product. */
const PADDING_PER_CELL = 8;
const FREE_PADDING = 10_000;

/** FR-WF-EXT-TABLE-01: collects the cells of a table and writes them as a pipe table. */
export class TableBuilder {
  readonly #rows: string[][] = [];
  #headerRow = -1;
  #isRowOpen = false;
  /** Of each column the rows below that a cell above takes. */
  readonly #taken: number[] = [];
  #hasText = false;
  #width = 0;
  #cells = 0;
  /** Cells that are there because others span them. */
  #spanned = 0;
  #paddingLeft = 0;

  startRow(): void {
    this.#isRowOpen = false;
  }

  /** Adds a cell; `text` is inline Markdown of one line. R2: of one that spans others, the text stands in the first. */
  addCell(text: string, isHeader: boolean, span?: CellSpan): void {
    if (!this.#isRowOpen) {
      this.#rows.push([]);
      this.#isRowOpen = true;
    }
    const row = this.#rows.at(-1);
    if (row === undefined) return;
    // Rule 2: the first row with a header cell.
    if (isHeader && this.#headerRow === -1) this.#headerRow = this.#rows.length - 1;
    this.#skipTaken(row);
    const column = row.length;
    // Rules 4 and 5.
    row.push(text.replaceAll('\n', ' ').replaceAll('|', '\\|'));
    if (span) this.#addSpan(row, column, span);
    this.#hasText ||= text !== '';
    this.#width = Math.max(this.#width, row.length);
    this.#cells++;
  }

  #skipTaken(row: string[]): void {
    while ((this.#taken[row.length] ?? 0) > 0) {
      this.#taken[row.length] = (this.#taken[row.length] ?? 0) - 1;
      row.push('');
    }
  }

  #addSpan(row: string[], column: number, {columns, rows}: CellSpan): void {
    const left = this.#cells * PADDING_PER_CELL + FREE_PADDING - this.#spanned;
    if (columns * rows > left) return;
    this.#spanned += columns * rows;
    for (let at = column; at < column + columns; at++) {
      if (at > column) row.push('');
      if (rows > 1) this.#taken[at] = rows - 1;
    }
  }

  /** The pipe table, or `''` where no cell has text. */
  render(): string {
    if (!this.#hasText) return '';
    this.#paddingLeft = this.#cells * PADDING_PER_CELL + FREE_PADDING;
    const header = Math.max(this.#headerRow, 0);
    const lines = [this.#line(this.#rows[header] ?? []), `|${'---|'.repeat(this.#width)}`];
    for (const [index, row] of this.#rows.entries()) {
      if (index !== header) lines.push(this.#line(row));
    }
    return lines.join('\n');
  }

  // D9: padded to the widest row. GFM reads a shorter row the same way.
  #line(row: readonly string[]): string {
    let line = '|';
    for (const cell of row) line += cell === '' ? ' |' : ` ${cell} |`;
    const missing = Math.min(this.#width - row.length, this.#paddingLeft);
    this.#paddingLeft -= missing;
    return line + ' |'.repeat(missing);
  }
}
