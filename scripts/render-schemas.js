const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

const text = {type: 'string'};
const count = {type: 'integer', minimum: 0};
const seconds = {type: 'number', minimum: 0};
const time = {type: 'string', format: 'date-time', description: 'RFC 3339 UTC with milliseconds.'};
const sha256 = {type: 'string', pattern: '^[0-9a-f]{64}$'};
const orNull = ({type, ...rest}) => ({type: [type, 'null'], ...rest});

/** What each field of an event's payload is, whichever event has it. */
const PAYLOAD_FIELDS = {
  sandbox: {type: ['string', 'null']},
  max_life_sec: {type: 'number'},
  ended: {enum: ['exited', 'killed', 'out_of_memory', 'out_of_time', 'stopped', 'failed']},
  exit_code: {type: ['integer', 'null']},
  signal: {type: ['string', 'null']},
  stdout_bytes: {type: ['integer', 'null']},
  stderr_bytes: {type: ['integer', 'null']},
  version: count,
  steps: count,
  unfinished: {type: 'array', items: count, description: 'Steps that a crash cut off.'},
  torn_bytes: count,
  kept_in: text,
  request_id: text,
  step: {type: 'integer', minimum: 1, description: 'The number of the call in its run.'},
  tool: text,
  params: {description: 'As they were given: secrets and query strings redacted, long text as its hash.'},
  status: {enum: ['success', 'error']},
  duration_sec: {...seconds, description: 'Without the time that somebody was asked.'},
  approval_wait_sec: seconds,
  wait_sec: seconds,
  truncated: {type: 'boolean'},
  artifacts: {
    description: 'What the call left in the run directory.',
    type: 'array',
    items: {
      type: 'object',
      properties: {path: {...text, description: 'Relative to the run directory.'}, bytes: count, sha256},
      required: ['path', 'bytes', 'sha256'],
    },
  },
  action: {enum: ['patch_file', 'write_file', 'run', 'web_fetch', 'egress', null]},
  summary: text,
  by: {...text, description: 'The setting, rule or answer that decided.'},
  hash: {...sha256, description: 'Of tool, arguments and files: what the decision holds for.'},
  approval_id: {...orNull(text), description: 'What `forge-tools approve` takes.'},
  decision: {enum: ['allowed', 'refused', 'failed']},
  host: text,
  port: {...count, description: '0 where none was read.'},
  address: {...text, description: 'What was connected to; empty where nothing was.'},
  bytes_up: count,
  bytes_down: count,
  reason: text,
  kind: {enum: ['untrusted', 'private']},
  origin: {...text, description: 'The address of a page, or the summary of the call, redacted.'},
  sha256,
  characters: count,
  links: {...count, description: 'Addresses that count as delivered from now on, all of them together.'},
  secrets: {...count, description: 'What looked like one.'},
  mode: {enum: ['warn', 'enforce']},
  finding: {enum: ['pass', 'ask', 'deny']},
  about: {enum: ['given', 'choice', 'made-up', 'private', 'executed-later', 'new-host']},
  bits: {type: 'number', description: 'What the call spent of the budget for choices.'},
  bits_left: {type: 'number'},
  rule: {description: 'The rule that the answer made.'},
  rule_problem: text,
  message: text,
  details: {description: 'As in the ToolError, redacted.'},
  changed_files: {type: 'array', items: text},
  patch_size_bytes: count,
  undo_record: text,
  undo_record_sha256: sha256,
  undoes: {...count, description: 'The step that this one took back.'},
  undone: count,
  files: {type: 'array', items: text},
  conflicts: {type: 'array', items: text},
  paths: {type: 'array', items: text, description: 'Relative to the workspace.'},
  complete: {type: 'boolean', description: 'False where the tree was too large to look for all.'},
  patch_path: {...text, description: 'Relative to the run directory.'},
  undo_path: {...text, description: 'Relative to the run directory.'},
};

/** Fields that an event may go without. */
const OPTIONAL = new Set(['approval_id', 'artifacts', 'reason', 'rule', 'rule_problem', 'undoes']);

/** Events of tools, beside those of the runtime. */
const TOOL_EVENTS = {
  PATCH_APPLIED: {
    when: 'A tool has changed files. The undo patch lies beside the patch.',
    payload: [
      'request_id',
      'step',
      'changed_files',
      'patch_size_bytes',
      'patch_path',
      'undo_path',
      'undo_record',
      'undo_record_sha256',
      'undoes',
    ],
  },
  background_started: {
    when: 'A command runs on after its call (`run` with `background`).',
    payload: ['request_id', 'step', 'sandbox', 'max_life_sec'],
  },
  background_ended: {
    when: 'A command in the background has ended, with all its processes.',
    payload: [
      'request_id',
      'step',
      'ended',
      'exit_code',
      'signal',
      'duration_sec',
      'sandbox',
      'stdout_bytes',
      'stderr_bytes',
      'artifacts',
    ],
  },
  egress_connection: {
    when: 'A connection of a command (`tools.run.egress`) has ended or was refused. `host` is as the command named it.',
    payload: [
      'request_id',
      'step',
      'host',
      'port',
      'decision',
      'reason',
      'address',
      'bytes_up',
      'bytes_down',
      'duration_sec',
    ],
  },
  repositories_appeared: {
    when: 'A git repository appeared in the workspace during a command. `complete` is false if the tree was too large to search.',
    payload: ['request_id', 'step', 'paths', 'complete'],
  },
  git_settings_changed: {
    when: 'A command changed files of a nested repository that git executes or obeys. `complete` is false if the tree was too large to search.',
    payload: ['request_id', 'step', 'paths', 'complete'],
  },
  JOURNAL_RECOVERED: {
    when: 'An interrupted change of several files was undone; `conflicts` were changed since and left alone.',
    payload: ['undone', 'files', 'conflicts'],
  },
};

/** Every event of a run's log, the runtime's and those of tools. */
export function listEvents(runtimeEvents) {
  return {...runtimeEvents, ...TOOL_EVENTS};
}

/** `schemas/`: file name → content. */
export function renderSchemas(tools, {failureCodes, runtimeEvents, toolResultSchema}) {
  const codes = Object.keys(failureCodes);
  const toolError = {
    type: 'object',
    description: 'What went wrong, for whom to change what.',
    properties: {
      error_type: {enum: codes, description: 'The same as code.'},
      code: {enum: codes, description: 'docs/errors.md explains each.'},
      message: {...text, description: 'What, with which value, then what to do next.'},
      retryable: {
        type: 'boolean',
        description: "Whether the same call may succeed later without anybody's doing.",
      },
      details: {type: 'object', description: 'Further facts; docs/errors.md lists their names.'},
    },
    required: ['error_type', 'code', 'message', 'retryable', 'details'],
    additionalProperties: false,
  };
  const toolResult = toolResultSchema({$schema: DIALECT});
  const files = {
    'tool-request': {
      title: 'ToolRequest',
      type: 'object',
      description: 'One call of a tool.',
      properties: {
        tool: {type: 'string', minLength: 1},
        params: {type: 'object', description: 'What tools/NAME.params.json says. Missing is {}.'},
        request_id: {...text, description: 'Comes back in the result. Missing or "" gets a made one.'},
      },
      required: ['tool'],
    },
    'tool-result': {
      title: 'ToolResult',
      ...toolResult,
      description: 'The answer to a ToolRequest. Every field is always there.',
      properties: {
        ...toolResult.properties,
        data: {description: 'What tools/NAME.data.json says; null on an error.'},
        error: {anyOf: [toolError, {type: 'null'}]},
      },
    },
    'tool-error': {title: 'ToolError', ...toolError},
    'run-event': runEvent(listEvents(runtimeEvents), codes),
  };
  for (const {name, title, description, paramsSchema, dataSchema} of tools) {
    files[`tools/${name}.params`] = {title: `${title}: parameters`, description, ...paramsSchema};
    files[`tools/${name}.data`] = {title: `${title}: data`, ...dataSchema};
  }
  return new Map(
    Object.entries(files).map(([name, {$schema: _, ...schema}]) => [
      `${name}.json`,
      `${JSON.stringify({$schema: DIALECT, ...schema}, null, 2)}\n`,
    ]),
  );
}

function runEvent(events, codes) {
  const fields = {...PAYLOAD_FIELDS, error_type: {enum: [...codes, null]}};
  const payloadOf = ({when, payload}) => ({
    type: 'object',
    description: when,
    properties: Object.fromEntries(payload.map(field => [field, fieldOf(fields, field)])),
    required: payload.filter(field => !OPTIONAL.has(field)),
  });
  return {
    title: 'RunEvent',
    type: 'object',
    description: 'One line of events.jsonl.',
    properties: {
      seq: {type: 'integer', minimum: 1, description: '1, 2, 3 … without a gap.'},
      time,
      event: text,
      payload: {type: 'object'},
      hash: {...sha256, description: 'SHA-256 of the hash of the line before and this line up to its hash.'},
    },
    required: ['seq', 'time', 'event', 'payload', 'hash'],
    additionalProperties: false,
    oneOf: [
      ...Object.entries(events).map(([event, entry]) => ({
        properties: {event: {const: event}, payload: payloadOf(entry)},
      })),
      {
        description: 'An event of a tool.',
        properties: {event: {not: {enum: Object.keys(events)}}},
      },
    ],
  };
}

function fieldOf(fields, name) {
  const schema = fields[name];
  if (schema === undefined)
    throw new Error(`Say in scripts/render-schemas.js what "${name}" of an event is.`);
  return schema;
}
