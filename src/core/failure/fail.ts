import type {Json} from '../json.ts';
import type {Err} from '../result.ts';
import type {DetailsOf, Failure} from './failure.ts';
import {FAILURE_CODES, type FailureCode} from './failure-codes.ts';

interface Override {
  /** FR-WF-ERR-HTTP-01 and `tool_output_limit` differ from their code's row. */
  readonly retryable?: boolean;
}

/** Makes a failed `Result`. `retryable` comes from the table unless the requirement overrides it. */
export function fail<Code extends FailureCode>(
  code: Code,
  message: string,
  details: DetailsOf<Code> = {},
  override: Override = {},
): Err<Failure> {
  const present = Object.entries<Json | undefined>(details).filter(
    (entry): entry is [string, Json] => entry[1] !== undefined,
  );
  return {
    ok: false,
    error: {
      code,
      message,
      retryable: override.retryable ?? FAILURE_CODES[code].retryable,
      details: Object.fromEntries(present),
    },
  };
}
