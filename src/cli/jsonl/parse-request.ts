import type {Json} from '../../core/json.ts';
import {ok, type Result} from '../../core/result.ts';
import type {ToolRequest} from '../../core/tool.ts';

/** A line that is no request, with as much of it as says which one it was. */
export interface BadLine {
  readonly request_id: string;
  readonly tool: string;
  readonly field: string;
  readonly reason: string;
}

/** One line as a `ToolRequest`. Fields that it does not have are ignored; missing `params` are `{}` (ruling H2). */
export function parseRequest(line: Uint8Array): Result<ToolRequest, BadLine> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', {fatal: true}).decode(line));
  } catch (error) {
    // The words of the parser quote the line, which may hold what no message should.
    const reason = error instanceof SyntaxError ? 'not valid JSON' : 'not UTF-8';
    return {ok: false, error: {request_id: '', tool: '', field: 'line', reason}};
  }
  if (!isTable(value)) {
    return {ok: false, error: {request_id: '', tool: '', field: 'line', reason: 'not a JSON object'}};
  }
  const {tool, params = {}, request_id: id = ''} = value;
  const known = {request_id: typeof id === 'string' ? id : '', tool: typeof tool === 'string' ? tool : ''};
  const wrong = (field: string, reason: string): Result<never, BadLine> => ({
    ok: false,
    error: {...known, field, reason},
  });
  if (typeof tool !== 'string' || tool === '') return wrong('tool', 'expected the name of a tool');
  if (typeof id !== 'string') return wrong('request_id', 'expected a string');
  if (!isTable(params)) return wrong('params', 'expected an object');
  return ok({tool, params, request_id: id});
}

type Table = {readonly [name: string]: Json};

/** What `JSON.parse` returned is JSON already. */
function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
