import {brotliCompressSync, deflateRawSync, deflateSync, gzipSync} from 'node:zlib';
import {describe, expect, onTestFinished, test} from 'vitest';
import type {PathHandler} from '../support/http-server.ts';
import {startHttpServer, type TestHttpServer} from '../support/http-server.ts';
import {openTestToolbox} from '../support/open-test-toolbox.ts';

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
