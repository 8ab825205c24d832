import type {ToolError, ToolResult} from '../core/tool.ts';
import type {ToolHost} from '../core/tool-host.ts';
import {type Console, styled} from './console.ts';
import {forOperator} from './terminal/for-operator.ts';
import {printable} from './terminal/printable.ts';

/**
 * A result as `fetch` prints its pages: the text on standard output; a failure on standard error, for a
 * person as sentences and for a program as the `ToolError` on one line. With `asJson`, the `ToolResult`.
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
    console.err(console.errInteractive ? explain(error, console) : `${JSON.stringify(error)}\n`);
    return;
  }
  const text = host.renderText(result);
  const ended = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  await console.out(console.interactive ? printable(ended) : ended);
}

/** The message has what fits a sentence; lists, such as the hunks that do not fit, stand below it. */
function explain({error_type, message, details}: ToolError, console: Console): string {
  const lists = Object.entries(details ?? {}).filter(
    ([, value]) => typeof value === 'object' && value !== null,
  );
  const retry = details?.['retryable'] === true ? ' (may work when retried)' : '';
  const head = `${error_type}: ${printable(forOperator(message))}${retry}\n`;
  if (lists.length === 0) return head;
  return `${head}${styled(console, 'dim', JSON.stringify(Object.fromEntries(lists), null, 2))}\n`;
}
