import {type Failure, fail} from './failure.ts';
import type {Err} from './result.ts';

/** What comes after `close()`. The caller closed it, and no retry opens it again. */
export function closedFailure(what: string): Err<Failure> {
  return fail('cancelled', `The ${what} is closed. Create a new one.`, {phase: 'closed'}, {retryable: false});
}
