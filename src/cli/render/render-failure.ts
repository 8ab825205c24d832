import type {Failure} from '../../core/failure/failure.ts';
import type {Console} from '../console.ts';
import {forOperator} from '../terminal/for-operator.ts';
import {printable} from '../terminal/printable.ts';

/** On a terminal a sentence that ends with what to do next; elsewhere the envelope itself, one JSON line. */
export function renderFailure(failure: Failure, url: string | undefined, console: Console): string {
  if (!console.errInteractive) return `${JSON.stringify(failure)}\n`;
  const where = url === undefined ? '' : `${printable(url)}\n  `;
  const retry = failure.retryable ? ' (may work when retried)' : '';
  return `${where}${failure.code}: ${printable(forOperator(failure.message))}${retry}\n`;
}
