import {FAILURE_CODES, type FailureCode} from './failure-codes.ts';
import type {Json} from './json.ts';
import type {Err} from './result.ts';

export type FailureDetails = {readonly [name: string]: Json};

/** FR-WF-18: the error envelope, as it is serialised. */
export interface Failure {
  readonly code: FailureCode;
  /** What, with which value, then what to do next. Never a query string, never credentials. */
  readonly message: string;
  readonly retryable: boolean;
  readonly details: FailureDetails;
}

type DetailName<Code extends FailureCode> = (typeof FAILURE_CODES)[Code]['details'][number];

/** Details by the names that the table lists for the code; `undefined` ones are left out. */
export type DetailsOf<Code extends FailureCode> = {readonly [Name in DetailName<Code>]?: Json | undefined};

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
