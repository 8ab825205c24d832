import {stripInvisible} from '../core/text/strip-invisible.ts';

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
