import {takeStart} from '../../core/text/take-start.ts';

interface ReadAnswer {
  readonly content: string;
  readonly total_lines: number;
  readonly start_line: number;
  readonly end_line: number;
  readonly left_out?: {readonly start_line: number; readonly end_line: number} | undefined;
  readonly line_numbers?: true | undefined;
}

/** Characters of lines; the header comes on top. Hosts cut or refuse texts that are much longer. */
const LONGEST_TEXT = 39_000;
const LONGEST_LINE = 2000;

/**
 * W17: whole lines from the first one that was asked for, as far as there is room, under a header that says which
 * they are and how to go on. A very long line is shown in part.
 */
export function renderRead(answer: ReadAnswer): string {
  const {start_line, end_line, total_lines, content} = answer;
  const {shown, next: line} = shownLines(answer);
  if (line > end_line) {
    const lastBreak = content.endsWith('\n') ? '\n' : '';
    return `[lines ${start_line}-${end_line} of ${total_lines}]\n${shown.join('\n')}${lastBreak}`;
  }
  if (shown.length > 0) {
    return `[lines ${start_line}-${line - 1} of ${total_lines}; next: start_line=${line}]\n${shown.join('\n')}\n`;
  }
  // The first line alone is longer than an answer may be.
  const further = line < end_line ? `; next: start_line=${line + 1}` : '';
  const part = shownLine(content.split('\n')[0] ?? '', answer, line);
  return `[a part of line ${line} of ${total_lines}, which is too long to be shown whole${further}]\n${part}\n`;
}

/** The last line that the text shows; one less than the first where it shows none as a whole. */
export function lastShownLine(answer: ReadAnswer): number {
  return shownLines(answer).next - 1;
}

interface ShownLines {
  readonly shown: readonly string[];
  /** The first line behind them. */
  readonly next: number;
}

function shownLines(answer: ReadAnswer): ShownLines {
  const {start_line, end_line, left_out, content} = answer;
  // Of what is left out nothing is shown, nor of what comes behind it.
  const lastWhole = left_out === undefined ? end_line : left_out.start_line - 1;
  const lines = content.split('\n');
  const shown: string[] = [];
  let room = LONGEST_TEXT;
  let line = start_line;
  for (; line <= lastWhole; line += 1) {
    const text = shownLine(lines[line - start_line] ?? '', answer, line);
    if (text.length > room && shown.length > 0) break;
    shown.push(text);
    room -= text.length + 1;
  }
  return {shown, next: line};
}

function shownLine(text: string, {end_line, line_numbers}: ReadAnswer, line: number): string {
  const number = line_numbers ? `${String(line).padStart(String(end_line).length)}\t` : '';
  if (text.length <= LONGEST_LINE) return `${number}${text}`;
  const start = takeStart(text, LONGEST_LINE);
  return `${number}${start} [… ${(text.length - start.length).toLocaleString('en')} more characters]`;
}
