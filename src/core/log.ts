// The port for log lines. A log that throws harms nobody.
import type {Json} from './result.ts';

/** How much a log line matters, least first. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** A structured log line. Its URLs have no query and no credentials. (FR-WF-19c) */
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

/** The log of a host. One that throws loses its line, and the call goes on. */
export function harmlessLog(log: Log): Log {
  return event => {
    try {
      log(event);
    } catch {
      // There is nowhere left to say it.
    }
  };
}
