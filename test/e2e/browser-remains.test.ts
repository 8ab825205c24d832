import {readdirSync, readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {browserProcesses, openDescriptors} from '../support/browser-remains.ts';
import type {PathHandler} from '../support/http-server.ts';
import {openTestToolbox, type TestToolbox} from '../support/open-test-toolbox.ts';
import {openToolboxWithBrowser} from '../support/open-toolbox-with-browser.ts';
import {needs, TEST_CHROMIUM} from '../support/parts.ts';
import {answer, htmlPage, servePages} from '../support/serve-pages.ts';

type Isolation = 'auto' | 'flags';
const ISOLATIONS: readonly Isolation[] = ['auto', 'flags'];

function open(ports: readonly number[], isolation: Isolation, idleMs = 5000) {
  return openToolboxWithBrowser(ports, {isolation, network_idle_ms: idleMs});
}

/** Kills what `pattern` names among the processes below this one, when the page asks for it. */
function killing(pattern: RegExp): PathHandler {
  return (_, response) => {
    for (const process_ of browserProcesses()) {
      const pid = Number.parseInt(process_, 10);
      try {
        if (pattern.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1'))) process.kill(pid, 'SIGKILL');
      } catch {
        // Another one's end took it along.
      }
    }
    response.writeHead(200, {'Content-Type': 'text/plain'}).end('too late');
  };
}

const BROWSER = /^(?!.*--type=).*--remote-debugging-pipe/s;
const RENDERER = /--type=renderer/;

const pages = {
  '/': htmlPage('<p>text</p>'),
  '/crash': htmlPage('<p>text</p><script>fetch("/kill-browser")</script>'),
  '/page-crash': htmlPage('<p>text</p><script>fetch("/kill-renderer")</script>'),
  '/hang': htmlPage('<p>text</p><script>fetch("/never")</script>'),
  '/kill-browser': killing(BROWSER),
  '/kill-renderer': killing(RENDERER),
  '/never': () => {},
} satisfies Record<string, PathHandler>;

const force = (toolbox: TestToolbox['toolbox'], url: string, signal?: AbortSignal) =>
  toolbox.webFetch({url, force_browser: true, no_cache: true}, signal ? {signal} : {});

describe.each(ISOLATIONS)('ruling G6 nothing is left (isolation %s)', isolation => {
  test(
    `ruling G6 after success, failure, time-out, crash and abort (${isolation})`,
    needs('Chromium'),
    async () => {
      const server = await servePages(pages);
      const {toolbox, scratch} = open([server.port], isolation, 4000);
      const nothingLeft = () => {
        expect(browserProcesses()).toEqual([]);
        expect(readdirSync(scratch)).toEqual([]);
      };
      expect(await force(toolbox, server.origin)).toMatchObject({value: {chunks: [{text: 'text'}]}});
      nothingLeft();
      expect(await force(toolbox, `${server.origin}/404`)).toMatchObject({error: {code: 'http_4xx'}});
      nothingLeft();
      expect(await force(toolbox, `${server.origin}/hang`)).toMatchObject({
        value: {notes: ['browser_timeout_dom_partial']},
      });
      nothingLeft();
      for (const path of ['/crash', '/page-crash']) {
        expect(await force(toolbox, server.origin + path)).toMatchObject({
          error: {code: 'browser_crashed', retryable: true},
        });
        nothingLeft();
      }
      const controller = new AbortController();
      const hanging = force(toolbox, `${server.origin}/hang`, controller.signal);
      setTimeout(() => controller.abort(), 700);
      expect(await hanging).toMatchObject({error: {code: 'cancelled'}});
      nothingLeft();
    },
  );

  test(
    `ruling G4 a crash in a fallback is the HTTP result, and is not kept (${isolation})`,
    needs('Chromium'),
    async () => {
      const server = await servePages({
        ...pages,
        '/app': htmlPage('<div id="root">shell</div><script>fetch("/kill-browser")</script>'),
      });
      const {toolbox, cacheDir} = open([server.port], isolation);
      expect(await toolbox.webFetch({url: `${server.origin}/app`})).toMatchObject({
        value: {
          rendering_method: 'http',
          chunks: [{text: 'shell'}],
          notes: ['browser_unavailable_used_http'],
        },
      });
      expect(readdirSync(cacheDir).filter(name => /^[0-9a-f]{2}$/.test(name))).toEqual([]);
    },
  );
});

test('ruling G4 a refusal of the guard in a fallback is that refusal', needs('Chromium'), async () => {
  const server = await servePages({
    '/': htmlPage('<div id="root">shell</div><script>location.href = "http://10.0.0.1/"</script>'),
  });
  const {toolbox} = openTestToolbox([server.port, 80], {browser: {chromium_path: TEST_CHROMIUM}});
  expect(await toolbox.webFetch({url: server.origin})).toMatchObject({error: {code: 'ssrf_blocked'}});
});

test('ruling G6 closing the toolbox ends a render that is under way', needs('Chromium'), async () => {
  const server = await servePages(pages);
  const {toolbox, scratch} = open([server.port], 'auto');
  const hanging = force(toolbox, `${server.origin}/hang`);
  while (!server.requests.includes('GET /never')) await new Promise(resolve => setTimeout(resolve, 20));
  await toolbox.close();
  expect(await hanging).toMatchObject({ok: false});
  expect(browserProcesses()).toEqual([]);
  expect(readdirSync(scratch)).toEqual([]);
});

test('ruling G6 fifty renders with crashes and aborts: everything is back where it was', {
  ...needs('Chromium'),
  timeout: 180_000,
  tags: 'stress',
}, async () => {
  const server = await servePages({...pages, '/data': answer('text/plain', 'x')});
  const {toolbox, scratch} = open([server.port], 'auto', 1000);
  const once = async (round: number): Promise<string> => {
    const kind = round % 5;
    if (kind === 3) {
      const controller = new AbortController();
      // Each time a little later: while Chromium starts, while the page loads, while it waits.
      setTimeout(() => controller.abort(), 20 + round * 12);
      const result = await force(toolbox, `${server.origin}/hang`, controller.signal);
      return result.ok ? 'ok' : result.error.code;
    }
    const path = kind === 1 ? '/crash' : kind === 2 ? '/page-crash' : '/';
    const result = await force(toolbox, server.origin + path);
    return result.ok ? 'ok' : result.error.code;
  };
  for (let warmUp = 0; warmUp < 3; warmUp += 1) await once(warmUp);
  const before = {descriptors: openDescriptors(), memory: process.memoryUsage().rss};

  const outcomes = new Map<string, number>();
  for (let round = 0; round < 50; round += 1) {
    const outcome = await once(round);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  expect(Object.fromEntries(outcomes)).toEqual({ok: 20, browser_crashed: 20, cancelled: 10});
  expect(browserProcesses()).toEqual([]);
  expect(readdirSync(scratch)).toEqual([]);
  expect(openDescriptors()).toBeLessThanOrEqual(before.descriptors + 2);
  expect(process.memoryUsage().rss - before.memory).toBeLessThan(80 * 1024 * 1024);
});
