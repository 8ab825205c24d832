import type {Json} from '../core/json.ts';

export type JsonObject = {readonly [name: string]: Json};

/** Fields of JSON that another program wrote: of another type than expected, they are not there. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function objectIn(value: Json | undefined, name: string): JsonObject {
  const found = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return isObject(found) ? found : {};
}

export function textIn(value: Json | undefined, name: string): string | undefined {
  const found = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return typeof found === 'string' ? found : undefined;
}

export function numberIn(value: Json | undefined, name: string): number | undefined {
  const found = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined;
}

export function listIn(value: Json | undefined, name: string): readonly Json[] {
  const found = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return Array.isArray(found) ? found : [];
}
