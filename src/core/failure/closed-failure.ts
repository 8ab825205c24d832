import type {Err} from '../result.ts';
import {fail} from './fail.ts';
import type {Failure} from './failure.ts';

/** What comes after `close()`. The caller closed it, and no retry opens it again. */
export function closedFailure(what: string): Err<Failure> {
  return fail('cancelled', `The ${what} is closed. Create a new one.`, {phase: 'closed'}, {retryable: false});
}
