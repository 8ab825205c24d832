import {type Failure, fail} from '../core/failure.ts';
import type {Err} from '../core/result.ts';

/** NFR-WF-REL-02: a bug becomes `internal` and never ends the host, or a batch of pages. */
export function internalFailure(error: unknown): Err<Failure> {
  const text = error instanceof Error ? error.message : String(error);
  return fail('internal', `Unexpected error: ${text}. Please report it.`, {error: text});
}
