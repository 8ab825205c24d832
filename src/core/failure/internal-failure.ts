import type {Err} from '../result.ts';
import {takeStart} from '../text/take-start.ts';
import {fail} from './fail.ts';
import type {Failure} from './failure.ts';

const LONGEST_MESSAGE = 500;

/** NFR-WF-REL-02: a bug becomes `internal` and never ends the host, or a batch of pages. */
export function internalFailure(error: unknown): Err<Failure> {
  const text = takeStart(error instanceof Error ? error.message : String(error), LONGEST_MESSAGE);
  return fail('internal', `Unexpected error: ${text}. Please report it.`, {error: text});
}
