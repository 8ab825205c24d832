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
