import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../src/core/clock.ts';
import type {LogEvent} from '../../src/core/log.ts';
import {ConfigError, createToolbox} from '../../src/index.ts';
import {openWeb} from '../../src/web/open-web.ts';
import {createCertificateAuthority} from '../support/certificates.ts';
import {type PathHandler, startHttpServer, type TestHttpServer} from '../support/http-server.ts';
import {createManualClock} from '../support/manual-clock.ts';
import {openTestToolbox} from '../support/open-test-toolbox.ts';
import {needs, TEST_CHROMIUM} from '../support/parts.ts';
import {answer, htmlPage, servePages} from '../support/serve-pages.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const REASON = 'Rule 3 denies it: It is the rival.';

/** Fetches under rules on hosts, from a site that has every name under `.test`. */
async function site(config: {readonly cacheRedirects?: boolean; readonly follow?: boolean} = {}) {
  const hosts: string[] = [];
  const noting: Parameters<typeof servePages>[0] = {
    '/robots.txt': (request, response) => {
      hosts.push(`robots ${request.headers.host?.split(':')[0]}`);
      if (!request.headers.host?.startsWith('elsewhere.test')) response.writeHead(404).end();
      else response.writeHead(302, {Location: `http://denied.test:${port}/robots.txt`}).end();
    },
    '/to': (request, response) => {
      hosts.push(`to ${request.headers.host?.split(':')[0]}`);
      response.writeHead(301, {Location: `http://${request.url?.split('?')[1]}.test:${port}/page`}).end();
    },
    '/page': (request, response) => {
      hosts.push(`page ${request.headers.host?.split(':')[0]}`);
      htmlPage('<p>text</p>')(request, response);
    },
    '/moves': (request, response) =>
      htmlPage(`<p>first</p><script>location.href = "http://denied.test:${port}/page"</script>`)(
        request,
        response,
      ),
    '/loads': (request, response) =>
      htmlPage(
        `<p id="p">first</p><script src="http://denied.test:${port}/script"></script><script src="http://cdn.test:${port}/script"></script>`,
      )(request, response),
    '/script': (request, response) => {
      hosts.push(`script ${request.headers.host?.split(':')[0]}`);
      const text = `document.getElementById('p').textContent += ' ${request.headers.host?.split('.')[0]}'`;
      answer('text/javascript', text)(request, response);
    },
  };
  const server = await servePages(noting);
  const {port} = server;
  const {config: known} = createToolbox({
    config: {
      tools: {
        webfetch: {
          cache_dir: temporaryDirectory(),
          cache_redirects: config.cacheRedirects ?? false,
          robots: {cross_origin_redirects: config.follow ? 'follow' : 'deny'},
          browser: {chromium_path: TEST_CHROMIUM, network_idle_ms: 8000},
          security: {block_loopback: false, allow_insecure_overrides: true, allowed_ports: [port]},
        },
      },
    },
  });
  const logs: LogEvent[] = [];
  const web = openWeb(known.tools.webfetch, known.tools.webread, {
    log: event => void logs.push(event),
    clock: systemClock,
    env: process.env,
    resolver: {resolve: async () => ['127.0.0.1']},
    certificateAuthorities: [],
    untrustedTrees: [],
  });
  if (!web.ok) throw new Error(web.error.join());
  onTestFinished(() => web.value.close());
  const fetch = (path: string, {denied = ['denied.test'], browser = false, host = 'asked.test'} = {}) =>
    web.value.fetch(
      {
        url: `http://${host}:${port}${path}`,
        max_chunk_tokens: 600,
        no_cache: false,
        force_browser: browser,
      },
      {
        maxBytes: 100_000,
        signal: undefined,
        mayReach: name => (denied.includes(name) ? {allowed: false, reason: REASON} : {allowed: true}),
      },
    );
  return {fetch, hosts, logs, port};
}

const refused = (port: number) => ({
  ok: false,
  error: {
    code: 'approval_denied',
    message: `The fetch was led to "denied.test", and may not go there. ${REASON}`,
    retryable: false,
    details: {host: 'denied.test', reason: REASON},
  },
  port,
});

test('review R11: a redirect to a host that the rules deny is refused before anything is asked of it', async () => {
  const {fetch, hosts, port} = await site();
  expect({...(await fetch('/to?denied')), port}).toEqual(refused(port));
  expect(hosts.filter(host => host.endsWith('denied.test'))).toEqual([]);
  expect(await fetch('/to?other')).toMatchObject({value: {response: {chunks: [{text: 'text'}]}}});
});

test('review R11: the host that was asked for was decided about with the call', async () => {
  const {fetch} = await site();
  expect(await fetch('/to?asked', {denied: ['asked.test']})).toMatchObject({ok: true});
});

test('review R11: a robots.txt that is led there is unavailable', async () => {
  const {fetch, hosts} = await site({follow: true});
  expect(await fetch('/page', {host: 'elsewhere.test'})).toMatchObject({
    error: {code: 'robots_unavailable', details: {error: 'approval_denied'}},
  });
  expect(hosts).toEqual(['robots elsewhere.test']);
});

test('review R11: a call that may go there reads the robots.txt that another call at the same time may not', async () => {
  const {fetch} = await site({follow: true});
  const [bound, free] = await Promise.all([
    fetch('/page', {host: 'elsewhere.test'}),
    fetch('/page', {host: 'elsewhere.test', denied: []}),
  ]);
  expect(bound).toMatchObject({error: {code: 'robots_unavailable'}});
  expect(free).toMatchObject({ok: true});
});

test('review R11: a remembered redirect leads nobody to a cached page of a host that its rules deny', async () => {
  const {fetch, port} = await site({cacheRedirects: true});
  expect(await fetch('/to?denied', {denied: []})).toMatchObject({ok: true});
  expect(await fetch('/to?denied', {denied: []})).toMatchObject({
    value: {response: {notes: ['cache_hit']}},
  });
  expect({...(await fetch('/to?denied')), port}).toEqual(refused(port));
});

test('review R11: ruling F8 fetches are shared only where their rules lead them the same way', async () => {
  const {fetch, hosts, port} = await site();
  const [free, bound, alike] = await Promise.all([
    fetch('/to?denied', {denied: []}),
    fetch('/to?denied'),
    fetch('/to?denied', {denied: ['another.test']}),
  ]);
  expect(free).toMatchObject({ok: true});
  expect({...bound, port}).toEqual(refused(port));
  expect(alike).toEqual(free);
  expect(hosts.filter(host => host === 'page denied.test')).toHaveLength(1);
});

test('review R11: a page that moves on to such a host is refused', needs('Chromium'), async () => {
  const {fetch, hosts, port} = await site();
  expect({...(await fetch('/moves', {browser: true})), port}).toEqual(refused(port));
  expect(hosts.filter(host => host.endsWith('denied.test'))).toEqual([]);
});

test(
  'review R11: what a page loads from such a host is blocked, and the page stays',
  needs('Chromium'),
  async () => {
    const {fetch, hosts, logs} = await site();
    expect(await fetch('/loads', {browser: true})).toMatchObject({
      value: {response: {chunks: [{text: 'first cdn'}]}},
    });
    expect(hosts).toContain('script cdn.test');
    expect(hosts.filter(host => host.endsWith('denied.test'))).toEqual([]);
    expect(logs).toContainEqual(
      expect.objectContaining({event: 'approval_denied', requested_host: 'denied.test', level: 'warn'}),
    );
  },
);

const HTML = {'Content-Type': 'text/html'};
const text =
  (body: string, status = 200): PathHandler =>
  (_, response) =>
    response.writeHead(status, {'Content-Type': 'text/plain'}).end(body);
const PAGE: PathHandler = (_, response) => response.writeHead(200, HTML).end('<p>page');
/** Accepts the request and never answers. */
const SILENT: PathHandler = () => {};

async function serve(handlers: Readonly<Record<string, PathHandler>>): Promise<TestHttpServer> {
  const server = await startHttpServer(handlers);
  onTestFinished(() => server.close());
  return server;
}

describe('robots.txt in the pipeline', () => {
  test('T-WF-ROB-06 404 allows all', async () => {
    const server = await serve({'/page': PAGE});
    const {toolbox} = openTestToolbox([server.port]);
    expect(await toolbox.webFetch({url: `${server.origin}/page`})).toMatchObject({
      ok: true,
      value: {notes: []},
    });
  });

  test('T-WF-ROB-07 a time-out with fail_open=false is robots_unavailable, and the page is not asked for', async () => {
    const server = await serve({'/robots.txt': SILENT, '/page': PAGE});
    const {toolbox} = openTestToolbox([server.port], {timeout_seconds: 1});
    expect(await toolbox.webFetch({url: `${server.origin}/page`})).toMatchObject({
      error: {code: 'robots_unavailable', retryable: true, details: {origin: server.origin}},
    });
    expect(server.requests).toEqual(['GET /robots.txt']);
  });

  test('T-WF-ROB-08 a time-out with fail_open=true allows with a note, in a budget of its own', async () => {
    const server = await serve({'/robots.txt': SILENT, '/page': PAGE});
    const {toolbox} = openTestToolbox([server.port], {timeout_seconds: 1, robots: {fail_open: true}});
    expect(await toolbox.webFetch({url: `${server.origin}/page`})).toMatchObject({
      ok: true,
      value: {notes: ['robots_unavailable_fail_open']},
    });
  });

  test('T-WF-ROB-17 fail_open outcomes are asked for again', async () => {
    const server = await serve({'/robots.txt': text('', 503), '/page': PAGE});
    const {toolbox} = openTestToolbox([server.port], {robots: {fail_open: true}});
    for (let round = 0; round < 2; round += 1) {
      await toolbox.webFetch({url: `${server.origin}/page`, no_cache: true});
    }
    expect(server.requests.filter(line => line === 'GET /robots.txt')).toHaveLength(2);
  });

  test('T-WF-ROB-09 each origin has its own', async () => {
    const strict = await serve({'/robots.txt': text('User-agent: *\nDisallow: /'), '/page': PAGE});
    const open = await serve({'/robots.txt': text('User-agent: *\nDisallow:'), '/page': PAGE});
    const {toolbox} = openTestToolbox([strict.port, open.port]);
    expect(await toolbox.webFetch({url: `${strict.origin}/page?q=secret`})).toMatchObject({
      error: {code: 'robots_disallowed', details: {path: '/page', origin: strict.origin}},
    });
    expect(await toolbox.webFetch({url: `${open.origin}/page`})).toMatchObject({ok: true});
  });

  test('FR-WF-08h no_cache does not get round robots.txt, and robots.txt is remembered', async () => {
    const server = await serve({'/robots.txt': text('User-agent: *\nDisallow: /a'), '/a': PAGE, '/b': PAGE});
    const {toolbox} = openTestToolbox([server.port]);
    for (const path of ['/a', '/b', '/a'])
      await toolbox.webFetch({url: server.origin + path, no_cache: true});
    expect(server.requests).toEqual(['GET /robots.txt', 'GET /b']);
  });

  test('T-WF-ROB-16 a redirect to another origin names it', async () => {
    const other = await serve({'/robots.txt': text('')});
    const server = await serve({
      '/robots.txt': (_, response) => response.writeHead(301, {Location: `${other.origin}/robots.txt`}).end(),
      '/page': PAGE,
    });
    const {toolbox} = openTestToolbox([server.port, other.port]);
    expect(await toolbox.webFetch({url: `${server.origin}/page`})).toMatchObject({
      error: {
        code: 'robots_unavailable',
        details: {
          origin: server.origin,
          error: 'robots_cross_origin_redirect',
          redirect_target: other.origin,
        },
      },
    });
  });

  test('ruling B2 the robots time of a redirect chain over several origins is one allowance', async () => {
    const last = await serve({'/robots.txt': SILENT, '/page': PAGE});
    const first = await serve({
      '/robots.txt': SILENT,
      '/page': (_, response) => response.writeHead(302, {Location: `${last.origin}/page`}).end(),
    });
    const {toolbox} = openTestToolbox([first.port, last.port], {
      timeout_seconds: 1,
      robots: {fail_open: true},
    });
    const start = performance.now();
    expect(await toolbox.webFetch({url: `${first.origin}/page`})).toMatchObject({ok: true});
    expect(performance.now() - start).toBeLessThan(1900);
  });
});

describe('guard in the pipeline', () => {
  test('T-WF-SSRF-10 a name that resolves to a blocked address is refused before any connection', async () => {
    const server = await serve({'*': PAGE});
    const {toolbox, logs} = openTestToolbox(
      [server.port],
      {},
      {resolver: {resolve: async () => ['10.0.0.7']}},
    );
    expect(await toolbox.webFetch({url: `http://internal.test:${server.port}/?token=secret`})).toMatchObject({
      error: {
        code: 'ssrf_blocked',
        retryable: false,
        details: {blocked_ip: '10.0.0.7', cidr: '10.0.0.0/8', toggle: 'block_private_ips'},
      },
    });
    expect(server.requests).toEqual([]);
    expect(logs.find(line => line.event === 'ssrf_blocked')).toMatchObject({
      requested_host: 'internal.test',
      error_code: 'ssrf_blocked',
      cache_hit: false,
    });
  });

  test('T-WF-SSRF-10 one blocked answer among good ones blocks, and a second resolution never happens', async () => {
    const server = await serve({'*': PAGE});
    let asked = 0;
    const answers = [['127.0.0.1'], ['10.0.0.1']];
    const {toolbox} = openTestToolbox(
      [server.port],
      {},
      {resolver: {resolve: async () => answers[Math.min(asked++, 1)] ?? []}},
    );
    // Robots and page share the first answer; a rebinding in between changes nothing.
    expect(await toolbox.webFetch({url: `http://rebind.test:${server.port}/`})).toMatchObject({ok: true});
    expect(asked).toBe(1);
    const {toolbox: mixed} = openTestToolbox(
      [server.port],
      {},
      {resolver: {resolve: async () => ['127.0.0.1', '192.168.0.1']}},
    );
    expect(await mixed.webFetch({url: `http://mixed.test:${server.port}/`})).toMatchObject({
      error: {code: 'ssrf_blocked'},
    });
  });

  test('T-WF-SSRF-11 an insecure override needs its guard, or there is no toolbox', () => {
    const insecure = () =>
      createToolbox({config: {tools: {webfetch: {security: {block_private_ips: false}}}}});
    expect(insecure).toThrow(ConfigError);
    expect(insecure).toThrow(
      'Configuration error: SSRF protection cannot be disabled without allow_insecure_overrides=true\nAffected settings: block_private_ips=false',
    );
  });

  test('FR-WF-05b a permitted override is warned of at start-up', () => {
    const {logs, toolbox} = openTestToolbox([80]);
    expect(toolbox.warnings).toContain('SSRF protection disabled for: block_loopback');
    expect(logs).toContainEqual({
      level: 'warn',
      event: 'config_warning',
      message: 'SSRF protection disabled for: block_loopback',
    });
  });

  test('ruling A1 the static checks come before the cache', async () => {
    const server = await serve({'*': PAGE});
    const first = openTestToolbox([server.port]);
    expect(await first.toolbox.webFetch({url: server.origin})).toMatchObject({ok: true});
    const tightened = createToolbox({config: {tools: {webfetch: {cache_dir: first.cacheDir}}}});
    expect(await tightened.webFetch({url: server.origin})).toMatchObject({error: {code: 'port_blocked'}});
    await tightened.close();
  });

  test.each([
    ['allowed_ports', {security: {allowed_ports: [70_000]}}],
    ['block_resources', {browser: {block_resources: ['image', 'pictures']}}],
  ])('ruling A9 a wrong entry in %s is bad_args at every call', async (setting, webfetch) => {
    const toolbox = createToolbox({config: {tools: {webfetch: {cache_dir: '', ...webfetch}}}});
    for (const url of ['https://example.com/', 'not a url']) {
      const result = await toolbox.webFetch({url});
      expect(result).toMatchObject({
        error: {code: 'bad_args', details: {field: expect.stringContaining(setting)}},
      });
    }
    await toolbox.close();
  });

  test('FR-WF-BSSR-TLS-01 https is checked on the name, over a pinned address', async () => {
    const authority = createCertificateAuthority();
    const certificate = authority.issue({names: ['good.test']});
    const server = await startHttpServer({'*': PAGE}, {certificate});
    onTestFinished(() => server.close());
    const trusting = openTestToolbox([server.port], {}, {certificateAuthorities: [authority.pem]}).toolbox;
    expect(await trusting.webFetch({url: `https://good.test:${server.port}/`})).toMatchObject({ok: true});
    expect(await trusting.webFetch({url: `https://other.test:${server.port}/`})).toMatchObject({
      error: {code: 'network', details: {error: 'tls_validation_failed', host: 'other.test'}},
    });
  });

  test('B3: a certificate that does not verify is network, whatever fail_open says', async () => {
    const certificate = createCertificateAuthority().issue({names: ['good.test']});
    const server = await startHttpServer({'*': PAGE}, {certificate});
    onTestFinished(() => server.close());
    for (const fail_open of [false, true]) {
      const {toolbox} = openTestToolbox([server.port], {robots: {fail_open}});
      const result = await toolbox.webFetch({url: `https://good.test:${server.port}/`});
      expect(result).toEqual({
        ok: false,
        error: {
          code: 'network',
          message: expect.stringContaining('did not prove who it is'),
          retryable: true,
          details: {
            error: 'tls_validation_failed',
            host: 'good.test',
            reason: 'SELF_SIGNED_CERT_IN_CHAIN',
            addresses: ['127.0.0.1'],
          },
        },
      });
    }
    expect(server.requests).toEqual([]);
  });

  test('review B10: own certificate authorities are trusted beside those of NODE_EXTRA_CA_CERTS', async () => {
    const [own, extra] = [createCertificateAuthority('Own'), createCertificateAuthority('Extra')];
    const directory = temporaryDirectory();
    const file = join(directory, 'extra.pem');
    writeFileSync(file, extra.pem);
    const environment = {
      env: {NODE_EXTRA_CA_CERTS: file},
      cwd: directory,
      tempDir: directory,
      homeDir: directory,
    };
    for (const authority of [own, extra]) {
      const server = await startHttpServer(
        {'*': PAGE},
        {certificate: authority.issue({names: ['good.test']})},
      );
      onTestFinished(() => server.close());
      const ports = {certificateAuthorities: [own.pem], environment};
      const {toolbox} = openTestToolbox([server.port], {}, ports);
      expect(await toolbox.webFetch({url: `https://good.test:${server.port}/`})).toMatchObject({ok: true});
    }
  });
});

describe('the page cache in the pipeline', () => {
  test('T-WF-CCH-01 a hit repeats the page with its fetched_at and needs no network', async () => {
    const server = await serve({'*': PAGE});
    const clock = createManualClock();
    const {toolbox} = openTestToolbox([server.port], {}, {clock});
    const first = await toolbox.webFetch({url: server.origin});
    const asked = server.requests.length;
    clock.advance(60_000);
    const second = await toolbox.webFetch({url: server.origin});
    if (!first.ok || !second.ok) throw new Error('expected two pages');
    expect(second.value).toEqual({...first.value, notes: ['cache_hit']});
    expect(server.requests).toHaveLength(asked);
  });

  test('T-WF-CCH-02 no_cache fetches anew and overwrites', async () => {
    let version = 0;
    const server = await serve({
      '/robots.txt': text('', 404),
      '/': (_, response) => response.writeHead(200, HTML).end(`<p>version ${++version}`),
    });
    const {toolbox} = openTestToolbox([server.port]);
    const textOf = async (no_cache: boolean): Promise<string | undefined> => {
      const result = await toolbox.webFetch({url: server.origin, no_cache});
      return result.ok ? result.value.chunks[0]?.text : undefined;
    };
    expect(await textOf(false)).toBe('version 1');
    expect(await textOf(true)).toBe('version 2');
    expect(await textOf(false)).toBe('version 2');
  });

  test('T-WF-CCH-03 an expired page is fetched again', async () => {
    const server = await serve({'*': PAGE});
    const clock = createManualClock();
    const {toolbox} = openTestToolbox([server.port], {cache_ttl_days: 1}, {clock});
    await toolbox.webFetch({url: server.origin});
    clock.advance(86_400_001);
    expect(await toolbox.webFetch({url: server.origin})).toMatchObject({value: {notes: []}});
  });

  test('T-WF-CCH-07 another max_chunk_tokens cuts the cached page anew', async () => {
    const body = Array.from(
      {length: 60},
      (_, index) => `<p>Paragraph ${index} with some words in it.</p>`,
    ).join('');
    const server = await serve({'*': (_, response) => response.writeHead(200, HTML).end(body)});
    const {toolbox} = openTestToolbox([server.port]);
    const large = await toolbox.webFetch({url: server.origin, max_chunk_tokens: 2048});
    const small = await toolbox.webFetch({url: server.origin, max_chunk_tokens: 128});
    if (!large.ok || !small.ok) throw new Error('expected two pages');
    expect(large.value.chunks).toHaveLength(1);
    expect(small.value.chunks.length).toBeGreaterThan(3);
    expect(small.value.notes).toEqual(['cache_hit']);
    expect(small.value.chunks.map(chunk => chunk.text).join('\n\n')).toBe(large.value.chunks[0]?.text);
  });

  test('ruling F2 a redirecting URL is a miss, unless cache_redirects is on and the redirect is permanent', async () => {
    const handlers: Record<string, PathHandler> = {
      '/moved': (_, response) => response.writeHead(301, {Location: '/page'}).end(),
      '/for-now': (_, response) => response.writeHead(302, {Location: '/page'}).end(),
      '/page': PAGE,
    };
    const server = await serve(handlers);
    const plain = openTestToolbox([server.port]).toolbox;
    const remembering = openTestToolbox([server.port], {cache_redirects: true}).toolbox;
    const notesOf = async (toolbox: typeof plain, path: string): Promise<unknown> => {
      await toolbox.webFetch({url: server.origin + path});
      const again = await toolbox.webFetch({url: server.origin + path});
      return again.ok && again.value.notes;
    };
    expect(await notesOf(plain, '/moved')).toEqual([]);
    expect(await notesOf(remembering, '/moved')).toEqual(['cache_hit']);
    expect(await notesOf(remembering, '/for-now')).toEqual([]);
    expect(await plain.webFetch({url: `${server.origin}/page`})).toMatchObject({
      value: {notes: ['cache_hit']},
    });
  });

  test('ruling F4 a broken entry and a directory that cannot be written cost a note, not the fetch', async () => {
    const server = await serve({'*': PAGE});
    const {toolbox, cacheDir} = openTestToolbox([server.port]);
    await toolbox.webFetch({url: server.origin});
    const entry = readdirSync(cacheDir, {recursive: true, encoding: 'utf8'}).find(name =>
      name.endsWith('.json'),
    );
    if (entry === undefined) throw new Error('expected a cache entry');
    writeFileSync(join(cacheDir, entry), readFileSync(join(cacheDir, entry), 'utf8').slice(0, 40));
    expect(await toolbox.webFetch({url: server.origin})).toMatchObject({ok: true, value: {notes: []}});
    expect(await toolbox.webFetch({url: server.origin})).toMatchObject({value: {notes: ['cache_hit']}});

    const file = join(temporaryDirectory(), 'not-a-directory');
    writeFileSync(file, '');
    const disabled = openTestToolbox([server.port], {cache_dir: file}).toolbox;
    expect(await disabled.webFetch({url: server.origin})).toMatchObject({ok: true, value: {notes: []}});
  });

  test('ruling F8 concurrent identical fetches are one fetch; one who cancels leaves the others theirs', async () => {
    let asked = 0;
    const waiting: (() => void)[] = [];
    const server = await serve({
      '/robots.txt': text('', 404),
      '/': (_, response) => {
        asked += 1;
        waiting.push(() => response.writeHead(200, HTML).end('<p>once'));
        if (waiting.length === 1) arrived();
      },
    });
    let arrived: () => void = () => {};
    const onArrival = new Promise<void>(resolve => {
      arrived = resolve;
    });
    const {toolbox} = openTestToolbox([server.port]);
    const leaver = new AbortController();
    const calls = [0, 1, 2].map(() => toolbox.webFetch({url: server.origin}));
    const left = toolbox.webFetch({url: server.origin}, {signal: leaver.signal});
    await onArrival;
    leaver.abort();
    expect(await left).toMatchObject({error: {code: 'cancelled'}});
    for (const answer of waiting) answer();
    for (const call of calls) expect(await call).toMatchObject({value: {chunks: [{text: 'once'}]}});
    expect(asked).toBe(1);
  });

  test('ruling F8 who shares a fetch gets chunks of the size that was asked for', async () => {
    let asked = 0;
    let answer: () => void = () => {};
    const mayAnswer = new Promise<void>(resolve => {
      answer = resolve;
    });
    const body = '<p>Some words of a paragraph.</p>'.repeat(200);
    const server = await serve({
      '/robots.txt': text('', 404),
      '/': (_, response) => {
        asked += 1;
        void mayAnswer.then(() => response.writeHead(200, HTML).end(body));
      },
    });
    const {toolbox} = openTestToolbox([server.port]);
    const sizes = [600, 128, 2048];
    const calls = sizes.map(max_chunk_tokens => toolbox.webFetch({url: server.origin, max_chunk_tokens}));
    answer();
    const alone = openTestToolbox([server.port]).toolbox;
    for (const [at, max_chunk_tokens] of sizes.entries()) {
      const shared = await calls[at];
      const own = await alone.webFetch({url: server.origin, max_chunk_tokens, no_cache: true});
      if (!shared?.ok || !own.ok) throw new Error('expected two pages');
      expect(shared.value.chunks).toEqual(own.value.chunks);
    }
    expect(asked).toBe(1 + sizes.length);
  });
});
