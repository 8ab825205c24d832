import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import type {Tool} from '../../core/tool.ts';
import type {CallLimits} from '../call/tool-call.ts';

/** The answer of each tool that changes something fits into it, cut if need be. A configuration has no less. */
const LEAST_BYTES = 1024;

/**
 * W19: a call that answers with a failure has changed nothing, so a change is not made where there is no room to
 * say so. A fetch changes nothing here and makes its answer fit by itself.
 */
export function roomForAnswer(
  {name, action}: Tool,
  {maxOutputBytes, availableCapacityBytes}: CallLimits,
): Result<undefined> {
  const maxBytes = Math.min(maxOutputBytes, availableCapacityBytes);
  if (action === undefined || action === 'web_fetch' || maxBytes >= LEAST_BYTES) return ok();
  return fail(
    'internal',
    `${name} was not run: its answer may have ${maxBytes} bytes and needs ${LEAST_BYTES}. Allow more output and repeat the call.`,
    {error: 'tool_output_limit', max_bytes: maxBytes},
    {retryable: false},
  );
}
