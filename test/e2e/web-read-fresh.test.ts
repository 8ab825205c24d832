import {createHash} from 'node:crypto';
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {PathHandler} from '../support/http-server.ts';
import {openReadingWeb} from '../support/open-reading-web.ts';
import {unwrap} from '../support/outcome.ts';
import {answer, htmlPage} from '../support/serve-pages.ts';

interface Page {
  body: string;
  /** Header fields that a server can be asked with later. */
  headers?: Readonly<Record<string, string>>;
}

/** Answers 304 where the condition of the request holds. */
function versioned(page: Page): PathHandler {
  return (request, response) => {
    const etag = `"${createHash('sha256').update(page.body).digest('hex').slice(0, 8)}"`;
    const headers = page.headers ?? {ETag: etag};
    const {'if-none-match': tag, 'if-modified-since': since} = request.headers;
    const unchanged =
      (tag !== undefined && tag === headers['ETag']) ||
      (since !== undefined && since === headers['Last-Modified']);
    if (unchanged) response.writeHead(304, headers).end();
    else {
      response.writeHead(200, {'Content-Type': 'text/html', ...headers});
      response.end(`<!DOCTYPE html><title>T</title>${page.body}`);
    }
  };
}

const TEXT = '<h1>Bees</h1><p>They drink.</p><h2>Water</h2><p>A litre.</p><h2>Rest</h2><p>In winter.</p>';

function conditions(headers: readonly {readonly [name: string]: unknown}[]) {
  return headers.map(fields => fields['if-none-match'] ?? fields['if-modified-since']);
}

describe('R1 a page that is kept', () => {
  test('R1: within the TTL costs no request, after it one small request, and 304 renews it for as long again', async () => {
    const {open, server, asked, passDays} = await openReadingWeb({'/p': versioned({body: TEXT})});
    const {read} = open();
    const first = unwrap(await read('/p')).page;
    passDays(6);
    expect(unwrap(await read('/p')).page).toMatchObject({snapshot: first.snapshot, facts: {}});
    expect(asked()).toHaveLength(1);
    passDays(2);
    const second = unwrap(await read('/p')).page;
    expect(asked()).toHaveLength(2);
    expect(conditions(server.requestHeaders).at(-1)).toMatch(/^"[0-9a-f]{8}"$/);
    expect(second).toMatchObject({snapshot: first.snapshot, fetchedAt: first.fetchedAt});
    expect(Date.parse(second.facts.validatedAt ?? '')).toBeGreaterThan(Date.parse(first.fetchedAt));
    passDays(6);
    await read('/p');
    expect(asked()).toHaveLength(2);
    passDays(2);
    await read('/p');
    expect(asked()).toHaveLength(3);
  });

  test('R1: max_age asks sooner; 0 asks always; no_cache downloads', async () => {
    const {open, server, asked, passDays} = await openReadingWeb({'/p': versioned({body: TEXT})});
    const {read} = open();
    await read('/p');
    await read('/p', {max_age: 86_400});
    expect(asked()).toHaveLength(1);
    passDays(1);
    await read('/p', {max_age: 86_400});
    await read('/p', {max_age: 0});
    await read('/p', {no_cache: true});
    expect(conditions(server.requestHeaders.slice(-3))).toEqual([
      expect.any(String),
      expect.any(String),
      undefined,
    ]);
  });

  test('R1: what has changed is downloaded by the same request, and says which sections since a snapshot', async () => {
    const page = {body: TEXT};
    const {open, asked} = await openReadingWeb({'/p': versioned(page)});
    const {read} = open();
    const {snapshot} = unwrap(await read('/p')).page;
    expect(unwrap(await read('/p', {since: snapshot, max_age: 0})).reading.changes).toEqual({
      since: snapshot,
      is_known: true,
      sections: [],
      gone: [],
    });
    page.body = TEXT.replace('A litre.', 'Two litres.').replace('<h2>Rest</h2>', '<h2>Sleep</h2>');
    const {page: now, reading} = unwrap(await read('/p', {since: snapshot, max_age: 0}));
    expect(asked()).toHaveLength(3);
    expect(now.snapshot).not.toBe(snapshot);
    expect(now.facts).toEqual({});
    expect(reading.changes).toEqual({
      since: snapshot,
      is_known: true,
      sections: [
        {number: 2, heading: 'Water', change: 'changed'},
        {number: 3, heading: 'Sleep', change: 'new'},
      ],
      gone: ['Rest'],
    });
    expect(unwrap(await read('/p', {since: 'f'.repeat(32)})).reading.changes).toMatchObject({
      is_known: false,
    });
  });

  test('R1: Last-Modified serves where there is no ETag, once the document has settled', async () => {
    const settled = {'Last-Modified': 'Thu, 01 Jan 2026 00:00:00 GMT'};
    const fresh = {'Last-Modified': new Date().toUTCString()};
    const {open, server} = await openReadingWeb({
      '/old': versioned({body: TEXT, headers: settled}),
      '/new': versioned({body: TEXT, headers: fresh}),
    });
    const {read} = open();
    for (const path of ['/old', '/old', '/new', '/new']) await read(path, {max_age: 0});
    const sent = server.requestHeaders.filter((_, index) => !server.requests[index]?.includes('robots'));
    expect(conditions(sent)).toEqual([undefined, settled['Last-Modified'], undefined, undefined]);
  });

  test.each([
    ['Vary: *', {ETag: '"a"', Vary: '*'}],
    ['an ETag that is none', {ETag: 'a'}],
    ['an ETag with a control character', {ETag: '"a\tb"'}],
    ['an endless ETag', {ETag: `"${'a'.repeat(600)}"`}],
    ['a date that is none', {'Last-Modified': 'yesterday'}],
    ['nothing', {}],
  ])('R1: with %s the page is downloaded again', async (_, headers) => {
    const {open, server} = await openReadingWeb({'/p': versioned({body: TEXT, headers})});
    const {read} = open();
    await read('/p', {max_age: 0});
    await read('/p', {max_age: 0});
    expect(conditions(server.requestHeaders)).toEqual([undefined, undefined, undefined]);
  });

  test('R1: a redirect is followed as ever, and the page that it leads to is asked about', async () => {
    const {open, server, asked} = await openReadingWeb({
      '/from': (_, response) => response.writeHead(302, {Location: '/p'}).end(),
      '/p': versioned({body: TEXT}),
    });
    const {read} = open();
    await read('/from');
    await read('/from');
    expect(asked()).toEqual(['GET /from', 'GET /p', 'GET /from', 'GET /p']);
    expect(conditions(server.requestHeaders).at(-1)).toMatch(/^"/);
    expect(conditions(server.requestHeaders).at(-2)).toBeUndefined();
  });

  test('C1: a 304 to a request without conditions is an error; one about another document is not believed', async () => {
    let answered = 0;
    const {open, asked} = await openReadingWeb({
      '/always': (_, response) => response.writeHead(304).end(),
      '/other': (request, response) => {
        answered += 1;
        if (request.headers['if-none-match'] !== undefined) response.writeHead(304, {ETag: '"other"'}).end();
        else
          response.writeHead(200, {'Content-Type': 'text/plain', ETag: '"mine"'}).end(`answer ${answered}`);
      },
    });
    const {read, textOf} = open();
    expect(await read('/always')).toMatchObject({
      ok: false,
      error: {code: 'network', details: {error: 'unexpected_status', status: 304}},
    });
    expect(await textOf('/other')).toBe('answer 1\n');
    expect(await textOf('/other', {max_age: 0})).toBe('answer 3\n');
    expect(asked()).toHaveLength(4);
  });

  test('R1: another user agent, and what robots.txt forbids by now, are not answered by a 304', async () => {
    let robots = '';
    const {open, server, passDays} = await openReadingWeb({
      '/robots.txt': (_, response) => response.writeHead(200, {'Content-Type': 'text/plain'}).end(robots),
      '/p': versioned({body: TEXT}),
    });
    await open().read('/p');
    const other = open({userAgent: 'other/1.0'});
    await other.read('/p', {max_age: 0});
    expect(conditions(server.requestHeaders).filter(Boolean)).toEqual([]);
    robots = 'User-agent: *\nDisallow: /';
    passDays(8);
    expect(await other.read('/p')).toMatchObject({ok: false, error: {code: 'robots_disallowed'}});
  });

  test('FR-WF-16d: web_fetch knows hits and misses only, and asks without conditions', async () => {
    const {open, server, passDays} = await openReadingWeb({'/p': versioned({body: TEXT})});
    const {fetch} = open({reads: []});
    await fetch('/p');
    passDays(8);
    const again = unwrap(await fetch('/p')).response;
    expect(again.notes).toEqual([]);
    expect(conditions(server.requestHeaders)).toEqual([undefined, undefined, undefined, undefined]);
  });

  test('F4: an entry whose validators are no validators is no entry, and one of before is served and not asked about', async () => {
    const {open, server, cacheDir} = await openReadingWeb({'/p': versioned({body: TEXT})});
    const {read} = open();
    const rewrite = (change: (text: string) => string): void => {
      for (const folder of readdirSync(cacheDir).filter(name => name.length === 2)) {
        for (const name of readdirSync(join(cacheDir, folder))) {
          const path = join(cacheDir, folder, name);
          writeFileSync(path, change(readFileSync(path, 'utf8')));
        }
      }
    };
    await read('/p');
    rewrite(text => text.replace(/"validators":\{[^}]*\},/, ''));
    await read('/p');
    expect(server.requests.filter(line => line === 'GET /p')).toHaveLength(1);
    await read('/p', {max_age: 0});
    expect(conditions(server.requestHeaders).at(-1)).toBeUndefined();
    rewrite(text => text.replace(/"etag":"[^,]*"/, '"etag":"\\"a\\\\r\\\\nCookie: b\\""'));
    await read('/p');
    expect(conditions(server.requestHeaders).at(-1)).toBeUndefined();
    expect(server.requests.filter(line => line === 'GET /p')).toHaveLength(3);
  });
});

const PDF = readFileSync(new URL('../fixtures/pdf/hand-written.pdf', import.meta.url));
const RSS = `<?xml version="1.0" encoding="iso-8859-1"?><!DOCTYPE rss [<!ENTITY bomb "x">]>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>
<title>News &amp; more</title><link>https://example.com/</link><description>All of it.</description><language>en</language>
<image><title>Logo</title></image>
<item><title>First &lt;entry&gt;</title><link>/1</link><pubDate>Sun, 22 Nov 2026 10:00:00 GMT</pubDate>
<description>Short.</description><content:encoded><![CDATA[<h1>In it</h1><p>Long <b>text</b>.</p><script>x</script>]]></content:encoded></item>
<item><title>Zweiter \xe4\xf6\xfc</title><description>&lt;p&gt;Escaped &amp;amp; read.&lt;/p&gt;</description></item>
</channel></rss>`;
const ATOM = `<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de"><title>Blog</title>
<entry><title type="html">A &amp;amp; B</title><link rel="self" href="/self"/><link href="https://example.com/a"/>
<updated>2026-11-22T10:00:00Z</updated><author><name>Ada</name><uri>https://ada.example</uri></author>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>In <em>XHTML</em>.</p></div></content></entry>
<entry><title>C</title><summary>1 &lt; 2 and # no heading</summary></entry></feed>`;

const pages: Readonly<Record<string, PathHandler>> = {
  '/md': answer('text/markdown; charset=utf-8', '# Guide\n\nWords.\n\n## Water\n\nA litre.'),
  '/json': answer('application/json', '{"id": 12345678901234567890, "name": "Ada", "id": 1.50}'),
  '/problem': answer('application/problem+json', '{"title": "No"}'),
  '/rss': answer('application/rss+xml', Buffer.from(RSS, 'latin1')),
  '/atom': answer('application/atom+xml; charset=utf-8', ATOM),
  '/xml-feed': answer('text/xml', ATOM),
  '/xml': answer('application/xml', '<?xml version="1.0"?><svg/>'),
  '/pdf': answer('application/pdf', PDF),
  '/bytes': answer('application/octet-stream', PDF),
  '/exe': answer('application/octet-stream', 'MZ\0\0'),
  '/png': answer('image/png', '\x89PNG'),
  '/untyped-pdf': (_, response) => response.writeHead(200).end(PDF),
  '/untyped-json': (_, response) => response.writeHead(200).end(' [1, {"a": "b"}]'),
  '/untyped-text': (_, response) => response.writeHead(200).end('[note] this is no JSON'),
  '/untyped-feed': (_, response) => response.writeHead(200).end(`<!-- made --> ${ATOM}`),
};

describe('R3 more than HTML', () => {
  test('R3: Markdown is asked for first, and read as it is', async () => {
    const {open, server} = await openReadingWeb(pages);
    const {page, reading} = unwrap(await open().read('/md'));
    expect(server.requestHeaders.at(-1)?.accept).toMatch(/^text\/markdown,text\/html;q=0\.9,/);
    expect(page).toMatchObject({
      markdown: '# Guide\n\nWords.\n\n## Water\n\nA litre.\n',
      facts: {media: 'markdown'},
    });
    expect(reading.total_sections).toBe(2);
  });

  test('R3: JSON keeps numbers and double keys as they are written', async () => {
    const {textOf} = (await openReadingWeb(pages)).open();
    expect(await textOf('/json')).toBe(
      '# `$`\n\n```json\n{\n  "id": 12345678901234567890,\n  "name": "Ada",\n  "id": 1.50\n}\n```\n',
    );
    expect(await textOf('/problem')).toContain('"title": "No"');
    expect(await textOf('/untyped-json')).toContain('# `$`');
    expect(await textOf('/untyped-text')).toBe('[note] this is no JSON\n');
  });

  test('R3: RSS and Atom: entries are sections, texts are converted, entities of a document type are not', async () => {
    const {read, textOf} = (await openReadingWeb(pages)).open();
    const {page, reading} = unwrap(await read('/rss'));
    expect(page).toMatchObject({title: 'News & more', language: 'en', facts: {media: 'feed'}});
    expect(page.markdown).toContain('\n\n### In it\n\nLong **text**.\n');
    expect(page.markdown).not.toContain('Short.');
    expect(page.markdown).toContain('## Zweiter äöü\n\nEscaped & read.\n');
    expect(reading.total_sections).toBe(4);
    const atom = unwrap(await read('/atom')).page;
    expect(atom.language).toBe('de');
    expect(atom.markdown).toContain(
      '## A & B\n\nhttps://example.com/a · 2026-11-22T10:00:00Z · Ada\n\nIn *XHTML*.',
    );
    expect(atom.markdown).toContain('1 < 2 and # no heading');
    expect(await textOf('/xml-feed')).toBe(atom.markdown);
    expect(await textOf('/untyped-feed')).toBe(atom.markdown);
  });

  test('R3: PDF: pages are sections; its type may be vague or missing', async () => {
    const {read, textOf, quote} = (await openReadingWeb(pages)).open();
    const {page} = unwrap(await read('/pdf'));
    expect(page.facts).toEqual({media: 'pdf'});
    expect(page.markdown).toBe(
      '# Page 1\n\nHello from a page that was written by hand.\nA second line of text.\n',
    );
    expect(await textOf('/bytes')).toBe(page.markdown);
    expect(await textOf('/untyped-pdf')).toBe(page.markdown);
    expect(quote).toBeDefined();
  });

  test('R3: what is not read is refused by its name', async () => {
    const {textOf, read} = (await openReadingWeb(pages)).open();
    for (const path of ['/xml', '/exe', '/png']) {
      expect(await textOf(path), path).toBe('unsupported_content_type');
    }
    const refused = await read('/png');
    expect(refused.ok ? '' : refused.error.message).toBe(
      'The document is "image/png", which is not read here. Look for a version of it in HTML, plain text, or what is: Markdown, JSON, feeds, PDF.',
    );
  });

  test('FR-WF-10g: web_fetch refuses all of it, also where web_read has read it', async () => {
    const {open} = await openReadingWeb(pages);
    const {fetch, textOf} = open();
    for (const path of ['/md', '/json', '/rss', '/pdf']) {
      expect(await textOf(path)).toContain('# ');
      expect(await fetch(path), path).toMatchObject({ok: false, error: {code: 'unsupported_content_type'}});
    }
  });

  test('R3: each kind has a switch of its own', async () => {
    const {open} = await openReadingWeb(pages);
    const paths = {markdown: '/md', json: '/json', feed: '/rss', pdf: '/pdf'} as const;
    for (const only of ['markdown', 'json', 'feed', 'pdf'] as const) {
      const {textOf} = open({reads: [only]});
      for (const [media, path] of Object.entries(paths)) {
        const text = await textOf(path);
        expect(text === 'unsupported_content_type', `${media} where ${only} is on`).toBe(media !== only);
      }
    }
  });
});

describe('R3 a version in Markdown', () => {
  const html = htmlPage('<h1>Page</h1><p>As HTML.</p>');
  const linked = (link: string): PathHandler => htmlPage('<h1>Page</h1><p>As HTML.</p>', {Link: link});
  const markdown = answer('text/plain', '# Page\n\nAs Markdown.');
  const named = (href: string): PathHandler =>
    answer(
      'text/html',
      `<!DOCTYPE html><head><!-- <link rel=alternate type="text/markdown" href="/no.md"> --><title>P</title><link rel="stylesheet alternate" href='${href}' type=text/markdown></head><p>As HTML.`,
    );

  test('R3: the header Link and the element name it, and it is read at the address of the page', async () => {
    const {open, server} = await openReadingWeb({
      '/a': linked('</style.css>; rel=preload, </p.md>; rel="alternate"; type="text/markdown"'),
      '/b': named('/p.md?x=1&amp;y=2'),
      '/p.md': markdown,
    });
    const {read} = open();
    for (const path of ['/a', '/b']) {
      const {page} = unwrap(await read(path));
      expect(page.markdown).toBe('# Page\n\nAs Markdown.\n');
      expect(page.finalUrl).toBe(`${server.origin}${path}`);
      expect(page.facts).toMatchObject({media: 'markdown', alternate: expect.stringContaining('/p.md')});
    }
    expect(server.requests).toContain('GET /p.md?x=1&y=2');
    const before = server.requests.length;
    expect(unwrap(await read('/b')).page.markdown).toContain('As Markdown.');
    expect(server.requests).toHaveLength(before);
  });

  test('R3: elsewhere, forbidden, missing, empty, HTML again, or led away: then the page itself is read', async () => {
    const {open, server} = await openReadingWeb({
      '/robots.txt': answer('text/plain', 'User-agent: *\nDisallow: /closed'),
      '/elsewhere': linked('<http://other.test/p.md>; rel=alternate; type=text/markdown'),
      '/private': linked('<http://169.254.169.254/p.md>; rel=alternate; type=text/markdown'),
      '/forbidden': linked('</closed.md>; rel=alternate; type=text/markdown'),
      '/missing': linked('</none.md>; rel=alternate; type=text/markdown'),
      '/empty': linked('</empty.md>; rel=alternate; type=text/markdown'),
      '/again': linked('</again>; rel=alternate; type=text/markdown'),
      '/html': linked('</page>; rel=alternate; type=text/markdown'),
      '/away': linked('</away.md>; rel=alternate; type=text/markdown'),
      '/other-type': linked('</p.md>; rel=alternate; type=application/pdf'),
      '/page': html,
      '/p.md': markdown,
      '/closed.md': markdown,
      '/empty.md': answer('text/markdown', '  '),
      '/away.md': (_, response) => response.writeHead(302, {Location: 'http://other.test/p.md'}).end(),
    });
    const {textOf} = open();
    const paths = 'elsewhere private forbidden missing empty again html away other-type'.split(' ');
    for (const path of paths) expect(await textOf(`/${path}`), path).toBe('# Page\n\nAs HTML.\n');
    expect(server.requests).not.toContain('GET /closed.md');
  });

  test('R3: web_fetch, and web_read without Markdown, do not look for it', async () => {
    const {open, server} = await openReadingWeb({
      '/a': linked('</p.md>; rel=alternate; type=text/markdown'),
      '/p.md': markdown,
    });
    await open().fetch('/a');
    expect(await open({reads: ['json']}).textOf('/a')).toContain('As HTML.');
    expect(server.requests).not.toContain('GET /p.md');
  });
});
