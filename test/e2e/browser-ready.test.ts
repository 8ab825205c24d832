import {type ChildProcess, spawn} from 'node:child_process';
import {once} from 'node:events';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {describe, expect, onTestFinished, test} from 'vitest';
import {browserProcesses, chromiums, openDescriptors} from '../support/browser-remains.ts';
import type {PathHandler} from '../support/http-server.ts';
import {openTestToolbox, type TestToolbox} from '../support/open-test-toolbox.ts';
import {openToolboxWithBrowser} from '../support/open-toolbox-with-browser.ts';
import {needs, TEST_CHROMIUM} from '../support/parts.ts';
import {htmlPage, servePages} from '../support/serve-pages.ts';

/** Without namespaces none waits. */
const HOST = fileURLToPath(new URL('../support/ready-host.js', import.meta.url));

function open(ports: readonly number[], settings: {readonly max_instances?: number} = {}) {
  return openToolboxWithBrowser(ports, {keep_ready: true, network_idle_ms: 10_000, ...settings});
}

/** A script of a page, and the Chromiums that are there when it is asked for. */
function watchBrowsers() {
  const seen = {shownBy: [] as readonly string[]};
  const watch: PathHandler = (_, response) => {
    seen.shownBy = chromiums();
    response.writeHead(200, {'Content-Type': 'text/javascript'}).end();
  };
  return {seen, watch};
}

const force = (toolbox: TestToolbox['toolbox'], url: string, signal?: AbortSignal) =>
  toolbox.webFetch({url, force_browser: true, no_cache: true}, signal ? {signal} : {});

/** Resolves when just one Chromium is there, with an empty page. */
async function oneWaits(): Promise<string> {
  const pages = () =>
    browserProcesses().filter(process => {
      const pid = Number.parseInt(process, 10);
      const file = `/proc/${pid}/cmdline`;
      return existsSync(file) && readFileSync(file, 'latin1').includes('--type=renderer');
    });
  await expect.poll(() => [chromiums().length, pages().length > 0]).toEqual([1, true]);
  return chromiums()[0] ?? '';
}

/** Whether the browser that shows it has shown a page of this origin before. */
const MEMORY = `<p id="told"></p><script>
  told.textContent = [document.cookie, localStorage.seen].join() === ',' ? 'first' : 'again';
  document.cookie = 'seen=yes';
  localStorage.seen = 'yes';
</script>`;

/** What a page can see of how it came to be shown. */
const ORIGIN_OF_PAGE = `<p id="told"></p><script>
  const [{type}] = performance.getEntriesByType('navigation');
  told.textContent = JSON.stringify({
    type, address: location.href, entries: history.length, referrer: document.referrer, opener: String(opener),
    name: window.name, visible: document.visibilityState, focused: document.hasFocus(),
    active: navigator.userActivation.hasBeenActive, size: [innerWidth, innerHeight],
    isolated: crossOriginIsolated, secure: isSecureContext, from: String(navigation.activation?.from?.url),
    cookie: document.cookie, ancestors: location.ancestorOrigins.length, base: document.baseURI,
  });
</script>`;

describe('browser.keep_ready', () => {
  test(
    'policy: after a page one Chromium waits, shows the next page alone, and another one waits',
    needs('Chromium', 'bubblewrap'),
    async () => {
      const {seen, watch} = watchBrowsers();
      const server = await servePages({
        '/': htmlPage(`${MEMORY}<script src="/watch"></script>`),
        '/watch': watch,
        '/http': htmlPage('<p>text</p>'),
      });
      const {toolbox, scratch, logs} = open([server.port]);
      // Nothing is started for who renders nothing.
      expect(await toolbox.webFetch({url: `${server.origin}/http`, no_cache: true})).toMatchObject({
        ok: true,
      });
      expect(browserProcesses()).toEqual([]);
      const text = {value: {chunks: [{text: 'first'}]}};
      expect(await force(toolbox, server.origin)).toMatchObject(text);
      const first = seen.shownBy;
      expect(browserProcesses()).toEqual([]);
      let waiting = await oneWaits();
      expect(first).not.toContain(waiting);
      for (let round = 0; round < 2; round += 1) {
        expect(await force(toolbox, server.origin)).toMatchObject(text);
        expect(seen.shownBy).toEqual([waiting]);
        expect(browserProcesses()).toEqual([]);
        const next = await oneWaits();
        expect(next).not.toBe(waiting);
        waiting = next;
      }
      expect(readdirSync(scratch)).toEqual([]);
      const starts = logs.filter(({event}) => event === 'browser_started');
      expect(starts).toHaveLength(3);
      for (const start of starts) {
        expect(start).toMatchObject({requested_host: '127.0.0.1', layers: ['namespace', 'flags']});
      }
      await toolbox.close();
      expect(browserProcesses()).toEqual([]);
    },
  );

  test(
    'policy: a page sees no difference between a Chromium that waited and one that did not',
    needs('Chromium', 'bubblewrap'),
    async () => {
      const server = await servePages({
        '/': htmlPage(ORIGIN_OF_PAGE, {'Set-Cookie': 'own=1'}),
        // Where it begins anew at another address, it is the first entry as well.
        '/from': (_, response) => response.writeHead(302, {Location: '/'}).end(),
        // Nor is there a page to go back to.
        '/back': htmlPage('<p id="told">here</p><script>history.back()</script>'),
      });
      const {toolbox} = open([server.port]);
      const see = async () => {
        const seen = [];
        for (const path of ['/', '/from', '/back']) {
          await oneWaits();
          seen.push(await force(toolbox, server.origin + path));
        }
        return seen;
      };
      await force(toolbox, server.origin);
      const waited = await see();
      const fresh = openTestToolbox([server.port], {browser: {chromium_path: TEST_CHROMIUM}}).toolbox;
      await toolbox.close();
      for (const [at, path] of ['/', '/from', '/back'].entries()) {
        const page = waited[at];
        const other = await force(fresh, server.origin + path);
        if (!page?.ok || !other.ok) throw new Error('It was not rendered.');
        expect(page.value.chunks).toEqual(other.value.chunks);
        expect(page.value.final_url).toBe(other.value.final_url);
      }
    },
  );

  test('policy: twenty calls at once share none, stay within max_instances, and leave one that waits', {
    ...needs('Chromium', 'bubblewrap'),
    timeout: 180_000,
    tags: 'stress',
  }, async () => {
    let most: readonly string[] = [];
    const count: PathHandler = (_, response) => {
      const running = chromiums();
      if (running.length > most.length) most = running;
      response.writeHead(200, {'Content-Type': 'text/javascript'}).end();
    };
    const server = await servePages({
      '*': htmlPage(`${MEMORY}<script src="/count"></script>`),
      '/count': count,
    });
    const {toolbox, logs} = open([server.port], {max_instances: 2});
    await force(toolbox, server.origin);
    await oneWaits();
    const calls = Array.from({length: 20}, (_, at) => force(toolbox, `${server.origin}/${at}`));
    for (const result of await Promise.all(calls)) {
      expect(result).toMatchObject({value: {rendering_method: 'browser', chunks: [{text: 'first'}]}});
    }
    expect(most).toHaveLength(2);
    expect(logs.filter(({event}) => event === 'browser_started')).toHaveLength(21);
    await oneWaits();
  });

  test(
    'policy: one that was killed while it waited is not missed',
    needs('Chromium', 'bubblewrap'),
    async () => {
      const server = await servePages({'/': htmlPage('<p>text</p>')});
      const {toolbox, scratch} = open([server.port]);
      const text = {value: {rendering_method: 'browser', chunks: [{text: 'text'}]}};
      expect(await force(toolbox, server.origin)).toMatchObject(text);
      // At once, before its end is known here, and long before.
      for (const isKnown of [false, true]) {
        const waiting = await oneWaits();
        process.kill(Number.parseInt(waiting, 10), 'SIGKILL');
        if (isKnown) await expect.poll(browserProcesses).toEqual([]);
        expect(await force(toolbox, server.origin)).toMatchObject(text);
      }
      await toolbox.close();
      expect([browserProcesses(), readdirSync(scratch)]).toEqual([[], []]);
    },
  );

  test(
    'ruling G6 closing the toolbox ends the one that waits, and the one that is being made',
    needs('Chromium', 'bubblewrap'),
    async () => {
      const server = await servePages({'/': htmlPage('<p>text</p>')});
      for (const until of [oneWaits, () => expect.poll(browserProcesses).not.toEqual([])]) {
        const {toolbox, scratch} = open([server.port]);
        await force(toolbox, server.origin);
        await until();
        await toolbox.close();
        expect([browserProcesses(), readdirSync(scratch)]).toEqual([[], []]);
      }
    },
  );

  test(
    'review R13: it gives its place to another toolbox, with one place among them',
    needs('Chromium', 'bubblewrap'),
    async () => {
      const {seen, watch} = watchBrowsers();
      const server = await servePages({
        '/': htmlPage('<p>text</p><script src="/watch"></script>'),
        '/watch': watch,
      });
      const [one, other] = [open([server.port], {max_instances: 1}), open([server.port], {max_instances: 1})];
      await force(one.toolbox, server.origin);
      for (const {toolbox} of [other, one, other]) {
        const waiting = await oneWaits();
        expect(await force(toolbox, server.origin)).toMatchObject({ok: true});
        expect(seen.shownBy).toHaveLength(1);
        expect(seen.shownBy).not.toContain(waiting);
      }
    },
  );

  test(
    'ruling G6 a call that is cancelled leaves nothing of the one that it took',
    needs('Chromium', 'bubblewrap'),
    async () => {
      let cancel = (): void => {};
      const cancelling: PathHandler = () => cancel();
      const server = await servePages({
        '/': htmlPage('<p>text</p>'),
        '/late': htmlPage('<p>text</p><script>fetch("/never")</script>'),
        '/early': cancelling,
        '/never': cancelling,
      });
      const {toolbox} = open([server.port]);
      await force(toolbox, server.origin);
      await oneWaits();
      const before = openDescriptors();
      for (const path of ['/early', '/late']) {
        const waiting = await oneWaits();
        const controller = new AbortController();
        cancel = () => controller.abort();
        const hanging = await force(toolbox, server.origin + path, controller.signal);
        expect(hanging).toMatchObject({error: {code: 'cancelled'}});
        expect(chromiums()).not.toContain(waiting);
        expect(await oneWaits()).not.toBe(waiting);
      }
      await expect.poll(openDescriptors).toBeLessThanOrEqual(before + 2);
    },
  );
});

describe('the end of a host with a Chromium that waits', () => {
  const started = async (then: 'stay' | 'end' | 'exit') => {
    const server = await servePages({'/': htmlPage('<p>text</p>')});
    const host: ChildProcess = spawn(process.execPath, [HOST, server.origin, TEST_CHROMIUM, then], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void host.kill('SIGKILL'));
    const ended = once(host, 'exit');
    const [line] = await once(host.stdout ?? host, 'data');
    const waiting: readonly number[] = JSON.parse(String(line));
    expect(waiting.length).toBeGreaterThan(2);
    const left = () => waiting.filter(isChromium);
    return {host, ended, left};
  };

  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    test(`ruling G6 ${signal} takes it along`, needs('Chromium', 'bubblewrap'), async () => {
      const {host, ended, left} = await started('stay');
      expect(left()).not.toEqual([]);
      host.kill(signal);
      await ended;
      await expect.poll(left).toEqual([]);
    });
  }

  for (const then of ['end', 'exit'] as const) {
    test(
      `policy: it keeps no process alive that has nothing left to do (${then})`,
      needs('Chromium', 'bubblewrap'),
      async () => {
        const {ended, left} = await started(then);
        expect(await ended).toEqual([0, null]);
        await expect.poll(left).toEqual([]);
      },
    );
  }
});

function isChromium(pid: number): boolean {
  try {
    return /bwrap|chrom/.test(readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
  } catch {
    return false;
  }
}
