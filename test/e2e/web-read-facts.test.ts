import {describe, expect, test} from 'vitest';
import {webReadDataOf} from '../../src/tools/web/web-read-data.ts';
import {renderWebRead} from '../../src/tools/web/web-read-text.ts';
import type {PathHandler} from '../support/http-server.ts';
import {openReadingWeb} from '../support/open-reading-web.ts';
import {unwrap} from '../support/outcome.ts';
import {answer} from '../support/serve-pages.ts';

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
