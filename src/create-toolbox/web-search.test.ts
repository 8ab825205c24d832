import {describe, expect, onTestFinished, test} from 'vitest';
import {createCertificateAuthority} from '../../test/support/certificates.ts';
import {startHttpServer} from '../../test/support/http-server.ts';
import {answer, htmlPage, servePages} from '../../test/support/serve-pages.ts';
import {readEnvironment} from '../config/environment.ts';
import {createToolbox, type ToolboxOptions} from '../index.ts';
import {countTokens} from '../web/tokens/count-tokens.ts';

type Tools = NonNullable<NonNullable<ToolboxOptions['config']>['tools']>;
type Engine = NonNullable<NonNullable<Tools['websearch']>['engines']>[number];

/** A toolbox whose engines and pages are servers on loopback. */
function openSearch(
  ports: readonly number[],
  engines: readonly Engine[],
  tools: Tools = {},
  options: ToolboxOptions = {},
) {
  const toolbox = createToolbox({
    resolver: {resolve: async () => ['127.0.0.1']},
    ...options,
    config: {
      tools: {
        mode: 'enabled',
        approval: {mode: 'auto'},
        ...tools,
        webfetch: {
          enabled: true,
          cache_dir: '',
          security: {block_loopback: false, allow_insecure_overrides: true, allowed_ports: ports},
        },
        websearch: {...tools.websearch, engines},
      },
    },
  });
  onTestFinished(() => toolbox.close());
  return toolbox;
}

function searchCertificate() {
  const authority = createCertificateAuthority();
  return {authority: authority.pem, certificate: authority.issue({names: ['search.test']})};
}

const json = (value: unknown) => answer('application/json', JSON.stringify(value));
const found = (...urls: readonly string[]) => urls.map(url => ({url, title: url, content: `About ${url}`}));
const searxng = (port: number, settings: Partial<Engine> = {}): Engine => ({
  kind: 'searxng',
  endpoint: `http://127.0.0.1:${port}/search`,
  ...settings,
});

describe('results', () => {
  test('are cleaned: markup, controls, tracking, other schemes; one page is one result', async () => {
    const server = await servePages({
      '/search': json({
        results: [
          {
            url: 'https://www.bees.example/guide/?utm_source=x&id=3&fbclid=1#top',
            title: 'The <b>guide</b> &amp; more\u0007\u202e',
            content: 'Bees drink\n water &lt;b&gt;',
            publishedDate: '2024-05-01T10:00:00',
          },
          {url: 'http://bees.example/guide?id=3', title: 'the same', content: ''},
          {url: 'javascript:alert(1)', title: 'script', content: ''},
          {url: 'file:///etc/passwd', title: 'file', content: ''},
          {url: 'https://user:secret@bees.example/', title: 'credentials', content: ''},
          {url: 7, title: 'no address', content: ''},
          {url: 'https://bees.example/other', title: null},
        ],
      }),
    });
    const toolbox = openSearch([server.port], [searxng(server.port)]);
    const {data, error} = await toolbox.call({tool: 'web_search', params: {query: 'bees'}});
    expect(error).toBeNull();
    expect(data).toEqual({
      results: [
        {
          title: 'The guide & more',
          url: 'https://www.bees.example/guide/?id=3',
          site: 'bees.example',
          date: '2024-05-01',
          snippet: 'Bees drink water <b>',
        },
        {title: 'bees.example', url: 'https://bees.example/other', site: 'bees.example', snippet: ''},
      ],
      engines: ['searxng'],
    });
  });

  test('ten of them have at most 700 tokens as text', async () => {
    const long = 'Words about the pollination of orchards in early spring, and what it costs. ';
    const results = Array.from({length: 30}, (_, at) => ({
      url: `https://orchards.example/a/rather/long/path/of/a/page/number-${at}`,
      title: long,
      content: long.repeat(9),
    }));
    const server = await servePages({'/search': json({results})});
    const toolbox = openSearch([server.port], [searxng(server.port)]);
    const result = await toolbox.call({tool: 'web_search', params: {query: 'orchards'}});
    const text = toolbox.renderText(result);
    expect(result.data?.results).toHaveLength(10);
    expect(countTokens(text)).toBeLessThanOrEqual(700);
    expect(countTokens(text)).toBeGreaterThan(500);
  });

  test('a page of ours is cut from the pages of SearXNG, and pages are asked for once', async () => {
    const pageOf = (page: number) =>
      page > 3 ? [] : found(...[1, 2, 3].map(at => `https://site.example/${page}-${at}`));
    const server = await startHttpServer({
      '/search': (request, response) => {
        const page = Number(new URL(request.url ?? '', 'http://x').searchParams.get('pageno'));
        response.writeHead(200, {'Content-Type': 'application/json'});
        response.end(JSON.stringify({results: pageOf(page)}));
      },
    });
    onTestFinished(() => server.close());
    const toolbox = openSearch([server.port], [searxng(server.port)]);
    const urls = async (page: number) => {
      const {data} = await toolbox.call({
        tool: 'web_search',
        params: {query: 'x', max_results: 4, page},
      });
      return [data?.results.map(({url}) => url.slice(-3)), data?.next_page];
    };
    expect(await urls(1)).toEqual([['1-1', '1-2', '1-3', '2-1'], 2]);
    expect(await urls(2)).toEqual([['2-2', '2-3', '3-1', '3-2'], 3]);
    expect(await urls(3)).toEqual([['3-3'], undefined]);
    expect(server.requests.map(line => new URLSearchParams(line.split('?')[1]).get('pageno'))).toEqual([
      '1',
      '2',
      '3',
      '4',
    ]);
  });
});

describe('engines', () => {
  test('the next one is asked where one fails, and the answer says so', async () => {
    const down = await servePages({'*': (_, response) => void response.writeHead(502).end()});
    const up = await servePages({'/search': json({results: found('https://a.example/')})});
    const toolbox = openSearch([down.port, up.port], [searxng(down.port, {name: 'first'}), searxng(up.port)]);
    const {data} = await toolbox.call({tool: 'web_search', params: {query: 'x'}});
    expect(data).toMatchObject({
      results: [{url: 'https://a.example/'}],
      engines: ['searxng'],
      failed: [{engine: 'first', code: 'http_5xx'}],
    });
  });

  test('merged, by reciprocal rank', async () => {
    const [a, b] = [
      await servePages({'/search': json({results: found('https://one.example/', 'https://both.example/')})}),
      await servePages({'/search': json({results: found('https://both.example/', 'https://two.example/')})}),
    ];
    const engines = [searxng(a.port, {name: 'a'}), searxng(b.port, {name: 'b'})];
    const toolbox = openSearch([a.port, b.port], engines, {websearch: {merge: true}});
    const {data} = await toolbox.call({tool: 'web_search', params: {query: 'x'}});
    expect(data).toMatchObject({
      engines: ['a', 'b'],
      results: [{url: 'https://both.example/'}, {url: 'https://one.example/'}, {url: 'https://two.example/'}],
    });
  });

  test('that says "too many" is left alone for as long as it wants', async () => {
    const server = await servePages({
      '*': (_, response) => void response.writeHead(429, {'Retry-After': '120'}).end(),
    });
    const toolbox = openSearch([server.port], [searxng(server.port)]);
    for (const query of ['one', 'two']) {
      const {error} = await toolbox.call({tool: 'web_search', params: {query}});
      expect(error).toMatchObject({code: 'host_busy', retryable: true});
      expect(error?.details['retry_after']).toBeGreaterThan(100);
    }
    expect(server.requests).toHaveLength(1);
  });

  test.each([
    ['HTML, such as a captcha', htmlPage('Are you a robot?'), 'unsupported_content_type', 'captcha'],
    ['no JSON', answer('application/json', '{"results": ['), 'unsupported_content_type', 'cannot be read'],
    ['other JSON', json({error: 'x'}), 'unsupported_content_type', 'no list of results'],
    [
      'that its own engines failed',
      json({results: [], unresponsive_engines: [['made', 'HTTP error']]}),
      'network',
      'made: HTTP error',
    ],
    ['a list of other things', json({results: 'x'}), 'unsupported_content_type', 'no list of results'],
    ['100 MB', answer('application/json', Buffer.alloc(100_000_000, 32)), 'response_too_large', ''],
    [
      'a redirect',
      (_: unknown, response: {writeHead: (...all: unknown[]) => {end: () => void}}) =>
        response.writeHead(302, {Location: 'http://127.0.0.1:1/'}).end(),
      'network',
      'redirects are not followed',
    ],
    [
      '403',
      (_: unknown, response: {writeHead: (...all: unknown[]) => {end: () => void}}) =>
        response.writeHead(403).end(),
      'http_4xx',
      'search.formats',
    ],
  ] as const)('that answers %s fails with what to do', async (_, handler, code, says) => {
    const server = await servePages({'/search': handler as never});
    const toolbox = openSearch([server.port], [searxng(server.port)]);
    const {error} = await toolbox.call({tool: 'web_search', params: {query: 'x'}});
    expect(error).toMatchObject({code, message: expect.stringContaining(says)});
  });

  test('a private endpoint needs an opening, and the failure shows its lines', async () => {
    const toolbox = createToolbox({
      config: {
        tools: {
          mode: 'enabled',
          approval: {mode: 'auto'},
          webfetch: {enabled: true, cache_dir: ''},
          websearch: {engines: [{kind: 'searxng', endpoint: 'http://127.0.0.1:8888/search'}]},
        },
      },
    });
    onTestFinished(() => toolbox.close());
    const {error} = await toolbox.call({tool: 'web_search', params: {query: 'x'}});
    expect(error?.message).toContain('tools.webfetch.allow_private = [{"host":"127.0.0.1"');
  });

  test.each([
    [{kind: 'searxng'}, 'endpoint to be an http or https address'],
    [{kind: 'searxng', endpoint: 'ftp://x.example/'}, 'endpoint to be an http or https address'],
    [{kind: 'searxng', endpoint: 'http://x.example/', env: 'KEY'}, 'https only'],
    [{kind: 'brave', env: 'NOT_SET'}, 'NOT_SET, which is not set'],
    [{kind: 'google'}, 'engine_id'],
  ] as const)('%j stops start-up', (engine, says) => {
    expect(() => createToolbox({config: {tools: {websearch: {engines: [engine]}}}})).toThrow(says);
  });

  test('a key goes in the header of the engine, and nowhere else', async () => {
    const {authority, certificate} = searchCertificate();
    const server = await startHttpServer(
      {'*': json({web: {results: [{url: 'https://a.example/', title: 'A', description: 'About a'}]}})},
      {certificate},
    );
    onTestFinished(() => server.close());
    const endpoint = `https://search.test:${server.port}/res`;
    const toolbox = openSearch([server.port], [{kind: 'brave', endpoint, env: 'SEARCH_KEY'}], undefined, {
      certificateAuthorities: [authority],
      environment: {...readEnvironment(), env: {SEARCH_KEY: 'a-secret'}},
    });
    const {data, error} = await toolbox.call({tool: 'web_search', params: {query: 'a b', since: 'week'}});
    expect(error).toBeNull();
    expect(data).toMatchObject({results: [{snippet: 'About a'}], engines: ['brave']});
    expect(server.requests).toEqual(['GET /res?q=a+b&count=10&offset=0&freshness=pw']);
    expect(server.requestHeaders[0]).toMatchObject({'x-subscription-token': 'a-secret'});
    expect(JSON.stringify(data)).not.toContain('a-secret');
  });

  test('none: there is no web_search', async () => {
    const toolbox = openSearch([], []);
    expect(toolbox.listTools().map(({name}) => name)).not.toContain('web_search');
  });
});

describe('web_search with read', () => {
  test('reads the best pages in one call, and names those that it could not read', async () => {
    const guide = `<h1>Bees</h1><h2>Water</h2><p>A colony drinks a litre of water on a hot day.</p>
      <h2>Wax</h2><p>${'Wax is made of honey in the dark. '.repeat(60)}</p>`;
    const pages = await servePages({'/guide': htmlPage(guide), '/robots.txt': answer('text/plain', '')});
    const server = await servePages({
      '/search': json({
        results: found(`${pages.origin}/guide`, `${pages.origin}/gone`, 'https://third.example/'),
      }),
    });
    const toolbox = openSearch([server.port, pages.port], [searxng(server.port)]);
    const result = await toolbox.call({
      tool: 'web_search',
      params: {query: 'How much water does a colony drink?', read: 2, max_tokens: 600},
    });
    expect(result.data).toMatchObject({
      results: [{}, {}, {url: 'https://third.example/'}],
      pages: [{url: `${pages.origin}/guide`, snapshot: expect.stringMatching(/^[0-9a-f]{32}$/)}],
      not_read: [{url: `${pages.origin}/gone`, code: 'http_4xx'}],
    });
    const text = toolbox.renderText(result);
    expect(text).toContain('A colony drinks a litre of water');
    expect(text).toContain(`[not read: ${pages.origin}/gone (http_4xx)]`);
  });
});
