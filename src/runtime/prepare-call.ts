import {fail} from '../core/failure.ts';
import type {Json} from '../core/json.ts';
import type {Result} from '../core/result.ts';
import type {PreparedCall, SchemaProblem, Tool} from '../core/tool.ts';
import {nestedDeeperThan} from './nested-deeper-than.ts';

/** Deeper than the parameters of any tool; what walks them later need not fear the stack. */
const DEEPEST = 64;

/** FR-ERR-JSON-02: validates, and says which parameter is wrong and what there is. */
export function prepareCall(tool: Tool, params: Json): Result<PreparedCall> {
  if (nestedDeeperThan(DEEPEST, params)) {
    const reason = `nested deeper than ${DEEPEST} levels`;
    return refuse(tool, {field: 'params', reason, all: `params: ${reason}`});
  }
  const prepared = tool.prepare(params);
  return prepared.ok ? prepared : refuse(tool, prepared.error);
}

function refuse(tool: Tool, {field, reason, all}: SchemaProblem): Result<never> {
  const {properties} = tool.paramsSchema;
  const names = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  const known = names.length === 0 ? 'It has no parameters.' : `Its parameters are ${names.join(', ')}.`;
  const message = `Invalid parameter "${field}" of ${tool.name}: ${reason}. ${known}`;
  return fail(tool.badParams, message, {field, reason, validation: all});
}
