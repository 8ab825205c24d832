// The text of one PDF page, in reading order.

import {escapeLines, pairingDelimiters} from '../inline/escape.ts';
import {visibleText} from '../tree/visible-text.ts';

/** A run of text as it is drawn; lengths in points, y upwards. */
export interface TextRun {
  readonly str: string;
  readonly transform: readonly number[];
  readonly width: number;
  readonly height: number;
  readonly hasEOL: boolean;
}

interface Line {
  readonly text: string;
  readonly y: number;
  readonly height: number;
}

/** Lines further apart than this, in heights of a line, are of two paragraphs. */
const PARAGRAPH_GAP = 1.7;
const HYPHENATED = /\p{L}[-\u2010]$/u;
const GOES_ON = /^\p{Ll}/u;

/** The text of a page: lines, put together to paragraphs by the space between them. */
export class PageText {
  readonly #lines: Line[] = [];
  #text = '';
  #y = 0;
  #height = 0;

  add({str, transform, height, hasEOL}: TextRun): void {
    if (str.trim() !== '') {
      if (this.#text.trim() === '') this.#y = transform[5] ?? 0;
      this.#height = Math.max(this.#height, height);
    }
    this.#text += str;
    if (hasEOL) this.#endLine();
  }

  markdown(): string {
    this.#endLine();
    const paragraphs: string[] = [];
    let paragraph = '';
    let above: Line | undefined;
    for (const line of this.#lines) {
      if (above !== undefined && isApart(above, line)) {
        paragraphs.push(paragraph);
        paragraph = line.text;
      } else if (HYPHENATED.test(paragraph) && GOES_ON.test(line.text)) {
        paragraph = `${paragraph.slice(0, -1)}${line.text}`;
      } else {
        paragraph = paragraph === '' ? line.text : `${paragraph}\n${line.text}`;
      }
      above = line;
    }
    paragraphs.push(paragraph);
    return paragraphs
      .filter(text => text !== '')
      .map(escapeParagraph)
      .join('\n\n');
  }

  #endLine(): void {
    const written = this.#text.trimEnd().replace(/\u00ad$/, '-');
    const text = visibleText(written).replace(/\s+/g, ' ').trim();
    if (text !== '') this.#lines.push({text, y: this.#y, height: this.#height});
    this.#text = '';
    this.#height = 0;
  }
}

/** Upwards is the next column, where a paragraph may go on. */
function isApart(above: Line, line: Line): boolean {
  const distance = above.y - line.y;
  return distance > PARAGRAPH_GAP * Math.max(above.height, line.height, 1);
}

/** Ruling D7: what is drawn is text, whatever it would mean in Markdown. */
function escapeParagraph(text: string): string {
  const delimiters = pairingDelimiters([text], false);
  return escapeLines(text, {delimiters, inLink: false, startsBlock: true, kind: 'paragraph'});
}

/** Runs of one baseline, in the order in which they are drawn. */
interface Row {
  readonly runs: readonly TextRun[];
  readonly y: number;
  readonly height: number;
}

/** A stretch without text from left to right. */
interface Gap {
  readonly from: number;
  readonly to: number;
}

/** A gap between words is narrower, in heights of a line. */
const GUTTER = 0.9;
/** Fewer rows with a gap at the same place are chance. */
const LEAST_ROWS = 4;
/** Cells of a table are shorter: its rows are read one by one. */
const WORDS_OF_PROSE = 4;
/** Columns within columns: up to eight of them. */
const DEEPEST = 3;

/**
 * The runs of a page as they are read. Most programs draw one column after the other. Where the lines of two columns
 * of prose were drawn row by row instead, the left one comes first; everything else stays as it was drawn.
 */
export function readingOrder(runs: readonly TextRun[], depth = 0): readonly TextRun[] {
  if (depth === DEEPEST) return runs;
  const rows = rowsOf(runs);
  const ordered: TextRun[][] = [];
  let at = 0;
  while (at < rows.length) {
    const {end, gutter} = columnsFrom(rows, at);
    const band = rows.slice(at, end);
    if (gutter === undefined) ordered.push(band.flatMap(row => row.runs));
    else {
      for (const isLeft of [true, false]) {
        const side = band.flatMap(row => asLine(sideOf(row.runs, gutter, isLeft)));
        ordered.push([...readingOrder(side, depth + 1)]);
      }
    }
    at = end;
  }
  return ordered.flat();
}

function rowsOf(runs: readonly TextRun[]): readonly Row[] {
  const rows: Row[] = [];
  let row: TextRun[] = [];
  let before: TextRun | undefined;
  const endRow = (): void => {
    const drawn = row.filter(isDrawn);
    const height = Math.max(0, ...drawn.slice(0, 1000).map(run => run.height));
    if (row.length > 0) rows.push({runs: row, y: drawn[0]?.transform[5] ?? Number.NaN, height});
    row = [];
  };
  for (const run of runs) {
    const drawn = isDrawn(run);
    if (before && drawn && Math.abs(yOf(before) - yOf(run)) > before.height / 2) endRow();
    if (drawn) before = run;
    row.push(run);
  }
  endRow();
  return rows;
}

/** The rows from `start` on that one gap parts; it is a gutter if there is prose on both sides of it. */
function columnsFrom(rows: readonly Row[], start: number): {readonly end: number; readonly gutter?: number} {
  let gap: Gap | undefined;
  let parted = 0;
  let end = start;
  let words = {left: 0, right: 0};
  for (; end < rows.length; end += 1) {
    const row = rows[end] as Row;
    const narrowed = narrow(row, gap);
    if (narrowed === undefined || !isBelow(rows[end - 1], row, end > start)) break;
    gap = narrowed;
    const middle = (gap.from + gap.to) / 2;
    const left = wordsIn(sideOf(row.runs, middle, true));
    const right = wordsIn(sideOf(row.runs, middle, false));
    if (left > 0 && right > 0) {
      parted += 1;
      words = {left: words.left + left, right: words.right + right};
    } else if (parted === 0) break;
  }
  const isProse = Math.min(words.left, words.right) >= WORDS_OF_PROSE * parted;
  // What was looked at is done with, so that all rows together are looked at once.
  if (gap === undefined || parted < LEAST_ROWS || !isProse) return {end: Math.max(end, start + 1)};
  return {end, gutter: (gap.from + gap.to) / 2};
}

/** What is left of the gap when a row is added, or the widest gap of the first; `undefined` where none is left. */
function narrow({runs, height}: Row, gap: Gap | undefined): Gap | undefined {
  const drawn = runs.filter(isDrawn).sort((a, b) => xOf(a) - xOf(b));
  let best: Gap | undefined;
  let right = Number.NEGATIVE_INFINITY;
  const consider = (from: number, to: number): void => {
    const found = gap ? {from: Math.max(from, gap.from), to: Math.min(to, gap.to)} : {from, to};
    if (!Number.isFinite(found.from) || !Number.isFinite(found.to)) return;
    if (found.to - found.from < GUTTER * height) return;
    if (best === undefined || found.to - found.from > best.to - best.from) best = found;
  };
  for (const run of drawn) {
    consider(right, xOf(run));
    right = Math.max(right, xOf(run) + run.width);
  }
  consider(right, Number.POSITIVE_INFINITY);
  return best;
}

/** A row goes on downwards, and not after a gap of many lines. */
function isBelow(above: Row | undefined, row: Row, isInside: boolean): boolean {
  if (!isInside || above === undefined || Number.isNaN(row.y) || Number.isNaN(above.y)) return true;
  const distance = above.y - row.y;
  return distance > 0 && distance < 4 * Math.max(above.height, row.height);
}

function sideOf(runs: readonly TextRun[], gutter: number, isLeft: boolean): readonly TextRun[] {
  return runs.filter(run => xOf(run) + run.width / 2 < gutter === isLeft);
}

function asLine(runs: readonly TextRun[]): readonly TextRun[] {
  const last = runs.findLastIndex(isDrawn);
  return runs.slice(0, last + 1).map((run, index) => ({...run, hasEOL: index === last}));
}

function wordsIn(runs: readonly TextRun[]): number {
  return runs.reduce((sum, {str}) => sum + (str.match(/\S+/g)?.length ?? 0), 0);
}

function isDrawn({str}: TextRun): boolean {
  return str.trim() !== '';
}

function xOf({transform}: TextRun): number {
  return transform[4] ?? 0;
}

function yOf({transform}: TextRun): number {
  return transform[5] ?? 0;
}
