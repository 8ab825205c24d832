// Renders the hostile page inside a network where every address answers, and counts the packets.
// usage, within a fresh network namespace and with dist/ built: node probe.js MODE CHROMIUM
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {systemClock} from '../../../dist/core/clock.js';
import {Deadline} from '../../../dist/core/deadline.js';
import {createBrowser} from '../../../dist/web/browser/browser.js';
import {openPage} from '../../../dist/web/browser/open-page.js';
import {capturePackets} from './capture-packets.js';
import {HOSTILE_HEADERS, HOSTILE_PAGE} from './hostile-page.js';

const [mode, chromium] = process.argv.slice(2);
const LAYERS = {
  none: {isolation: 'flags', contained: false},
  flags: {isolation: 'flags', contained: true},
  namespace: {isolation: 'namespace', contained: false},
  both: {isolation: 'namespace', contained: true},
  ready: {isolation: 'namespace', contained: false, keep_ready: true},
}[mode];

const endCapture = await capturePackets();

const tempDir = mkdtempSync(join(tmpdir(), 'forge-egress-'));
const logs = [];
const browser = createBrowser({
  options: {
    chromium_path: chromium,
    isolation: LAYERS.isolation,
    memory_mb: 2048,
    max_processes: 1024,
    max_instances: 4,
    keep_ready: LAYERS.keep_ready === true,
  },
  contained: LAYERS.contained,
  places: {path: '/usr/bin:/bin', untrustedTrees: []},
  tempDir,
  clock: systemClock,
  log: event => logs.push(event),
});
const refused = [];
const fail = async url => {
  refused.push(url);
  return {ok: false, error: {code: 'network', message: 'not here', retryable: false, details: {}}};
};
const stay = async () => ({ok: true, value: {kind: 'empty'}});
let waited = 0;
const watched = {
  ...browser,
  start: async (...wishes) => {
    const started = await browser.start(...wishes);
    if (started.ok && started.value.blank !== undefined) waited += 1;
    return started;
  },
};
const show = async url => {
  const page = openPage(
    watched,
    url,
    {
      options: {max_total_subresource_bytes: 1e6, network_idle_ms: 60_000, max_rendered_dom_bytes: 1e6},
      maxDownloadBytes: 1e6,
      blocked: new Set(),
    },
    {navigate: stay, openUrl: fail, clock: systemClock, log: event => logs.push(event)},
    new AbortController().signal,
  );
  const budget = new Deadline(60_000, systemClock);
  const bytes = Buffer.from(HOSTILE_PAGE);
  const document = {url, headers: HOSTILE_HEADERS, contentType: 'text/html', bytes, charsetFallback: false};
  const rendered = await page.render(document, budget);
  // What is sent after the text was read counts as well.
  await new Promise(resolve => setTimeout(resolve, 2500));
  await page.close();
  budget.close();
  return rendered.ok ? /<title>(.*?)<\/title>/.exec(rendered.value.html)?.[1] : rendered.error.code;
};
const pages = ['http://hostile.example/', 'https://hostile.example/'];
const results = [];
if (LAYERS.keep_ready) {
  // One that waits is made after a first page, and taken by the next.
  for (const url of pages) {
    results.push(await show(url));
    await new Promise(resolve => setTimeout(resolve, 1000));
  }
} else results.push(...(await Promise.all(pages.map(show))));
await browser.close();
rmSync(tempDir, {recursive: true});
await new Promise(resolve => setTimeout(resolve, 300));
const packets = await endCapture();

const lines = packets.split('\n').filter(line => line !== '');
const layers = logs.find(({event}) => event === 'browser_started')?.layers ?? [];
const tripped = logs.some(({event}) => event === 'browser_tripwire');
console.log(
  JSON.stringify({
    results,
    waited,
    layers,
    tripped,
    asked: refused.length,
    packets: lines.length,
    sample: lines.slice(0, 1000),
  }),
);
