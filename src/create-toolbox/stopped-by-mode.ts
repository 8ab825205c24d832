import type {ResolvedConfig} from '../config/resolve/resolve-config.ts';
import type {Failure} from '../core/failure/failure.ts';
import type {Err} from '../core/result.ts';
import {disabledFailure} from '../runtime/call/disabled-failure.ts';
import {WEB_FETCH} from '../tools/web/web-fetch.ts';

/**
 * Ruling H3: a mode that is written down as `disabled` or `parse_only` stops what is done by hand too. Where
 * none is written, agents are offered nothing and a person may fetch.
 */
export function stoppedByMode({writtenMode}: ResolvedConfig): Err<Failure> | undefined {
  if (writtenMode === undefined || writtenMode === 'enabled') return undefined;
  return disabledFailure(WEB_FETCH, 'tools.mode', `is "${writtenMode}"`);
}
