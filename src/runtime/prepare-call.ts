// Checks the parameters of a call, and says what is wrong in words that help a model.
import {randomHex} from '../core/clock.ts';
import {type Err, type Failure, fail, type Json, type Result} from '../core/result.ts';
import {takeStart} from '../core/text/cut.ts';
import {showInvisible} from '../core/text/invisible.ts';
import {nearestName} from '../core/text/nearest-name.ts';
import type {
  ParameterProblem,
  PreparedCall,
  SchemaProblem,
  Tool,
  ToolRequest,
  ToolResult,
} from '../core/tool.ts';
import {PARAMETER_NOTES, PARAMETER_SYNONYMS} from './synonyms.data.ts';

/** Deeper than the parameters of any tool; what walks them later need not fear the stack. */
const DEEPEST = 64;
/** More than this many problems are counted. */
const MOST_PROBLEMS = 5;
/** Of so many, names of ours are looked for: a call can have hundreds of thousands. */
const MOST_LOOKED = 50;
const LONGEST_NAME = 64;
const LONGEST_LIST = 4000;

/** FR-ERR-JSON-02: validates, and says what is wrong with each parameter and what there is. */
export function prepareCall(tool: Tool, params: Json): Result<PreparedCall> {
  if (nestedDeeperThan(DEEPEST, params)) {
    const reason = `must not be nested deeper than ${DEEPEST} levels`;
    const problem = {field: 'params', kind: 'invalid', reason} as const;
    return refuse(tool, {field: 'params', reason, all: `params: ${reason}`, problems: [problem]});
  }
  const prepared = tool.prepare(params);
  return prepared.ok ? prepared : refuse(tool, prepared.error);
}

function refuse(tool: Tool, {field, reason, all, problems}: SchemaProblem): Result<never> {
  const {properties} = tool.paramsSchema;
  const names = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  const known = names.length === 0 ? 'It has no parameters.' : `Known: ${names.join(', ')}.`;
  const looked = problems.slice(0, MOST_LOOKED);
  const sentences = sentencesOf(looked, names);
  const rest = Math.max(0, sentences.length - MOST_PROBLEMS) + problems.length - looked.length;
  const more = rest > 0 ? ` And ${rest} more.` : '';
  const message = `${sentences.slice(0, MOST_PROBLEMS).join(' ')}${more} ${known}`;
  return fail(tool.badParams, message, {
    field: takeStart(field, LONGEST_NAME),
    reason,
    validation: takeStart(all, LONGEST_LIST),
  });
}

/** A parameter that is given under another name is not called missing as well. */
function sentencesOf(problems: readonly ParameterProblem[], names: readonly string[]): readonly string[] {
  const meant = new Map<string, string>();
  for (const {field, kind} of problems) {
    const ours = kind === 'unknown' ? ourName(field, names, PARAMETER_SYNONYMS) : undefined;
    if (ours !== undefined) meant.set(field, ours);
  }
  const renamed = new Set(meant.values());
  return problems
    .filter(({field, kind}) => kind !== 'missing' || !renamed.has(field))
    .map(({field, kind, reason}) => {
      const name = JSON.stringify(showInvisible(takeStart(field, LONGEST_NAME)));
      if (kind !== 'unknown') return field === 'params' ? `The parameters ${reason}.` : `${name} ${reason}.`;
      const ours = meant.get(field);
      if (ours === undefined) return `There is no parameter ${name}.`;
      const note = PARAMETER_NOTES[ours];
      return `There is no parameter ${name}; it is called "${ours}"${note === undefined ? '' : ` (${note})`}.`;
    });
}

const FORM = 'Call it with {tool: "read_file", params: {path: "a.txt"}, request_id: "1"}.';

interface CheckedRequest {
  /** What is to be called; of a wrong one as much as can be read. */
  readonly request: Required<ToolRequest>;
  /** What is wrong with it, for callers without types. */
  readonly problem: Err<Failure> | undefined;
}

/** NFR-WF-REL-02: no call rejects, so a request of another form is answered too. Errors: `invalid_params`. */
export function checkRequest(given: unknown): CheckedRequest {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    const request = {tool: '', params: {}, request_id: ''};
    return {request, problem: refuseField('request', `must be an object, got ${nameOf(given)}`)};
  }
  const {tool, params = {}, request_id = ''} = given as Partial<Record<keyof ToolRequest, unknown>>;
  const request = {
    tool: typeof tool === 'string' ? tool : '',
    params: isObject(params) ? (params as ToolRequest['params']) : {},
    request_id: typeof request_id === 'string' ? request_id : '',
  };
  if (typeof tool !== 'string') {
    return {request, problem: refuseField('tool', `must be the name of a tool, got ${nameOf(tool)}`)};
  }
  if (typeof request_id !== 'string') {
    return {request, problem: refuseField('request_id', `must be a string, got ${nameOf(request_id)}`)};
  }
  // What is wrong with the parameters the tool itself says, with the names of its own.
  return {request: {...request, params: params as ToolRequest['params']}, problem: undefined};
}

/** The id of a call: the caller's, else a new one. */
export function callId({request_id: given}: ToolRequest): string {
  return given || `call-${randomHex(8)}`;
}

function refuseField(field: string, reason: string): Err<Failure> {
  return fail('invalid_params', `The call's ${field} ${reason}. ${FORM} Nothing was run.`, {field, reason});
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}

type Fields = Pick<ToolResult, 'exit_code' | 'stdout_path' | 'stderr_path'>;

/** Ruling W8: what is known of a command that did not end by itself is in the result, as for one that did. */
export function knownFields({details}: Failure): Partial<Fields> {
  const {exit_code, partial} = details;
  const isKept = typeof partial === 'object' && partial !== null && !Array.isArray(partial);
  const {stdout_path, stderr_path} = (isKept ? partial : {}) as Readonly<Record<string, unknown>>;
  return {
    ...(typeof exit_code === 'number' && {exit_code}),
    ...(typeof stdout_path === 'string' && {stdout_path}),
    ...(typeof stderr_path === 'string' && {stderr_path}),
  };
}

/** Whether a value has more than `levels` of lists and objects in each other. Walks without recursion. */
export function nestedDeeperThan(levels: number, value: Json): boolean {
  let level: readonly Json[] = [value];
  for (let depth = 0; depth <= levels; depth++) {
    const below: Json[] = [];
    for (const entry of level) {
      if (typeof entry !== 'object' || entry === null) continue;
      for (const member of Object.values<Json>(entry)) below.push(member);
    }
    if (below.length === 0) return false;
    level = below;
  }
  return true;
}

/** `tools.access`, which `is "read-only"`, and how the operator turns the tool on. */
export interface SwitchedOff {
  readonly setting: string;
  readonly why: string;
  /** A sentence with the line to write, and the file it goes into. */
  readonly turnOn: string;
}

export function disabledFailure(tool: string, off: SwitchedOff): Err<Failure> {
  return fail('tool_disabled', switchedOffSentence(`${tool} is`, off), {tool, setting: off.setting});
}

/** `subject` ends with its verb: `run is`. */
export function switchedOffSentence(subject: string, {setting, why, turnOn}: SwitchedOff): string {
  return `${subject} off: ${setting} ${why}. ${turnOn}`;
}

/** SRD 5.2: `undefined` where tools are executed. */
export function offByMode(
  mode: 'enabled' | 'disabled' | 'parse_only',
  turnOn: string,
): SwitchedOff | undefined {
  return mode === 'enabled' ? undefined : {setting: 'tools.mode', why: `is "${mode}"`, turnOn};
}

/** Of `names`, the one that somebody means who writes `written`: by the table of synonyms, else a similar one. */
export function ourName(
  written: string,
  names: readonly string[],
  synonyms: Readonly<Record<string, readonly string[]>>,
): string | undefined {
  const plain = toSnakeCase(written);
  const same = names.find(name => name === plain);
  const synonym = names.find(name => Object.hasOwn(synonyms, name) && synonyms[name]?.includes(plain));
  return same ?? synonym ?? nearestName(written, names);
}

/** `filePath`, `file-path`, `mcp__files__read` and `-i` as our names are written. */
function toSnakeCase(name: string): string {
  return name
    .slice(0, 64)
    .replace(/^mcp__.*?__/, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[-. ]/g, '_')
    .replace(/^_+|_+$/g, '')
    .toLowerCase();
}
