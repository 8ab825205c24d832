import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import type {Err} from '../../core/result.ts';
import type {ToolRequest} from '../../core/tool.ts';

const FORM = 'Call it with {tool: "read_file", params: {path: "a.txt"}, request_id: "1"}.';

interface CheckedRequest {
  /** What is to be called; of a wrong one as much as can be read. */
  readonly request: ToolRequest;
  /** What is wrong with it, for callers without types. */
  readonly problem: Err<Failure> | undefined;
}

/** NFR-WF-REL-02: no call rejects, so a request of another form is answered too. Errors: `invalid_params`. */
export function checkRequest(given: unknown): CheckedRequest {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    const request = {tool: '', params: {}, request_id: ''};
    return {request, problem: refuse('request', `must be an object, got ${nameOf(given)}`)};
  }
  const {tool, params = {}, request_id = ''} = given as Partial<Record<keyof ToolRequest, unknown>>;
  const request = {
    tool: typeof tool === 'string' ? tool : '',
    params: isObject(params) ? (params as ToolRequest['params']) : {},
    request_id: typeof request_id === 'string' ? request_id : '',
  };
  if (typeof tool !== 'string') {
    return {request, problem: refuse('tool', `must be the name of a tool, got ${nameOf(tool)}`)};
  }
  if (typeof request_id !== 'string') {
    return {request, problem: refuse('request_id', `must be a string, got ${nameOf(request_id)}`)};
  }
  // What is wrong with the parameters the tool itself says, with the names of its own.
  return {request: {...request, params: params as ToolRequest['params']}, problem: undefined};
}

function refuse(field: string, reason: string): Err<Failure> {
  return fail('invalid_params', `The call's ${field} ${reason}. ${FORM} Nothing was run.`, {field, reason});
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  return Array.isArray(value) ? 'an array' : `a value of type ${typeof value}`;
}
