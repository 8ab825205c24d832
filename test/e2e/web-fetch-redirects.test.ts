import {readdirSync} from 'node:fs';
import {expect, test} from 'vitest';
import {openTestToolbox} from '../support/open-test-toolbox.ts';
import {htmlPage, servePages} from '../support/serve-pages.ts';

const FOLLOWED = [301, 302, 303, 307, 308];
const NOT_FOLLOWED = [300, 304, 305, 306, 309];

test.each(FOLLOWED)('FR-WF-07a FR-WF-07c %i is followed by a GET without a body', async status => {
  const server = await servePages({
    '/start': (_, response) => response.writeHead(status, {Location: '/end'}).end(),
    '/end': htmlPage('<p>end'),
  });
  const {toolbox} = openTestToolbox([server.port]);
  expect(await toolbox.webFetch({url: `${server.origin}/start`})).toMatchObject({
    value: {final_url: `${server.origin}/end`, chunks: [{text: 'end'}]},
  });
  expect(server.requests).toEqual(['GET /robots.txt', 'GET /start', 'GET /end']);
  const bodies = server.requestHeaders.filter(
    headers => headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined,
  );
  expect(bodies).toEqual([]);
});

test.each(NOT_FOLLOWED)('FR-WF-07a %i is not followed', async status => {
  const server = await servePages({
    '/start': (_, response) => response.writeHead(status, {Location: '/end'}).end(),
    '/end': htmlPage('<p>end'),
  });
  const {toolbox} = openTestToolbox([server.port]);
  expect(await toolbox.webFetch({url: `${server.origin}/start`})).toMatchObject({
    error: {code: 'network', details: {error: 'unexpected_status', status}},
  });
  expect(server.requests).not.toContain('GET /end');
});

test('FR-WF-ROBOTS-CACHE-01 another toolbox asks for robots.txt anew, and no file holds it', async () => {
  const server = await servePages({
    '/robots.txt': (_, response) => response.writeHead(200).end('User-agent: *\nDisallow: /private'),
    '/': htmlPage('<p>page'),
  });
  const {toolbox, cacheDir} = openTestToolbox([server.port]);
  await toolbox.webFetch({url: server.origin});
  await toolbox.webFetch({url: server.origin, no_cache: true});
  const asked = () => server.requests.filter(request => request === 'GET /robots.txt').length;
  expect(asked()).toBe(1);
  const entries = readdirSync(cacheDir, {recursive: true, encoding: 'utf8'}).filter(name =>
    name.endsWith('.json'),
  );
  expect(entries).toHaveLength(1);
  const {toolbox: another} = openTestToolbox([server.port], {cache_dir: cacheDir});
  await another.webFetch({url: server.origin, no_cache: true});
  expect(asked()).toBe(2);
});
