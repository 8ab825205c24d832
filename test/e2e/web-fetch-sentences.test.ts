import {chmodSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {createToolbox} from '../../src/index.ts';
import {openTestToolbox} from '../support/open-test-toolbox.ts';
import {needs, TEST_CHROMIUM} from '../support/parts.ts';
import {answer, htmlPage, servePages} from '../support/serve-pages.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

describe('F4: a cache directory that cannot be made', () => {
  test.each(['/proc/nope/x', '/dev/null/x'])(
    'FR-WF-CCH-ENABLE-01: F4: %s disables caching with one warning',
    async cache_dir => {
      const server = await servePages({'/': htmlPage('<p>text</p>')});
      const {toolbox, logs} = openTestToolbox([server.port], {cache_dir, timeout_seconds: 5});
      for (let call = 0; call < 2; call += 1) {
        expect(await toolbox.webFetch({url: server.origin})).toMatchObject({value: {notes: []}});
      }
      const warnings = logs.filter(({event}) => event === 'cache_disabled');
      expect(warnings).toHaveLength(1);
      expect(warnings[0]?.message).toContain('cannot be created');
    },
  );
});

describe('FR-WF-19b fetch_start says how the fetch begins', () => {
  test.each([
    [{}, {}, 'http'],
    [{force_browser: true}, {}, 'browser'],
    [{}, {rendering: {js_heavy_domains: ['127.0.0.1']}}, 'browser'],
    [{}, {rendering: {js_heavy_domains: ['other.example']}}, 'http'],
  ])('FR-WF-19c %j with %j: %s', async (args, settings, method) => {
    const server = await servePages({'/': htmlPage('<p>text</p>')});
    const {toolbox, logs} = openTestToolbox([server.port], settings);
    await toolbox.webFetch({url: server.origin, ...args});
    expect(logs).toContainEqual(
      expect.objectContaining({event: 'fetch_start', rendering_method: method, cache_hit: false}),
    );
  });

  test('NFR-WF-OP-03: so does the question to the approver', async () => {
    const server = await servePages({'/': htmlPage('<p>text</p>')});
    const summaries: string[] = [];
    const toolbox = createToolbox({
      runDirectory: join(temporaryDirectory(), 'run'),
      approver: {
        ask: async ({summary}) => {
          summaries.push(summary);
          return {answer: 'refuse'};
        },
      },
      config: {
        tools: {
          mode: 'enabled',
          webfetch: {
            enabled: true,
            cache_dir: '',
            rendering: {js_heavy_domains: ['127.0.0.1']},
            // The guard refuses before anybody is asked.
            allow_private: [{host: '127.0.0.1', cidr: '127.0.0.0/8', ports: [server.port]}],
          },
        },
      },
    });
    onTestFinished(() => toolbox.close());
    await toolbox.call({tool: 'web_fetch', params: {url: `${server.origin}/?secret`}, request_id: 'r'});
    expect(summaries).toEqual([`web_fetch ${server.origin}/ (browser mode)`]);
  });
});

test('FR-WF-19c: every line has the fields that are required', async () => {
  const rules = 'User-agent: *\nDisallow: /no\n';
  const server = await servePages({
    '/robots.txt': answer('text/plain', `${rules}${'#'.repeat(2000)}`),
    '/': htmlPage('<p>text</p>'),
  });
  const {toolbox, logs, cacheDir} = openTestToolbox([server.port], {robots: {max_robots_bytes: 1024}});
  await toolbox.webFetch({url: `${server.origin}/no`});
  await toolbox.webFetch({url: server.origin});
  writeFileSync(join(cacheDir, 'x'), '');
  await toolbox.webFetch({url: server.origin});
  const broken = openTestToolbox([server.port], {cache_dir: join(cacheDir, 'x')});
  await broken.toolbox.webFetch({url: `${server.origin}/?other`});
  const lines = [...logs, ...broken.logs].filter(({event}) => event !== 'config_warning');
  const events = new Set(lines.map(({event}) => event));
  expect([...events]).toEqual(
    expect.arrayContaining(['robots_truncated', 'robots_disallowed', 'cache_disabled']),
  );
  for (const line of lines) {
    expect(line).toMatchObject({
      requested_host: expect.any(String),
      rendering_method: expect.stringMatching(/^(?:http|browser)$/),
      cache_hit: expect.any(Boolean),
    });
  }
  const disallowed = logs.find(({event}) => event === 'robots_disallowed');
  expect(disallowed).toMatchObject({requested_host: '127.0.0.1', error_code: 'robots_disallowed'});
});

test('FR-WF-TIMEOUT-01 the browser has network_idle_ms and five seconds', needs('Chromium'), async () => {
  const server = await servePages({'/': htmlPage('<p>x')});
  const directory = temporaryDirectory();
  const path = join(directory, 'chromium');
  // It says who it is and nothing more.
  writeFileSync(path, `#!/bin/sh\nprintf '{"id":1,"result":{"product":"C/120.0"}}\\0' >&4\nexec sleep 60\n`);
  chmodSync(path, 0o755);
  const {toolbox} = openTestToolbox([server.port], {
    browser: {chromium_path: path, isolation: 'flags', network_idle_ms: 1000},
  });
  expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
    error: {code: 'timeout', details: {timeout_ms: 6000, phase: 'browser'}},
  });
});

test('FR-WF-18 status_text is what the server says, in the details and in the message', async () => {
  const server = await servePages({
    '/': (_, response) => response.writeHead(404, 'Not Here Any More').end(),
    '/5': (_, response) => response.writeHead(503, 'Back Soon', {'Retry-After': '120'}).end(),
  });
  const {toolbox} = openTestToolbox([server.port]);
  expect(await toolbox.webFetch({url: server.origin})).toEqual({
    ok: false,
    error: {
      code: 'http_4xx',
      message: 'The server answered 404 Not Here Any More. Check the address.',
      retryable: false,
      details: {status: 404, status_text: 'Not Here Any More'},
    },
  });
  expect(await toolbox.webFetch({url: `${server.origin}/5`})).toMatchObject({
    error: {code: 'http_5xx', details: {status: 503, status_text: 'Back Soon', retry_after: '120'}},
  });
});

test(
  'F3: a page that was cached for want of a browser is a miss as soon as there is one',
  needs('Chromium'),
  async () => {
    const server = await servePages({
      '/': htmlPage('<div id="root"></div><p>shell</p><script src="/app.js"></script>'),
      '/app.js': answer('text/javascript', 'document.getElementById("root").textContent = "rendered";'),
    });
    const cache_dir = temporaryDirectory();
    const without = openTestToolbox([server.port], {cache_dir}).toolbox;
    const note = 'browser_unavailable_used_http';
    expect(await without.webFetch({url: server.origin})).toMatchObject({value: {notes: [note]}});
    expect(await without.webFetch({url: server.origin})).toMatchObject({value: {notes: ['cache_hit', note]}});
    const withOne = openTestToolbox([server.port], {
      cache_dir,
      browser: {chromium_path: TEST_CHROMIUM},
    }).toolbox;
    expect(await withOne.webFetch({url: server.origin})).toMatchObject({
      value: {rendering_method: 'browser', notes: [], chunks: [{text: 'rendered\n\nshell'}]},
    });
  },
);

test(
  'FR-WF-RESP-METHOD-01: FR-WF-10f text/plain is its own rendering, and is not called "browser"',
  needs('Chromium'),
  async () => {
    const server = await servePages({'/': answer('text/plain', 'plain')});
    const {toolbox} = openTestToolbox([server.port], {browser: {chromium_path: TEST_CHROMIUM}});
    expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
      value: {rendering_method: 'http', chunks: [{text: 'plain'}]},
    });
  },
);

describe('FR-WF-11g block_resources alone says what is not loaded', () => {
  const pages = {
    '/': htmlPage(`<p id="p">text</p><link rel="prefetch" href="/prefetched"><script>
      const source = new EventSource('/events');
      source.onmessage = ({data}) => { document.getElementById('p').textContent += ' ' + data; source.close(); };
    </script>`),
    '/events': answer('text/event-stream', 'data: event\n\n'),
    '/prefetched': answer('text/plain', 'x'),
    '/endless': htmlPage(`<p>text</p><script>new EventSource('/never')</script>`),
    '/never': () => {},
  };

  test(
    'FR-WF-BLOCKRES-01: FR-WF-11g nothing: an event source and a prefetch are answered',
    needs('Chromium'),
    async () => {
      const server = await servePages(pages);
      const {toolbox} = openTestToolbox([server.port], {
        browser: {chromium_path: TEST_CHROMIUM, block_resources: []},
      });
      expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
        value: {chunks: [{text: 'text event'}]},
      });
      expect(server.requests).toEqual(expect.arrayContaining(['GET /events', 'GET /prefetched']));
    },
  );

  test('FR-WF-11g what is listed: they are not', needs('Chromium'), async () => {
    const server = await servePages(pages);
    const {toolbox} = openTestToolbox([server.port], {
      browser: {chromium_path: TEST_CHROMIUM, block_resources: ['eventsource', 'PREFETCH']},
    });
    expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
      value: {chunks: [{text: 'text'}]},
    });
    expect(server.requests).not.toContain('GET /events');
    expect(server.requests).not.toContain('GET /prefetched');
  });

  test('FR-WF-11e a stream of events that never ends is not waited for', needs('Chromium'), async () => {
    const server = await servePages(pages);
    const {toolbox} = openTestToolbox([server.port], {browser: {chromium_path: TEST_CHROMIUM}});
    expect(await toolbox.webFetch({url: `${server.origin}/endless`, force_browser: true})).toMatchObject({
      value: {notes: []},
    });
  });
});

test(
  'FR-WF-BROWSER-BUDGET-01 the budget of all subresources is logged under its own name',
  needs('Chromium'),
  async () => {
    const server = await servePages({
      '/': htmlPage('<p>text</p><script src="/1"></script><script src="/2"></script>'),
      '/1': answer('text/javascript', ' '.repeat(700_000)),
      '/2': answer('text/javascript', ' '.repeat(700_000)),
    });
    const {toolbox, logs} = openTestToolbox([server.port], {
      browser: {chromium_path: TEST_CHROMIUM, max_total_subresource_bytes: 1_048_576},
    });
    await toolbox.webFetch({url: server.origin, force_browser: true});
    expect(logs).toContainEqual(
      expect.objectContaining({
        event: 'subresource_budget_exceeded',
        error_code: 'subresource_budget_exceeded',
        requested_host: '127.0.0.1',
        message: 'More than 1048576 bytes beside the document',
      }),
    );
    expect(logs.map(({event}) => event)).not.toContain('response_too_large');
  },
);
