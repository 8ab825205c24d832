// Describes a tool as `tools/list` shows it, with schemas that cost few tokens.
import type {Tool} from '@modelcontextprotocol/server';
import type {Json} from '../core/result.ts';
import type {ToolListing} from '../core/tool-host.ts';
import {isBareJsonTool} from './present-result.ts';

/** A tool as `tools/list` shows it: title, schemas and all four hints. With `text`, no schema of answers (ruling H8), and parameters at the price of what a model needs. */
export function describeTool(listing: ToolListing, channel: 'both' | 'text' = 'both'): Tool {
  const {name, title, description, annotations, paramsSchema, dataSchema} = listing;
  const {readOnly, destructive, idempotent, openWorld} = annotations;
  const outputSchema = isBareJsonTool(name) ? dataSchema : toolResultSchema(dataSchema);
  return {
    name,
    title,
    description,
    // W18: the schema of web_fetch is a closed one, and is seen to be.
    inputSchema: ofObjectType(
      channel === 'text' && !isBareJsonTool(name) ? compactSchema(paramsSchema) : paramsSchema,
    ),
    // Every revision before 2026-07-28 wants an object at the root; text output (ruling H6) has none.
    ...(channel === 'both' && outputSchema['type'] === 'object'
      ? {outputSchema: ofObjectType(outputSchema)}
      : {}),
    annotations: {
      title,
      readOnlyHint: readOnly,
      destructiveHint: destructive,
      idempotentHint: idempotent,
      openWorldHint: openWorld,
    },
  };
}

function ofObjectType(schema: {readonly [keyword: string]: Json}): {
  [keyword: string]: unknown;
  type: 'object';
} {
  return {...schema, type: 'object'};
}

type JsonSchema = {readonly [keyword: string]: Json};

/**
 * What a model pays for and needs no word of: the dialect, and bounds that only nonsense breaks. They hold all the same,
 * and the refusal of a call that breaks one says so.
 */
const UNSAID = ['$schema', 'minLength', 'maxLength', 'pattern', 'propertyNames', 'minItems', 'maxItems'];

/** A schema of parameters with everything that decides how a call is written. */
function compactSchema(schema: JsonSchema): JsonSchema {
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

const TEXT: JsonSchema = {type: 'string'};
const TEXT_OR_NULL: JsonSchema = {type: ['string', 'null']};
const TIME: JsonSchema = {type: 'string', format: 'date-time'};

const ERROR: JsonSchema = {
  type: ['object', 'null'],
  properties: {
    error_type: TEXT,
    code: TEXT,
    message: TEXT,
    retryable: {type: 'boolean'},
    details: {type: 'object'},
  },
  required: ['error_type', 'code', 'message', 'retryable', 'details'],
  additionalProperties: false,
};

/** Ruling H2: the whole `ToolResult`, successes and failures, with the data that one tool returns. */
export function toolResultSchema(dataSchema: JsonSchema): JsonSchema {
  // `$ref: "#/$defs/…"` is resolved from the root, so the definitions move there.
  const {$schema: _dialect, $defs: definitions, ...data} = dataSchema;
  const properties: JsonSchema = {
    request_id: TEXT,
    tool: TEXT,
    status: {type: 'string', enum: ['success', 'error']},
    started_at: TIME,
    ended_at: TIME,
    duration_sec: {type: 'number', minimum: 0},
    data: {anyOf: [data, {type: 'null'}]},
    error: ERROR,
    exit_code: {type: ['integer', 'null']},
    stdout_path: TEXT_OR_NULL,
    stderr_path: TEXT_OR_NULL,
  };
  return {
    type: 'object',
    properties,
    required: Object.keys(properties),
    // The host may add fields of its own, as it does for the time spent waiting for approvals.
    additionalProperties: true,
    ...(definitions === undefined ? {} : {$defs: definitions}),
  };
}
