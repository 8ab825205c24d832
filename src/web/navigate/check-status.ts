import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import type {HttpResponse} from '../page.ts';

/**
 * FR-WF-18 registry, ruling C1: whether the status carries a document. Redirects were followed
 * before this; the body of an error is not read.
 */
export function checkStatus(response: HttpResponse): Result<'document' | 'empty'> {
  const {status} = response;
  if (status === 204 || status === 205) return ok('empty');
  if (status >= 200 && status < 300 && status !== 206) return ok('document');

  const statusText = response.statusText.slice(0, 200);
  // A date or a number (RFC 9110 §10.2.3); what else stands there must not act on a terminal or a log.
  const retryAfter = response.headers
    .get('retry-after')?.[0]
    ?.slice(0, 100)
    .replace(/[^\x20-\x7e]/g, '?');
  const details = {status, status_text: statusText, retry_after: retryAfter};
  const said = `The server answered ${status}${statusText ? ` ${statusText}` : ''}.`;
  if (status >= 400 && status < 500) {
    // FR-WF-ERR-HTTP-01
    const retryable = status === 408 || status === 429;
    const advice = retryable ? 'Wait, then retry.' : 'Check the address.';
    return fail('http_4xx', `${said} ${advice}`, details, {retryable});
  }
  if (status >= 500 && status < 600) return fail('http_5xx', `${said} Retry later.`, details);
  return fail('network', `${said} That status carries no document; retry, or fetch another address.`, {
    error: 'unexpected_status',
    status,
  });
}
