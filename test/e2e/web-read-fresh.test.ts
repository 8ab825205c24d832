import {createHash} from 'node:crypto';
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import type {PathHandler} from '../support/http-server.ts';
import {openReadingWeb} from '../support/open-reading-web.ts';
import {unwrap} from '../support/outcome.ts';

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
