import type {Failure} from '../../core/failure/failure.ts';
import {retryAfterMs} from '../../core/text/retry-after-ms.ts';

/** A server that asks for more is left for another run. */
export const LONGEST_PAUSE_MS = 300_000;
/** Where the server does not say how long: doubled at each try of the same page. */
const FIRST_PAUSE_MS = 5000;
const TOO_MANY_REQUESTS = 429;
const SERVICE_UNAVAILABLE = 503;

/**
 * RFC 9110 §10.2.3, RFC 6585 §4: how long a host wants to be left alone, in milliseconds, if a failure says
 * that it does (429 and 503, also of its robots.txt, and what other replicas were told). `Retry-After` is seconds or an HTTP date; what is
 * neither is passed over. `attempt` counts from 1.
 */
export function refusalPause({code, details}: Failure, attempt: number, now: number): number | undefined {
  const {status, retry_after} = details;
  const refuses = status === TOO_MANY_REQUESTS || status === SERVICE_UNAVAILABLE || code === 'host_busy';
  if (!refuses) return undefined;
  const asked = typeof retry_after === 'string' ? retryAfterMs(retry_after.trim(), now) : undefined;
  return asked ?? FIRST_PAUSE_MS * 2 ** (attempt - 1);
}
