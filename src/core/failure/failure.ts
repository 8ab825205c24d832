import type {Json} from '../json.ts';
import type {FAILURE_CODES, FailureCode} from './failure-codes.ts';

export type FailureDetails = {readonly [name: string]: Json};

/** FR-WF-18: the error envelope, as it is serialised. */
export interface Failure {
  /** What kind of failure it is. */
  readonly code: FailureCode;
  /** What, with which value, then what to do next. Never a query string, never credentials. */
  readonly message: string;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** Further facts, by the names that docs/errors.md lists for the code. */
  readonly details: FailureDetails;
}

type DetailName<Code extends FailureCode> = (typeof FAILURE_CODES)[Code]['details'][number];

/** Details by the names that the table lists for the code; `undefined` ones are left out. */
export type DetailsOf<Code extends FailureCode> = {readonly [Name in DetailName<Code>]?: Json | undefined};
