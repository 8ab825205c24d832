import {describe, expect, test} from 'vitest';
import type {PathHandler} from '../support/http-server.ts';
import {openTestToolbox} from '../support/open-test-toolbox.ts';
import {answer, htmlPage, servePages} from '../support/serve-pages.ts';

const status =
  (code: number, text: string, headers: Readonly<Record<string, string>> = {}): PathHandler =>
  (_, response) =>
    response.writeHead(code, text, headers).end();

/** What a call fails with, with all of its details. */
interface Failed {
  readonly code: string;
  readonly retryable: boolean;
  readonly details: Readonly<Record<string, unknown>>;
}

async function open() {
  const server = await servePages({
    '/robots.txt': answer('text/plain', 'User-agent: *\nDisallow: /private'),
    '/loop': status(302, 'Found', {Location: '/loop'}),
    '/lost': status(302, 'Found'),
    '/304': status(304, 'Not Modified'),
    '/big': (_, response) =>
      response.writeHead(200, {'Content-Type': 'text/html', 'Content-Length': 5000}).end('x'.repeat(5000)),
    '/json': answer('application/json', '{}'),
    '/404': status(404, 'Not Here'),
    '/429': status(429, 'Slow Down', {'Retry-After': '7'}),
    '/500': status(500, 'Broken'),
    '/silent': () => {},
    '/page': htmlPage('<p>page'),
  });
  const failing = await servePages({'/robots.txt': status(500, 'Broken')});
  const {toolbox} = openTestToolbox(
    [server.port, failing.port],
    {timeout_seconds: 1, max_download_bytes: 1024},
    {
      resolver: {
        resolve: async () => {
          throw Object.assign(new Error('no such host'), {code: 'ENOTFOUND'});
        },
      },
    },
  );
  const failureOf = async (request: Parameters<typeof toolbox.webFetch>[0]): Promise<Failed> => {
    const result = await toolbox.webFetch(request);
    if (result.ok) throw new Error(`Expected a failure of ${request.url}, got a page`);
    const {code, retryable, details} = result.error;
    return {code, retryable, details: {...details}};
  };
  return {origin: server.origin, port: server.port, failing, failureOf};
}

type Place = Awaited<ReturnType<typeof open>>;
type Case = (place: Place) => readonly [Parameters<Place['failureOf']>[0], Failed];

describe('T-WF-ERR-02 FR-WF-18b the registry of codes: each failure with all of its details', () => {
  test.each<readonly [string, Case]>([
    [
      'invalid_scheme',
      () => [
        {url: 'ftp://example.com/'},
        {code: 'invalid_scheme', retryable: false, details: {scheme: 'ftp'}},
      ],
    ],
    [
      'port_blocked',
      ({port, failing}) => [
        {url: 'http://example.com:22/'},
        {
          code: 'port_blocked',
          retryable: false,
          details: {port: 22, allowed_ports: [port, failing.port]},
        },
      ],
    ],
    [
      'ssrf_blocked',
      ({port}) => [
        {url: `http://10.0.0.1:${port}/`},
        {
          code: 'ssrf_blocked',
          retryable: false,
          details: {
            blocked_ip: '10.0.0.1',
            cidr: '10.0.0.0/8',
            toggle: 'block_private_ips',
          },
        },
      ],
    ],
    [
      'dns_failed',
      ({port}) => [
        {url: `http://nowhere.test:${port}/`},
        {code: 'dns_failed', retryable: true, details: {host: 'nowhere.test', error: 'ENOTFOUND'}},
      ],
    ],
    [
      'robots_disallowed',
      ({origin}) => [
        {url: `${origin}/private?q=1`},
        {
          code: 'robots_disallowed',
          retryable: false,
          details: {path: '/private', origin, rule: 'Disallow: /private'},
        },
      ],
    ],
    [
      'robots_unavailable',
      ({failing}) => [
        {url: failing.origin},
        {
          code: 'robots_unavailable',
          retryable: true,
          details: {origin: failing.origin, error: 'http_5xx', status: 500},
        },
      ],
    ],
    [
      'redirect_limit',
      ({origin}) => [
        {url: `${origin}/loop`},
        {code: 'redirect_limit', retryable: false, details: {count: 6, max: 5}},
      ],
    ],
    [
      'timeout',
      ({origin}) => [
        {url: `${origin}/silent`},
        {code: 'timeout', retryable: true, details: {timeout_ms: 1000, phase: 'headers'}},
      ],
    ],
    [
      'network of a redirect without Location',
      ({origin}) => [
        {url: `${origin}/lost`},
        {code: 'network', retryable: true, details: {error: 'missing_location', status: 302}},
      ],
    ],
    [
      'network of an unexpected status',
      ({origin}) => [
        {url: `${origin}/304`},
        {code: 'network', retryable: true, details: {error: 'unexpected_status', status: 304}},
      ],
    ],
    [
      'response_too_large',
      ({origin}) => [
        {url: `${origin}/big`},
        {code: 'response_too_large', retryable: false, details: {size: 5000, max_bytes: 1024}},
      ],
    ],
    [
      'unsupported_content_type',
      ({origin}) => [
        {url: `${origin}/json`},
        {
          code: 'unsupported_content_type',
          retryable: false,
          details: {content_type: 'application/json'},
        },
      ],
    ],
    [
      'http_4xx',
      ({origin}) => [
        {url: `${origin}/404`},
        {code: 'http_4xx', retryable: false, details: {status: 404, status_text: 'Not Here'}},
      ],
    ],
    [
      'http_4xx that may be retried',
      ({origin}) => [
        {url: `${origin}/429`},
        {
          code: 'http_4xx',
          retryable: true,
          details: {status: 429, status_text: 'Slow Down', retry_after: '7'},
        },
      ],
    ],
    [
      'http_5xx',
      ({origin}) => [
        {url: `${origin}/500`},
        {code: 'http_5xx', retryable: true, details: {status: 500, status_text: 'Broken'}},
      ],
    ],
    [
      'browser_unavailable',
      ({origin}) => [
        {url: `${origin}/page`, force_browser: true},
        {
          code: 'browser_unavailable',
          retryable: false,
          details: {chromium_path: '/nonexistent/chromium', error: 'not found'},
        },
      ],
    ],
  ])('T-WF-ERR-02 %s', async (_, caseOf) => {
    const place = await open();
    const [request, expected] = caseOf(place);
    expect(await place.failureOf(request)).toEqual(expected);
  });
});
