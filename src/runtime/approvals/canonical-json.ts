import type {Json} from '../../core/json.ts';

/**
 * Compact JSON with the keys of every object in code-unit order, so that equal values are equal
 * text. The depth of what comes here is bounded by `nestedDeeperThan`.
 */
export function canonicalJson(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries<Json>(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonicalJson(entry)}`).join(',')}}`;
}
