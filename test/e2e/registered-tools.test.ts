import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {createToolbox, type ToolboxOptions} from '../../src/index.ts';
import {createManualClock} from '../support/manual-clock.ts';
import {answer, htmlPage, servePages} from '../support/serve-pages.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

type WebFetchConfig = NonNullable<NonNullable<NonNullable<ToolboxOptions['config']>['tools']>['webfetch']>;

function open(port: number, webfetch: WebFetchConfig = {}, options: Omit<ToolboxOptions, 'config'> = {}) {
  const toolbox = createToolbox({
    workspace: temporaryDirectory(),
    runDirectory: join(temporaryDirectory(), 'run'),
    ...options,
    config: {
      tools: {
        mode: 'enabled',
        webfetch: {
          enabled: true,
          cache_dir: '',
          ...webfetch,
          security: {block_loopback: false, allow_insecure_overrides: true, allowed_ports: [port]},
        },
      },
    },
  });
  onTestFinished(() => toolbox.close());
  return toolbox;
}

test('ADR-REG-1 glob, web_fetch and str_replace are registered, each with its schemas', () => {
  const listed = new Map(
    open(80)
      .listTools()
      .map(tool => [tool.name, tool]),
  );
  expect(listed.get('glob')?.paramsSchema).toMatchObject({required: ['pattern']});
  expect(listed.get('web_fetch')?.paramsSchema).toMatchObject({
    required: ['url'],
    additionalProperties: false,
  });
  expect(listed.get('str_replace')?.paramsSchema).toMatchObject({
    // W18: a list of edits may stand in the place of the two texts.
    required: ['path'],
    properties: {old_string: {type: 'string'}, new_string: {type: 'string'}},
  });
});

test('FR-WF-01 web_fetch has that name alone, and names are matched by case', async () => {
  const server = await servePages({'*': htmlPage('<p>page')});
  const toolbox = open(server.port, {}, {allow: ['web_fetch']});
  const named = toolbox.listTools().filter(({name}) => /fetch/i.test(name));
  expect(named.map(({name}) => name)).toEqual(['web_fetch']);
  for (const tool of ['Web_Fetch', 'WEB_FETCH', 'webfetch', 'webFetch', 'web-fetch', 'fetch', ' web_fetch']) {
    const result = await toolbox.call({tool, params: {url: server.origin}, request_id: tool});
    expect([tool, result.error?.error_type]).toEqual([tool, 'unknown_tool']);
  }
  expect(server.requests).toEqual([]);
});

test('NFR-WF-OP-01 NFR-WF-OP-02 web_fetch has side effects: without an approval it reaches nobody', async () => {
  const server = await servePages({'*': htmlPage('<p>page')});
  const toolbox = open(server.port);
  const call = (tool: string, params: Record<string, string>) =>
    toolbox.call({tool, params, request_id: tool});
  expect(await call('web_fetch', {url: server.origin})).toMatchObject({
    error: {error_type: 'approval_required'},
  });
  expect(server.requests).toEqual([]);
  expect(await call('list_files', {})).toMatchObject({status: 'success'});
});

test('ADR-FETCH-1 the text presentation of web_fetch answers after 15 seconds at the latest', async () => {
  let reached = (): void => {};
  const waiting = new Promise<void>(resolve => {
    reached = resolve;
  });
  const server = await servePages({
    '/robots.txt': (_, response) => response.writeHead(404).end(),
    '/silent': () => reached(),
  });
  const clock = createManualClock();
  const toolbox = open(server.port, {output: 'text'}, {allow: ['web_fetch'], clock});
  let ended = false;
  const result = toolbox
    .call({tool: 'web_fetch', params: {url: `${server.origin}/silent`}, request_id: 'r1'})
    .finally(() => {
      ended = true;
    });
  await waiting;
  clock.advance(14_999);
  await new Promise(resolve => setImmediate(resolve));
  expect(ended).toBe(false);
  clock.advance(1);
  expect(await result).toMatchObject({
    status: 'success',
    data: {text: 'web_fetch failed (timeout): No result within 15000 ms.', truncated: false},
  });
});

test('ADR-FETCH-3 the text has at most 8,000 characters, and what is longer is marked', async () => {
  const sizes = [7999, 8000, 8001];
  const server = await servePages(
    Object.fromEntries(sizes.map(size => [`/${size}`, answer('text/plain', 'x'.repeat(size))])),
  );
  const toolbox = open(server.port, {output: 'text', default_max_chunk_tokens: 2048}, {allow: ['web_fetch']});
  for (const size of sizes) {
    const result = await toolbox.call({
      tool: 'web_fetch',
      params: {url: `${server.origin}/${size}`},
      request_id: String(size),
    });
    expect(result.data).toMatchObject({truncated: size > 8000});
    const {text} = result.data as {readonly text: string};
    if (size <= 8000) expect(text.trimEnd()).toBe('x'.repeat(size));
    else expect(text.length).toBeLessThanOrEqual(8000);
  }
});
