import {readdirSync} from 'node:fs';
import {describe, expect, onTestFinished, test} from 'vitest';
import {createToolbox} from '../../src/index.ts';
import {createMcpService} from '../../src/mcp/create-mcp-service.ts';
import {connectClient} from '../support/mcp-clients.ts';
import {openTestToolbox} from '../support/open-test-toolbox.ts';
import {htmlPage, servePages} from '../support/serve-pages.ts';

/** Takes many seconds of CPU wherever it is converted, and no longer than that to be sent. */
const ENDLESS = '<p><a href="/x"><b><i>*a* _b_ `c` &amp; <code>d</code>'.repeat(400_000);
/** So that only the deadline ends it. */
const BIG = {max_download_bytes: 200_000_000, browser: {enabled: false}, cache_dir: ''} as const;

const sites = () =>
  servePages({
    '/endless': (_, response) => response.writeHead(200, {'Content-Type': 'text/html'}).end(ENDLESS),
    '/small': htmlPage('<p>small</p>'),
    // Above the size from which on a document leaves the event loop.
    '/large': htmlPage(`<p>${'large '.repeat(20_000)}</p>`),
  });

/** Threads of this process, those that are ending included. */
const threads = (): number => readdirSync('/proc/self/task').length;

async function until(condition: () => boolean, ms: number): Promise<boolean> {
  for (const end = performance.now() + ms; performance.now() < end; ) {
    if (condition()) return true;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
  return condition();
}

describe('ruling C3 the deadline covers parsing, and ends it', () => {
  test('ruling C3 a page that takes too long is a timeout in phase extract, in time, and its thread is gone', async () => {
    const server = await sites();
    const {toolbox} = openTestToolbox([server.port], {...BIG, timeout_seconds: 2});
    await toolbox.webFetch({url: `${server.origin}/small`});
    const before = threads();
    const start = performance.now();
    const result = await toolbox.webFetch({url: `${server.origin}/endless`});
    const took = performance.now() - start;
    expect(result).toMatchObject({error: {code: 'timeout', details: {timeout_ms: 2000}}});
    // Its body may be what took the time on a busy machine; the thread is what this is about.
    expect(['body', 'extract']).toContain(result.ok ? '' : result.error.details['phase']);
    // robots.txt has an allowance of its own (ruling B2); the rest is how late a busy machine is.
    expect(took).toBeLessThan(2000 + 4000);
    expect(await until(() => threads() <= before, 10_000)).toBe(true);
  }, 60_000);

  test('ruling C3 meanwhile small pages are answered, and after it large ones, by the same toolbox', async () => {
    const server = await sites();
    const {toolbox} = openTestToolbox([server.port], {...BIG, timeout_seconds: 6});
    await toolbox.webFetch({url: `${server.origin}/small`});
    let over = false;
    const endless = Promise.all(
      [1, 2].map(number => toolbox.webFetch({url: `${server.origin}/endless?${number}`})),
    ).finally(() => {
      over = true;
    });
    let answered = 0;
    let slowest = 0;
    while (!over && answered < 40) {
      const start = performance.now();
      const small = await toolbox.webFetch({url: `${server.origin}/small?${answered}`});
      expect(small).toMatchObject({ok: true, value: {chunks: [{text: 'small'}]}});
      slowest = Math.max(slowest, performance.now() - start);
      answered += 1;
    }
    expect(answered).toBeGreaterThan(5);
    expect(slowest).toBeLessThan(4000);
    for (const result of await endless) expect(result).toMatchObject({error: {code: 'timeout'}});
    expect(await toolbox.webFetch({url: `${server.origin}/large`})).toMatchObject({ok: true});
  }, 60_000);

  test('ruling C3 an MCP server answers other calls of the same client while one page is endless', async () => {
    const server = await sites();
    const host = createToolbox({
      config: {
        tools: {
          mode: 'enabled',
          webfetch: {
            ...BIG,
            enabled: true,
            allow_auto_execution: true,
            timeout_seconds: 5,
            security: {block_loopback: false, allow_insecure_overrides: true, allowed_ports: [server.port]},
          },
        },
      },
    });
    onTestFinished(() => host.close());
    const client = await connectClient(createMcpService(host, {version: '0.0.0'}), ['stdio', '2026-07-28']);
    onTestFinished(() => client.close());
    const order: string[] = [];
    const fetch = async (path: string): Promise<void> => {
      const answer = await client.callTool({name: 'web_fetch', arguments: {url: server.origin + path}});
      order.push(`${path} ${answer.isError === true ? 'failed' : 'ok'}`);
    };
    await fetch('/small');
    await Promise.all([fetch('/endless'), fetch('/small?1'), client.listTools(), fetch('/small?2')]);
    expect([...order].sort()).toEqual(['/endless failed', '/small ok', '/small?1 ok', '/small?2 ok']);
    expect(order.at(-1)).toBe('/endless failed');
  }, 60_000);

  test('ruling C3 a caller who hangs up ends the work too', async () => {
    const server = await sites();
    const {toolbox} = openTestToolbox([server.port], {...BIG, timeout_seconds: 60});
    await toolbox.webFetch({url: `${server.origin}/small`});
    const before = threads();
    const caller = new AbortController();
    const fetching = toolbox.webFetch({url: `${server.origin}/endless`}, {signal: caller.signal});
    expect(await until(() => threads() > before, 20_000)).toBe(true);
    caller.abort();
    expect(await fetching).toMatchObject({error: {code: 'cancelled'}});
    expect(await until(() => threads() <= before, 10_000)).toBe(true);
  }, 60_000);
});
