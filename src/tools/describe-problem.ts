import type {z} from 'zod';
import type {ParameterProblem} from '../core/tool.ts';

/** Longer values are cut: a message is for reading. */
const LONGEST_VALUE = 40;

/** What is wrong with one parameter, in words that a caller knows; one problem for each unknown name. */
export function describeProblem(issue: z.core.$ZodIssue, input: unknown): readonly ParameterProblem[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(key => ({
      field: [...issue.path, key].join('.'),
      kind: 'unknown',
      reason: 'is no parameter',
    }));
  }
  const value = valueAt(input, issue.path);
  const field = issue.path.length === 0 ? 'params' : issue.path.join('.');
  if (value === undefined && issue.path.length > 0) {
    const reason = issue.code === 'invalid_type' ? 'is required' : reasonOf(issue, value);
    return [{field, kind: 'missing', reason}];
  }
  return [{field, kind: 'invalid', reason: reasonOf(issue, value)}];
}

/** How the messages begin that are zod's and not a schema's own. */
const STANDARD = /^(Invalid|Too) /;

function reasonOf(issue: z.core.$ZodIssue, value: unknown): string {
  if (!STANDARD.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? issue.expected}, got ${show(value)}`;
    case 'too_small':
      if (typeof value === 'string' && value === '') return 'must not be empty';
      return `must ${sizeOf(value)} at least ${issue.minimum}${unitOf(value, issue.minimum)}, got ${sizeShown(value)}`;
    case 'too_big':
      return `must ${sizeOf(value)} at most ${issue.maximum}${unitOf(value, issue.maximum)}, got ${sizeShown(value)}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(one => JSON.stringify(one)).join(', ')}, got ${show(value)}`;
    default:
      return issue.message;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  // No tool takes another one.
  number: 'a whole number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function sizeOf(value: unknown): string {
  return typeof value === 'number' ? 'be' : 'have';
}

function unitOf(value: unknown, count: number | bigint): string {
  const isOne = Number(count) === 1;
  if (typeof value === 'string') return isOne ? ' character' : ' characters';
  if (!Array.isArray(value)) return '';
  return isOne ? ' entry' : ' entries';
}

function sizeShown(value: unknown): string {
  return typeof value === 'string' || Array.isArray(value) ? String(value.length) : show(value);
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  if (text.length <= LONGEST_VALUE) return text;
  if (typeof value === 'string') return `a string of ${value.length} characters`;
  return Array.isArray(value) ? 'a list' : 'an object';
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<PropertyKey, unknown>>)[key];
  }
  return value;
}
