import type {Json} from '../../core/json.ts';
import {UsageError} from './usage-error.ts';

/** The JSON object that the user typed; none is `{}` (ruling H2). */
export function parseParams(written: string | undefined): {readonly [name: string]: Json} {
  if (written === undefined) return {};
  let value: unknown;
  try {
    value = JSON.parse(written);
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    throw new UsageError(
      `The parameters are not valid JSON: ${what}. Write one object: '{"path": "a.txt"}'.`,
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new UsageError(`Expected the parameters as a JSON object, got ${written.trim().slice(0, 40)}.`);
  }
  // What `JSON.parse` returned is JSON already.
  return value as {readonly [name: string]: Json};
}
