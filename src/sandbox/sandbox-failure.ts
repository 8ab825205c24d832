import {fail} from '../core/failure/fail.ts';
import type {Failure} from '../core/failure/failure.ts';
import type {Err} from '../core/result.ts';

export interface SandboxTrouble {
  /** One sentence, without its full stop. */
  readonly problem: string;
  /** The line that fixes it. */
  readonly remedy: string;
  /** The words of the program that refused. */
  readonly error?: string | undefined;
  readonly tried?: readonly string[];
}

const MAX_ERROR_CHARS = 500;

/** Ruling W8: nothing was run, and the line that changes that. */
export function sandboxFailure({problem, remedy, error, tried}: SandboxTrouble): Err<Failure> {
  return fail('sandbox_error', `${problem}. Nothing was run. To fix it: ${remedy}`, {
    error: error?.trim().slice(0, MAX_ERROR_CHARS) || problem,
    remedy,
    tried,
  });
}
