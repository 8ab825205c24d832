import {type Clock, systemClock} from '../../src/core/clock.ts';
import {Deadline} from '../../src/core/deadline.ts';
import {ok, type Result} from '../../src/core/result.ts';
import type {HeaderMap, HttpRequest, HttpTransport, PinnedTarget} from '../../src/web/page.ts';

export interface CallOptions {
  readonly method?: HttpRequest['method'];
  readonly headers?: HttpRequest['headers'];
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
  readonly clock?: Clock;
  /** A budget of the test's own, which the test closes. */
  readonly budget?: Deadline;
}

export interface WholeResponse {
  readonly status: number;
  readonly statusText: string;
  readonly headers: HeaderMap;
  readonly body: Uint8Array;
}

/** A request and its whole body, under a budget of its own. */
export async function callTransport(
  transport: HttpTransport,
  target: PinnedTarget,
  options: CallOptions = {},
): Promise<Result<WholeResponse>> {
  const {
    method = 'GET',
    headers = {},
    maxBytes = 1_048_576,
    timeoutMs = 20_000,
    clock = systemClock,
  } = options;
  const budget = options.budget ?? new Deadline(timeoutMs, clock);
  try {
    const response = await transport.request(target, {method, headers}, budget);
    if (!response.ok) return response;
    const body = await response.value.read(maxBytes);
    if (!body.ok) return body;
    const {status, statusText} = response.value;
    return ok({status, statusText, headers: response.value.headers, body: body.value});
  } finally {
    if (options.budget === undefined) budget.close();
  }
}
