import {onTestFinished} from 'vitest';
import {systemClock} from '../../src/core/clock.ts';
import {Deadline} from '../../src/core/deadline.ts';
import type {LogEvent} from '../../src/core/log.ts';
import {fail} from '../../src/core/result.ts';
import {createBrowser} from '../../src/web/browser/browser.ts';
import {openPage} from '../../src/web/browser/open-page.ts';
import {TEST_CHROMIUM} from './parts.ts';
import {temporaryDirectory} from './temporary-directory.ts';

/** Renders HTML with a browser whose layers are chosen, and which is given nothing but that document. */
export async function renderAlone(
  url: string,
  html: string,
  layers: {readonly isolation: 'auto' | 'flags'; readonly contained: boolean},
) {
  const logs: LogEvent[] = [];
  const log = (event: LogEvent): void => void logs.push(event);
  const browser = createBrowser({
    options: {
      chromium_path: TEST_CHROMIUM,
      isolation: layers.isolation,
      memory_mb: 2048,
      max_processes: 1024,
      max_instances: 4,
      keep_ready: false,
    },
    contained: layers.contained,
    places: {path: process.env['PATH'], untrustedTrees: []},
    tempDir: temporaryDirectory(),
    clock: systemClock,
    log,
  });
  const nothing = async () => fail('network', 'There is nothing else.');
  const options = {
    max_total_subresource_bytes: 1e6,
    network_idle_ms: 30_000,
    max_rendered_dom_bytes: 1e6,
    memory_mb: 2048,
  };
  const settings = {options, maxDownloadBytes: 1e6, blocked: new Set<never>()};
  const ports = {navigate: nothing, openUrl: nothing, clock: systemClock, log};
  const page = openPage(browser, url, settings, ports, new AbortController().signal);
  const budget = new Deadline(45_000, systemClock);
  onTestFinished(async () => {
    await browser.close();
    budget.close();
  });
  const bytes = Buffer.from(html);
  const document = {
    url,
    headers: new Map(),
    contentType: 'text/html',
    bytes,
    charsetFallback: false,
  } as const;
  const rendered = await page.render(document, budget);
  await page.close();
  return {rendered, logs};
}
