import {expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../src/core/clock.ts';
import type {LogEvent} from '../../src/core/log.ts';
import {createToolbox} from '../../src/index.ts';
import {openWeb} from '../../src/web/open-web.ts';
import {browserTest, TEST_CHROMIUM} from '../support/browser-test.ts';
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

browserTest('review R11: a page that moves on to such a host is refused', async () => {
  const {fetch, hosts, port} = await site();
  expect({...(await fetch('/moves', {browser: true})), port}).toEqual(refused(port));
  expect(hosts.filter(host => host.endsWith('denied.test'))).toEqual([]);
});

browserTest('review R11: what a page loads from such a host is blocked, and the page stays', async () => {
  const {fetch, hosts, logs} = await site();
  expect(await fetch('/loads', {browser: true})).toMatchObject({
    value: {response: {chunks: [{text: 'first cdn'}]}},
  });
  expect(hosts).toContain('script cdn.test');
  expect(hosts.filter(host => host.endsWith('denied.test'))).toEqual([]);
  expect(logs).toContainEqual(
    expect.objectContaining({event: 'approval_denied', requested_host: 'denied.test', level: 'warn'}),
  );
});
