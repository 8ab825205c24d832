import {describe, expect, test} from 'vitest';
import {requestHeaders} from './request-headers.ts';
import {responseHeaders} from './response-headers.ts';

describe('ruling G5 response headers', () => {
  const given = (fields: Record<string, string>) =>
    Object.fromEntries(
      responseHeaders(new Map(Object.entries(fields).map(([name, value]) => [name, [value]]))).map(
        ({name, value}) => [name, value],
      ),
    );

  test('ruling G5 what stores, reports, connects or fetches is lost', () => {
    const lost = {
      'set-cookie': 'a=b',
      'report-to': '{}',
      'reporting-endpoints': 'a="https://x.test"',
      nel: '{}',
      'alt-svc': 'h3=":443"',
      link: '<https://x.test>; rel=preconnect',
      'speculation-rules': '"/r.json"',
      'content-security-policy-report-only': "default-src 'none'; report-uri /r",
      'content-encoding': 'gzip',
      'content-length': '9',
      'transfer-encoding': 'chunked',
      'content-disposition': 'attachment',
      'www-authenticate': 'Basic',
      'clear-site-data': '"*"',
      'critical-ch': 'Sec-CH-UA-Arch',
      'service-worker-allowed': '/',
      'x-dns-prefetch-control': 'on',
      'sec-session-registration': '(ES256); path="/r"',
      'something-new': 'x',
    };
    expect(given(lost)).toEqual({});
  });

  test('what scripts read and pages are ruled by is kept', () => {
    const kept = {
      'content-type': 'text/html; charset=utf-8',
      'access-control-allow-origin': '*',
      'x-total-count': '9',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    };
    expect(given(kept)).toEqual(kept);
  });

  test('ruling G5 report directives leave a policy, the others stay', () => {
    const policy = "default-src 'self'; REPORT-URI /r; img-src *; report-to main, script-src 'none'";
    expect(given({'content-security-policy': policy})).toEqual({
      'content-security-policy': "default-src 'self'; img-src *, script-src 'none'",
    });
  });

  test('bytes above ASCII in a Location are percent-encoded', () => {
    expect(given({location: '/caf\xc3\xa9'})).toEqual({location: '/caf%c3%a9'});
  });
});

describe('FR-WF-07d request headers', () => {
  test('FR-WF-07d what the page asks with is passed, what is ours or about the browser is not', () => {
    expect(
      requestHeaders({
        Accept: 'application/json',
        Authorization: 'Bearer x',
        'X-Key': 'k',
        Origin: 'https://a.test',
        'User-Agent': 'Chrome',
        Cookie: 'a=b',
        Host: 'b.test',
        'Sec-Fetch-Mode': 'cors',
        'Proxy-Authorization': 'x',
        'Accept-Encoding': 'zstd',
        'Content-Length': '5',
        Upgrade: 'h2c',
      }),
    ).toEqual({
      accept: 'application/json',
      authorization: 'Bearer x',
      'x-key': 'k',
      origin: 'https://a.test',
    });
  });

  test('a header that could begin another one is left out, and so is a huge one', () => {
    const hostile = {'x-a': 'b\r\nHost: c', 'x b': 'c', 'x-c': 'd'.repeat(9000), 'x-d': 'é', 'x-e': ''};
    expect(requestHeaders(hostile)).toEqual({});
  });
});
