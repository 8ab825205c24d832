// Lays out text in columns: wrapped lines, text behind a bar, sizes and durations.
import {eastAsianWidth} from 'get-east-asian-width';
import {cutMiddle} from '../core/text/cut.ts';
import {showInvisible} from '../core/text/invisible.ts';
import {type Console, type Style, styled} from './console.ts';

/** Made with the first line: most starts of the command line print none. */
let graphemes: Intl.Segmenter | undefined;

/** One line as the rows of a terminal that is `width` columns wide; an empty line is one row. */
function breakColumns(line: string, width: number): readonly string[] {
  const rows: string[] = [];
  let row = '';
  let columns = 0;
  for (const segment of segmentsOf(line, width)) {
    const needed = terminalColumns(segment);
    if (row !== '' && columns + needed > width) {
      rows.push(row);
      row = '';
      columns = 0;
    }
    row += segment;
    columns += needed;
  }
  return [...rows, row];
}

/** Characters as a reader counts them; one that is wider than a row comes in code points. */
function* segmentsOf(line: string, width: number): Generator<string> {
  graphemes ??= new Intl.Segmenter(undefined, {granularity: 'grapheme'});
  for (const {segment} of graphemes.segment(line)) {
    if (terminalColumns(segment) > width) yield* segment;
    else yield segment;
  }
}

/** Marks that stand above, below or around another character and take no column of their own. */
const MARK = /^[\p{Mn}\p{Me}]$/u;

/**
 * The most columns that a terminal gives to a text without invisible characters. What is wide in some
 * terminals only ("ambiguous" of UAX #11) counts as wide: a line that is broken too early harms nobody.
 */
function terminalColumns(text: string): number {
  let columns = 0;
  for (const character of text) {
    if (MARK.test(character)) continue;
    columns += eastAsianWidth(character.codePointAt(0) ?? 0, {ambiguousAsWide: true});
  }
  return columns;
}

/** Prose at the width of a terminal. Code, tables and what else has meaning by its lines stays as it is. */
export function wrapMarkdown(markdown: string, width: number): string {
  let fence: string | undefined;
  return markdown
    .split('\n')
    .map(line => {
      const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
      if (fence !== undefined) {
        // The end of code has nothing behind it.
        const isEnd =
          mark !== undefined && mark[0] === fence[0] && mark.length >= fence.length && line.trim() === mark;
        if (isEnd) fence = undefined;
        return line;
      }
      if (mark !== undefined) {
        fence = mark;
        return line;
      }
      if (/^(?:\s*\||\s{0,3}#{1,6}\s| {4})/.test(line) && !/^\s*(?:[-*+]|\d+\.)\s/.test(line)) return line;
      // An item or a quote goes on below its text.
      const [lead = ''] = /^\s*(?:(?:[-*+]|\d+[.)])\s+|(?:>\s?)+)?/.exec(line) ?? [];
      const hang = lead.includes('>') ? lead : ' '.repeat(lead.length);
      return wrapText(line, width, hang);
    })
    .join('\n');
}

/**
 * Breaks lines at blanks, so that a terminal does not break them within words; what goes on is moved in by `hang`.
 * A word that is wider than the line is left whole, such as an address that somebody copies.
 */
export function wrapText(text: string, width: number, hang = ''): string {
  return text
    .split('\n')
    .map(line => wrapLine(line, width, hang))
    .join('\n');
}

function wrapLine(line: string, width: number, hang: string): string {
  if (terminalColumns(line) <= width) return line;
  const [start = ''] = /^\s*/.exec(line) ?? [];
  const rows: string[] = [];
  let row = start;
  let isEmpty = true;
  for (const word of line.slice(start.length).split(/(?<=\S)\s+(?=\S)/)) {
    if (!isEmpty && terminalColumns(`${row} ${word}`) > width) {
      rows.push(row);
      row = `${hang}${word}`;
      continue;
    }
    row += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...rows, row].join('\n');
}

const LONGEST = 12_000;
const QUOTE_BAR = '  │ ';
/** A terminal that is narrower than this cannot show a bar and a wide character beside it. */
const LEAST_WIDTH = 2;
/** More marks on one letter than any script has would run into the rows above and below. */
const STACKED_MARKS = /(?<=\p{M}{3})\p{M}/gu;

/**
 * What a call brings along, as rows behind a bar that it cannot step out of. Lines are broken here and not by
 * the terminal, and what cannot be seen is shown by its number, so that nothing of it can pass for a
 * question of ours (review R15). A diff has colours.
 */
export function quoted(text: string, console: Console): readonly string[] {
  const shown = showInvisible(cutMiddle(text.replace(/\n+$/, ''), LONGEST))
    .replaceAll('\t', '    ')
    .replace(STACKED_MARKS, mark => `\\u{${mark.codePointAt(0)?.toString(16)}}`);
  if (shown === '') return [];
  // One column stays free: some terminals begin a new row as soon as the last column is taken.
  const width = Math.max(LEAST_WIDTH, console.columns - terminalColumns(QUOTE_BAR) - 1);
  const isDiff = /^--- /m.test(shown) && /^@@ /m.test(shown);
  return shown.split('\n').flatMap(line => {
    const style = isDiff ? styleOf(line) : undefined;
    return breakColumns(line, width).map(row => QUOTE_BAR + (style ? styled(console, style, row) : row));
  });
}

function styleOf(line: string): Style | undefined {
  if (line.startsWith('--- ') || line.startsWith('+++ ')) return 'bold';
  if (line.startsWith('@@ ')) return 'cyan';
  if (line.startsWith('+')) return 'green';
  return line.startsWith('-') ? 'red' : undefined;
}

/** `1234567` as `1,234,567`. */
export function groupDigits(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

const TIME_UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'm'],
];

/** The two largest units that count: `45s`, `3m 20s`, `2h`, `7d 1h`. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  for (const [index, [size, name]] of TIME_UNITS.entries()) {
    if (seconds < size) continue;
    const [below, belowName] = TIME_UNITS[index + 1] ?? [1, 's'];
    const rest = Math.floor((seconds % size) / below);
    return `${Math.floor(seconds / size)}${name}${rest > 0 ? ` ${rest}${belowName}` : ''}`;
  }
  return `${seconds}s`;
}

const SIZE_UNITS = ['KiB', 'MiB', 'GiB', 'TiB'];

/** `512 B`, `1.5 KiB`, `200 MiB`. */
export function humanSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  let value = bytes / 1024;
  let unit = 0;
  // 1023.9 would be printed as 1024.
  while (value >= 1023.5 && unit < SIZE_UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value < 9.95 ? value.toFixed(1) : value.toFixed(0)} ${SIZE_UNITS[unit]}`;
}
