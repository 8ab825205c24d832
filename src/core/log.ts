import type {Json} from './json.ts';

/** How much a log line matters, least first. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** FR-WF-19c: a structured line. URLs in it were redacted by `redactUrl` before they came here. */
export interface LogEvent {
  /** How much it matters. */
  readonly level: LogLevel;
  /** What happened, such as `web_fetch`: a name that does not change. */
  readonly event: string;
  /** The same as a sentence. */
  readonly message?: string;
  /** The host that the caller asked for. */
  readonly requested_host?: string;
  /** How the page was read. */
  readonly rendering_method?: 'http' | 'browser';
  /** Whether the page came from the cache. */
  readonly cache_hit?: boolean;
  /** The code of the failure, from `FAILURE_CODES`. */
  readonly error_code?: string;
  /** Further facts of the event. */
  readonly [field: string]: Json | undefined;
}

/** Takes log lines, one call a line. It must not throw. */
export type Log = (event: LogEvent) => void;

export const silentLog: Log = () => {};
