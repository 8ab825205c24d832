import {cutMiddle} from '../core/text/cut-middle.ts';
import type {CapturedOutput} from './child/output-capture.ts';
import {cleanLine} from './clean-line.ts';

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
