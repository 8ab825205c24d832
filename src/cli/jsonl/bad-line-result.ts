import {type Clock, timestamp} from '../../core/clock.ts';
import {wellFormedJson} from '../../core/text/well-formed-json.ts';
import type {ToolResult} from '../../core/tool.ts';
import type {BadLine} from './parse-request.ts';

/** The answer to a line that is no request: a `ToolResult` like any other, so that a client reads one shape. */
export function badLineResult({request_id, tool, field, reason}: BadLine, clock: Clock): ToolResult {
  const now = timestamp(clock.now());
  const what = field === 'line' ? 'The line is no ToolRequest' : `"${field}" of the ToolRequest is wrong`;
  return wellFormedJson({
    request_id,
    tool,
    status: 'error',
    started_at: now,
    ended_at: now,
    duration_sec: 0,
    data: null,
    error: {
      error_type: 'invalid_params',
      message: `${what}: ${reason}. Send {"request_id": "…", "tool": "…", "params": {…}} on one line.`,
      details: {field, reason, retryable: false},
    },
    exit_code: null,
    stdout_path: null,
    stderr_path: null,
  });
}
