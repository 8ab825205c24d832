import {describe, expect, test} from 'vitest';
import type {Toolbox} from '../../src/index.ts';
import type {PathHandler} from '../support/http-server.ts';
import {openTestToolbox} from '../support/open-test-toolbox.ts';
import {needs, TEST_CHROMIUM} from '../support/parts.ts';
import {htmlPage, servePages} from '../support/serve-pages.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const words = 'text '.repeat(200);
const shell = htmlPage(
  `<div id="root"></div><script type="module">document.getElementById("root").textContent = "rendered ${words}"</script>`,
);
const old = htmlPage(`<p>old ${words}`);
const fresh = htmlPage(`<p>fresh ${words}`);
const away: PathHandler = (_, response) => response.writeHead(302, {Location: '/new'}).end();
const browser = {chromium_path: TEST_CHROMIUM};

type Fetched = Awaited<ReturnType<Toolbox['webFetch']>>;

function firstWord(result: Fetched): string | undefined {
  if (!result.ok) throw new Error(result.error.message);
  return result.value.chunks[0]?.text.split(' ')[0]?.trim();
}

describe('ruling F9: fresh wins', () => {
  test.each([{}, {cache_redirects: true}])(
    'conformance V5: the text from before a redirect is not shown again (%j)',
    async settings => {
      const pages = {'/': old, '/new': fresh};
      const server = await servePages(pages);
      const {toolbox} = openTestToolbox([server.port], settings);
      const read = async (no_cache: boolean) =>
        firstWord(await toolbox.webFetch({url: server.origin, no_cache}));
      expect(await read(false)).toBe('old');
      pages['/'] = away;
      expect(await read(true)).toBe('fresh');
      expect(await read(false)).toBe('fresh');
    },
  );

  test('conformance V5: a redirect that was for good, and is another one now, leads there no more', async () => {
    const pages: Record<string, PathHandler> = {
      '/': (_, response) => response.writeHead(301, {Location: '/old'}).end(),
      '/old': old,
      '/new': fresh,
    };
    const server = await servePages(pages);
    const {toolbox} = openTestToolbox([server.port], {cache_redirects: true});
    expect(firstWord(await toolbox.webFetch({url: server.origin}))).toBe('old');
    pages['/'] = away;
    expect(firstWord(await toolbox.webFetch({url: server.origin, no_cache: true}))).toBe('fresh');
    expect(firstWord(await toolbox.webFetch({url: server.origin}))).toBe('fresh');
  });

  test(
    'conformance V4: a page that became a shell is not shown as it was before',
    needs('Chromium'),
    async () => {
      const pages = {'/': old};
      const server = await servePages(pages);
      const {toolbox} = openTestToolbox([server.port], {browser});
      const read = async (no_cache: boolean) =>
        firstWord(await toolbox.webFetch({url: server.origin, no_cache}));
      expect(await read(false)).toBe('old');
      pages['/'] = shell;
      expect(await read(true)).toBe('rendered');
      expect(await read(false)).toBe('rendered');
    },
  );
});

describe('ruling F3: conditions survive', () => {
  test.each([
    {browser: {chromium_path: '/nonexistent/chromium'}},
    {browser: {...browser, enabled: false}},
    {browser, rendering: {spa_fallback_enabled: false}},
  ])(
    'conformance V3: a shell of a time without the browser is a miss with it, and the page a hit (%j)',
    needs('Chromium'),
    async settings => {
      const server = await servePages({'/': shell});
      const cache_dir = temporaryDirectory();
      const read = ({toolbox}: {toolbox: Toolbox}) => toolbox.webFetch({url: server.origin});
      const without = openTestToolbox([server.port], {...settings, cache_dir});
      await read(without);
      expect(await read(without)).toMatchObject({
        value: {rendering_method: 'http', notes: expect.arrayContaining(['cache_hit'])},
      });
      const withIt = openTestToolbox([server.port], {browser, cache_dir});
      expect(await read(withIt)).toMatchObject({value: {rendering_method: 'browser', notes: []}});
      expect(await read(withIt)).toMatchObject({value: {rendering_method: 'browser', notes: ['cache_hit']}});
    },
  );

  test('conformance D4: a js_heavy page that came over HTTP is a hit as long as there is no browser', async () => {
    const server = await servePages({'/': fresh});
    const {toolbox} = openTestToolbox([server.port], {rendering: {js_heavy_domains: ['127.0.0.1']}});
    await toolbox.webFetch({url: server.origin});
    expect(await toolbox.webFetch({url: server.origin})).toMatchObject({
      value: {rendering_method: 'http', notes: ['cache_hit', 'browser_unavailable_used_http']},
    });
  });
});

describe('ruling C7: the mode is chosen at each hop', () => {
  /** a.test leads to b.test, which is js_heavy, and that to c.test if it is to. */
  async function open(settings: Parameters<typeof openTestToolbox>[1], leadsOn: boolean) {
    const server = await servePages({
      '/a': (_, response) => response.writeHead(302, {Location: `http://b.test:${server.port}/b`}).end(),
      '/b': leadsOn
        ? (_, response) => response.writeHead(302, {Location: `http://c.test:${server.port}/c`}).end()
        : shell,
      '/c': shell,
    });
    const rendering = {js_heavy_domains: ['b.test'], spa_fallback_enabled: false};
    const {toolbox} = openTestToolbox([server.port], {...settings, rendering});
    return (host: string) => toolbox.webFetch({url: `http://${host}.test:${server.port}/${host}`});
  }

  test.each([
    {leadsOn: false, end: 'b'},
    {leadsOn: true, end: 'c'},
  ])(
    'conformance V8: a redirect to a js_heavy host goes on in the browser, to $end',
    needs('Chromium'),
    async ({leadsOn, end}) => {
      const read = await open({browser}, leadsOn);
      const reached = {final_url: expect.stringContaining(`//${end}.test`), rendering_method: 'browser'};
      expect(await read('a')).toMatchObject({value: {...reached, notes: []}});
      if (end === 'b') expect(await read('b')).toMatchObject({value: {...reached, notes: ['cache_hit']}});
    },
  );

  test('conformance V8: without a browser it goes on over HTTP, and says so', async () => {
    const read = await open({}, false);
    const notes = ['browser_unavailable_used_http'];
    expect(await read('a')).toMatchObject({value: {rendering_method: 'http', notes}});
    expect(await read('b')).toMatchObject({
      value: {rendering_method: 'http', notes: ['cache_hit', ...notes]},
    });
  });
});
