import type {Log} from '../core/log.ts';

/** FR-WF-19c: the fields that every line has, where what happened belongs to no page. */
export function completeLog(log: Log): Log {
  return event => log({requested_host: '', rendering_method: 'http', cache_hit: false, ...event});
}
