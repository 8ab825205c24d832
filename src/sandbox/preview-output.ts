// Shortens an output for a model: no terminal codes, short lines, head and tail.
import {cutMiddle} from '../core/text/cut.ts';
import {stripInvisible} from '../core/text/invisible.ts';
import type {CapturedOutput} from './output-capture.ts';

const MAX_LINE_CHARS = 1000;
const HEAD_LINES = 60;
const HEAD_CHARS = 4000;
const TAIL_LINES = 140;
const TAIL_CHARS = 8000;

export interface OutputPreview {
  readonly text: string;
  /** Whether the preview lacks anything that the command wrote. */
  readonly truncated: boolean;
}

/**
 * What of an output a model reads: head and tail, long lines cut, without what only a terminal shows. `howToRead`
 * says where the rest is.
 */
export function previewOutput(
  {bytes, leftOutBytes, totalLines}: CapturedOutput,
  howToRead: string,
): OutputPreview {
  const lines = new TextDecoder().decode(bytes).split('\n').map(cleanLine);
  const cut = lines.map(cutLine);
  let truncated = leftOutBytes > 0 || cut.some((line, at) => line !== lines[at]);
  const head = takeLines(cut, HEAD_LINES, HEAD_CHARS);
  const tail = takeLines(cut.slice(head.length).reverse(), TAIL_LINES, TAIL_CHARS).reverse();
  if (head.length + tail.length === cut.length) return {text: cut.join('\n'), truncated};
  truncated = true;
  // Behind the last line break there is no line.
  const shown = head.length + tail.length - (tail.at(-1) === '' ? 1 : 0);
  // With a cut in the bytes, its marker and two parts of lines are among those shown.
  const hidden = totalLines - shown;
  const left = hidden > 0 ? `${grouped(hidden)} of` : 'parts of';
  const leftOut = `${left} ${grouped(totalLines)} lines left out`;
  return {text: [...head, `[${leftOut}; ${howToRead}]`, ...tail].join('\n'), truncated};
}

function grouped(count: number): string {
  return count.toLocaleString('en');
}

function cutLine(line: string): string {
  return cutMiddle(line, MAX_LINE_CHARS, left => `[... ${left} characters left out ...]`);
}

function takeLines(lines: readonly string[], maxLines: number, maxChars: number): string[] {
  let chars = 0;
  let count = 0;
  for (const line of lines) {
    chars += line.length + 1;
    if (count === maxLines || chars > maxChars) break;
    count++;
  }
  return lines.slice(0, count);
}

/** CSI, OSC and two-character sequences of terminals. Their character classes do not overlap. */
const TERMINAL_SEQUENCES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-Z\\-~])/g;

/** Most lines: nothing in them to look for. */
const PLAIN = /^[\t\x20-\x7e]*$/;

/** A line of an output as a reader sees it, without what only a terminal shows. */
export function cleanLine(line: string): string {
  if (PLAIN.test(line)) return line;
  return stripInvisible(overwritten(line.replace(TERMINAL_SEQUENCES, '')));
}

/** A progress bar returns to the beginning of its line: the last state counts. */
function overwritten(line: string): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  return text.slice(text.lastIndexOf('\r') + 1);
}
