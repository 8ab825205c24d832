import {readdirSync} from 'node:fs';
import {brotliCompressSync, deflateRawSync, deflateSync, gzipSync} from 'node:zlib';
import {describe, expect, onTestFinished, test} from 'vitest';
import {type PathHandler, startHttpServer, type TestHttpServer} from '../support/http-server.ts';
import {openTestToolbox} from '../support/open-test-toolbox.ts';
import {answer, htmlPage, servePages} from '../support/serve-pages.ts';

const HTML = {'Content-Type': 'text/html; charset=utf-8'};
const page = (body: string, title = 'Page'): string =>
  `<!DOCTYPE html><html lang="en"><head><title>${title}</title></head><body>${body}</body></html>`;

function html(body: string, title?: string): PathHandler {
  return (_, response) => response.writeHead(200, HTML).end(page(body, title));
}

function redirect(location: string, status = 302): PathHandler {
  return (_, response) => response.writeHead(status, {Location: location}).end();
}

async function serve(handlers: Readonly<Record<string, PathHandler>>): Promise<TestHttpServer> {
  const server = await startHttpServer(handlers);
  onTestFinished(() => server.close());
  return server;
}

describe('IT-WF-HTTP-01 fetch and extract over HTTP', () => {
  test('IT-WF-HTTP-01 a page becomes the response of FR-WF-03', async () => {
    const server = await serve({
      '/a/page.html': html(
        '<nav>menu</nav><main><h1>Hello</h1><p>A <a href="b.html#x">link</a>.</p></main>',
        'T',
      ),
    });
    const {toolbox} = openTestToolbox([server.port]);
    const url = `${server.origin}/a/./page.html?q=1#part`;
    const result = await toolbox.webFetch({url});
    expect(result).toEqual({
      ok: true,
      value: {
        requested_url: url,
        final_url: `${server.origin}/a/page.html?q=1`,
        fetched_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        title: 'T',
        language: 'en',
        chunks: [
          {
            heading: 'Hello',
            text: `# Hello\n\nA [link](${server.origin}/a/b.html#x).`,
            token_count: expect.any(Number),
          },
        ],
        rendering_method: 'http',
        truncated: false,
        notes: [],
      },
    });
    expect(server.requests).toEqual(['GET /robots.txt', 'GET /a/page.html?q=1']);
  });

  test('FR-WF-10b the request says who asks and what is understood, and sends no cookie', async () => {
    const server = await serve({
      '/set': (_, response) => response.writeHead(302, {Location: '/page', 'Set-Cookie': 'id=1'}).end(),
      '/page': html('<p>text</p>'),
    });
    const {toolbox} = openTestToolbox([server.port], {user_agent: 'tester/2.0 (+https://example.test)'});
    expect(await toolbox.webFetch({url: `${server.origin}/set`})).toMatchObject({ok: true});
    for (const headers of server.requestHeaders) {
      expect(headers).toMatchObject({
        'user-agent': 'tester/2.0 (+https://example.test)',
        accept: 'text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.1',
        'accept-encoding': 'gzip, deflate, br',
        host: `127.0.0.1:${server.port}`,
      });
      expect(headers).not.toHaveProperty('cookie');
    }
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
  ] as const)('FR-WF-10c %s is decoded', async (encoding, compress) => {
    const server = await serve({
      '*': (_, response) =>
        response
          .writeHead(200, {...HTML, 'Content-Encoding': encoding})
          .end(compress(page('<p>compressed</p>'))),
    });
    const {toolbox} = openTestToolbox([server.port]);
    const result = await toolbox.webFetch({url: server.origin});
    expect(result).toMatchObject({ok: true, value: {chunks: [{text: 'compressed'}]}});
  });

  test('ruling C1 204 is an empty document, 206 and 304 are "network"', async () => {
    const status =
      (code: number): PathHandler =>
      (_, response) =>
        response.writeHead(code).end();
    const server = await serve({'/204': status(204), '/206': status(206), '/304': status(304)});
    const {toolbox} = openTestToolbox([server.port]);
    expect(await toolbox.webFetch({url: `${server.origin}/204`})).toMatchObject({
      ok: true,
      value: {chunks: []},
    });
    for (const path of ['/206', '/304']) {
      expect(await toolbox.webFetch({url: server.origin + path})).toMatchObject({
        error: {code: 'network', details: {error: 'unexpected_status', status: Number(path.slice(1))}},
      });
    }
  });

  test('FR-WF-13c text/plain is passed through', async () => {
    const server = await serve({
      '*': (_, response) =>
        response.writeHead(200, {'Content-Type': 'text/plain'}).end('a  \r\n\n\n\n\n<b> *x*\n'),
    });
    const {toolbox} = openTestToolbox([server.port]);
    const result = await toolbox.webFetch({url: server.origin});
    expect(result.ok && result.value.chunks.map(chunk => chunk.text)).toEqual(['a\n\n<b> *x*']);
  });
});

describe('IT-WF-HTTP-02 redirects', () => {
  test('IT-WF-HTTP-02 every hop is checked and followed, and final_url is the last', async () => {
    const server = await serve({
      '/1': redirect('2', 301),
      '/2': redirect('/3?x=1#gone', 307),
      '/3': html('<p>arrived</p>'),
      '/robots.txt': (_, response) => response.writeHead(200).end('User-agent: *\nDisallow: /secret'),
      '/to-secret': redirect('/secret'),
    });
    const {toolbox} = openTestToolbox([server.port]);
    expect(await toolbox.webFetch({url: `${server.origin}/1`})).toMatchObject({
      ok: true,
      value: {requested_url: `${server.origin}/1`, final_url: `${server.origin}/3?x=1`},
    });
    expect(await toolbox.webFetch({url: `${server.origin}/to-secret`})).toMatchObject({
      error: {code: 'robots_disallowed', details: {path: '/secret'}},
    });
    expect(server.requests).not.toContain('GET /secret');
  });

  test('FR-WF-07f the limit is checked before the target', async () => {
    const server = await serve({
      '/loop': redirect('/loop'),
      '/bad': redirect('ftp://example.com/'),
    });
    const {toolbox} = openTestToolbox([server.port], {max_redirects: 2});
    expect(await toolbox.webFetch({url: `${server.origin}/loop`})).toMatchObject({
      error: {code: 'redirect_limit', details: {count: 3, max: 2}},
    });
    expect(server.requests.filter(line => line === 'GET /loop')).toHaveLength(3);
    const {toolbox: none} = openTestToolbox([server.port], {max_redirects: 0});
    expect(await none.webFetch({url: `${server.origin}/bad`})).toMatchObject({
      error: {code: 'redirect_limit'},
    });
  });

  test.each([
    ['ftp://example.com/', 'invalid_scheme'],
    ['http://user@example.com/', 'invalid_url'],
    ['http://0x7f000001/', 'invalid_host'],
    ['http://example.com:81/', 'port_blocked'],
    ['http://10.0.0.1:PORT/', 'ssrf_blocked'],
    ['//2130706433/', 'invalid_host'],
    ['http://[::ffff:10.0.0.1]:PORT/', 'ssrf_blocked'],
  ])('T-WF-SSRF-09 a redirect to %s is %s', async (location, code) => {
    const server = await serve({
      '/': (_, response) =>
        response.writeHead(302, {Location: location.replace('PORT', String(server.port))}).end(),
    });
    const {toolbox} = openTestToolbox([server.port]);
    expect(await toolbox.webFetch({url: `${server.origin}/`})).toMatchObject({ok: false, error: {code}});
  });

  test('ruling C1 a redirect without Location', async () => {
    const server = await serve({'/': (_, response) => response.writeHead(302).end()});
    const {toolbox} = openTestToolbox([server.port]);
    expect(await toolbox.webFetch({url: `${server.origin}/`})).toMatchObject({
      error: {code: 'network', details: {error: 'missing_location', status: 302}},
    });
  });
});

describe('content types and charsets', () => {
  const typed =
    (type: string | undefined, body: string | Buffer): PathHandler =>
    (_, response) =>
      response.writeHead(200, type === undefined ? {} : {'Content-Type': type}).end(body);

  test.each(['application/json', 'application/pdf', 'image/png', 'text/css'])(
    'IT-WF-HTTP-03 %s is refused',
    async type => {
      const server = await serve({'/': typed(type, '{}')});
      const {toolbox} = openTestToolbox([server.port]);
      expect(await toolbox.webFetch({url: server.origin})).toMatchObject({
        error: {code: 'unsupported_content_type', retryable: false, details: {content_type: type}},
      });
    },
  );

  test('FR-WF-10h a body without a type is sniffed', async () => {
    const server = await serve({
      '/pdf': typed(undefined, '%PDF-1.7 …'),
      '/html': typed(undefined, '\n <!doctype HTML><p>sniffed'),
      '/text': typed(undefined, 'just <b>text'),
    });
    const {toolbox} = openTestToolbox([server.port]);
    const fetchPath = (path: string) => toolbox.webFetch({url: server.origin + path});
    expect(await fetchPath('/pdf')).toMatchObject({error: {code: 'unsupported_content_type'}});
    expect(await fetchPath('/html')).toMatchObject({value: {chunks: [{text: 'sniffed'}]}});
    expect(await fetchPath('/text')).toMatchObject({value: {chunks: [{text: 'just <b>text'}]}});
  });

  test('IT-WF-HTTP-04 a response above the limit is refused, declared or not', async () => {
    const server = await serve({
      '/declared': (_, response) =>
        response.writeHead(200, {...HTML, 'Content-Length': 5000}).end('x'.repeat(5000)),
      '/chunked': (_, response) => response.writeHead(200, HTML).end('y'.repeat(5000)),
      '/bomb': (_, response) =>
        response
          .writeHead(200, {...HTML, 'Content-Encoding': 'gzip'})
          .end(gzipSync(Buffer.alloc(10_000_000))),
      '/exact': typed('text/plain', 'z'.repeat(2048)),
    });
    const {toolbox} = openTestToolbox([server.port], {max_download_bytes: 2048});
    for (const path of ['/declared', '/chunked', '/bomb']) {
      expect(await toolbox.webFetch({url: server.origin + path})).toMatchObject({
        error: {code: 'response_too_large', retryable: false, details: {max_bytes: 2048}},
      });
    }
    expect(await toolbox.webFetch({url: `${server.origin}/exact`})).toMatchObject({ok: true});
  });

  test('IT-WF-HTTP-05 ISO-8859-1 from the header', async () => {
    const server = await serve({
      '/': typed('text/html; charset=iso-8859-1', Buffer.from('<p>caf\xe9', 'latin1')),
    });
    const {toolbox} = openTestToolbox([server.port]);
    expect(await toolbox.webFetch({url: server.origin})).toMatchObject({
      value: {chunks: [{text: 'café'}], notes: []},
    });
  });

  test('IT-WF-HTTP-06 the header beats meta', async () => {
    const body = '<meta charset="shift_jis"><p>é';
    const server = await serve({'/': typed('text/html; charset="UTF-8"', body)});
    const {toolbox} = openTestToolbox([server.port]);
    expect(await toolbox.webFetch({url: server.origin})).toMatchObject({value: {chunks: [{text: 'é'}]}});
  });

  test('FR-WF-CHARSET-01 an unknown charset falls back with a note, and a cache hit repeats it', async () => {
    const server = await serve({'/': typed('text/html; charset=klingon', '<meta charset="latin1"><p>é')});
    const {toolbox} = openTestToolbox([server.port]);
    const first = await toolbox.webFetch({url: server.origin});
    expect(first).toMatchObject({value: {chunks: [{text: 'é'}], notes: ['charset_fallback']}});
    expect(await toolbox.webFetch({url: server.origin})).toMatchObject({
      value: {notes: ['cache_hit', 'charset_fallback']},
    });
  });

  test('IT-WF-HTTP-07 parameters and case of the type do not matter', async () => {
    const server = await serve({'/': typed(' Text/HTML ;foo="bar;baz"; charset=utf-8', '<p>ok')});
    const {toolbox} = openTestToolbox([server.port]);
    expect(await toolbox.webFetch({url: server.origin})).toMatchObject({value: {chunks: [{text: 'ok'}]}});
  });
});

describe('rendering selection without a browser', () => {
  test('FR-WF-11a force_browser is browser_unavailable, before anything is fetched', async () => {
    const server = await serve({'/': html('<p>x')});
    const {toolbox} = openTestToolbox([server.port]);
    expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
      error: {code: 'browser_unavailable', retryable: false},
    });
    expect(server.requests).toEqual([]);
  });

  test('FR-WF-12d an application shell comes back as it is, with a note', async () => {
    const shell = page('<div id="root"></div><p>Loading</p><script type="module" src="/app.js"></script>');
    const server = await serve({'/': (_, response) => response.writeHead(200, HTML).end(shell)});
    const {toolbox} = openTestToolbox([server.port]);
    expect(await toolbox.webFetch({url: server.origin})).toMatchObject({
      value: {rendering_method: 'http', truncated: false, notes: ['browser_unavailable_used_http']},
    });
    const {toolbox: off} = openTestToolbox([server.port], {rendering: {spa_fallback_enabled: false}});
    expect(await off.webFetch({url: server.origin})).toMatchObject({value: {notes: []}});
    const {toolbox: noBrowser} = openTestToolbox([server.port], {browser: {enabled: false}});
    expect(await noBrowser.webFetch({url: server.origin})).toMatchObject({value: {notes: []}});
  });

  test('ruling G3 a js_heavy host is fetched over HTTP, with a note', async () => {
    const server = await serve({'/': html('<p>x')});
    const {toolbox} = openTestToolbox([server.port], {rendering: {js_heavy_domains: ['heavy.test']}});
    expect(await toolbox.webFetch({url: `http://heavy.test:${server.port}/`})).toMatchObject({
      value: {rendering_method: 'http', notes: ['browser_unavailable_used_http']},
    });
  });
});

const FOLLOWED = [301, 302, 303, 307, 308];
const NOT_FOLLOWED = [300, 304, 305, 306, 309];

test.each(FOLLOWED)('FR-WF-07a FR-WF-07c %i is followed by a GET without a body', async status => {
  const server = await servePages({
    '/start': (_, response) => response.writeHead(status, {Location: '/end'}).end(),
    '/end': htmlPage('<p>end'),
  });
  const {toolbox} = openTestToolbox([server.port]);
  expect(await toolbox.webFetch({url: `${server.origin}/start`})).toMatchObject({
    value: {final_url: `${server.origin}/end`, chunks: [{text: 'end'}]},
  });
  expect(server.requests).toEqual(['GET /robots.txt', 'GET /start', 'GET /end']);
  const bodies = server.requestHeaders.filter(
    headers => headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined,
  );
  expect(bodies).toEqual([]);
});

test.each(NOT_FOLLOWED)('FR-WF-07a %i is not followed', async status => {
  const server = await servePages({
    '/start': (_, response) => response.writeHead(status, {Location: '/end'}).end(),
    '/end': htmlPage('<p>end'),
  });
  const {toolbox} = openTestToolbox([server.port]);
  expect(await toolbox.webFetch({url: `${server.origin}/start`})).toMatchObject({
    error: {code: 'network', details: {error: 'unexpected_status', status}},
  });
  expect(server.requests).not.toContain('GET /end');
});

test('FR-WF-ROBOTS-CACHE-01 another toolbox asks for robots.txt anew, and no file holds it', async () => {
  const server = await servePages({
    '/robots.txt': (_, response) => response.writeHead(200).end('User-agent: *\nDisallow: /private'),
    '/': htmlPage('<p>page'),
  });
  const {toolbox, cacheDir} = openTestToolbox([server.port]);
  await toolbox.webFetch({url: server.origin});
  await toolbox.webFetch({url: server.origin, no_cache: true});
  const asked = () => server.requests.filter(request => request === 'GET /robots.txt').length;
  expect(asked()).toBe(1);
  const entries = readdirSync(cacheDir, {recursive: true, encoding: 'utf8'}).filter(name =>
    name.endsWith('.json'),
  );
  expect(entries).toHaveLength(1);
  const {toolbox: another} = openTestToolbox([server.port], {cache_dir: cacheDir});
  await another.webFetch({url: server.origin, no_cache: true});
  expect(asked()).toBe(2);
});

test.each([
  ['%s#part', ''],
  ['  %s\t', ''],
  ['%s/a/../b?q=1#part', 'b?q=1'],
])('FR-WF-RESP-URL-01 %j is repeated as it is, and final_url is canonical', async (form, path) => {
  const server = await servePages({
    '/robots.txt': (_, response) => response.writeHead(404).end(),
    '*': htmlPage('<p>x'),
  });
  const {toolbox} = openTestToolbox([server.port]);
  const url = form.replace('%s', server.origin.toUpperCase());
  expect(await toolbox.webFetch({url})).toMatchObject({
    value: {requested_url: url, final_url: `${server.origin}/${path}`},
  });
});

test('FR-WF-02 a request of a URL alone has chunks of the configured size, the cache and HTTP', async () => {
  const server = await servePages({'/': answer('text/plain', 'word\n\n'.repeat(1000))});
  const sizesOf = async (default_max_chunk_tokens?: number) => {
    const {toolbox} = openTestToolbox(
      [server.port],
      default_max_chunk_tokens === undefined ? {} : {default_max_chunk_tokens},
    );
    const first = await toolbox.webFetch({url: server.origin});
    const second = await toolbox.webFetch({url: server.origin});
    if (!first.ok || !second.ok) throw new Error('Expected two pages');
    expect([first.value.rendering_method, first.value.notes, second.value.notes]).toEqual([
      'http',
      [],
      ['cache_hit'],
    ]);
    return Math.max(...first.value.chunks.map(chunk => chunk.token_count));
  };
  // Two tokens and the line between: the largest chunk is within a paragraph of its limit.
  for (const [configured, limit] of [
    [undefined, 600],
    [128, 128],
    [2048, 2048],
  ] as const) {
    const largest = await sizesOf(configured);
    expect(largest).toBeLessThanOrEqual(limit);
    expect(largest).toBeGreaterThan(Math.min(limit, 1999) - 4);
  }
});

test.each<readonly [string, PathHandler, number]>([
  ['404', (_, response) => response.writeHead(404).end(), 1],
  ['403', (_, response) => response.writeHead(403).end(), 1],
  ['an empty file', answer('text/plain', ''), 1],
  ['a file without a rule', answer('text/plain', 'hello\nthere\n'), 1],
  ['a file that is not UTF-8', answer('text/plain', Buffer.from([0x55, 0xff, 0xfe, 0x0a])), 1],
  ['503, allowed by fail_open', (_, response) => response.writeHead(503).end(), 2],
])('FR-WF-ROBOTS-CACHE-02 FR-WF-ROBOTS-CACHE-04 %s allows two pages', async (_, robots, times) => {
  const server = await servePages({'/robots.txt': robots, '*': htmlPage('<p>x')});
  const {toolbox} = openTestToolbox([server.port], {robots: {fail_open: true}});
  for (const path of ['/a', '/b']) {
    const notes = times === 1 ? [] : ['robots_unavailable_fail_open'];
    expect(await toolbox.webFetch({url: server.origin + path})).toMatchObject({value: {notes}});
  }
  expect(server.requests.filter(request => request === 'GET /robots.txt')).toHaveLength(times);
});

test('FR-WF-10 the default User-Agent is forge-webfetch/1.0, for robots.txt too', async () => {
  const server = await servePages({'/': htmlPage('<p>x')});
  await openTestToolbox([server.port]).toolbox.webFetch({url: server.origin});
  expect(server.requestHeaders.map(headers => headers['user-agent'])).toEqual([
    'forge-webfetch/1.0',
    'forge-webfetch/1.0',
  ]);
});

test('FR-WF-08e groups are chosen by the robots token, whatever the User-Agent says', async () => {
  const server = await servePages({
    '/robots.txt': answer(
      'text/plain',
      'User-agent: my-agent\nDisallow: /\n\nUser-agent: my-token\nAllow: /\n',
    ),
    '/': htmlPage('<p>x'),
  });
  const codeWith = async (user_agent_token: string) => {
    const {toolbox} = openTestToolbox([server.port], {
      user_agent: 'my-agent/1.0 (my-token)',
      robots: {user_agent_token},
    });
    const result = await toolbox.webFetch({url: server.origin});
    return result.ok ? 'ok' : result.error.code;
  };
  expect([await codeWith('my-token'), await codeWith('MY-AGENT'), await codeWith('agent')]).toEqual([
    'ok',
    'robots_disallowed',
    'robots_disallowed',
  ]);
});
