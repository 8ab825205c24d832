// The page of a run in a real browser: what pages, commands and models wrote in it is seen and never runs.

import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {describe, expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../src/core/clock.ts';
import type {Json} from '../../src/core/result.ts';
import {createToolbox} from '../../src/index.ts';
import {serveRun} from '../../src/report/live.ts';
import {writeReport} from '../../src/report/write-report.ts';
import {type ChromiumPage, openChromiumPage} from '../support/chromium-page.ts';
import {
  echoTool,
  openTestRuntime,
  type TestRuntime,
  toolOf,
  writeNoteTool,
} from '../support/open-test-runtime.ts';
import {needs} from '../support/parts.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

/** A server that nothing may ask. The value lists who did. */
async function openTrap(): Promise<{readonly origin: string; readonly asked: readonly string[]}> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.end();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return {origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked};
}

function hostileTexts(origin: string): readonly string[] {
  const run = `document.title='OWNED';window.owned=1;fetch('${origin}/js')`;
  return [
    `<script>${run}</script>`,
    `</script><script>${run}</script>`,
    `--></script><img src="${origin}/img" onerror="${run}">`,
    `<!--<script>${run}`,
    `"><svg onload="${run}"><style>@import url(${origin}/css)</style>`,
    `<iframe src="${origin}/frame" srcdoc="<script>parent.owned=1</script>"></iframe>`,
    `<base href="${origin}/"><meta http-equiv="refresh" content="0;url=${origin}/meta"><link rel="stylesheet" href="${origin}/link">`,
    `<form action="${origin}/form"><input autofocus onfocus="${run}"><button formaction="javascript:${run}">x</button></form>`,
    `[click](javascript:${run}) ![img](${origin}/md.png) [data](data:text/html,<script>${run}</script>)`,
    `<javascript:${run}> <a href="javascript:${run}">x</a> <${origin}/auto>`,
    `\${${run}} \`\${${run}}\` ]]> {{constructor.constructor("${run}")()}}`,
    `\u001b]0;OWNED\u0007\u001b[2J\u001b[31mred\u0000 \u202egnp.exe \u2066x \u{e0041}\u2028\u2029`,
    `x{}*{background:url(${origin}/style)} </style><style>body{display:none}`,
    `__proto__ constructor \ud800 lone`,
    `| a | b |\n| --- | --- |\n| <img src=x onerror=${run}> | [x](javascript:${run}) |\n\n\`\`\`html"><img src=x onerror=${run}>\n</code></pre><script>${run}</script>\n\`\`\``,
    `--- a/<img src=x onerror=${run}>\n+++ b/x\n@@ -1 +1 @@ <script>${run}</script>\n-<script>${run}</script>\n+</span><script>${run}</script>`,
    'long '.repeat(2000) + 'A'.repeat(5000),
  ];
}

/** Calls that have the text in every field that somebody else fills. */
async function recordHostileRun(texts: readonly string[]): Promise<TestRuntime> {
  let text = '';
  const hostileTool = toolOf('hostile', async ({emit, saveArtifact, step}): Promise<Json> => {
    await emit(`EVENT ${text}`.slice(0, 100), {[text.slice(0, 50)]: text, text});
    await saveArtifact(`logs/step_${step}_stdout.txt`, text);
    await saveArtifact(`diffs/step_${step}.patch`, text);
    return {
      title: text,
      final_url: text,
      language: text,
      [text.slice(0, 60)]: text,
      diff: text,
      list: [text, text],
      nested: {deep: [{x: text}]},
      stdout: text,
      matches: [{file: text, line: 1, content: text}],
      ...(step % 2 === 0 ? {chunks: [{heading: text, text, token_count: 7}]} : {}),
    };
  });
  const failing = toolOf('failing', async () => {
    throw new Error(text);
  });
  const refusing = {ask: async () => ({answer: 'refuse', reason: text}) as const};
  const runtime = await openTestRuntime({
    tools: [echoTool, hostileTool, failing, writeNoteTool(temporaryDirectory())],
    approver: refusing,
    maxOutputBytes: 1_000_000,
  });
  for (const next of texts) {
    text = next;
    await runtime.call('hostile', {[text.slice(0, 40)]: text, text, url: text});
    await runtime.call('hostile', {text});
    await runtime.call('failing', {text});
    await runtime.call('write_note', {path: 'a', text});
    await runtime.call(text.slice(0, 60), {text});
  }
  return runtime;
}

async function openReport(runtime: TestRuntime): Promise<ChromiumPage> {
  const out = join(temporaryDirectory(), 'report.html');
  const written = await writeReport(runtime.directory, out);
  expect(written).toMatchObject({ok: true});
  const page = await openChromiumPage(pathToFileURL(out).href);
  await page.until('document.querySelectorAll("li.call .bar").length > 0');
  return page;
}

const shownRows = 'document.querySelectorAll("li.call:not([hidden])").length';
const focusedStep = 'document.activeElement.closest("li.call")?.id';

describe('the report in a browser', () => {
  test(
    'policy: hostile content in every field is seen, and nothing of it runs or is asked for',
    needs('Chromium'),
    async () => {
      const trap = await openTrap();
      const texts = hostileTexts(trap.origin);
      const runtime = await recordHostileRun(texts);
      const page = await openReport(runtime);
      expect(await page.evaluate(shownRows)).toBe(texts.length * 5);
      await page.evaluate(
        'for (const details of document.querySelectorAll("li.call details")) details.open = true',
      );
      await page.until(
        'document.querySelectorAll("li.call .body").length === document.querySelectorAll("li.call").length',
      );
      await page.insert('a');
      const elements = await page.evaluate(
        '[...new Set([...document.querySelectorAll("#list *")].map(node => node.localName))].sort().join(" ")',
      );
      expect(elements).not.toMatch(/script|img|svg|style|iframe|form|input|link|meta|base|object/);
      const attributes = await page.evaluate(
        '[...new Set([...document.querySelectorAll("#list *")].flatMap(node => [...node.attributes].map(({name}) => name)))].sort().join(" ")',
      );
      expect(attributes).toBe(
        'aria-label class data-state href id open rel role start style target title type'.replace(
          'start ',
          String(attributes).includes('start') ? 'start ' : '',
        ),
      );
      expect(
        await page.evaluate('[...document.links].filter(({protocol}) => !/^https?:$/.test(protocol)).length'),
      ).toBe(1);
      // Our own link, to the calls, stays on the page.
      expect(await page.evaluate('document.querySelector("a.skip").getAttribute("href")')).toBe('#list');
      // The scripts and styles are still only ours, and the texts are there to be read.
      expect(await page.evaluate('document.scripts.length + document.styleSheets.length')).toBe(2);
      expect(await page.evaluate('document.body.innerText.includes("<img src=x onerror=")')).toBe(true);
      expect(await page.evaluate('document.title')).toBe('85 calls, 17 refused, 34 failed · run run');
      expect(await page.evaluate('"owned" in window')).toBe(false);
      expect(trap.asked).toEqual([]);
      expect(page.requests).toHaveLength(1);
      expect(page.complaints).toEqual([]);
    },
  );

  test(
    'policy: the page has no way to run what somebody finds a way to put in',
    needs('Chromium'),
    async () => {
      const trap = await openTrap();
      const page = await openReport(await recordHostileRun(['x']));
      for (const attempt of [
        'document.body.innerHTML = "<img src=x onerror=window.owned=1>"',
        'eval("window.owned = 1")',
        'document.write("<b>x</b>")',
      ]) {
        await expect(page.evaluate(`(() => { ${attempt} })()`), attempt).rejects.toThrow(
          /TrustedHTML|Trusted|unsafe-eval|Evaluat/,
        );
      }
      await page
        .evaluate(`(() => {
      const add = (tag, set) => document.body.append(Object.assign(document.createElement(tag), set));
      add('img', {src: '${trap.origin}/img'});
      add('iframe', {src: '${trap.origin}/frame'});
      add('link', {rel: 'stylesheet', href: '${trap.origin}/css'});
      const button = document.createElement('button');
      button.setAttribute('onclick', 'window.owned = 1');
      document.body.append(button);
      button.click();
      fetch('${trap.origin}/fetch').catch(() => {});
    })()`)
        .catch(() => {});
      await page.until('document.querySelector("iframe") !== null');
      expect(await page.evaluate('"owned" in window')).toBe(false);
      expect(trap.asked).toEqual([]);
    },
  );

  test('report: keys move, open and close, and find', needs('Chromium'), async () => {
    const runtime = await openTestRuntime({
      tools: [echoTool, toolOf('fails', async () => Promise.reject(new Error('no')))],
    });
    for (const text of ['alpha', 'beta', 'gamma']) await runtime.call('echo', {text});
    await runtime.call('fails');
    await runtime.call('echo', {text: 'delta'});
    const page = await openReport(runtime);
    await page.press('j');
    await page.press('j');
    expect(await page.evaluate(focusedStep)).toBe('call-2');
    await page.press('k');
    await page.press('ArrowDown');
    expect(await page.evaluate(focusedStep)).toBe('call-2');
    await page.press('Enter');
    await page.until('document.querySelector("#call-2 .body") !== null');
    expect(await page.evaluate('document.querySelector("#call-2 .body").innerText')).toContain('beta');
    await page.press('Escape');
    expect(await page.evaluate('document.querySelector("#call-2 details").open')).toBe(false);
    await page.press('n');
    expect(await page.evaluate(focusedStep)).toBe('call-4');
    await page.press('/');
    await page.insert('GAMMA');
    await page.until(`${shownRows} === 1`);
    expect(await page.evaluate('document.getElementById("count").textContent')).toBe('1 of 5 calls');
    await page.press('Enter');
    expect(await page.evaluate(focusedStep)).toBe('call-3');
    await page.press('?');
    expect(await page.evaluate('document.getElementById("keys").open')).toBe(true);
    await page.press('Escape');
    expect(await page.evaluate('document.getElementById("keys").open')).toBe(false);
    expect(page.complaints).toEqual([]);
  });

  test(
    'report: the headline says what the run came to, and what it changed is above the calls',
    needs('Chromium'),
    async () => {
      const workspace = temporaryDirectory();
      const runDirectory = join(temporaryDirectory(), 'run');
      const toolbox = createToolbox({
        workspace,
        runDirectory,
        config: {tools: {mode: 'enabled', approval: {mode: 'auto'}}},
      });
      onTestFinished(() => toolbox.close());
      for (const [tool, params] of [
        ['write_file', {path: 'a.sh', content: 'echo "one" # first\n'}],
        ['read_file', {path: '../outside'}],
        ['read_file', {path: '../elsewhere'}],
        ['read_file', {path: 'nothing'}],
        ['str_replace', {path: 'a.sh', old_string: 'one', new_string: 'two'}],
      ] as const) {
        await toolbox.call({tool, params, request_id: 'x'});
      }
      await toolbox.close();
      const out = join(temporaryDirectory(), 'report.html');
      expect(await writeReport(runDirectory, out)).toMatchObject({ok: true, value: {changed: 1, refused: 2}});
      const page = await openChromiumPage(pathToFileURL(out).href);
      await page.until('document.querySelectorAll("li.call .bar").length > 0');
      const text = (selector: string): Promise<unknown> =>
        page.evaluate(`document.querySelector(${JSON.stringify(selector)}).innerText`);
      const headline = '5 calls, 1 file changed, 2 refused, 1 failed';
      expect(await text('h1')).toBe(headline);
      expect(await page.evaluate('document.title')).toBe(`${headline} · run run`);
      expect(await text('#refusals')).toBe('Refused: path escape × 2');
      expect(await text('#net-title')).toBe('1 changed file, +1 −0 lines');
      expect(await text('#net .add')).toContain('+echo "two" # first');
      await page.until('CSS.highlights.get("string")?.size === 1');
      const coloured = (name: string): string =>
        `[...CSS.highlights.get("${name}")].map(range => range.toString()).join()`;
      expect(await page.evaluate(coloured('string'))).toBe('"two"');
      expect(await page.evaluate(coloured('comment'))).toBe('# first');
      expect(page.complaints).toEqual([]);
    },
  );

  test('report: the timeline zooms to a call, and back to the whole run', needs('Chromium'), async () => {
    // A call within a millisecond has no length to zoom to.
    let now = Date.now();
    const runtime = await openTestRuntime({clock: {...systemClock, now: () => (now += 5)}});
    for (const text of ['alpha', 'beta', 'gamma']) await runtime.call('echo', {text});
    const page = await openReport(runtime);
    const width = (step: number): Promise<number> =>
      page.evaluate(
        `document.querySelector("#call-${step} .bar").getBoundingClientRect().width`,
      ) as Promise<number>;
    const whole = await width(2);
    await page.evaluate('document.querySelector("#call-2 summary").focus()');
    await page.press('z');
    await page.until('!document.getElementById("zoom-all").hidden');
    const lane = (await page.evaluate(
      'document.querySelector("#call-2 .lane").getBoundingClientRect().width',
    )) as number;
    expect(await width(2)).toBeGreaterThan(lane / 2);
    await page.press('0');
    await page.until('document.getElementById("zoom-all").hidden');
    expect(await width(2)).toBeCloseTo(whole, 1);
    await page.press('+');
    await page.until('!document.getElementById("zoom-all").hidden');
  });

  test(
    'report: a search shows where a closed call has it, and a call has a link to copy',
    needs('Chromium'),
    async () => {
      const runtime = await openTestRuntime();
      const text = `${'before '.repeat(60)}needle${' behind'.repeat(30)}`;
      await runtime.call('echo', {text: `first\n${text}`});
      await runtime.call('echo', {text: 'nothing'});
      const page = await openReport(runtime);
      await page.press('/');
      await page.insert('NEEDLE');
      await page.until(`${shownRows} === 1`);
      const hit = await page.evaluate('document.querySelector("#call-1 .hit").textContent');
      expect(hit).toMatch(/^….{20,40}needle.{40,60}…$/);
      await page.evaluate('document.querySelector("#call-1 summary").focus()');
      await page.press('c');
      await page.until('document.querySelector("#call-1 .copy").textContent !== "Copy link"');
      expect(await page.evaluate('document.querySelector("#call-1 .copy").textContent')).toMatch(
        /^(Copied|It is in the address bar)$/,
      );
      // Open, it shows the place itself.
      await page.until('document.querySelector("#call-1 .hit").textContent === ""');
    },
  );

  test(
    'report: on paper everything is open, and the keys and filters are not there',
    needs('Chromium'),
    async () => {
      const page = await openReport(await recordHostileRun(hostileTexts('http://127.0.0.1:9').slice(0, 2)));
      await page.evaluate('dispatchEvent(new Event("beforeprint"))');
      expect(await page.evaluate('document.querySelectorAll("li.call details:not([open])").length')).toBe(0);
      expect(await page.evaluate('document.querySelectorAll("li.call .body").length')).toBe(10);
      await page.evaluate('dispatchEvent(new Event("afterprint"))');
      expect(await page.evaluate('document.querySelectorAll("li.call details[open]").length')).toBe(0);
    },
  );

  test('report: filters combine, and one button takes them all back', needs('Chromium'), async () => {
    const runtime = await openTestRuntime({tools: [echoTool, toolOf('other', async () => ({ok: true}))]});
    await runtime.call('echo', {text: 'a'});
    await runtime.call('other');
    await runtime.call('echo', {});
    const page = await openReport(runtime);
    await page.evaluate('document.getElementById("state-failed").click()');
    expect(await page.evaluate(shownRows)).toBe(1);
    await page.evaluate('document.getElementById("state-success").click()');
    expect(await page.evaluate(shownRows)).toBe(3);
    await page.evaluate('document.getElementById("state-failed").click()');
    await page.evaluate(`(() => {
      const tool = document.getElementById('tool');
      tool.value = 'other';
      tool.dispatchEvent(new Event('change'));
    })()`);
    expect(await page.evaluate(shownRows)).toBe(1);
    await page.evaluate(
      'document.getElementById("state-success").click(), document.getElementById("state-failed").click()',
    );
    expect(await page.evaluate(`[${shownRows}, document.getElementById("nothing").hidden].join()`)).toBe(
      '0,false',
    );
    await page.evaluate('document.getElementById("reset").click()');
    expect(await page.evaluate(shownRows)).toBe(3);
  });

  test(
    'report: it fits a phone, in light and dark, and has a name for everything',
    needs('Chromium'),
    async () => {
      const runtime = await recordHostileRun(hostileTexts('http://127.0.0.1:9').slice(-4));
      const page = await openReport(runtime);
      await page.evaluate(
        'for (const details of document.querySelectorAll("li.call details")) details.open = true',
      );
      for (const width of [390, 1280]) {
        await page.resize(width, 844);
        await page.until(`innerWidth === ${width}`);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      }
      const background = 'getComputedStyle(document.body).backgroundColor';
      await page.colors('light');
      const light = await page.evaluate(background);
      await page.colors('dark');
      expect(await page.evaluate(background)).not.toBe(light);
      await page.press('t');
      expect(await page.evaluate(background)).toBe(light);
      const nameless =
        '[...document.querySelectorAll("button, input, select, [role=img]")].filter(node => !(node.textContent.trim() || node.ariaLabel || node.labels?.length)).length';
      expect(await page.evaluate(nameless)).toBe(0);
    },
  );

  test(
    'report: --live shows what comes, and takes neither place, filter nor focus from the reader',
    needs('Chromium'),
    async () => {
      const runtime = await openTestRuntime({
        tools: [
          echoTool,
          toolOf(
            'slow',
            ({signal}) =>
              new Promise(resolve => {
                signal.addEventListener('abort', () => resolve(null), {once: true});
              }),
            {timeoutMs: 60_000},
          ),
        ],
      });
      for (let step = 1; step <= 40; step++) await runtime.call('echo', {text: `call ${step}`});
      const served = await serveRun(runtime.directory, systemClock);
      if (!served.ok) throw new Error(served.error.message);
      onTestFinished(served.value.close);
      const page = await openChromiumPage(served.value.url);
      await page.until(`${shownRows} === 40`);
      await page.evaluate(
        'document.querySelector("#call-20 summary").focus(), document.querySelector("#call-20 details").open = true',
      );
      const place = 'Math.round(document.querySelector("#call-20").getBoundingClientRect().top)';
      await page.until('document.querySelector("#call-20 .body") !== null');
      await page.evaluate('document.querySelector("#call-20").scrollIntoView()');
      const before = await page.evaluate(place);

      const cancel = new AbortController();
      const slow = runtime.call('slow', {}, {signal: cancel.signal});
      await page.until('document.querySelector("#call-41")?.dataset.state === "running"');
      cancel.abort();
      await slow;
      await page.until('document.querySelector("#call-41").dataset.state === "failed"');
      await page.evaluate(
        'document.getElementById("state-success").click(), document.querySelector("#call-20 summary").focus()',
      );
      await runtime.call('nothing');
      await page.until('document.querySelector("#call-42") !== null');
      await page.until('document.querySelector("#call-42").hidden');
      expect(await page.evaluate(focusedStep)).toBe('call-20');
      expect(await page.evaluate('document.querySelector("#call-20 details").open')).toBe(true);
      // Places are rounded to pixels.
      expect(Math.abs(Number(await page.evaluate(place)) - Number(before))).toBeLessThan(3);
      await runtime.runtime.session.close();
      await page.until('document.getElementById("verdict").textContent.startsWith("Ended normally")');
      expect(page.complaints.filter(text => !text.includes('favicon'))).toEqual([]);
    },
  );
});
