import type {Json} from './json.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** FR-WF-19c: a structured line. URLs in it were redacted by `redactUrl` before they came here. */
export interface LogEvent {
  readonly level: LogLevel;
  readonly event: string;
  readonly message?: string;
  readonly requested_host?: string;
  readonly rendering_method?: 'http' | 'browser';
  readonly cache_hit?: boolean;
  readonly error_code?: string;
  readonly [field: string]: Json | undefined;
}

export type Log = (event: LogEvent) => void;

export const silentLog: Log = () => {};
