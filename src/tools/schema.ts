import {z} from 'zod';
import type {Json} from '../core/json.ts';
import type {Schema} from '../core/tool.ts';

/**
 * A zod type as the schema of a tool (JSON Schema 2020-12). Ruling H2: `600.0` is an integer, `null`
 * is no omission, missing parameters are `{}`.
 */
export function schemaOf<Value>(type: z.ZodType<Value>): Schema<Value> {
  return {
    jsonSchema: toJsonSchema(type),
    parse: input => {
      const parsed = type.safeParse(input === undefined ? {} : input);
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
