import {takeStart} from '../../core/text/take-start.ts';
import type {Console} from '../console.ts';
import {quoted} from '../terminal/quoted.ts';

/** A line for the eye. The whole of it is in the preview. */
const LONGEST = 400;

/** The one line that a tool says of a call, as rows behind the bar: it holds paths, commands and addresses of the call. */
export function renderSummary(summary: string, console: Console): readonly string[] {
  const line = summary.replaceAll('\n', ' ');
  return quoted(line.length > LONGEST ? `${takeStart(line, LONGEST)}…` : line, console);
}
