// Prints results, failures and decisions, for a person at a terminal or for a program.
import type {Failure} from '../core/result.ts';
import {takeStart} from '../core/text/cut.ts';
import type {ToolResult} from '../core/tool.ts';
import type {ToolHost} from '../core/tool-host.ts';
import {type Console, printable, styled} from './console.ts';
import {quoted} from './text-layout.ts';

/**
 * A result as `fetch` prints its pages: the text on standard output; a failure on standard error, for a
 * person as sentences and for a program as the failure on one line. With `asJson`, the `ToolResult`.
 */
export async function printResult(
  result: ToolResult,
  host: Pick<ToolHost, 'renderText'>,
  asJson: boolean,
  console: Console,
): Promise<void> {
  if (asJson) return console.out(`${JSON.stringify(result)}\n`);
  if (result.error !== null) {
    const {error} = result;
    console.err(renderFailure(error, undefined, console));
    if (console.errInteractive) console.err(renderLists(error, console));
    return;
  }
  const text = host.renderText(result);
  const ended = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  await console.out(console.interactive ? printable(ended) : ended);
}

/** The message has what fits a sentence; lists, such as the hunks that do not fit, stand below it. */
function renderLists({details}: Failure, console: Console): string {
  const lists = Object.entries(details).filter(([, value]) => typeof value === 'object' && value !== null);
  if (lists.length === 0) return '';
  return `${styled(console, 'dim', JSON.stringify(Object.fromEntries(lists), null, 2))}\n`;
}

/** On a terminal a sentence that ends with what to do next; elsewhere the envelope itself, one JSON line. */
export function renderFailure(failure: Failure, url: string | undefined, console: Console): string {
  if (!console.errInteractive) return `${JSON.stringify(failure)}\n`;
  const where = url === undefined ? '' : `${printable(url)}\n  `;
  const retry = failure.retryable ? ' (may work when retried)' : '';
  return `${where}${failure.code}: ${printable(failure.message)}${retry}\n`;
}

/** Which setting or rule decided, and why, on one line. Many reasons name their setting themselves. */
export function renderReason({by, reason}: {readonly by: string; readonly reason: string}): string {
  const text = reason.includes(by) ? reason : `${by}${reason === '' ? '' : `: ${reason}`}`;
  return printable(text).replaceAll('\n', ' ');
}

/** A line for the eye. The whole of it is in the preview. */
const LONGEST = 400;

/** The one line that a tool says of a call, as rows behind the bar: it holds paths, commands and addresses of the call. */
export function renderSummary(summary: string, console: Console): readonly string[] {
  const line = summary.replaceAll('\n', ' ');
  return quoted(line.length > LONGEST ? `${takeStart(line, LONGEST)}…` : line, console);
}
