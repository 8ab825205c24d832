import type {Failure} from '../../core/failure/failure.ts';
import {internalFailure} from '../../core/failure/internal-failure.ts';
import type {Log} from '../../core/log.ts';
import type {Err} from '../../core/result.ts';
import {takeStart} from '../../core/text/take-start.ts';

/** NFR-WF-REL-02: a bug ends its call and nothing else. Its stack is in the log, its message in the result. */
export function unexpectedFailure(error: unknown, tool: string, log: Log): Err<Failure> {
  const failure = internalFailure(error);
  const message = error instanceof Error ? (error.stack ?? error.message) : failure.error.message;
  log({
    level: 'error',
    event: 'tool_call_crashed',
    message,
    error_code: 'internal',
    tool: takeStart(tool, 64),
  });
  return failure;
}
