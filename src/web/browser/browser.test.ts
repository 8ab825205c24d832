import {chmodSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {silentLog} from '../../core/log.ts';
import {createBrowser} from './browser.ts';

const hasBubblewrap = process.env['FORGE_TEST_BWRAP'] !== undefined;
const {signal} = new AbortController();

/** A program in place of Chromium, and a clock on which nothing is set but what waits for the end of a page. */
function pretendBrowser(isolation: 'namespace' | 'flags', keep_ready = true) {
  const directory = temporaryDirectory();
  const chromium_path = join(directory, 'chromium');
  const hello = String.raw`{"id":1,"result":{"product":"HeadlessChrome/150.0"}}\0`;
  writeFileSync(chromium_path, `#!/bin/sh\nprintf '${hello}' >&4\nexec sleep 600\n`);
  chmodSync(chromium_path, 0o755);
  const clock = createManualClock();
  const browser = createBrowser({
    options: {
      chromium_path,
      isolation,
      memory_mb: 2048,
      max_processes: 1024,
      max_instances: 4,
      keep_ready,
    },
    places: {path: process.env['PATH'], untrustedTrees: []},
    tempDir: directory,
    clock,
    log: silentLog,
  });
  onTestFinished(() => browser.close());
  const open = async () => {
    const started = await browser.start(signal);
    if (!started.ok) throw new Error(started.error.message);
    return started.value;
  };
  const show = async (hasRendered: boolean): Promise<number> => {
    const {chromium} = await open();
    const ending = chromium.close();
    browser.track(ending, {hasRendered});
    await browser.settled();
    await new Promise(resolve => setImmediate(resolve));
    return clock.pending();
  };
  return {browser, clock, open, show};
}

test.skipIf(!hasBubblewrap)(
  'policy: with keep_ready the next Chromium is made after a page that was rendered, and not beside another',
  {tags: ['slow']},
  async () => {
    const {clock, open, show} = pretendBrowser('namespace');
    expect(await show(false)).toBe(0);
    expect(await show(true)).toBe(1);
    const {chromium} = await open();
    // Another page ends meanwhile. What was made now would be handed out next, and never get its empty page.
    await show(true);
    clock.advance(100);
    await (await open()).chromium.close();
    // The look at its memory, where it has a control group.
    expect(clock.pending()).toBe(chromium.bounded ? 1 : 0);
    await chromium.close();
    expect(clock.pending()).toBe(0);
    // It is known by now that pages can be rendered.
    expect(await show(false)).toBe(1);
  },
);

test('policy: outside of a namespace, and without keep_ready, none is made', {tags: ['slow']}, async () => {
  expect(await pretendBrowser('flags').show(true)).toBe(0);
  if (hasBubblewrap) expect(await pretendBrowser('namespace', false).show(true)).toBe(0);
});
