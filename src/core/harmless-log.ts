import type {Log} from './log.ts';

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
