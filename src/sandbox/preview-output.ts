import {cutMiddle} from '../core/text/cut-middle.ts';
import {stripInvisible} from '../core/text/strip-invisible.ts';
import type {CapturedOutput} from './output-capture.ts';

const MAX_LINE_CHARS = 1000;
const HEAD_LINES = 60;
const HEAD_CHARS = 4000;
const TAIL_LINES = 140;
const TAIL_CHARS = 8000;

/** CSI, OSC and two-character sequences of terminals. Their character classes do not overlap. */
const TERMINAL_SEQUENCES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[ -/]*[0-Z\\-~])/g;

export interface OutputPreview {
  readonly text: string;
  /** Whether the preview lacks anything that the command wrote. */
  readonly truncated: boolean;
}

/** What of an output a model reads: head and tail, long lines cut, without what only a terminal shows. */
export function previewOutput({bytes, leftOutBytes}: CapturedOutput): OutputPreview {
  const clean = new TextDecoder().decode(bytes).replace(TERMINAL_SEQUENCES, '');
  const lines = clean.split('\n').map(line => stripInvisible(overwritten(line)));
  const cut = lines.map(cutLine);
  let truncated = leftOutBytes > 0 || cut.some((line, at) => line !== lines[at]);
  const head = takeLines(cut, HEAD_LINES, HEAD_CHARS);
  const tail = takeLines(cut.slice(head.length).reverse(), TAIL_LINES, TAIL_CHARS).reverse();
  const leftOut = cut.length - head.length - tail.length;
  if (leftOut === 0) return {text: cut.join('\n'), truncated};
  truncated = true;
  return {text: [...head, `[... ${leftOut} lines left out ...]`, ...tail].join('\n'), truncated};
}

/** A progress bar returns to the beginning of its line: the last state counts. */
function overwritten(line: string): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  return text.slice(text.lastIndexOf('\r') + 1);
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
