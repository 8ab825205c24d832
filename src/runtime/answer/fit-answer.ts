import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import type {Tool, ToolAnswer, ToolContext} from '../../core/tool.ts';
import {fitJson} from './fit-json.ts';

export interface FittedAnswer extends ToolAnswer {
  readonly truncated: boolean;
}

/** Ruling E7, FR-WF-03a: an answer fits the effective limit, by its own doing or by ours. */
export function fitAnswer(answer: ToolAnswer, tool: Tool, context: ToolContext): Result<FittedAnswer> {
  const maxBytes = Math.min(context.maxOutputBytes, context.availableCapacityBytes);
  const fitted = fitJson(answer.data, maxBytes, mayMark(tool));
  const isUsable = fitted !== undefined && (context.allowTruncation || !fitted.truncated);
  if (isUsable) return ok({...answer, ...fitted});
  // FR-WF-OUT-02
  return fail(
    'internal',
    'tool_output_limit',
    {error: 'tool_output_limit', max_bytes: maxBytes},
    {retryable: false},
  );
}

/** Whether the schema of the answer has room for `truncated: true`. */
function mayMark({dataSchema}: Tool): boolean {
  const {properties, additionalProperties} = dataSchema;
  const hasIt =
    typeof properties === 'object' && properties !== null && Object.hasOwn(properties, 'truncated');
  return hasIt || additionalProperties !== false;
}
