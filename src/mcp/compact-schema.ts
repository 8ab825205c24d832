import type {Json} from '../core/json.ts';

type JsonSchema = {readonly [keyword: string]: Json};

/**
 * What a model pays for and needs no word of: the dialect, and bounds that only nonsense breaks. They hold all the same,
 * and the refusal of a call that breaks one says so.
 */
const UNSAID = ['$schema', 'minLength', 'maxLength', 'pattern', 'propertyNames', 'minItems', 'maxItems'];

/** A schema of parameters with everything that decides how a call is written. */
export function compactSchema(schema: JsonSchema): JsonSchema {
  const entries = Object.entries(schema)
    .filter(([keyword, value]) => !UNSAID.includes(keyword) && !isUnsaid(keyword, value))
    .map(([keyword, value]) => [
      keyword,
      keyword === 'properties' && isObject(value)
        ? Object.fromEntries(Object.entries(value).map(([name, of]) => [name, compact(of)]))
        : keyword === 'items' || keyword === 'anyOf'
          ? compact(value)
          : value,
    ]);
  return Object.fromEntries(entries);
}

/** A flag is off where nothing is said, and whole numbers of ours begin at 0 or 1. */
function isUnsaid(keyword: string, value: Json): boolean {
  if (keyword === 'default' || keyword === 'additionalProperties') return value === false;
  return keyword === 'minimum' && (value === 0 || value === 1);
}

function compact(value: Json): Json {
  if (Array.isArray(value)) return value.map(compact);
  return isObject(value) ? compactSchema(value) : value;
}

function isObject(value: Json): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
