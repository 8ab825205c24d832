import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {Json} from '../../src/core/result.ts';
import {countTokens, createToolbox} from '../../src/index.ts';
import {renderWebRead, webReadDataOf} from '../../src/tools/web/show-read.ts';
import type {PathHandler} from '../support/http-server.ts';
import {openReadingWeb} from '../support/open-reading-web.ts';
import {unwrap} from '../support/outcome.ts';
import {answer, htmlPage, servePages} from '../support/serve-pages.ts';
import {temporaryDirectory} from '../support/temporary-directory.ts';

const TEXT = `<h1>Bees</h1><p>${'Bees drink water, and carry it home. '.repeat(10)}</p>`;

describe('R1 what a site says of the use of its pages', () => {
  test('R1: headers, robots.txt and the page are recorded with their source, also in the cache', async () => {
    const {open, asked} = await openReadingWeb({
      '/robots.txt': answer(
        'text/plain',
        [
          'License: https://site.test/rsl.xml',
          'User-agent: other',
          'Content-Signal: search=no',
          'User-agent: *',
          'Content-Signal: search=yes, ai-train=no',
          'Content-Usage: /p train-ai=n',
          'Content-Usage: \u0007bell',
          'Allow: /',
        ].join('\n'),
      ),
      '/p': (_, response) =>
        response
          .writeHead(200, {
            'Content-Type': 'text/html',
            'Content-Usage': 'train-ai=n',
            Link: '</rsl.xml>; rel="license"; type="application/rsl+xml"',
          })
          .end(`<!DOCTYPE html><link rel=license type="application/rsl+xml" href="/own.xml">${TEXT}`),
    });
    const {read} = open();
    const expected = [
      {source: 'http', name: 'Content-Usage', value: 'train-ai=n'},
      {source: 'http', name: 'License', value: '/rsl.xml'},
      {source: 'html', name: 'License', value: '/own.xml'},
      {source: 'robots.txt', name: 'Content-Signal', value: 'search=yes, ai-train=no'},
      {source: 'robots.txt', name: 'Content-Usage', value: '/p train-ai=n'},
      {source: 'robots.txt', name: 'License', value: 'https://site.test/rsl.xml'},
    ];
    for (const reader of [read, read, open().read]) {
      expect(webReadDataOf(unwrap(await reader('/p'))).usage_preferences).toEqual(expected);
    }
    expect(asked()).toHaveLength(1);
  });

  test('R1: a page of which nothing is said has none, and web_fetch answers as ever', async () => {
    const {open} = await openReadingWeb({
      '/p': (_, response) =>
        response.writeHead(200, {'Content-Type': 'text/html', 'Content-Usage': 'train-ai=n'}).end(TEXT),
      '/q': answer('text/html', TEXT),
    });
    const {read, fetch} = open();
    expect(webReadDataOf(unwrap(await read('/q')))).not.toHaveProperty('usage_preferences');
    expect(Object.keys(unwrap(await fetch('/p')).response).sort()).toEqual(
      'chunks final_url fetched_at notes rendering_method requested_url title truncated'.split(' ').sort(),
    );
  });
});

describe('R1 a demand for a licence', () => {
  const refusing =
    (status: number, challenge?: string): PathHandler =>
    (_, response) =>
      response.writeHead(status, challenge === undefined ? {} : {'WWW-Authenticate': challenge}).end();

  test('R1: 402, and 401 by the scheme License, are license_required to who reads, and http_4xx with that reason to who fetches', async () => {
    const challenge = 'License error="invalid_request", error_description="Get one"';
    const {open} = await openReadingWeb({
      '/402': refusing(402),
      '/401': refusing(401, challenge),
      '/login': refusing(401, 'Basic realm="License"'),
      '/403': refusing(403, challenge),
    });
    const {read, fetch} = open();
    const paid = await read('/402');
    expect(paid).toMatchObject({
      error: {code: 'license_required', retryable: false, details: {status: 402}},
    });
    expect(!paid.ok && paid.error.details).not.toHaveProperty('reason');
    expect(await read('/401')).toMatchObject({error: {code: 'license_required', details: {challenge}}});
    expect(await fetch('/401')).toMatchObject({
      error: {code: 'http_4xx', details: {status: 401, reason: 'license_required', challenge}},
    });
    for (const path of ['/login', '/403'])
      expect(await read(path)).toMatchObject({error: {code: 'http_4xx'}});
  });
});

describe('R2 the byline of a page', () => {
  test('R2: data has it, and the frame names it where the page begins', async () => {
    const {open} = await openReadingWeb({
      '/p': answer(
        'text/html',
        `<!DOCTYPE html><head><meta name=author content="Ann"><meta property="og:site_name" content="Post"></head><main>${TEXT}<time datetime="2024-05-01">May</time><h2>More</h2>${TEXT}</main>`,
      ),
    });
    const {read} = open();
    const whole = webReadDataOf(unwrap(await read('/p')));
    expect(whole).toMatchObject({author: 'Ann', site: 'Post', published: '2024-05-01'});
    expect(renderWebRead(whole).split('\n')[0]).toContain('· "Post" · "Ann" · "2024-05-01" ·');
    const section = webReadDataOf(
      unwrap(await read('/p', {ask: {kind: 'section', section: 2, fragment: false}})),
    );
    expect(section.author).toBe('Ann');
    expect(renderWebRead(section)).not.toContain('"Ann"');
  });
});

describe('R3 a page that is read by its version in Markdown', () => {
  interface Site {
    markdown: string;
    html: string;
  }

  async function openSite(site: Site) {
    const tagged =
      (type: string, body: () => string, headers: Readonly<Record<string, string>> = {}): PathHandler =>
      (request, response) => {
        const etag = `"${body().length}"`;
        if (request.headers['if-none-match'] === etag) response.writeHead(304, {ETag: etag}).end();
        else response.writeHead(200, {'Content-Type': type, ETag: etag, ...headers}).end(body());
      };
    const world = await openReadingWeb({
      '/p': tagged('text/html', () => site.html, {Link: '</p.md>; rel=alternate; type=text/markdown'}),
      '/p.md': tagged('text/markdown', () => site.markdown),
    });
    const sizes = () => world.asked().map(line => line.replace('GET ', ''));
    return {...world, sizes};
  }

  test('R3: after its TTL it costs one small request, to the version itself', async () => {
    const {open, sizes, passDays, server} = await openSite({markdown: '# Bees\n', html: TEXT});
    const {read} = open();
    const first = unwrap(await read('/p')).page;
    expect(sizes()).toEqual(['/p', '/p.md']);
    for (const days of [8, 8]) {
      passDays(days);
      const again = unwrap(await read('/p')).page;
      expect(again).toMatchObject({
        snapshot: first.snapshot,
        fetchedAt: first.fetchedAt,
        finalUrl: first.finalUrl,
      });
      expect(again.facts).toMatchObject({
        alternate: `${server.origin}/p.md`,
        validatedAt: expect.any(String),
      });
    }
    expect(sizes()).toEqual(['/p', '/p.md', '/p.md', '/p.md']);
    expect(server.requestHeaders.at(-1)?.['if-none-match']).toBe('"7"');
  });

  test('R3: where it changed, the page is asked again which version it has', async () => {
    const site = {markdown: '# Bees\n', html: TEXT};
    const {open, sizes, passDays, server} = await openSite(site);
    const {read} = open();
    await read('/p');
    site.markdown = '# Bees, newer\n';
    passDays(8);
    expect(unwrap(await read('/p')).page.markdown).toContain('newer');
    expect(sizes()).toEqual(['/p', '/p.md', '/p.md', '/p', '/p.md']);
    // Never the page by the validator of another document.
    const page = server.requests.flatMap((line, index) =>
      line === 'GET /p' ? [server.requestHeaders[index]?.['if-none-match']] : [],
    );
    expect(page).toEqual([undefined, undefined]);
  });
});

const FILLER = '<p>Weather and other matters of no interest to anybody here. '.repeat(60);
const GUIDE = `<h1>Guide</h1>${FILLER}<h2>Keeping <em>bees</em></h2><p>Bees drink up to a <a href="/litre">litre</a> of water a day — “in summer”.</p><h2>Rest</h2>${FILLER}<h3>Winter</h3><p>They sleep.</p>`;

interface Fixture {
  readonly config?: Readonly<Record<string, Json>>;
  readonly webread?: Readonly<Record<string, Json>>;
  readonly allow?: readonly string[];
  readonly cacheDir?: string;
  readonly maxBytes?: number;
}

async function open(pages: Readonly<Record<string, PathHandler>>, fixture: Fixture = {}) {
  const server = await servePages(pages);
  const {config = {}, webread = {enabled: true}, allow = ['web_fetch'], maxBytes = 102_400} = fixture;
  const cacheDir = fixture.cacheDir ?? temporaryDirectory();
  const session = () =>
    createToolbox({
      resolver: {resolve: async () => ['127.0.0.1']},
      runDirectory: join(temporaryDirectory(), 'run'),
      allow,
      config: {
        tools: {
          mode: 'enabled',
          output: {max_bytes: maxBytes},
          webread,
          webfetch: {
            enabled: true,
            cache_dir: cacheDir,
            browser: {chromium_path: '/nonexistent/chromium'},
            security: {block_loopback: false, allow_insecure_overrides: true, allowed_ports: [server.port]},
            ...config,
          },
        },
      },
    });
  const toolbox = session();
  const call = async (tool: string, params: Readonly<Record<string, Json>>, host = toolbox) => {
    const result = await host.call({tool, params, request_id: 'r'});
    // biome-ignore lint/suspicious/noExplicitAny: what a test looks at is in the test.
    const data = result.data as any;
    return {result, data, error: result.error, text: host.renderText(result)};
  };
  const read = (params: Readonly<Record<string, Json>> = {}) =>
    call('web_read', {url: `${server.origin}/guide`, ...params});
  const asked = () => server.requests.filter(line => !line.endsWith('robots.txt')).length;
  return {server, toolbox, session, call, read, asked, cacheDir};
}

describe('R1 web_read', () => {
  test('R1: nothing asked: a line of frame, the outline with exact tokens, and the beginning', async () => {
    const {read, server} = await open({'/guide': htmlPage(GUIDE)});
    const {data, text} = await read({max_tokens: 512});
    expect(data.outline).toEqual([
      {number: 1, level: 1, heading: 'Guide', tokens: data.total_tokens},
      expect.objectContaining({number: 2, level: 2, heading: 'Keeping bees'}),
      expect.objectContaining({number: 3, heading: 'Rest'}),
      {number: 4, level: 3, heading: 'Winter', tokens: countTokens('### Winter\n\nThey sleep.')},
    ]);
    const [frame, outline] = text.split('\n\n');
    expect(frame).toBe(
      `["Page" ${server.origin}/guide · ${data.total_tokens} tokens, 4 sections, ${data.total_chunks} chunks · snapshot ${data.snapshot} · chunk 1, section 1 "Guide" · next: chunk ${data.next_chunk}]`,
    );
    expect(outline).toContain('  2. Keeping bees (');
    const used = data.passages[0].tokens + countTokens(`${outline}\n`);
    expect(used).toBeLessThanOrEqual(512);
  });

  test('R1: a page that fits is shown whole, without an outline', async () => {
    const {call, server} = await open({'/s': htmlPage('<h1>A</h1><p>Text.</p>')});
    const {data} = await call('web_read', {url: `${server.origin}/s`});
    expect(data).not.toHaveProperty('outline');
    expect(data).not.toHaveProperty('next_chunk');
    expect(data.passages).toMatchObject([{text: '# A\n\nText.\n', start: 0, end: 11, chunk: 1}]);
  });

  test('R1: find gives the passage of a question with its section, and names others', async () => {
    const {read} = await open({'/guide': htmlPage(GUIDE)});
    const {data, text} = await read({find: 'How much water do bees drink?'});
    expect(data.passages[0].text).toContain('up to a litre of water');
    expect(data.passages[0].section).toEqual({number: 2, heading: 'Keeping bees'});
    expect(text).toContain('litre of water a day');
    expect(text).not.toContain('/litre');
    expect((await read({find: 'How much water do bees drink?', links: 'keep'})).text).toContain('/litre)');
    const nothing = await read({find: 'xylophone'});
    expect(nothing.data.passages).toEqual([]);
    expect(nothing.text).toContain('nothing found');
  });

  test('R1: a section by number, heading or fragment; what is no section is said', async () => {
    const {read, call, server} = await open({'/guide': htmlPage(GUIDE)});
    const byNumber = await read({section: 4});
    expect(byNumber.data.passages[0].text.trim()).toBe('### Winter\n\nThey sleep.');
    for (const section of ['4', 'Winter'])
      expect((await read({section})).data.passages).toEqual(byNumber.data.passages);
    const fragment = await call('web_read', {url: `${server.origin}/guide#keeping-bees`});
    expect(fragment.data.passages[0].section.number).toBe(2);
    const lost = await call('web_read', {url: `${server.origin}/guide#nowhere`});
    expect(lost.data.missing_fragment).toBe('nowhere');
    expect(lost.text).toContain('no section "nowhere"');
    expect((await read({section: 'Wintr'})).error).toMatchObject({
      error_type: 'bad_args',
      message: expect.stringContaining('Did you mean "Winter"?'),
      details: {field: 'section'},
    });
  });

  test('R1: next_chunk leads through the whole page, and a chunk beyond it is refused', async () => {
    const {read} = await open({'/guide': htmlPage(GUIDE)});
    let text = '';
    let next: number | undefined = 1;
    let chunks = 0;
    while (next !== undefined) {
      const {data}: {data: {passages: {text: string}[]; next_chunk?: number; total_chunks: number}} =
        await read({
          chunk: next,
          max_tokens: 256,
          links: 'keep',
        });
      text += data.passages.map(passage => passage.text).join('');
      next = data.next_chunk;
      chunks = data.total_chunks;
    }
    expect(text).toContain('They sleep.');
    expect(text.startsWith('# Guide')).toBe(true);
    expect((await read({chunk: chunks + 1})).error).toMatchObject({
      error_type: 'bad_args',
      details: {field: 'chunk'},
    });
  });

  test('R1: a snapshot stays what it was when the page changes, in another session too, and is gone where it is not kept', async () => {
    let body = '<h1>First</h1><p>Old words.</p>';
    const cacheDir = temporaryDirectory();
    const pages = {'/p': ((request, response) => htmlPage(body)(request, response)) satisfies PathHandler};
    const {call, server, session, asked} = await open(pages, {cacheDir});
    const url = `${server.origin}/p`;
    const first = await call('web_read', {url});
    body = '<h1>Second</h1><p>New words.</p>';
    const second = await call('web_read', {url, no_cache: true});
    expect(second.data.snapshot).not.toBe(first.data.snapshot);
    const before = asked();
    const old = await call('web_read', {url, snapshot: first.data.snapshot});
    expect(old.data.passages[0].text).toContain('Old words.');
    expect(old.data.snapshot).toBe(first.data.snapshot);
    expect(asked()).toBe(before);

    const other = session();
    const later = await call('web_read', {url, snapshot: first.data.snapshot}, other);
    expect(later.data.passages[0].text).toContain('Old words.');
    await other.close();

    const gone = await call('web_read', {url, snapshot: 'f'.repeat(32)});
    expect(gone.error).toMatchObject({
      error_type: 'snapshot_gone',
      details: {snapshot: 'f'.repeat(32), current: second.data.snapshot},
    });
  });

  test('R1: what two sessions read at the same time of a page that always changes stays readable for both', async () => {
    let version = 0;
    const changing: PathHandler = (request, response) => {
      version += 1;
      htmlPage(`<p>Version ${version}.</p>`)(request, response);
    };
    const {call, server, session, toolbox} = await open({'/p': changing});
    const url = `${server.origin}/p`;
    const other = session();
    const hosts = [toolbox, other];
    const first = await Promise.all(
      Array.from({length: 12}, (_, index) => call('web_read', {url, no_cache: true}, hosts[index % 2])),
    );
    const again = await Promise.all(
      first.map(({data}, index) => call('web_read', {url, snapshot: data.snapshot}, hosts[(index + 1) % 2])),
    );
    expect(again.map(({data}) => data.passages)).toEqual(first.map(({data}) => data.passages));
    expect(new Set(first.map(({data}) => data.snapshot)).size).toBe(version);
    expect(version).toBeGreaterThan(1);
    await other.close();
  });

  test('R1: without a cache only the page as it is now has a snapshot', async () => {
    let body = '<p>Old words.</p>';
    const pages = {'/p': ((request, response) => htmlPage(body)(request, response)) satisfies PathHandler};
    const {call, server} = await open(pages, {config: {cache_dir: ''}});
    const url = `${server.origin}/p`;
    const {snapshot} = (await call('web_read', {url})).data;
    expect((await call('web_read', {url, snapshot})).data.snapshot).toBe(snapshot);
    body = '<p>New words.</p>';
    expect((await call('web_read', {url, snapshot})).error?.error_type).toBe('snapshot_gone');
  });

  test('R1: the snapshot of one page is not read under the address of another', async () => {
    const {call, server} = await open({
      '/a': htmlPage('<p>Words of a.</p>'),
      '/b': htmlPage('<p>Words of b.</p>'),
    });
    const {snapshot} = (await call('web_read', {url: `${server.origin}/a`})).data;
    const stolen = await call('web_read', {url: `${server.origin}/b`, snapshot});
    expect(stolen.error?.error_type).toBe('snapshot_gone');
  });

  test('R1: the same page, cache, robots and guard as web_fetch', async () => {
    const pages = {
      '/robots.txt': answer('text/plain', 'User-agent: *\nDisallow: /no'),
      '/yes': htmlPage('<p>Yes.</p>'),
      '/no': htmlPage('<p>No.</p>'),
    };
    // R2: a page of the same mode is the same page.
    const {call, server, asked, cacheDir} = await open(pages, {webread: {enabled: true, mode: 'full'}});
    await call('web_fetch', {url: `${server.origin}/yes`});
    const {data} = await call('web_read', {url: `${server.origin}/yes`});
    expect(data.notes).toEqual(['cache_hit']);
    expect(asked()).toBe(1);
    expect(readdirSync(cacheDir).filter(name => /^[0-9a-f]{2}$/.test(name)).length).toBeGreaterThan(0);
    expect((await call('web_read', {url: `${server.origin}/no`})).error?.error_type).toBe(
      'robots_disallowed',
    );
    expect((await call('web_read', {url: 'http://10.0.0.1/'})).error?.error_type).toBe('port_blocked');
    expect((await call('web_read', {url: 'ftp://e.com/'})).error?.error_type).toBe('invalid_scheme');
  });

  test('R1: at most one of section, find and chunk; bounds are refused, not clamped', async () => {
    const {read} = await open({'/guide': htmlPage(GUIDE)});
    const wrong: [Readonly<Record<string, Json>>, string][] = [
      [{section: 1, find: 'x'}, 'find'],
      [{find: 'x', chunk: 1}, 'chunk'],
      [{max_tokens: 255}, 'max_tokens'],
      [{max_tokens: 8193}, 'max_tokens'],
      [{chunk: 0}, 'chunk'],
      [{links: 'some'}, 'links'],
      [{snapshot: 'abc'}, 'snapshot'],
      [{max_age: -1}, 'max_age'],
      [{max_age: 1.5}, 'max_age'],
      [{since: 'abc'}, 'since'],
      [{maximum_age: 1}, 'maximum_age'],
    ];
    for (const [params, field] of wrong) {
      expect((await read(params)).error, JSON.stringify(params)).toMatchObject({
        error_type: 'bad_args',
        details: {field},
      });
    }
    expect((await read({max_tokens: 256})).error).toBeNull();
    expect((await read({max_tokens: 8192})).error).toBeNull();
  });

  test('E7: an answer fits the limit of bytes by asking for fewer tokens, and says where it goes on', async () => {
    const {read, asked} = await open({'/guide': htmlPage(GUIDE)}, {maxBytes: 4000});
    const {data} = await read({chunk: 1});
    expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThanOrEqual(4000);
    expect(data.next_chunk).toBeGreaterThan(1);
    expect(asked()).toBe(1);
  });
});

describe('R1 approvals and switches of reading', () => {
  test('H4: web_read and verify_quote need the approval of web_fetch', async () => {
    const {call, server, asked} = await open({'/p': htmlPage('<p>Text.</p>')}, {allow: []});
    const url = `${server.origin}/p`;
    expect((await call('web_read', {url})).error?.error_type).toBe('approval_required');
    expect((await call('verify_quote', {url, quote: 'Text.'})).error?.error_type).toBe('approval_required');
    expect(asked()).toBe(0);
  });

  test('R1: tools.webread.enabled and tools.webfetch.enabled switch them', async () => {
    const names = async (fixture: Fixture) =>
      (await open({}, fixture)).toolbox.listTools().map(({name}) => name);
    expect(await names({})).toEqual(['web_fetch', 'web_read', 'verify_quote']);
    expect(await names({webread: {enabled: false}})).toEqual(['web_fetch']);
    expect(await names({config: {enabled: false}})).toEqual([]);
    const {call} = await open({}, {webread: {enabled: false}});
    expect((await call('web_read', {url: 'http://e.com/'})).error).toMatchObject({
      error_type: 'tool_disabled',
      message: expect.stringContaining('tools.webread.enabled'),
    });
  });
});

describe('R1 verify_quote', () => {
  test('R1: exact, the same, near and absent, each with where', async () => {
    const {call, server} = await open({'/guide': htmlPage(GUIDE)});
    const url = `${server.origin}/guide`;
    const quotes = [
      'of water a day',
      'Bees drink up to a litre of water a day - "in summer".',
      'Bees drink up to a litre of milk a day',
      'Wasps never sleep in summer houses made of stone',
    ];
    const {data, text} = await call('verify_quote', {url, quotes});
    expect(data.checks).toMatchObject([
      {
        verdict: 'exact',
        section: {number: 2, heading: 'Keeping bees'},
        link: `${url}#:~:text=of%20water%20a%20day`,
      },
      {
        verdict: 'same',
        link: `${url}#:~:text=Bees%20drink%20up%20to,day%20%E2%80%94%20%E2%80%9Cin%20summer%E2%80%9D.`,
      },
      {verdict: 'near', share: 0.7, text: 'Bees drink up to a litre of'},
      {verdict: 'absent'},
    ]);
    const lines = text.split('\n');
    expect(lines[0]).toMatch(/^1\. exact · chunk \d+, section 2 "Keeping bees" · \d+-\d+ · #:~:text=/);
    expect(lines[2]).toMatch(/^3\. NOT as quoted; near \(70 %\)/);
    expect(lines[3]).toMatch(/^4\. NOT on the page/);
  });

  test('R1: by the snapshot alone, also when the page has changed', async () => {
    let body = '<p>Old words.</p>';
    const pages = {'/p': ((request, response) => htmlPage(body)(request, response)) satisfies PathHandler};
    const {call, server} = await open(pages, {webread: {enabled: true, mode: 'full'}});
    const url = `${server.origin}/p`;
    const {snapshot} = (await call('web_read', {url})).data;
    body = '<p>New words.</p>';
    await call('web_fetch', {url, no_cache: true});
    expect((await call('verify_quote', {snapshot, quote: 'Old words'})).data.checks[0].verdict).toBe('exact');
    expect((await call('verify_quote', {url, quote: 'Old words'})).data.checks[0].verdict).toBe('near');
    const unknown = await call('verify_quote', {snapshot: '0'.repeat(32), quote: 'x'});
    expect(unknown.error?.error_type).toBe('snapshot_gone');
  });

  test('R1: needs a document and exactly one of quote and quotes', async () => {
    const {call} = await open({});
    for (const [params, field] of [
      [{quote: 'x'}, 'url'],
      [{url: 'http://e.com/'}, 'quote'],
      [{url: 'http://e.com/', quote: 'x', quotes: ['y']}, 'quote'],
      [{url: 'http://e.com/', quotes: []}, 'quotes'],
    ] as const) {
      expect((await call('verify_quote', params)).error).toMatchObject({
        error_type: 'bad_args',
        details: {field},
      });
    }
  });
});

describe('R2 modes', () => {
  const SITE = `<title>Bees</title><article>${GUIDE}<div class="related-posts"><ul>${'<li><a href="/x">Read more stories</a>'.repeat(12)}</ul></div></article>`;

  test('R2: web_fetch and web_read see a page each in their own mode, and each is cached', async () => {
    const {read, call, server, asked, toolbox} = await open({'/guide': htmlPage(SITE)});
    const url = `${server.origin}/guide`;
    const fetched = await call('web_fetch', {url});
    const first = await read({chunk: 1, max_tokens: 8192});
    expect(JSON.stringify(fetched.data)).toContain('Read more stories');
    expect(first.data.passages[0].text).toContain('Bees drink up to');
    expect(JSON.stringify(first.data)).not.toContain('Read more stories');
    expect(asked()).toBe(2);
    expect((await call('web_fetch', {url})).data.notes).toContain('cache_hit');
    const second = await read({chunk: 1, max_tokens: 8192});
    expect(second.data).toMatchObject({final_url: url, snapshot: first.data.snapshot});
    expect(second.data.notes).toContain('cache_hit');
    expect(asked()).toBe(2);
    await toolbox.close();
  });

  test('R2: the operator may give web_fetch the mode of readers, and web_read that of the SRD', async () => {
    const fixture = {config: {extraction: {mode: 'reader'}}, webread: {enabled: true, mode: 'full'}};
    const {read, call, server, toolbox} = await open({'/guide': htmlPage(SITE)}, fixture);
    const fetched = await call('web_fetch', {url: `${server.origin}/guide`});
    expect(JSON.stringify(fetched.data)).not.toContain('Read more stories');
    expect(JSON.stringify((await read({chunk: 1, max_tokens: 8192})).data)).toContain('Read more stories');
    await toolbox.close();
  });
});
