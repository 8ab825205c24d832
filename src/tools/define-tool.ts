// Defines tools from zod schemas, and what tools that only read share.

import {z} from 'zod';
import type {Deadline} from '../core/deadline.ts';
import {type Json, ok, type Result} from '../core/result.ts';
import {
  defineTool,
  type Intent,
  type ParameterProblem,
  type Schema,
  type Tool,
  type ToolContext,
  type ToolDefinition,
} from '../core/tool.ts';
import type {WorkspacePath} from '../workspace/workspace-path.ts';
import type {WorkspaceSession} from './files/session.ts';
import {suggestSimilar} from './files/suggest-similar.ts';

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

/** Longer values are cut: a message is for reading. */
const LONGEST_VALUE = 40;

/** What is wrong with one parameter, in words that a caller knows; one problem for each unknown name. */
function describeProblem(issue: z.core.$ZodIssue, input: unknown): readonly ParameterProblem[] {
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

/** `1 byte`, `2 bytes`. */
export function byteCount(bytes: number): string {
  return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
}

/** Ruling E7: the bytes of compact JSON that an answer may have. */
export function outputLimit({maxOutputBytes, availableCapacityBytes}: ToolContext): number {
  return Math.min(maxOutputBytes, availableCapacityBytes);
}

/**
 * How long a tool that changes files is waited for, once its signal has fired: what it had half done is taken back
 * before it answers.
 */
export const FINISH_MS = 60_000;

interface ReadingTool<Params, Data> {
  readonly name: string;
  readonly title: string;
  /** For the model that chooses the tool. */
  readonly description: string;
  readonly params: z.ZodType<Params>;
  readonly data: z.ZodType<Data>;
  /** Milliseconds that a call has. */
  readonly timeoutMs: number;
  /** Bytes of an answer where the operator wrote no limit. Default: that of all tools. */
  readonly maxOutputBytes?: number;
  /** The parameter that names a place in the workspace. Rules on paths are matched with it. */
  readonly path: (params: Params) => string;
  /** What a call looks at, in one line, behind the name of the tool. */
  readonly summary: (params: Params, path: WorkspacePath) => string;
  /** Looks, and changes nothing. */
  readonly read: (
    path: WorkspacePath,
    params: Params,
    context: ToolContext,
    deadline: Deadline,
  ) => Promise<Result<Data>>;
  /** The answer as text that is enough for a model to go on. */
  readonly renderText: (data: Data) => string;
}

/** What every tool that only reads has: hints, no approval, and the code of wrong parameters. */
export const READING = {
  annotations: {readOnly: true, destructive: false, idempotent: true, openWorld: false},
  badParams: 'invalid_params',
  action: undefined,
} as const satisfies Partial<ToolDefinition<never, never>>;

/** A tool that reads a place of the workspace, within its time. A path that is not there brings similar ones. */
export function readingTool<Params, Data extends Json>(
  session: WorkspaceSession,
  {name, params, data, timeoutMs, path: pathOf, summary, read, ...shown}: ReadingTool<Params, Data>,
): Tool {
  const {workspace} = session;
  return defineTool<Params, Data>({
    ...READING,
    ...shown,
    name,
    params: schemaOf(params),
    data: schemaOf(data),
    timeoutMs: () => timeoutMs,
    intend: async request => {
      const path = workspace.resolve(pathOf(request));
      return path.ok ? readingIntent(path.value, `${name} ${summary(request, path.value)}`) : path;
    },
    execute: async (request, context) => {
      const path = workspace.resolve(pathOf(request));
      if (!path.ok) return path;
      const answer = await read(path.value, request, context, context.deadline);
      return answer.ok ? answer : suggestSimilar(session, answer, context.signal);
    },
  });
}

/** What a tool that only reads would do. Rules on paths are matched with `path`. */
export function readingIntent(path: string, summary: string): Result<Intent> {
  return ok({subject: {kind: 'path', values: [path]}, summary, preview: summary, fileHashes: {}});
}
