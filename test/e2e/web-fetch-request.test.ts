import {expect, test} from 'vitest';
import type {PathHandler} from '../support/http-server.ts';
import {openTestToolbox} from '../support/open-test-toolbox.ts';
import {answer, htmlPage, servePages} from '../support/serve-pages.ts';

test.each([
  ['%s#part', ''],
  ['  %s\t', ''],
  ['%s/a/../b?q=1#part', 'b?q=1'],
])('FR-WF-RESP-URL-01 %j is repeated as it is, and final_url is canonical', async (form, path) => {
  const server = await servePages({
    '/robots.txt': (_, response) => response.writeHead(404).end(),
    '*': htmlPage('<p>x'),
  });
  const {toolbox} = openTestToolbox([server.port]);
  const url = form.replace('%s', server.origin.toUpperCase());
  expect(await toolbox.webFetch({url})).toMatchObject({
    value: {requested_url: url, final_url: `${server.origin}/${path}`},
  });
});

test('FR-WF-02 a request of a URL alone has chunks of the configured size, the cache and HTTP', async () => {
  const server = await servePages({'/': answer('text/plain', 'word\n\n'.repeat(1000))});
  const sizesOf = async (default_max_chunk_tokens?: number) => {
    const {toolbox} = openTestToolbox(
      [server.port],
      default_max_chunk_tokens === undefined ? {} : {default_max_chunk_tokens},
    );
    const first = await toolbox.webFetch({url: server.origin});
    const second = await toolbox.webFetch({url: server.origin});
    if (!first.ok || !second.ok) throw new Error('Expected two pages');
    expect([first.value.rendering_method, first.value.notes, second.value.notes]).toEqual([
      'http',
      [],
      ['cache_hit'],
    ]);
    return Math.max(...first.value.chunks.map(chunk => chunk.token_count));
  };
  // Two tokens and the line between: the largest chunk is within a paragraph of its limit.
  for (const [configured, limit] of [
    [undefined, 600],
    [128, 128],
    [2048, 2048],
  ] as const) {
    const largest = await sizesOf(configured);
    expect(largest).toBeLessThanOrEqual(limit);
    expect(largest).toBeGreaterThan(Math.min(limit, 1999) - 4);
  }
});

test.each<readonly [string, PathHandler, number]>([
  ['404', (_, response) => response.writeHead(404).end(), 1],
  ['403', (_, response) => response.writeHead(403).end(), 1],
  ['an empty file', answer('text/plain', ''), 1],
  ['a file without a rule', answer('text/plain', 'hello\nthere\n'), 1],
  ['a file that is not UTF-8', answer('text/plain', Buffer.from([0x55, 0xff, 0xfe, 0x0a])), 1],
  ['503, allowed by fail_open', (_, response) => response.writeHead(503).end(), 2],
])('FR-WF-ROBOTS-CACHE-02 FR-WF-ROBOTS-CACHE-04 %s allows two pages', async (_, robots, times) => {
  const server = await servePages({'/robots.txt': robots, '*': htmlPage('<p>x')});
  const {toolbox} = openTestToolbox([server.port], {robots: {fail_open: true}});
  for (const path of ['/a', '/b']) {
    const notes = times === 1 ? [] : ['robots_unavailable_fail_open'];
    expect(await toolbox.webFetch({url: server.origin + path})).toMatchObject({value: {notes}});
  }
  expect(server.requests.filter(request => request === 'GET /robots.txt')).toHaveLength(times);
});

test('FR-WF-10 the default User-Agent is forge-webfetch/1.0, for robots.txt too', async () => {
  const server = await servePages({'/': htmlPage('<p>x')});
  await openTestToolbox([server.port]).toolbox.webFetch({url: server.origin});
  expect(server.requestHeaders.map(headers => headers['user-agent'])).toEqual([
    'forge-webfetch/1.0',
    'forge-webfetch/1.0',
  ]);
});

test('FR-WF-08e groups are chosen by the robots token, whatever the User-Agent says', async () => {
  const server = await servePages({
    '/robots.txt': answer(
      'text/plain',
      'User-agent: my-agent\nDisallow: /\n\nUser-agent: my-token\nAllow: /\n',
    ),
    '/': htmlPage('<p>x'),
  });
  const codeWith = async (user_agent_token: string) => {
    const {toolbox} = openTestToolbox([server.port], {
      user_agent: 'my-agent/1.0 (my-token)',
      robots: {user_agent_token},
    });
    const result = await toolbox.webFetch({url: server.origin});
    return result.ok ? 'ok' : result.error.code;
  };
  expect([await codeWith('my-token'), await codeWith('MY-AGENT'), await codeWith('agent')]).toEqual([
    'ok',
    'robots_disallowed',
    'robots_disallowed',
  ]);
});
