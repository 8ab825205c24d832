// Results: a value or a failure. Expected failures are values; bugs throw.
import {type FAILURE_CODES, type FailureCode, isRetryable} from './failure-codes.ts';
import {takeStart} from './text/cut.ts';

export type Ok<Value> = {readonly ok: true; readonly value: Value};
export type Err<Problem> = {readonly ok: false; readonly error: Problem};

/** What a call gives: its value, or why it failed. */
export type Result<Value, Problem = Failure> = Ok<Value> | Err<Problem>;

export function ok(): Ok<undefined>;
export function ok<Value>(value: Value): Ok<Value>;
export function ok(value?: unknown): Ok<unknown> {
  return {ok: true, value};
}

/** What JSON can carry. Failure details, log fields and tool data are of this type. */
export type Json = null | boolean | number | string | readonly Json[] | {readonly [key: string]: Json};

declare const brand: unique symbol;

/** A value that only the code that checked it may mint: `Brand<string, 'CanonicalUrl'>`. */
export type Brand<Value, Name extends string> = Value & {readonly [brand]: Name};

interface Override {
  /** A refused status and `tool_output_limit` differ from the row of their code. (FR-WF-ERR-HTTP-01) */
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
      retryable: override.retryable ?? isRetryable(code, details),
      details: Object.fromEntries(present),
    },
  };
}

export type FailureDetails = {readonly [name: string]: Json};

/** Why a call failed. (FR-WF-18) */
export interface Failure {
  /** What kind of failure it is. */
  readonly code: FailureCode;
  /** What, with which value, then what to do next. Never a query string, never credentials. */
  readonly message: string;
  /** Whether the same call may succeed later without anybody's doing. */
  readonly retryable: boolean;
  /** Further facts, by the names that docs/errors.md lists for the code. */
  readonly details: FailureDetails;
}

type DetailName<Code extends FailureCode> = (typeof FAILURE_CODES)[Code]['details'][number];

/** Details by the names that the table lists for the code; `undefined` ones are left out. */
type DetailsOf<Code extends FailureCode> = {readonly [Name in DetailName<Code>]?: Json | undefined};

const LONGEST_MESSAGE = 500;

/** NFR-WF-REL-02: a bug becomes `internal` and never ends the host, or a batch of pages. */
export function internalFailure(error: unknown): Err<Failure> {
  const text = takeStart(error instanceof Error ? error.message : String(error), LONGEST_MESSAGE);
  return fail('internal', `Unexpected error: ${text}. Please report it.`, {error: text});
}

/** What comes after `close()`. The caller closed it, and no retry opens it again. */
export function closedFailure(what: string): Err<Failure> {
  return fail('cancelled', `The ${what} is closed. Create a new one.`, {phase: 'closed'}, {retryable: false});
}

/** A function of the library that is called without types says what it expected, which value came, and what helps. */
export function requireString(name: string, value: unknown): asserts value is string {
  if (typeof value === 'string') return;
  const advice = value instanceof Uint8Array ? ' Decode the bytes first, such as by new TextDecoder().' : '';
  throw new TypeError(`Expected ${name} to be a string, got ${described(value)}.${advice}`);
}

/** An integer of at least `least`. */
export function requireInteger(name: string, value: unknown, least: number): asserts value is number {
  if (Number.isSafeInteger(value) && Number(value) >= least) return;
  throw new TypeError(`Expected ${name} to be an integer of at least ${least}, got ${described(value)}.`);
}

function described(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean' || value === null || value === undefined) {
    return String(value);
  }
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40));
  if (typeof value !== 'object') return `a ${typeof value}`;
  return `an instance of ${value.constructor?.name || 'Object'}`;
}
