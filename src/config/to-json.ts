import type {Json} from '../core/json.ts';
import {isTable} from './resolve/describe-value.ts';

/** Deeper than any schema that a person writes. */
const DEEPEST = 64;

/** A raw value as frozen JSON; `undefined` where JSON cannot say it (a date, NaN, an integer beyond 2^53). */
export function toJson(value: unknown, depth = 0): Json | undefined {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : undefined;
  if (depth === DEEPEST) return undefined;
  if (Array.isArray(value)) {
    const list = value.flatMap((entry: unknown) => {
      const json = toJson(entry, depth + 1);
      return json === undefined ? [] : [json];
    });
    return list.length === value.length ? Object.freeze(list) : undefined;
  }
  if (!isTable(value)) return undefined;
  const entries: [string, Json][] = [];
  for (const [key, entry] of Object.entries(value)) {
    const json = toJson(entry, depth + 1);
    if (json === undefined) return undefined;
    entries.push([key, json]);
  }
  return Object.freeze(Object.fromEntries(entries));
}
