import {gzipSync} from 'node:zlib';
import {expect, test} from 'vitest';
import {fail} from '../../core/failure/fail.ts';
import {ok} from '../../core/result.ts';
import {MOST_SITEMAP_BYTES, readSitemaps, type SitemapEntry} from './read-sitemaps.ts';

async function read(asked: string, files: Readonly<Record<string, string | Uint8Array>>) {
  const fetched: string[] = [];
  const entries: SitemapEntry[] = [];
  const all = readSitemaps(asked, async url => {
    fetched.push(url);
    const file = files[url];
    if (file === undefined) return fail('http_4xx', 'The server answered 404.');
    return ok({url, bytes: Buffer.from(file)});
  });
  for await (const entry of all) entries.push(entry);
  return {fetched, urls: entries.flatMap(entry => ('url' in entry ? [entry.url] : [])), entries};
}

const set = (...urls: readonly string[]): string => urls.map(url => `<loc>${url}</loc>`).join('');
const index = (...urls: readonly string[]): string => `<sitemapindex>${set(...urls)}</sitemapindex>`;

test('S1 a robots.txt leads to an index, and that to gzipped sitemaps of the site', async () => {
  const {urls, fetched, entries} = await read('https://www.example.com/robots.txt', {
    'https://www.example.com/robots.txt':
      'Sitemap: https://www.example.com/i.xml\nSitemap: https://evil.example/x.xml',
    'https://www.example.com/i.xml': index(
      'https://cdn.example.com/1.xml.gz',
      'https://www.example.com/gone.xml',
    ),
    'https://cdn.example.com/1.xml.gz': gzipSync(
      set('https://www.example.com/a', 'https://evil.example/b', 'no'),
    ),
  });
  expect(urls).toEqual(['https://www.example.com/a']);
  expect(fetched).not.toContain('https://evil.example/x.xml');
  expect(entries.some(entry => 'failure' in entry && entry.file === 'https://www.example.com/gone.xml')).toBe(
    true,
  );
});

test('S1 indexes that name each other, or go ever deeper, end', async () => {
  const circle = await read('https://a.example/1', {
    'https://a.example/1': index('https://a.example/2'),
    'https://a.example/2': index('https://a.example/1', 'https://a.example/3'),
    'https://a.example/3': set('https://a.example/page'),
  });
  expect(circle.urls).toEqual(['https://a.example/page']);
  const files = Object.fromEntries(
    Array.from({length: 9}, (_, at) => [`https://a.example/${at}`, index(`https://a.example/${at + 1}`)]),
  );
  const deep = await read('https://a.example/0', files);
  expect(deep.fetched.length).toBe(4);
  expect(deep.entries.at(-1)).toHaveProperty('cut');
  const wide = Object.fromEntries([
    ['https://a.example/', index(...Array.from({length: 3000}, (_, at) => `https://a.example/${at}`))],
  ]);
  expect((await read('https://a.example/', wide)).fetched.length).toBe(1000);
});

test('S1 what unpacks to more than a sitemap may have is passed over', {tags: 'slow'}, async () => {
  const bomb = gzipSync(Buffer.alloc(MOST_SITEMAP_BYTES + 1, 0x20));
  expect(bomb.length).toBeLessThan(60_000);
  const {entries} = await read('https://a.example/', {'https://a.example/': bomb});
  expect(entries).toMatchObject([{cut: expect.stringContaining('larger')}]);
  const broken = await read('https://a.example/', {'https://a.example/': bomb.subarray(0, 500)});
  expect(broken.entries).toHaveLength(1);
});
