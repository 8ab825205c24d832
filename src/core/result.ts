import type {Failure} from './failure/failure.ts';

export type Ok<Value> = {readonly ok: true; readonly value: Value};
export type Err<Problem> = {readonly ok: false; readonly error: Problem};

/** Expected failures are values; bugs throw. */
export type Result<Value, Problem = Failure> = Ok<Value> | Err<Problem>;

export function ok(): Ok<undefined>;
export function ok<Value>(value: Value): Ok<Value>;
export function ok(value?: unknown): Ok<unknown> {
  return {ok: true, value};
}
