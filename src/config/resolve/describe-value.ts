const LONGEST = 60;

/** A raw value as an error message names it: `the string "20"`, `the integer 900`, `an array`. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return `the string ${JSON.stringify(cut(value))}`;
    case 'boolean':
      return `the boolean ${value}`;
    case 'bigint':
      return `the integer ${describeNumber(value)}`;
    case 'number':
      return `the ${Number.isInteger(value) ? 'integer' : 'number'} ${describeNumber(value)}`;
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return 'an array';
      return value instanceof Date ? 'a date' : 'a table';
    default:
      return `a value of type ${typeof value}`;
  }
}

export function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

export function describeNumber(value: bigint | number): string {
  return cut(String(value));
}

function cut(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}
