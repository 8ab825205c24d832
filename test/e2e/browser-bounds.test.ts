import {chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import {systemClock} from '../../src/core/clock.ts';
import {silentLog} from '../../src/core/log.ts';
import {findGroupPlace} from '../../src/system/control-group.ts';
import {createBrowser} from '../../src/web/browser/browser.ts';
import {browserProcesses, chromiums} from '../support/browser-remains.ts';
import type {PathHandler} from '../support/http-server.ts';
import {openTestToolbox} from '../support/open-test-toolbox.ts';
import {needs, TEST_CHROMIUM} from '../support/parts.ts';
import {answer, htmlPage, servePages} from '../support/serve-pages.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

describe('browser bounds', async () => {
  /** Array buffers lie outside of the heap that V8 bounds. */
  const HUNGRY = htmlPage(`<p>text</p><script>
  fetch('/never');
  const kept = [];
  const eat = () => { kept.push(new Uint8Array(16 * 2 ** 20).fill(1)); setTimeout(eat, 0); };
  eat();
</script>`);

  /** Workers are threads. */
  const CROWDED = htmlPage(`<p>text</p><script>
  const source = URL.createObjectURL(new Blob(['setInterval(() => {}, 1000)']));
  const kept = [];
  const start = () => { kept.push(new Worker(source)); setTimeout(start, 0); };
  start();
</script>`);

  const place = await findGroupPlace();

  /** The control groups that this process has made and not removed. */
  function groups(): readonly string[] {
    return (place?.parents ?? []).flatMap(({path}) =>
      readdirSync(path).filter(name => name.startsWith(`forge-tools.${process.pid}.`)),
    );
  }

  test('review R13: a page that takes all the memory it can get ends at memory_mb, and says so', {
    ...needs('Chromium'),
    timeout: 300_000,
  }, async () => {
    // Where no control group can be made, nothing bounds Chromium, and the log says so.
    if (place === undefined) return;
    const server = await servePages({'/': HUNGRY, '/never': () => {}});
    for (const isolation of ['auto', 'flags'] as const) {
      const {toolbox, logs} = openTestToolbox([server.port], {
        // To get at all that memory takes a while, where others want the machine too.
        timeout_seconds: 120,
        browser: {chromium_path: TEST_CHROMIUM, isolation, memory_mb: 512},
      });
      expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toMatchObject({
        error: {
          code: 'browser_crashed',
          message: expect.stringContaining('512 MiB (tools.webfetch.browser.memory_mb)'),
          details: {error: 'out of memory'},
        },
      });
      expect(logs).toContainEqual(expect.objectContaining({event: 'browser_started', bounded: true}));
      expect([browserProcesses(), groups()]).toEqual([[], []]);
    }
  });

  test('review R13: a page gets no more threads than max_processes', needs('Chromium'), async () => {
    if (place === undefined) return;
    let most = 0;
    const server = await servePages({'/': CROWDED});
    const {toolbox} = openTestToolbox([server.port], {
      browser: {chromium_path: TEST_CHROMIUM, max_processes: 256, network_idle_ms: 10_000},
    });
    const counting = setInterval(() => {
      for (const {path} of place.parents) {
        for (const group of groups()) {
          const file = join(path, group, 'pids.current');
          if (existsSync(file)) most = Math.max(most, Number(readFileSync(file, 'utf8')));
        }
      }
    }, 20);
    const result = await toolbox.webFetch({url: server.origin, force_browser: true});
    clearInterval(counting);
    // A page without threads may crash or never become idle.
    expect([true, 'browser_crashed', 'timeout']).toContain(result.ok || result.error.code);
    expect(most).toBeGreaterThan(20);
    expect(most).toBeLessThanOrEqual(256);
  });

  test('review R13: a crowd of calls waits for its turn, in all toolboxes of a process together', {
    ...needs('Chromium'),
    tags: 'stress',
  }, async () => {
    let most: readonly string[] = [];
    const count: PathHandler = (_, response) => {
      const running = chromiums();
      if (running.length > most.length) most = running;
      response.writeHead(200, {'Content-Type': 'text/javascript'}).end('');
    };
    const server = await servePages({
      '*': htmlPage('<p>text</p><script src="/count"></script>'),
      '/count': count,
    });
    const browser = {chromium_path: TEST_CHROMIUM, max_instances: 2};
    const toolboxes = [0, 1].map(() => openTestToolbox([server.port], {browser}).toolbox);
    const calls = Array.from({length: 10}, (_, at) =>
      toolboxes[at % 2]?.webFetch({url: `${server.origin}/${at}`, force_browser: true}),
    );
    for (const result of await Promise.all(calls)) {
      expect(result).toMatchObject({value: {rendering_method: 'browser', chunks: [{text: 'text'}]}});
    }
    expect(most).toHaveLength(2);
  });

  test(
    'review R13: a wait that uses up its budget is timeout in phase browser',
    needs('Chromium'),
    async () => {
      const server = await servePages({
        '/hang': htmlPage('<p>text</p><script>fetch("/never")</script>'),
        '/never': () => {},
        '/': htmlPage('<p>text</p>'),
      });
      const {toolbox} = openTestToolbox([server.port], {
        browser: {
          chromium_path: TEST_CHROMIUM,
          max_instances: 1,
          max_wait_seconds: 1,
          network_idle_ms: 10_000,
        },
      });
      const controller = new AbortController();
      const hanging = toolbox.webFetch(
        {url: `${server.origin}/hang`, force_browser: true},
        {signal: controller.signal},
      );
      await expect.poll(() => server.requests, {timeout: 10_000}).toContain('GET /never');
      expect(await toolbox.webFetch({url: server.origin, force_browser: true})).toEqual({
        ok: false,
        error: {
          code: 'timeout',
          message:
            'No Chromium was free within 1 s; at most 1 run at a time (tools.webfetch.browser.max_instances). Retry later, or raise it.',
          retryable: true,
          details: {timeout_ms: 1000, phase: 'browser'},
        },
      });
      controller.abort();
      await hanging;
      // The place of the call that gave up is free.
      expect(await toolbox.webFetch({url: `${server.origin}/`, force_browser: true})).toMatchObject({
        ok: true,
      });
    },
  );

  test(
    'review R3: neither chromium nor bwrap is taken from the workspace, wherever PATH begins',
    needs('Chromium'),
    async () => {
      const workspace = temporaryDirectory();
      const bin = join(workspace, 'node_modules', '.bin');
      const marker = join(temporaryDirectory(), 'ran');
      mkdirSync(bin, {recursive: true});
      for (const name of ['chromium', 'bwrap']) {
        writeFileSync(join(bin, name), `#!/bin/sh\necho ${name} >>${marker}\n`);
        chmodSync(join(bin, name), 0o755);
      }
      const server = await servePages({'/': htmlPage('<p>text</p>')});
      const environment = {
        env: {PATH: `${bin}:${process.env['PATH']}`, TMPDIR: temporaryDirectory()},
        cwd: workspace,
        tempDir: temporaryDirectory(),
        homeDir: temporaryDirectory(),
      };
      const {toolbox} = openTestToolbox(
        [server.port],
        {browser: {chromium_path: ''}},
        {environment, workspace},
      );
      await toolbox.webFetch({url: server.origin, force_browser: true});
      expect(existsSync(marker)).toBe(false);
    },
  );

  test(
    'review 1.2: a bubblewrap that hangs is ended, and does not hold up the rendering for ever',
    needs('Chromium'),
    async () => {
      const bin = temporaryDirectory();
      writeFileSync(join(bin, 'bwrap'), '#!/bin/sh\nsleep 600 &\nsleep 600\n');
      chmodSync(join(bin, 'bwrap'), 0o755);
      const browser = createBrowser({
        options: {
          chromium_path: TEST_CHROMIUM,
          isolation: 'auto',
          memory_mb: 2048,
          max_processes: 1024,
          max_instances: 4,
          keep_ready: false,
        },
        places: {path: bin, untrustedTrees: [], standard: []},
        tempDir: temporaryDirectory(),
        clock: systemClock,
        log: silentLog,
      });
      onTestFinished(() => browser.close());
      const started = await browser.start(new AbortController().signal);
      expect(started).toMatchObject({value: {isolation: 'flags'}});
      await browser.close();
      expect(browserProcesses()).toEqual([]);
    },
  );
});

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
        message:
          'There is no program at "/nonexistent/chromium". Correct tools.webfetch.browser.chromium_path, or leave it out to search PATH.',
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

test.each([
  ['[]', false],
  ['["Chromium"]', true],
])('T-WF-BR-ENV-01 browser tests are skipped where the run found no Chromium: %s', (missing, skip) => {
  vi.stubEnv('FORGE_TEST_MISSING', missing);
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(needs('Chromium')).toMatchObject({skip, meta: {needs: ['Chromium']}});
});
