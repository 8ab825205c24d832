import {chmodSync, existsSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {PathHandler} from '../support/http-server.ts';
import {openTestToolbox} from '../support/open-test-toolbox.ts';
import {answer, htmlPage, servePages} from '../support/serve-pages.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const SHELL = '<div id="root"></div><p>shell</p><script type="module" src="/app.js"></script>';

const shellWithStatus =
  (status: number): PathHandler =>
  (_, response) =>
    response.writeHead(status, {'Content-Type': 'text/html'}).end(SHELL);

/** A toolbox whose Chromium writes a file when it is started, and ends. */
async function openWithWitness(
  handlers: Readonly<Record<string, PathHandler>>,
  rendering: Readonly<Record<string, boolean | number>> = {},
) {
  const directory = temporaryDirectory();
  const started = join(directory, 'started');
  const chromium = join(directory, 'chromium');
  writeFileSync(chromium, `#!/bin/sh\necho > '${started}'\nexit 1\n`);
  chmodSync(chromium, 0o755);
  const server = await servePages(handlers);
  const {toolbox} = openTestToolbox([server.port], {
    max_download_bytes: 1024,
    rendering,
    browser: {chromium_path: chromium, isolation: 'flags'},
  });
  return {
    fetch: (path: string) => toolbox.webFetch({url: server.origin + path}),
    browserWasStarted: () => existsSync(started),
    requests: server.requests,
  };
}

test('positive control: an application shell starts the browser', async () => {
  const {fetch, browserWasStarted} = await openWithWitness({'/': htmlPage(SHELL)});
  expect(await fetch('/')).toMatchObject({value: {notes: ['browser_unavailable_used_http']}});
  expect(browserWasStarted()).toBe(true);
});

test('FR-WF-12e spa_fallback_enabled = false: an application shell is returned as it is, without a note', async () => {
  const {fetch, browserWasStarted} = await openWithWitness(
    {'/': htmlPage(SHELL)},
    {spa_fallback_enabled: false},
  );
  expect(await fetch('/')).toMatchObject({
    value: {rendering_method: 'http', notes: [], chunks: [{text: 'shell'}]},
  });
  expect(browserWasStarted()).toBe(false);
});

test.each([
  ['the default', 399, {}, true],
  ['the default', 400, {}, false],
  ['a setting of 6', 5, {min_extracted_chars: 6}, true],
  ['a setting of 5', 5, {min_extracted_chars: 5}, false],
  ['a setting of 0', 1, {min_extracted_chars: 0}, false],
] as const)(
  'FR-WF-12c with %s, Markdown of %i characters of an application shell is too little (%j): %s',
  async (_, characters, rendering, tooLittle) => {
    // The Markdown ends with a line break, which counts.
    const shell = SHELL.replace('shell', 'x'.repeat(characters - 1));
    const {fetch, browserWasStarted} = await openWithWitness({'/': htmlPage(shell)}, rendering);
    expect(await fetch('/')).toMatchObject({ok: true});
    expect(browserWasStarted()).toBe(tooLittle);
  },
);

test.each([201, 203])('FR-WF-12c an application shell with status %i is the page itself', async status => {
  const {fetch, browserWasStarted} = await openWithWitness({'/': shellWithStatus(status)});
  expect(await fetch('/')).toMatchObject({value: {notes: [], chunks: [{text: 'shell'}]}});
  expect(browserWasStarted()).toBe(false);
});

describe('FR-WF-12f a fetch that failed over HTTP is not tried in the browser', () => {
  test.each<readonly [string, PathHandler]>([
    ['http_4xx', shellWithStatus(404)],
    ['http_5xx', shellWithStatus(500)],
    ['network', shellWithStatus(206)],
    ['unsupported_content_type', answer('application/json', SHELL)],
    ['response_too_large', answer('text/html', SHELL.padEnd(1025))],
  ])('FR-WF-12f %s is the answer', async (code, handler) => {
    // Whoever asked again, in the browser or for it, would get a page.
    const handlers = [handler];
    const {fetch, browserWasStarted, requests} = await openWithWitness({
      '/': (request, response) => (handlers.pop() ?? htmlPage(SHELL))(request, response),
    });
    expect(await fetch('/')).toMatchObject({ok: false, error: {code}});
    expect(requests).toEqual(['GET /robots.txt', 'GET /']);
    expect(browserWasStarted()).toBe(false);
  });
});
