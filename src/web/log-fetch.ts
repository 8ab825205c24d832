import type {Clock} from '../core/clock.ts';
import type {Log} from '../core/log.ts';
import type {Result} from '../core/result.ts';
import {toUrl} from '../core/text/to-url.ts';
import type {FetchOutcome, FetchRequest} from './fetch-page.ts';
import type {WebFetchOptions} from './options.ts';
import {expectedRendering} from './render/expected-rendering.ts';
import {redactUrl} from './url/redact-url.ts';

/** FR-WF-19c: the fields that every line has, where what happened belongs to no page. */
export function completeLog(log: Log): Log {
  return event => log({requested_host: '', rendering_method: 'http', cache_hit: false, ...event});
}

/** FR-WF-19b, FR-WF-19c: a line when a fetch starts and one when it ends; query strings never get in. */
export async function logFetch(
  request: FetchRequest,
  {log, clock, options}: {readonly log: Log; readonly clock: Clock; readonly options: WebFetchOptions},
  work: () => Promise<Result<FetchOutcome>>,
): Promise<Result<FetchOutcome>> {
  const start = clock.monotonic();
  const requested = {
    url: redactUrl(request.url),
    requested_host: toUrl(request.url)?.hostname ?? '',
    rendering_method: expectedRendering(request, options),
  } as const;
  log({level: 'info', event: 'fetch_start', ...requested, cache_hit: false});
  const outcome = await work();
  const duration_ms = Math.round(clock.monotonic() - start);
  if (outcome.ok) {
    const {response} = outcome.value;
    log({
      level: 'info',
      event: 'fetch_complete',
      ...requested,
      rendering_method: response.rendering_method,
      cache_hit: response.notes.includes('cache_hit'),
      final_url: redactUrl(response.final_url),
      chunks: response.chunks.length,
      notes: response.notes,
      duration_ms,
    });
  } else {
    const {code, message, details} = outcome.error;
    const guard = code === 'ssrf_blocked' || code === 'port_blocked';
    log({
      level: guard ? 'warn' : 'info',
      event: guard ? code : 'fetch_failed',
      ...requested,
      cache_hit: false,
      error_code: code,
      message,
      details,
      duration_ms,
    });
  }
  return outcome;
}
