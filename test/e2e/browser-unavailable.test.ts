import {execFile} from 'node:child_process';
import {chmodSync, readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {promisify} from 'node:util';
import {describe, expect, test} from 'vitest';
import {systemClock} from '../../src/core/clock.ts';
import {silentLog} from '../../src/core/log.ts';
import {createBrowser} from '../../src/web/browser/browser.ts';
import {browserProcesses} from '../support/browser-remains.ts';
import {openTestToolbox} from '../support/open-test-toolbox.ts';
import {answer, htmlPage, servePages} from '../support/serve-pages.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const shell = htmlPage('<div id="root"></div><p>shell</p><script type="module" src="/app.js"></script>');

/** A program in place of Chromium, with a directory of its own for what it would leave behind. */
function fakeChromium(script: string) {
  const directory = temporaryDirectory();
  const path = join(directory, 'chromium');
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  const scratch = temporaryDirectory();
  const environment = {
    env: {PATH: '/usr/bin:/bin', TMPDIR: scratch},
    cwd: directory,
    tempDir: scratch,
    homeDir: directory,
  };
  return {path, scratch, environment};
}

describe('IT-WF-BR-02 without a browser', () => {
  test('IT-WF-BR-02 force_browser is browser_unavailable, and nothing is fetched', async () => {
    const server = await servePages({'/': htmlPage('<p>x')});
    const {toolbox} = openTestToolbox([server.port], {browser: {chromium_path: '/nonexistent/chromium'}});
    expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
      error: {
        code: 'browser_unavailable',
        retryable: false,
        details: {chromium_path: '/nonexistent/chromium', error: 'not found'},
      },
    });
    expect(server.requests).toEqual([]);
  });

  test('IT-WF-BR-02 tools.webfetch.browser.enabled = false counts as unavailable', async () => {
    const server = await servePages({'/': shell});
    const {toolbox} = openTestToolbox([server.port], {browser: {enabled: false}});
    expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
      error: {code: 'browser_unavailable', details: {error: 'disabled'}},
    });
    expect(await toolbox.webFetch({url: server.origin})).toMatchObject({
      value: {rendering_method: 'http', notes: []},
    });
  });

  test.each([
    ['ends at once', 'echo "cannot open shared object" >&2; exit 127', /shared object/],
    ['ends without a word', 'exit 1', /./],
    ['closes its pipes', 'exec 3<&- 4>&-; exit 0', /./],
  ])('IT-WF-BR-02 a Chromium that %s is browser_unavailable and leaves nothing', async (_, script, said) => {
    const {path, scratch, environment} = fakeChromium(script);
    const server = await servePages({'/': htmlPage('<p>x')});
    const {toolbox} = openTestToolbox([server.port], {browser: {chromium_path: path}}, {environment});
    expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
      error: {code: 'browser_unavailable', details: {error: expect.stringMatching(said)}},
    });
    expect(readdirSync(scratch)).toEqual([]);
  });

  test('ruling G6 a Chromium that never answers costs its time and leaves nothing', async () => {
    const {path, scratch, environment} = fakeChromium('sleep 600 & sleep 600');
    const server = await servePages({'/': shell});
    const {toolbox} = openTestToolbox(
      [server.port],
      {browser: {chromium_path: path, network_idle_ms: 1000}},
      {environment},
    );
    const controller = new AbortController();
    const pending = toolbox.webFetch({url: server.origin, force_browser: true}, {signal: controller.signal});
    setTimeout(() => controller.abort(), 300);
    expect(await pending).toMatchObject({error: {code: 'cancelled'}});
    expect(browserProcesses()).toEqual([]);
    expect(readdirSync(scratch)).toEqual([]);
  });

  test('FR-WF-11 a Chromium before version 100 is refused', async () => {
    const {path, environment} = fakeChromium(
      `printf '{"id":1,"result":{"product":"HeadlessChrome/99.0.4844.51"}}\\0' >&4; sleep 600`,
    );
    const server = await servePages({'/': htmlPage('<p>x')});
    const {toolbox} = openTestToolbox([server.port], {browser: {chromium_path: path}}, {environment});
    expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
      error: {code: 'browser_unavailable', message: expect.stringContaining('99.0.4844.51')},
    });
  });

  test('ruling G1 isolation = "namespace" refuses to run without bubblewrap', async () => {
    const {path, scratch} = fakeChromium('sleep 600');
    const browser = createBrowser({
      options: {
        chromium_path: path,
        isolation: 'namespace',
        memory_mb: 2048,
        max_processes: 1024,
        max_instances: 4,
        keep_ready: false,
      },
      places: {path: '/nowhere', untrustedTrees: [], standard: []},
      tempDir: scratch,
      clock: systemClock,
      log: silentLog,
    });
    expect(await browser.start(new AbortController().signal)).toMatchObject({
      error: {code: 'browser_unavailable', details: {error: 'no network namespace'}},
    });
  });

  test('FR-WF-12d ruling G4 a fallback that finds no working browser is the HTTP result with a note', async () => {
    const {path, environment} = fakeChromium('exit 1');
    const server = await servePages({'/': shell, '/app.js': answer('text/javascript', '')});
    const {toolbox} = openTestToolbox([server.port], {browser: {chromium_path: path}}, {environment});
    const expected = {rendering_method: 'http', chunks: [{text: 'shell'}]};
    expect(await toolbox.webFetch({url: server.origin})).toMatchObject({
      value: {...expected, notes: ['browser_unavailable_used_http']},
    });
    expect(await toolbox.webFetch({url: server.origin})).toMatchObject({
      value: {...expected, notes: ['cache_hit', 'browser_unavailable_used_http']},
    });
  });

  test('ruling G3 a js_heavy host whose browser does not start is fetched over HTTP', async () => {
    const {path, environment} = fakeChromium('exit 1');
    const server = await servePages({'/': htmlPage('<p>text</p>')});
    const {toolbox} = openTestToolbox(
      [server.port],
      {browser: {chromium_path: path}, rendering: {js_heavy_domains: ['127.0.0.1']}},
      {environment},
    );
    expect(await toolbox.webFetch({url: server.origin})).toMatchObject({
      value: {rendering_method: 'http', notes: ['browser_unavailable_used_http']},
    });
  });
});

test.each([
  ['99.9.9999.99', true],
  ['100.0.0.0', false],
  ['101.0.0.0', false],
])('FR-WF-11 that version %s of Chromium is too old is %s', async (version, tooOld) => {
  const hello = `{"id":1,"result":{"product":"HeadlessChrome/${version}"}}\\0`;
  const {path} = fakeChromium(`printf '${hello}' >&4\nsleep 1`);
  const server = await servePages({'/': htmlPage('<p>x')});
  const {toolbox} = openTestToolbox([server.port], {browser: {chromium_path: path, isolation: 'flags'}});
  const result = await toolbox.webFetch({url: server.origin, force_browser: true});
  const message = result.ok ? '' : result.error.message;
  expect(result.ok).toBe(false);
  expect(message.includes(version)).toBe(tooOld);
});

test('T-WF-BR-ENV-01 without FORGE_TEST_CHROMIUM_PATH the browser tests are skipped, all of them', async () => {
  const {FORGE_TEST_CHROMIUM_PATH: _, FORGE_TEST_REPORTS: __, ...env} = process.env;
  const vitest = join(import.meta.dirname, '../../node_modules/vitest/vitest.mjs');
  const files = readdirSync(import.meta.dirname).filter(
    name => /^browser-.*\.test\.ts$/.test(name) && name !== 'browser-unavailable.test.ts',
  );
  const args = [vitest, 'run', '--reporter=json', ...files.map(name => join('test/e2e', name))];
  const {stdout} = await promisify(execFile)(process.execPath, args, {
    cwd: join(import.meta.dirname, '../..'),
    env,
    maxBuffer: 16 * 1024 * 1024,
  });
  const {numTotalTests, numPendingTests, success} = JSON.parse(stdout.slice(stdout.indexOf('{'))) as {
    numTotalTests: number;
    numPendingTests: number;
    success: boolean;
  };
  expect(success).toBe(true);
  expect(numTotalTests).toBeGreaterThan(30);
  expect(numPendingTests).toBe(numTotalTests);
});
