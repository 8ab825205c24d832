import {execFile, spawnSync} from 'node:child_process';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {describe, expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../src/core/clock.ts';
import {ok} from '../../src/core/result.ts';
import {createToolbox, type LogEvent} from '../../src/index.ts';
import {assembleWeb} from '../../src/web/assemble-web.ts';
import {bubblewrapArguments} from '../../src/web/browser/launch.ts';
import {fetchPage} from '../../src/web/fetch-page.ts';
import {createGuard, createSsrfValidator, type SsrfValidator} from '../../src/web/guard/guard.ts';
import {readGuardPolicy} from '../../src/web/guard/policy.ts';
import {browserProcesses} from '../support/browser-remains.ts';
import {createCertificateAuthority} from '../support/certificates.ts';
import {startHttpServer} from '../support/http-server.ts';
import {renderAlone} from '../support/open-browser-for-test.ts';
import {openTestToolbox} from '../support/open-test-toolbox.ts';
import {unwrap} from '../support/outcome.ts';
import {needs, TEST_CHROMIUM} from '../support/parts.ts';
import {answer, htmlPage, servePages} from '../support/serve-pages.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const browser = {chromium_path: TEST_CHROMIUM, network_idle_ms: 15_000};

describe('FR-WF-11d FR-WF-DOMSIZE-01 max_rendered_dom_bytes counts the UTF-8 bytes of the outer HTML', () => {
  const LIMIT = 2048;
  const around = (filler: string, size: number): string => {
    const [start, end] = ['<html><head></head><body><p>', '</p></body></html>'];
    const room = size - start.length - end.length;
    const fillers = filler.repeat(Math.floor(room / Buffer.byteLength(filler)));
    return `${start}${fillers}${'.'.repeat(room - Buffer.byteLength(fillers))}${end}`;
  };

  test.each(['x', '日'])('FR-WF-11d FR-WF-DOMSIZE-01 of %s', needs('Chromium'), async filler => {
    const sizes = [LIMIT - 1, LIMIT, LIMIT + 1];
    const server = await servePages(
      Object.fromEntries(
        sizes.map(size => [
          `/${size}`,
          answer('text/html; charset=utf-8', `<!DOCTYPE html>${around(filler, size)}`),
        ]),
      ),
    );
    const {toolbox} = openTestToolbox([server.port], {
      browser: {...browser, max_rendered_dom_bytes: LIMIT},
    });
    const said: unknown[] = [];
    for (const size of sizes) {
      const result = await toolbox.webFetch({url: `${server.origin}/${size}`, force_browser: true});
      said.push(result.ok ? [result.value.truncated, result.value.truncation_reason] : result.error.code);
    }
    expect(said).toEqual([
      [false, undefined],
      [false, undefined],
      [true, 'browser_dom_truncated'],
    ]);
  });
});

test('FR-WF-19c fetch_complete names the rendering that made the chunks', needs('Chromium'), async () => {
  const server = await servePages({
    '/': htmlPage('<div id="root"></div><script type="module" src="/app.js"></script>'),
    '/app.js': answer('text/javascript', 'document.querySelector("#root").textContent = "rendered";'),
  });
  const {toolbox, logs} = openTestToolbox([server.port], {browser});
  expect(await toolbox.webFetch({url: server.origin})).toMatchObject({
    value: {rendering_method: 'browser', chunks: [{text: 'rendered'}]},
  });
  expect(logs).toContainEqual(expect.objectContaining({event: 'fetch_start', rendering_method: 'http'}));
  expect(logs).toContainEqual(
    expect.objectContaining({event: 'fetch_complete', rendering_method: 'browser', cache_hit: false}),
  );
});

/**
 * A page that asks for `/SIZE` one after the other, and says which came. It asks before its document is ready: a slow
 * machine cannot make a pause between two of them look like the end.
 */
const asking = (sizes: readonly number[]) =>
  htmlPage(`<p>nothing</p><script>
    const came = ${JSON.stringify(sizes)}.map(size => {
      const request = new XMLHttpRequest();
      request.open('GET', '/' + size, false);
      try {
        request.send();
        return request.responseText.length;
      } catch {
        return '-';
      }
    });
    document.querySelector('p').textContent = came.join(' ');</script>`);

const sized = (sizes: readonly number[]) =>
  Object.fromEntries(sizes.map(size => [`/${size}`, answer('text/plain', 'x'.repeat(size))]));

describe('FR-WF-BROWSER-BUDGET-01 one below, at, and one above', () => {
  test('FR-WF-BROWSER-BUDGET-01 of one resource', needs('Chromium'), async () => {
    const sizes = [2047, 2048, 2049, 1];
    const server = await servePages({'/': asking(sizes), ...sized(sizes)});
    const {toolbox} = openTestToolbox([server.port], {browser, max_download_bytes: 2048});
    expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
      value: {chunks: [{text: '2047 2048 - 1'}]},
    });
  });

  test.each([
    [48_575, '1000000 48575 1'],
    [48_576, '1000000 48576 -'],
    [48_577, '1000000 - -'],
  ])(
    'FR-WF-BROWSER-BUDGET-01 of all resources: %i bytes after a million',
    needs('Chromium'),
    async (size, came) => {
      const sizes = [1_000_000, size, 1];
      const server = await servePages({'/': asking(sizes), ...sized(sizes)});
      const {toolbox} = openTestToolbox([server.port], {
        browser: {...browser, max_total_subresource_bytes: 1_048_576},
      });
      expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
        value: {chunks: [{text: came}]},
      });
    },
  );
});

interface Sighting {
  /** The titles that the page gave itself when it had tried everything. */
  readonly results: readonly string[];
  /** How many of the pages were shown by a Chromium that had waited. */
  readonly waited: number;
  readonly layers: readonly string[];
  readonly tripped: boolean;
  /** Requests that came to us, where they are checked. */
  readonly asked: number;
  readonly packets: number;
  readonly sample: readonly string[];
}

const run = promisify(execFile);
const probe = join(import.meta.dirname, '../support/egress/probe.js');

/** Renders the hostile page in a network of its own, where every address there is answers. */
async function watch(mode: 'none' | 'flags' | 'namespace' | 'ready'): Promise<Sighting> {
  const {stdout} = await run('unshare', ['--net', process.execPath, probe, mode, TEST_CHROMIUM]);
  return JSON.parse(stdout) as Sighting;
}

/** A network namespace and a packet capture need root; CI is. */
describe('ruling G1 no packet of Chromium’s own leaves it', {
  ...needs('Chromium', 'root', 'tcpdump'),
  timeout: 240_000,
}, () => {
  const tried = ['tried from http', 'tried from https'];

  test('ruling G1 positive control: without the layers, the same page is seen on the wire', async () => {
    const seen = await watch('none');
    expect(seen.packets).toBeGreaterThan(100);
    const wire = seen.sample.join('\n');
    for (const way of [/\.53: /, /\[S\]/, /UDP/]) expect(wire).toMatch(way);
  });

  test('ruling G1 the flags alone hold: zero packets', async () => {
    const seen = await watch('flags');
    expect(seen).toMatchObject({results: tried, layers: ['flags'], packets: 0, sample: [], tripped: false});
    expect(seen.asked).toBeGreaterThan(100);
  });

  test('ruling G1 the network namespace alone holds: zero packets', async () => {
    const seen = await watch('namespace');
    expect(seen).toMatchObject({results: tried, packets: 0, sample: [], tripped: false});
    expect(seen.layers).toContain('namespace');
    expect(seen.asked).toBeGreaterThan(100);
  });

  test('ruling G1 it holds for a Chromium that waited as well: zero packets', async () => {
    const seen = await watch('ready');
    expect(seen).toMatchObject({results: tried, waited: 1, packets: 0, sample: [], tripped: false});
    expect(seen.asked).toBeGreaterThan(100);
  });
});

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
          browser,
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
    {...web.context, guard: createGuard(validator, policy)},
  );
  return {page, internal, logs, response: unwrap(outcome).response};
}

function blockedAddresses(logs: readonly LogEvent[]): readonly unknown[] {
  return logs.filter(({event}) => event === 'ssrf_blocked').map(({details}) => details);
}

describe('what a page asks for is checked like what a caller asks for', () => {
  test('IT-WF-BR-03 T-WF-INFRA-04 T-WF-INFRA-05 fetch gets nothing', needs('Chromium'), async () => {
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

  test(
    'IT-WF-BR-04 T-WF-INFRA-05 an XMLHttpRequest to localhost gets nothing',
    needs('Chromium'),
    async () => {
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
    },
  );

  test(
    'FR-WF-11b frames, workers, scripts, names of inner addresses, other ports, other schemes',
    needs('Chromium'),
    async () => {
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
    },
  );

  test('FR-WF-11b every hop of a subresource is checked', needs('Chromium'), async () => {
    const internal = await servePages({'/secret': answer('text/plain', SECRET)});
    const server = await servePages({
      '/': htmlPage(
        `<p>public</p><script>fetch('/hop').then(r => r.text()).then(t => document.body.append(t))</script>`,
      ),
      '/hop': (_, response) =>
        response.writeHead(302, {Location: `http://127.0.0.1:${internal.port}/secret`}).end(),
    });
    const {toolbox, logs} = openTestToolbox([server.port], {browser});
    const result = await toolbox.webFetch({url: server.origin, force_browser: true});
    expect(result).toMatchObject({value: {chunks: [{text: 'public'}]}});
    expect(internal.requests).toEqual([]);
    expect(logs).toContainEqual(
      expect.objectContaining({event: 'port_blocked', rendering_method: 'browser'}),
    );
  });

  test(
    'FR-WF-BSSR-TLS-01 https pages are verified by name, and Chromium never sees the certificate',
    needs('Chromium'),
    async () => {
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
          {browser, robots: {fail_open: true}},
          {certificateAuthorities: [authority.pem]},
        );
        return toolbox.webFetch({url: `https://page.test:${server.port}/`, force_browser: true});
      };
      expect(await open(good)).toMatchObject({value: {chunks: [{text: 'truehttps:'}]}});
      expect(await open(wrong)).toMatchObject({
        error: {code: 'network', details: {error: 'tls_validation_failed'}},
      });
    },
  );

  test('ruling G2 a service worker is refused on a secure origin', needs('Chromium'), async () => {
    // The page is not at rest before it has said what became of its worker.
    let said = (): void => {};
    const saying = new Promise<void>(resolve => {
      said = resolve;
    });
    const server = await servePages({
      '/said': (_, response) => {
        said();
        response.end();
      },
      '/rest': async (_, response) => {
        await saying;
        response.end();
      },
      '/': htmlPage(`<p></p><script>
        fetch('/rest');
        const say = t => {
          document.querySelector('p').append(t);
          fetch('/said');
        };
        navigator.serviceWorker.register('/sw.js').then(() => say('registered'), () => say('refused'));</script>`),
      '/sw.js': answer('text/javascript', 'onfetch = e => e.respondWith(new Response("hijacked"))'),
    });
    const {toolbox} = openTestToolbox([server.port], {browser});
    expect(
      await toolbox.webFetch({url: `http://localhost:${server.port}/`, force_browser: true}),
    ).toMatchObject({
      value: {chunks: [{text: 'refused'}]},
    });
    expect(server.requests).not.toContain('GET /sw.js');
  });

  test(
    'ruling G5 headers that make a browser store, report or fetch do not reach it',
    needs('Chromium'),
    async () => {
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
      const {toolbox} = openTestToolbox([server.port], {browser});
      expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
        value: {chunks: [{text: 'content-type date x-total'}], notes: []},
      });
      expect(server.requests).toEqual(['GET /robots.txt', 'GET /', 'GET /headers']);
    },
  );
});

describe('ruling G1 the tripwire, on a Chromium whose layers are taken away', () => {
  const page = (port: number) =>
    `<!DOCTYPE html><p>text</p><script>new WebSocket('ws://127.0.0.1:${port}/')</script>`;

  test(
    'ruling G1 a WebSocket that gets through kills the browser and fails the call',
    needs('Chromium'),
    async () => {
      const server = await startHttpServer({});
      onTestFinished(() => server.close());
      const open = {isolation: 'flags', contained: false} as const;
      const {rendered, logs} = await renderAlone('http://page.test/', page(server.port), open);
      expect(server.accepted()).toBeGreaterThan(0);
      expect(rendered).toMatchObject({ok: false, error: {code: 'ssrf_blocked', retryable: false}});
      expect(logs).toContainEqual(expect.objectContaining({level: 'error', event: 'browser_tripwire'}));
      expect(browserProcesses()).toEqual([]);
    },
  );

  test('ruling G1 with the flags the same WebSocket just fails', needs('Chromium'), async () => {
    const server = await startHttpServer({});
    onTestFinished(() => server.close());
    const held = {isolation: 'flags', contained: true} as const;
    const {rendered} = await renderAlone('http://page.test/', page(server.port), held);
    expect(rendered).toMatchObject({ok: true, value: {html: expect.stringContaining('text')}});
    expect(server.accepted()).toBe(0);
  });
});

test('ruling G1 nothing of the machine can be written from inside the first layer', needs('Chromium'), () => {
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
