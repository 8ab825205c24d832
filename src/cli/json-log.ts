import {systemClock, timestamp} from '../core/clock.ts';
import type {Log, LogLevel} from '../core/log.ts';

const ORDER: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export const LOG_LEVELS: readonly (LogLevel | 'silent')[] = [...ORDER, 'silent'];

/** FR-WF-19c: one JSON object a line. */
export function jsonLog(write: (line: string) => void, least: LogLevel | 'silent'): Log {
  if (least === 'silent') return () => {};
  return event => {
    if (ORDER.indexOf(event.level) < ORDER.indexOf(least)) return;
    write(`${JSON.stringify({time: timestamp(systemClock.now()), ...event})}\n`);
  };
}
