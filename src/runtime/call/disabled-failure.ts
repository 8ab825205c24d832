import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import type {Err} from '../../core/result.ts';

/** `why` says what the setting does: `is "disabled"`. */
export function disabledFailure(tool: string, setting: string, why: string): Err<Failure> {
  return fail(
    'tool_disabled',
    `${tool} is not executed: ${setting} ${why}. Have the operator change that setting.`,
    {tool, setting},
  );
}
