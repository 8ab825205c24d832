import type {Json} from '../core/json.ts';

type JsonSchema = {readonly [keyword: string]: Json};

const TEXT: JsonSchema = {type: 'string'};
const TEXT_OR_NULL: JsonSchema = {type: ['string', 'null']};
const TIME: JsonSchema = {type: 'string', format: 'date-time'};

const ERROR: JsonSchema = {
  type: ['object', 'null'],
  properties: {error_type: TEXT, message: TEXT, details: {type: ['object', 'null']}},
  required: ['error_type', 'message', 'details'],
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
