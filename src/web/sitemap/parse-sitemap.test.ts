import {expect, test} from 'vitest';
import {parseSitemap, sitemapsOfRobots} from './parse-sitemap.ts';

test('S1 the addresses of a sitemap, with entities, CDATA, prefixes and comments', () => {
  const text = `\ufeff<?xml version="1.0" encoding="UTF-8"?><!-- <loc>https://no.example/</loc> -->
<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9">
  <s:url><s:loc> https://a.example/?a=1&amp;b=&#50;&#x33; </s:loc><s:lastmod>2026-01-01</s:lastmod></s:url>
  <url><loc><![CDATA[https://a.example/c]]></loc><image:loc>https://a.example/p.png</image:loc></url>
  <url><loc/></url><LOC>https://a.example/d</LOC>
</s:urlset>`;
  expect(parseSitemap(text)).toEqual({
    isIndex: false,
    urls: [
      'https://a.example/?a=1&b=23',
      'https://a.example/c',
      'https://a.example/p.png',
      'https://a.example/d',
    ],
    cut: false,
  });
});

test('S1 an index is told from a sitemap, and a list of lines is one too', () => {
  expect(
    parseSitemap('<sitemapindex><sitemap><loc>https://a/1.xml</loc></sitemap></sitemapindex>'),
  ).toMatchObject({
    isIndex: true,
    urls: ['https://a/1.xml'],
  });
  expect(parseSitemap('https://a/1\r\n\nhttps://a/2')).toMatchObject({
    isIndex: false,
    urls: ['https://a/1', 'https://a/2'],
  });
});

test.each([
  [
    'entities that are declared',
    '<!DOCTYPE x [<!ENTITY a "&a;&a;">]><loc>https://a/&a;</loc>',
    ['https://a/&a;'],
  ],
  [
    'an external entity',
    '<!DOCTYPE x SYSTEM "file:///etc/passwd"><loc>https://a/&x;</loc>',
    ['https://a/&x;'],
  ],
  ['a comment without end', '<!-- <loc>https://a/</loc>', []],
  ['a loc without end', '<loc>https://a/', []],
  ['a loc that is long', `<loc>https://a/${'x'.repeat(5000)}</loc><loc>https://b/</loc>`, ['https://b/']],
  ['no markup at all', '<', []],
  ['nothing', '', []],
])('S1 hostile XML: %s', (_, text, urls) => {
  expect(parseSitemap(text).urls).toEqual(urls);
});

test('S1 no sitemap has more than 50,000 addresses, and its text takes time by its length', () => {
  const {urls, cut} = parseSitemap('<loc>https://a/</loc>'.repeat(50_001));
  expect([urls.length, cut]).toEqual([50_000, true]);
  for (const piece of ['<', '<a', '<loc>', '<!--', '<![CDATA[', '<loc><![CDATA[', '&amp;<', '<a ']) {
    const time = (count: number): number => {
      const text = piece.repeat(count);
      const start = performance.now();
      parseSitemap(text);
      return performance.now() - start;
    };
    time(20_000);
    expect(time(200_000)).toBeLessThan(2000);
  }
});

test('S1 the sitemaps that a robots.txt names stand in any group', () => {
  const robots =
    '\ufeffSitemap: https://a/1.xml # first\nUser-agent: *\r\nDisallow: /\rsitemap :https://a/2.xml\nSitemap:\nSitemap: https://a/1.xml';
  expect(sitemapsOfRobots(robots, 10)).toEqual(['https://a/1.xml', 'https://a/2.xml']);
  expect(sitemapsOfRobots(robots, 1)).toEqual(['https://a/1.xml']);
});
