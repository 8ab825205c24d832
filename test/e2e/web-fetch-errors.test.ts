import {chmodSync, existsSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {createToolbox, FAILURE_CODES} from '../../src/index.ts';
import {type PathHandler, startHttpServer, type TestHttpServer} from '../support/http-server.ts';
import {openTestToolbox} from '../support/open-test-toolbox.ts';
import {answer, htmlPage, servePages} from '../support/serve-pages.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

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

describe('web fetch errors', () => {
  const HTML = {'Content-Type': 'text/html'};
  const status =
    (code: number, headers: Readonly<Record<string, string>> = {}): PathHandler =>
    (_, response) =>
      response.writeHead(code, headers).end();

  async function serve(handlers: Readonly<Record<string, PathHandler>>): Promise<TestHttpServer> {
    const server = await startHttpServer(handlers);
    onTestFinished(() => server.close());
    return server;
  }

  describe('arguments', () => {
    test.each([
      ['no arguments', undefined, 'url'],
      ['no url', {}, 'url'],
      ['an empty url', {url: ''}, 'url'],
      ['a blank url', {url: ' \n\t'}, 'url'],
      ['a url that is no string', {url: 7}, 'url'],
      ['127 tokens', {url: 'https://e.com/', max_chunk_tokens: 127}, 'max_chunk_tokens'],
      ['2049 tokens', {url: 'https://e.com/', max_chunk_tokens: 2049}, 'max_chunk_tokens'],
      ['600.5 tokens', {url: 'https://e.com/', max_chunk_tokens: 600.5}, 'max_chunk_tokens'],
      ['null tokens', {url: 'https://e.com/', max_chunk_tokens: null}, 'max_chunk_tokens'],
      ['a text for a flag', {url: 'https://e.com/', no_cache: 'yes'}, 'no_cache'],
      ['an unknown argument', {url: 'https://e.com/', maxChunkTokens: 600}, 'maxChunkTokens'],
    ])('FR-WF-02a %s is bad_args and names the field', async (_, args, field) => {
      const toolbox = createToolbox({config: {tools: {webfetch: {cache_dir: ''}}}});
      // Arguments come from models: whatever the types say, anything can be in them.
      const result = await toolbox.webFetch(args as never);
      expect(result).toMatchObject({
        ok: false,
        error: {code: 'bad_args', retryable: false, details: {field}},
      });
      await toolbox.close();
    });

    test('ruling H2 600.0 is an integer', async () => {
      const toolbox = createToolbox({config: {tools: {webfetch: {cache_dir: ''}}}});
      const args = JSON.parse('{"url": "ftp://e.com/", "max_chunk_tokens": 600.0}');
      expect(await toolbox.webFetch(args)).toMatchObject({error: {code: 'invalid_scheme'}});
      await toolbox.close();
    });

    test('FR-WF-03a the answer fits by itself: allowTruncation is switched off', async () => {
      const toolbox = createToolbox({config: {tools: {webfetch: {cache_dir: ''}}}});
      const context = {allowTruncation: true};
      await toolbox.webFetch({url: 'nonsense'}, context);
      expect(context.allowTruncation).toBe(false);
      await toolbox.close();
    });
  });

  describe('T-WF-ERR-02 every code of the registry that HTTP mode has is produced', () => {
    const produced = new Set<string>();

    test('T-WF-ERR-02 T-WF-ERR-01 each as a valid envelope', async () => {
      const server = await serve({
        '/robots.txt': (_, response) => response.writeHead(200).end('User-agent: *\nDisallow: /private'),
        '/private': status(200),
        '/404': status(404),
        '/500': status(500),
        '/loop': status(302, {Location: '/loop'}),
        '/big': (_, response) => response.writeHead(200, HTML).end('x'.repeat(5000)),
        '/json': status(200, {'Content-Type': 'application/json'}),
        '/silent': () => {},
        '/drop': request => request.socket.destroy(),
        '/page': (_, response) => response.writeHead(200, HTML).end('<p>page'),
      });
      const failing = await serve({'/robots.txt': status(500)});
      const {toolbox} = openTestToolbox([server.port, failing.port], {
        timeout_seconds: 1,
        max_download_bytes: 1024,
      });
      const {toolbox: lost} = openTestToolbox(
        [80],
        {},
        {
          resolver: {
            resolve: () => Promise.reject(Object.assign(new Error('no such host'), {code: 'ENOTFOUND'})),
          },
        },
      );
      const cases: readonly (readonly [string, Promise<unknown>])[] = [
        ['bad_args', toolbox.webFetch({url: ''})],
        ['invalid_url', toolbox.webFetch({url: 'http://'})],
        ['invalid_scheme', toolbox.webFetch({url: 'file:///etc/passwd'})],
        ['invalid_host', toolbox.webFetch({url: 'http://0177.0.0.1/'})],
        ['port_blocked', toolbox.webFetch({url: 'http://example.com:22/'})],
        ['ssrf_blocked', toolbox.webFetch({url: `http://10.0.0.1:${server.port}/`})],
        ['dns_failed', lost.webFetch({url: 'http://nowhere.test/'})],
        ['robots_disallowed', toolbox.webFetch({url: `${server.origin}/private`})],
        ['robots_unavailable', toolbox.webFetch({url: `${failing.origin}/`})],
        ['redirect_limit', toolbox.webFetch({url: `${server.origin}/loop`})],
        ['timeout', toolbox.webFetch({url: `${server.origin}/silent`})],
        ['network', toolbox.webFetch({url: `${server.origin}/drop`})],
        ['response_too_large', toolbox.webFetch({url: `${server.origin}/big`})],
        ['unsupported_content_type', toolbox.webFetch({url: `${server.origin}/json`})],
        ['http_4xx', toolbox.webFetch({url: `${server.origin}/404`})],
        ['http_5xx', toolbox.webFetch({url: `${server.origin}/500`})],
        ['browser_unavailable', toolbox.webFetch({url: `${server.origin}/page`, force_browser: true})],
        ['internal', toolbox.webFetch({url: `${server.origin}/page`}, {maxOutputBytes: 20})],
      ];
      for (const [code, pending] of cases) {
        const result = await pending;
        expect(result, code).toMatchObject({ok: false, error: {code}});
        const {error} = result as {readonly error: Readonly<Record<string, unknown>>};
        expect(JSON.parse(JSON.stringify(error)), code).toEqual(error);
        expect(Object.keys(error), code).toEqual(['code', 'message', 'retryable', 'details']);
        expect(String(error['message']).length, code).toBeGreaterThan(10);
        const known: readonly string[] = FAILURE_CODES[code as keyof typeof FAILURE_CODES].details;
        for (const name of Object.keys(error['details'] as object))
          expect(known, `${code}.${name}`).toContain(name);
        produced.add(code);
      }
    });

    test('ruling E7 the output limit that cannot be met is internal, not retryable', async () => {
      const server = await serve({'*': (_, response) => response.writeHead(200, HTML).end('<p>page')});
      const {toolbox} = openTestToolbox([server.port]);
      expect(await toolbox.webFetch({url: server.origin}, {availableCapacityBytes: 20})).toMatchObject({
        error: {code: 'internal', message: 'tool_output_limit', retryable: false},
      });
    });

    test('T-WF-ERR-04 408 and 429 are http_4xx that may be retried, with the wait the server asks for', async () => {
      const server = await serve({
        '/408': status(408),
        '/429': status(429, {'Retry-After': '30'}),
        '/410': status(410),
        '/503': status(503, {'Retry-After': '\x9b31m 5'}),
      });
      const {toolbox} = openTestToolbox([server.port]);
      const errorOf = (path: string) => toolbox.webFetch({url: server.origin + path});
      expect(await errorOf('/408')).toMatchObject({
        error: {code: 'http_4xx', retryable: true, details: {status: 408}},
      });
      expect(await errorOf('/429')).toMatchObject({error: {retryable: true, details: {retry_after: '30'}}});
      expect(await errorOf('/410')).toMatchObject({
        error: {code: 'http_4xx', retryable: false, details: {status: 410}},
      });
      // Nothing that a terminal or a log would act on.
      expect(await errorOf('/503')).toMatchObject({error: {details: {retry_after: '?31m 5'}}});
    });

    test('ruling C3 a time-out names its phase', async () => {
      const server = await serve({
        '/robots.txt': status(404),
        '/headers': () => {},
        '/body': (_, response) => {
          response.writeHead(200, HTML);
          response.write('<p>half');
        },
      });
      const {toolbox} = openTestToolbox([server.port], {timeout_seconds: 1});
      const [headers, body] = await Promise.all([
        toolbox.webFetch({url: `${server.origin}/headers`}),
        toolbox.webFetch({url: `${server.origin}/body`}),
      ]);
      expect(headers).toMatchObject({
        error: {code: 'timeout', details: {timeout_ms: 1000, phase: 'headers'}},
      });
      // FR-WF-19: what had come of the body is not returned.
      expect(body).toMatchObject({error: {code: 'timeout', details: {timeout_ms: 1000, phase: 'body'}}});
    });
  });

  describe('output and logs', () => {
    test('T-WF-CHK-05 T-WF-CHK-06 the compact JSON fits, down to a cut first chunk', async () => {
      const body = Array.from({length: 40}, (_, index) => `<p>Paragraph ${index} – with words.</p>`).join('');
      const server = await serve({'*': (_, response) => response.writeHead(200, HTML).end(body)});
      const {toolbox} = openTestToolbox([server.port]);
      const fetchWith = (maxOutputBytes: number) =>
        toolbox.webFetch({url: server.origin, max_chunk_tokens: 128}, {maxOutputBytes});
      const whole = await fetchWith(1_000_000);
      const some = await fetchWith(1500);
      const cut = await fetchWith(400);
      if (!whole.ok || !some.ok || !cut.ok) throw new Error('expected three pages');
      expect(whole.value.truncated).toBe(false);
      expect(some.value).toMatchObject({truncated: true, truncation_reason: 'tool_output_limit'});
      expect(some.value.notes).toEqual(['cache_hit', 'tool_output_limit']);
      expect(some.value.chunks).toEqual(whole.value.chunks.slice(0, some.value.chunks.length));
      expect(cut.value.chunks).toHaveLength(1);
      expect(cut.value.chunks[0]?.text.length).toBeGreaterThan(0);
      expect(whole.value.chunks[0]?.text.startsWith(cut.value.chunks[0]?.text ?? '-')).toBe(true);
      for (const [result, limit] of [
        [some, 1500],
        [cut, 400],
      ] as const) {
        expect(Buffer.byteLength(JSON.stringify(result.value))).toBeLessThanOrEqual(limit);
      }
    });

    test('T-WF-ERR-03 no query string and no credential reaches logs, messages or details', async () => {
      const server = await serve({
        '/robots.txt': (_, response) => response.writeHead(200).end('User-agent: *\nDisallow: /no'),
        '/to': status(302, {Location: '/page?hop=SECRET'}),
        '/page': (_, response) => response.writeHead(200, HTML).end('<p>page'),
        '/404': status(404),
      });
      const {toolbox, logs} = openTestToolbox([server.port]);
      const urls = [
        `${server.origin}/page?key=SECRET`,
        `${server.origin}/to?key=SECRET`,
        `${server.origin}/no?key=SECRET`,
        `${server.origin}/404?key=SECRET#SECRET`,
        `http://user:SECRET@127.0.0.1:${server.port}/`,
        `http://10.0.0.1:${server.port}/?key=SECRET`,
        'http://[bad?key=SECRET',
        `ftp://host/?key=SECRET`,
      ];
      for (const url of urls) {
        const result = await toolbox.webFetch({url});
        if (!result.ok) expect(JSON.stringify(result.error), url).not.toContain('SECRET');
      }
      expect(logs.length).toBeGreaterThan(urls.length);
      expect(JSON.stringify(logs)).not.toContain('SECRET');
    });

    test('FR-WF-19c log lines carry the fields of the requirement', async () => {
      const server = await serve({'*': (_, response) => response.writeHead(200, HTML).end('<p>page')});
      const {toolbox, logs} = openTestToolbox([server.port]);
      await toolbox.webFetch({url: `${server.origin}/a?b`});
      await toolbox.webFetch({url: `${server.origin}/a?b`});
      const fields = {requested_host: '127.0.0.1', rendering_method: 'http', url: `${server.origin}/a`};
      expect(logs.filter(line => line.event.startsWith('fetch_'))).toMatchObject([
        {event: 'fetch_start', ...fields, cache_hit: false},
        {event: 'fetch_complete', ...fields, cache_hit: false},
        {event: 'fetch_start', ...fields},
        {event: 'fetch_complete', ...fields, cache_hit: true},
      ]);
    });

    test('T-WF-DET-01 T-WF-DET-03 two toolboxes give the same bytes for the same page', async () => {
      const body = `<h1>A</h1>${'<p>words and words. '.repeat(300)}<ul><li>x<li>y</ul>`;
      const server = await serve({'*': (_, response) => response.writeHead(200, HTML).end(body)});
      const bytes = async (): Promise<string> => {
        const result = await openTestToolbox([server.port]).toolbox.webFetch({
          url: server.origin,
          max_chunk_tokens: 200,
        });
        return result.ok ? JSON.stringify({...result.value, fetched_at: ''}) : '';
      };
      expect(await bytes()).toBe(await bytes());
    });
  });
});

const SHELL = '<div id="root"></div><p>shell</p><script type="module" src="/app.js"></script>';

const shellWithStatus =
  (status: number): PathHandler =>
  (_, response) =>
    response.writeHead(status, {'Content-Type': 'text/html'}).end(SHELL);

/** A toolbox whose Chromium writes a file when it is started, and ends. */
async function openWithWitness(
  handlers: Readonly<Record<string, PathHandler>>,
  rendering: Readonly<Record<string, boolean | number>> = {},
) {
  const directory = temporaryDirectory();
  const started = join(directory, 'started');
  const chromium = join(directory, 'chromium');
  writeFileSync(chromium, `#!/bin/sh\necho > '${started}'\nexit 1\n`);
  chmodSync(chromium, 0o755);
  const server = await servePages(handlers);
  const {toolbox} = openTestToolbox([server.port], {
    max_download_bytes: 1024,
    rendering,
    browser: {chromium_path: chromium, isolation: 'flags'},
  });
  return {
    fetch: (path: string) => toolbox.webFetch({url: server.origin + path}),
    browserWasStarted: () => existsSync(started),
    requests: server.requests,
  };
}

test('positive control: an application shell starts the browser', async () => {
  const {fetch, browserWasStarted} = await openWithWitness({'/': htmlPage(SHELL)});
  expect(await fetch('/')).toMatchObject({value: {notes: ['browser_unavailable_used_http']}});
  expect(browserWasStarted()).toBe(true);
});

test('FR-WF-12e spa_fallback_enabled = false: an application shell is returned as it is, without a note', async () => {
  const {fetch, browserWasStarted} = await openWithWitness(
    {'/': htmlPage(SHELL)},
    {spa_fallback_enabled: false},
  );
  expect(await fetch('/')).toMatchObject({
    value: {rendering_method: 'http', notes: [], chunks: [{text: 'shell'}]},
  });
  expect(browserWasStarted()).toBe(false);
});

test.each([
  ['the default', 399, {}, true],
  ['the default', 400, {}, false],
  ['a setting of 6', 5, {min_extracted_chars: 6}, true],
  ['a setting of 5', 5, {min_extracted_chars: 5}, false],
  ['a setting of 0', 1, {min_extracted_chars: 0}, false],
] as const)(
  'FR-WF-12c with %s, Markdown of %i characters of an application shell is too little (%j): %s',
  async (_, characters, rendering, tooLittle) => {
    // The Markdown ends with a line break, which counts.
    const shell = SHELL.replace('shell', 'x'.repeat(characters - 1));
    const {fetch, browserWasStarted} = await openWithWitness({'/': htmlPage(shell)}, rendering);
    expect(await fetch('/')).toMatchObject({ok: true});
    expect(browserWasStarted()).toBe(tooLittle);
  },
);

test.each([201, 203])('FR-WF-12c an application shell with status %i is the page itself', async status => {
  const {fetch, browserWasStarted} = await openWithWitness({'/': shellWithStatus(status)});
  expect(await fetch('/')).toMatchObject({value: {notes: [], chunks: [{text: 'shell'}]}});
  expect(browserWasStarted()).toBe(false);
});

describe('FR-WF-12f a fetch that failed over HTTP is not tried in the browser', () => {
  test.each<readonly [string, PathHandler]>([
    ['http_4xx', shellWithStatus(404)],
    ['http_5xx', shellWithStatus(500)],
    ['network', shellWithStatus(206)],
    ['unsupported_content_type', answer('application/json', SHELL)],
    ['response_too_large', answer('text/html', SHELL.padEnd(1025))],
  ])('FR-WF-12f %s is the answer', async (code, handler) => {
    // Whoever asked again, in the browser or for it, would get a page.
    const handlers = [handler];
    const {fetch, browserWasStarted, requests} = await openWithWitness({
      '/': (request, response) => (handlers.pop() ?? htmlPage(SHELL))(request, response),
    });
    expect(await fetch('/')).toMatchObject({ok: false, error: {code}});
    expect(requests).toEqual(['GET /robots.txt', 'GET /']);
    expect(browserWasStarted()).toBe(false);
  });
});
