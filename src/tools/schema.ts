import {z} from 'zod';
import type {Json} from '../core/json.ts';
import type {Schema} from '../core/tool.ts';

interface SchemaOptions {
  /** Whether `null` leaves out what may be left out (the Tool API's `X | None`). Default: it does. */
  readonly nullIsAbsent?: boolean;
}

/**
 * A zod type as the schema of a tool (JSON Schema 2020-12). Ruling H2: `600.0` is an integer, missing
 * parameters are `{}`, and `null` leaves out an optional one, but not in `web_fetch` (SRD).
 */
export function schemaOf<Value>(
  type: z.ZodType<Value>,
  {nullIsAbsent = true}: SchemaOptions = {},
): Schema<Value> {
  const jsonSchema = toJsonSchema(type);
  const optional = nullIsAbsent ? optionalNames(jsonSchema) : new Set<string>();
  return {
    jsonSchema,
    parse: input => {
      const parsed = type.safeParse(input === undefined ? {} : withoutNulls(input, optional));
      if (parsed.success) return {ok: true, value: parsed.data};
      const {issues} = parsed.error;
      const [first] = issues;
      return {
        ok: false,
        error: {
          field: first === undefined ? 'params' : fieldOf(first),
          reason: first?.message ?? 'invalid',
          all: issues.map(issue => `${fieldOf(issue)}: ${issue.message}`).join('; '),
        },
      };
    },
  };
}

function optionalNames({properties, required}: {readonly [keyword: string]: Json}): ReadonlySet<string> {
  if (typeof properties !== 'object' || properties === null) return new Set();
  const needed = Array.isArray(required) ? required : [];
  return new Set(Object.keys(properties).filter(name => !needed.includes(name)));
}

function withoutNulls(input: unknown, optional: ReadonlySet<string>): unknown {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input;
  const entries = Object.entries(input);
  if (!entries.some(([name, value]) => value === null && optional.has(name))) return input;
  return Object.fromEntries(entries.filter(([name, value]) => value !== null || !optional.has(name)));
}

/** The name that is unknown, or the path to the value that is wrong. */
function fieldOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return [...issue.path, issue.keys[0] ?? ''].join('.');
  return issue.path.length === 0 ? 'params' : issue.path.join('.');
}

function toJsonSchema(type: z.ZodType): {readonly [keyword: string]: Json} {
  const schema = z.toJSONSchema(type, {
    // Of parameters with a default, the caller may leave out; of answers, more may come.
    io: 'input',
    override: ({jsonSchema}) => {
      // What every JavaScript integer keeps to is no news to a model.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  // zod's type also admits what only JavaScript has; a round trip leaves JSON.
  return JSON.parse(JSON.stringify(schema));
}
