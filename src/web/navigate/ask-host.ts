import type {Budget} from '../../core/budget.ts';
import type {Clock} from '../../core/clock.ts';
import type {HostGate} from '../../core/replicas/host-gate.ts';
import {ok, type Result} from '../../core/result.ts';
import {retryAfterMs} from '../../core/text/retry-after-ms.ts';
import type {HttpResponse} from '../page.ts';

export interface AskHostDeps {
  /** Where several replicas ask the same hosts. Default: nobody is waited for. */
  readonly hosts?: HostGate | undefined;
  readonly clock: Clock;
}

export interface Asked {
  readonly response: HttpResponse;
  /** Other replicas could not be asked. */
  readonly unavailable: boolean;
}

/** A request lasts no longer than its budget, and this. */
const LEASE_MARGIN_MS = 5000;
/** Where a server that refuses does not say for how long. */
const PAUSE_MS = 5000;
const TOO_MANY_REQUESTS = 429;
const SERVICE_UNAVAILABLE = 503;

/** Sends a request when the host may be asked, and says when its answer was read. */
export async function askHost(
  host: string,
  {hosts, clock}: AskHostDeps,
  waitMs: number,
  budget: Budget,
  request: () => Promise<Result<HttpResponse>>,
): Promise<Result<Asked>> {
  if (hosts === undefined) {
    const opened = await request();
    return opened.ok ? ok({response: opened.value, unavailable: false}) : opened;
  }
  const {signal} = budget;
  const leaseMs = budget.remainingMs() + LEASE_MARGIN_MS;
  const entered = await budget.pausedFor(() => hosts.enter(host, {signal, waitMs, leaseMs}));
  if (!entered.ok) return entered;
  const lease = entered.value;
  let opened: Result<HttpResponse>;
  try {
    opened = await request();
  } catch (error) {
    lease.leave();
    throw error;
  }
  if (!opened.ok) {
    lease.leave();
    return opened;
  }
  // The host is left when its answer is read, or dropped.
  const {value: response} = opened;
  const refuses = response.status === TOO_MANY_REQUESTS || response.status === SERVICE_UNAVAILABLE;
  const asked = response.headers.get('retry-after')?.[0]?.trim() ?? '';
  const leave = (): void => lease.leave(refuses ? (retryAfterMs(asked, clock.now()) ?? PAUSE_MS) : 0);
  const leaving: HttpResponse = {
    ...response,
    read: maxBytes => response.read(maxBytes).finally(leave),
    readPrefix: maxBytes => response.readPrefix(maxBytes).finally(leave),
    discard: () => {
      leave();
      response.discard();
    },
  };
  return ok({response: leaving, unavailable: lease.unavailable});
}
