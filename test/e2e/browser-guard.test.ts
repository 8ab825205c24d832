import {spawnSync} from 'node:child_process';
import {describe, expect, onTestFinished} from 'vitest';
import {systemClock} from '../../src/core/clock.ts';
import {ok} from '../../src/core/result.ts';
import type {LogEvent} from '../../src/index.ts';
import {createToolbox} from '../../src/index.ts';
import {assembleWeb} from '../../src/web/assemble-web.ts';
import {bubblewrapArguments} from '../../src/web/browser/chromium/bubblewrap.ts';
import {fetchPage} from '../../src/web/fetch-page.ts';
import {createGuard} from '../../src/web/guard/create-guard.ts';
import {readGuardPolicy} from '../../src/web/guard/guard-policy.ts';
import {createSsrfValidator, type SsrfValidator} from '../../src/web/guard/ssrf-validator.ts';
import {browserProcesses} from '../support/browser-remains.ts';
import {TEST_CHROMIUM, browserTest as test} from '../support/browser-test.ts';
import {createCertificateAuthority} from '../support/certificates.ts';
import {startHttpServer} from '../support/http-server.ts';
import {renderAlone} from '../support/open-browser-for-test.ts';
import {openTestToolbox} from '../support/open-test-toolbox.ts';
import {unwrap} from '../support/outcome.ts';
import {answer, htmlPage, servePages} from '../support/serve-pages.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const SECRET = 'LEAKED_INTERNAL_DATA';

/**
 * T-WF-INFRA-05: the page's own server listens on loopback like every test server, under a name that a
 * stubbed validator (T-WF-INFRA-01) lets through. Everything else is the default policy.
 */
async function renderPublicPage(body: (internalPort: number) => string) {
  const internal = await servePages({'/secret': answer('text/plain', SECRET)});
  const page = await servePages({'/': htmlPage(body(internal.port))});
  const logs: LogEvent[] = [];
  const {config} = createToolbox({
    config: {
      tools: {
        webfetch: {
          cache_dir: temporaryDirectory(),
          browser: {chromium_path: TEST_CHROMIUM, network_idle_ms: 8000},
          security: {allowed_ports: [page.port, internal.port]},
        },
      },
    },
  });
  const options = config.tools.webfetch;
  const settings = readGuardPolicy(options.security);
  if (!settings.ok) throw new Error(settings.error.join());
  const {policy} = settings.value;
  const web = assembleWeb(
    options,
    {policy, proxy: undefined, credentials: [], signer: undefined, readingMode: 'reader'},
    {
      log: event => logs.push(event),
      clock: systemClock,
      env: process.env,
      resolver: undefined,
      certificateAuthorities: [],
      untrustedTrees: [],
    },
  );
  onTestFinished(() => web.close());
  const real = createSsrfValidator(policy, {resolve: async () => ['10.9.9.9']});
  const validator: SsrfValidator = {
    ...real,
    resolveAndValidate: async (host, budget) =>
      host === 'public.test' ? ok(['127.0.0.1']) : real.resolveAndValidate(host, budget),
  };
  const outcome = await fetchPage(
    {
      url: `http://public.test:${page.port}/`,
      max_chunk_tokens: 600,
      no_cache: true,
      force_browser: true,
    },
    {maxBytes: 100_000, signal: undefined},
    {...web.deps, guard: createGuard(validator, policy)},
  );
  return {page, internal, logs, response: unwrap(outcome).response};
}

function blockedAddresses(logs: readonly LogEvent[]): readonly unknown[] {
  return logs.filter(({event}) => event === 'ssrf_blocked').map(({details}) => details);
}

describe('what a page asks for is checked like what a caller asks for', () => {
  test('IT-WF-BR-03 T-WF-INFRA-04 T-WF-INFRA-05 a script that fetches an internal address gets nothing', async () => {
    const {internal, logs, response} = await renderPublicPage(
      port =>
        `<p>public</p><script>fetch('http://127.0.0.1:${port}/secret').then(r=>r.text()).then(t=>document.body.innerHTML+=t)</script>`,
    );
    const markdown = response.chunks.map(({text}) => text).join('\n');
    expect(markdown).toBe('public');
    expect(markdown).not.toContain(SECRET);
    expect(internal.requests).toEqual([]);
    expect(blockedAddresses(logs)).toContainEqual(expect.objectContaining({blocked_ip: '127.0.0.1'}));
  });

  test('IT-WF-BR-04 T-WF-INFRA-05 an XMLHttpRequest to localhost gets nothing', async () => {
    const {internal, logs, response} = await renderPublicPage(
      port => `<p>public</p><script>
        const x = new XMLHttpRequest();
        x.open('GET', 'http://localhost:${port}/secret');
        x.onload = () => document.body.innerHTML += x.responseText;
        x.send();</script>`,
    );
    expect(response.chunks.map(({text}) => text)).toEqual(['public']);
    expect(internal.requests).toEqual([]);
    expect(blockedAddresses(logs)).toContainEqual(expect.objectContaining({blocked_ip: '127.0.0.1'}));
  });

  test('FR-WF-11b frames, workers, scripts, names of inner addresses, other ports, other schemes', async () => {
    const {internal, logs, page, response} = await renderPublicPage(
      port => `<p>public</p>
        <iframe src="http://127.0.0.1:${port}/secret"></iframe>
        <iframe sandbox="allow-scripts" srcdoc="<script>fetch('http://127.0.0.1:${port}/secret',{mode:'no-cors'})</script>"></iframe>
        <script src="http://127.0.0.1:${port}/secret"></script>
        <link rel="stylesheet" href="http://[::1]:${port}/secret">
        <object data="http://127.0.0.1:${port}/secret"></object><embed src="http://127.0.0.1:${port}/secret">
        <link rel="preload" as="fetch" href="http://127.0.0.1:${port}/secret">
        <link rel="modulepreload" href="http://127.0.0.1:${port}/secret">
        <script>
          const code = "fetch('http://127.0.0.1:${port}/secret', {mode: 'no-cors'})";
          new Worker(URL.createObjectURL(new Blob([code])));
          new SharedWorker('data:text/javascript,' + encodeURIComponent(code));
          for (const url of ['http://rebound.test:${port}/', 'http://2130706433:${port}/', 'http://127.0.0.1:22/',
            'http://169.254.169.254/latest/meta-data', 'file:///etc/passwd', 'ftp://127.0.0.1/'])
            fetch(url, {mode: 'no-cors'}).catch(() => {});
          fetch('/redirect').catch(() => {});
        </script>`,
    );
    expect(response.chunks.map(({text}) => text)).toEqual(['public']);
    expect(internal.requests).toEqual([]);
    expect(page.requests).toContain('GET /redirect');
    const codes = new Set(logs.filter(({level}) => level === 'warn').map(({error_code}) => error_code));
    expect([...codes]).toEqual(expect.arrayContaining(['ssrf_blocked', 'port_blocked']));
    const blocked = blockedAddresses(logs);
    for (const blocked_ip of ['127.0.0.1', '10.9.9.9', '::1'])
      expect(blocked).toContainEqual(expect.objectContaining({blocked_ip}));
  });

  test('FR-WF-11b every hop of a subresource is checked', async () => {
    const internal = await servePages({'/secret': answer('text/plain', SECRET)});
    const server = await servePages({
      '/': htmlPage(
        `<p>public</p><script>fetch('/hop').then(r => r.text()).then(t => document.body.append(t))</script>`,
      ),
      '/hop': (_, response) =>
        response.writeHead(302, {Location: `http://127.0.0.1:${internal.port}/secret`}).end(),
    });
    const {toolbox, logs} = openTestToolbox([server.port], {browser: {chromium_path: TEST_CHROMIUM}});
    const result = await toolbox.webFetch({url: server.origin, force_browser: true});
    expect(result).toMatchObject({value: {chunks: [{text: 'public'}]}});
    expect(internal.requests).toEqual([]);
    expect(logs).toContainEqual(
      expect.objectContaining({event: 'port_blocked', rendering_method: 'browser'}),
    );
  });

  test('FR-WF-BSSR-TLS-01 https pages are verified by name, and Chromium never sees the certificate', async () => {
    const authority = createCertificateAuthority();
    const good = authority.issue({names: ['page.test']});
    const wrong = authority.issue({names: ['other.test']});
    const open = async (certificate: typeof good) => {
      const server = await startHttpServer(
        {
          '/': htmlPage(
            '<p></p><script>document.querySelector("p").textContent = isSecureContext + location.protocol</script>',
          ),
        },
        {certificate},
      );
      onTestFinished(() => server.close());
      const {toolbox} = openTestToolbox(
        [server.port],
        {browser: {chromium_path: TEST_CHROMIUM}, robots: {fail_open: true}},
        {certificateAuthorities: [authority.pem]},
      );
      return toolbox.webFetch({url: `https://page.test:${server.port}/`, force_browser: true});
    };
    expect(await open(good)).toMatchObject({value: {chunks: [{text: 'truehttps:'}]}});
    expect(await open(wrong)).toMatchObject({
      error: {code: 'network', details: {error: 'tls_validation_failed'}},
    });
  });

  test('ruling G2 a service worker is refused on a secure origin', async () => {
    const server = await servePages({
      '/': htmlPage(`<p></p><script>
        const say = t => document.querySelector('p').append(t);
        navigator.serviceWorker.register('/sw.js').then(() => say('registered'), () => say('refused'));</script>`),
      '/sw.js': answer('text/javascript', 'onfetch = e => e.respondWith(new Response("hijacked"))'),
    });
    const {toolbox} = openTestToolbox([server.port], {browser: {chromium_path: TEST_CHROMIUM}});
    expect(
      await toolbox.webFetch({url: `http://localhost:${server.port}/`, force_browser: true}),
    ).toMatchObject({
      value: {chunks: [{text: 'refused'}]},
    });
    expect(server.requests).not.toContain('GET /sw.js');
  });

  test('ruling G5 headers that make a browser store, report or fetch do not reach it', async () => {
    const server = await servePages({
      '/': htmlPage(
        `<p></p><script>
          fetch('/headers').then(r => document.querySelector('p').append([...r.headers.keys()].sort().join(' ')));
          document.body.append(new Image());
        </script>`,
        {
          Link: '</preloaded>; rel=preload; as=fetch',
          'Speculation-Rules': '"/rules.json"',
          'Reporting-Endpoints': 'default="/report"',
          'Content-Security-Policy': "img-src 'none'; report-uri /report",
        },
      ),
      '/headers': (_, response) =>
        response
          .writeHead(200, {
            'Content-Type': 'text/plain',
            'Set-Cookie': 'a=b',
            'X-Total': '9',
            NEL: '{}',
            'Alt-Svc': 'h3=":443"',
            'Clear-Site-Data': '"*"',
          })
          .end('x'),
    });
    const {toolbox} = openTestToolbox([server.port], {browser: {chromium_path: TEST_CHROMIUM}});
    expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
      value: {chunks: [{text: 'content-type date x-total'}], notes: []},
    });
    expect(server.requests).toEqual(['GET /robots.txt', 'GET /', 'GET /headers']);
  });
});

describe('ruling G1 the tripwire, on a Chromium whose layers are taken away', () => {
  const page = (port: number) =>
    `<!DOCTYPE html><p>text</p><script>new WebSocket('ws://127.0.0.1:${port}/')</script>`;

  test('ruling G1 a WebSocket that gets through kills the browser and fails the call', async () => {
    const server = await startHttpServer({});
    onTestFinished(() => server.close());
    const open = {isolation: 'flags', contained: false} as const;
    const {rendered, logs} = await renderAlone('http://page.test/', page(server.port), open);
    expect(server.accepted()).toBeGreaterThan(0);
    expect(rendered).toMatchObject({ok: false, error: {code: 'ssrf_blocked', retryable: false}});
    expect(logs).toContainEqual(expect.objectContaining({level: 'error', event: 'browser_tripwire'}));
    expect(browserProcesses()).toEqual([]);
  });

  test('ruling G1 with the flags the same WebSocket just fails', async () => {
    const server = await startHttpServer({});
    onTestFinished(() => server.close());
    const held = {isolation: 'flags', contained: true} as const;
    const {rendered} = await renderAlone('http://page.test/', page(server.port), held);
    expect(rendered).toMatchObject({ok: true, value: {html: expect.stringContaining('text')}});
    expect(server.accepted()).toBe(0);
  });
});

test('ruling G1 nothing of the machine can be written from inside the first layer', () => {
  const search =
    'find /proc /sys /etc /usr /opt /var /dev/shm -path "/proc/[0-9]*" -prune -o -path /proc/self -prune' +
    ' -o -path /proc/thread-self -prune -o -type f -writable -print 2>/dev/null; echo searched';
  const args = [...bubblewrapArguments('/usr/bin/chromium'), '--', '/bin/sh', '-c', search];
  const {stdout} = spawnSync('bwrap', args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore', 'ignore', 'ignore', 'pipe'],
  });
  expect(stdout).toBe('searched\n');
});
