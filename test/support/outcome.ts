import type {Result} from '../../src/core/result.ts';

/** The value of a result that has to be there; a failure fails the test with its code and message. */
export function unwrap<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.value;
}

/** The code of a failure, `ok` for a success. */
export function codeOf(result: Result<unknown>): string {
  return result.ok ? 'ok' : result.error.code;
}
