import {z} from 'zod';
import type {Json} from '../core/json.ts';
import type {Schema} from '../core/tool.ts';
import {describeProblem} from './describe-problem.ts';

interface SchemaOptions {
  /**
   * Whether `null` leaves out what may be left out (the Tool API's `X | None`), and a string of digits is
   * an integer. Default: so it is.
   */
  readonly isLenient?: boolean;
  /** Whether the type is another with other settings. Default: it is not. */
  readonly followsSettings?: boolean;
}

/**
 * A zod type as the schema of a tool (JSON Schema 2020-12). Ruling H2: `600.0` is an integer, missing
 * parameters are `{}`, and `null` leaves out an optional one, but not in `web_fetch` (SRD).
 */
export function schemaOf<Value>(
  type: z.ZodType<Value>,
  {isLenient = true, followsSettings = false}: SchemaOptions = {},
): Schema<Value> {
  let known: {readonly [keyword: string]: Json} | undefined;
  const jsonSchema = () => (known ??= toJsonSchema(type));
  let forms: Forms | undefined;
  return {
    get jsonSchema() {
      return jsonSchema();
    },
    followsSettings,
    parse: input => {
      if (isLenient) forms ??= formsOf(jsonSchema());
      const given = forms === undefined ? input : asMeant(input, forms);
      const parsed = type.safeParse(given === undefined ? {} : given);
      if (parsed.success) return {ok: true, value: parsed.data};
      const problems = parsed.error.issues.flatMap(issue =>
        describeProblem(issue, given === undefined ? {} : given),
      );
      const [first = {field: 'params', kind: 'invalid', reason: 'is invalid'}] = problems;
      return {
        ok: false,
        error: {
          field: first.field,
          reason: first.reason,
          all: problems.map(({field, reason}) => `${field}: ${reason}`).join('; '),
          problems: [first, ...problems.slice(1)],
        },
      };
    },
  };
}

interface Forms {
  readonly optional: ReadonlySet<string>;
  readonly integers: ReadonlySet<string>;
}

function formsOf({properties, required}: {readonly [keyword: string]: Json}): Forms {
  const entries = typeof properties === 'object' && properties !== null ? Object.entries(properties) : [];
  const needed = Array.isArray(required) ? required : [];
  const names = entries.map(([name]) => name);
  const isInteger = (schema: Json) =>
    typeof schema === 'object' && schema !== null && 'type' in schema && schema['type'] === 'integer';
  return {
    optional: new Set(names.filter(name => !needed.includes(name))),
    integers: new Set(entries.filter(([, schema]) => isInteger(schema)).map(([name]) => name)),
  };
}

/** Models write `null` for what they leave out, and now and then a number as a string. */
function asMeant(input: unknown, {optional, integers}: Forms): unknown {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input;
  const entries = Object.entries(input)
    .filter(([name, value]) => value !== null || !optional.has(name))
    .map(([name, value]) => [name, integers.has(name) && isDigits(value) ? Number(value) : value]);
  return Object.fromEntries(entries);
}

function isDigits(value: unknown): value is string {
  return typeof value === 'string' && /^-?\d{1,15}$/.test(value);
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
