import {type Clock, timestamp} from '../../core/clock.ts';
import type {Failure} from '../../core/failure/failure.ts';
import {wellFormedJson} from '../../core/text/well-formed-json.ts';
import type {ToolRequest, ToolResult} from '../../core/tool.ts';

/** The result of a call for which there is no session to write it down in. Nothing was run. */
export function unstartedResult(request: ToolRequest, error: Failure, clock: Clock): ToolResult {
  const now = timestamp(clock.now());
  const {code, message, retryable, details} = error;
  return wellFormedJson({
    request_id: request.request_id,
    tool: request.tool,
    status: 'error',
    started_at: now,
    ended_at: now,
    duration_sec: 0,
    data: null,
    error: {error_type: code, message, details: {...details, retryable}},
    exit_code: null,
    stdout_path: null,
    stderr_path: null,
  });
}
