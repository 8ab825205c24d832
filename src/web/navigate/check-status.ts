import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import {type HttpResponse, LICENSE_REQUIRED} from '../page.ts';

const LICENSE_ADVICE =
  'It wants a licence for this use. Choose another source, or have the operator get one.';

/**
 * RSL: what a server says that does not answer without a licence. The codes of the SRD are a closed list, so for
 * `web_fetch` it is a reason of `http_4xx`.
 */
function licenseChallenge({status, headers}: HttpResponse): Readonly<Record<string, string>> | undefined {
  const challenge = headers
    .get('www-authenticate')
    ?.find(value => /(?:^|,)\s*License(?=[\s,]|$)/i.test(value));
  if (status !== 402 && (status !== 401 || challenge === undefined)) return undefined;
  return {
    reason: LICENSE_REQUIRED,
    ...(challenge !== undefined && {challenge: printableStart(challenge)}),
  };
}

/** What a stranger wrote must not act on a terminal or a log. */
function printableStart(text: string): string {
  return text.slice(0, 300).replace(/[^\x20-\x7e]/g, '?');
}

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
    const license = licenseChallenge(response);
    if (license) return fail('http_4xx', `${said} ${LICENSE_ADVICE}`, {...details, ...license});
    const advice = retryable ? 'Wait, then retry.' : 'Check the address.';
    return fail('http_4xx', `${said} ${advice}`, details, {retryable});
  }
  if (status >= 500 && status < 600) return fail('http_5xx', `${said} Retry later.`, details);
  return fail('network', `${said} That status carries no document; retry, or fetch another address.`, {
    error: 'unexpected_status',
    status,
  });
}
