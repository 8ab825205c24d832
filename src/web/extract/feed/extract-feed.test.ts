import {expect, test} from 'vitest';
import {extractFeed} from './extract-feed.ts';
import {shiftHeadings} from './shift-headings.ts';

const item = (inside: string): string =>
  `<rss><channel><title>F</title><item>${inside}</item></channel></rss>`;
const markdownOf = (source: string): string => extractFeed(source, 'https://example.com/feed').markdown;

test('R3: RSS 1.0 has its items beside the channel, and Dublin Core has the author', () => {
  const rdf = `<rdf:RDF><channel><title>Old</title></channel><item><title>One</title><dc:creator>Ada</dc:creator><link>https://example.com/1</link></item></rdf:RDF>`;
  expect(markdownOf(rdf)).toBe('# Old\n\n## One\n\nhttps://example.com/1 · Ada\n');
});

test('R3: names of other vocabularies are no names of ours', () => {
  expect(markdownOf(item('<media:title>No</media:title><title>Yes</title>'))).toContain('## Yes');
  expect(markdownOf(item('<image><title>Deep</title></image><title>Yes</title>'))).not.toContain('Deep');
});

test('D7: a text of an entry opens nothing outside of it', () => {
  const open = '<![CDATA[<!-- <textarea><script><h1>still open]]>';
  const source = `<rss><channel><title>F</title><item><title>A</title><description>${open}</description></item><item><title>&lt;script&gt; B</title><description>text</description></item></channel></rss>`;
  const markdown = markdownOf(source);
  expect(markdown).toContain('\n## \\<script> B\n\ntext\n');
  expect(markdownOf(item('<title>T</title><link>javascript:alert(1)</link>'))).not.toContain('javascript');
});

test.each([
  ['damaged', '<rss><channel>'],
  ['damaged', '<html><body></body></html>'],
  ['damaged', '<rss><a></b></rss>'],
  ['damaged', '<rss></rss><rss></rss>'],
  ['damaged', '<rss a="'],
  ['damaged', 'no feed'],
  ['too_complex', `<rss>${'<a>'.repeat(600)}${'</a>'.repeat(600)}</rss>`],
  ['too_complex', `<rss><channel>${'<item/>'.repeat(10_001)}</channel></rss>`],
])('R3: %s is a problem of its own: %s', (reason, source) => {
  expect(() => markdownOf(source)).toThrow(expect.objectContaining({reason}));
});

test('R3: an entity stands for one character at most', () => {
  const bomb = '<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>';
  expect(markdownOf(`${bomb}${item('<title>&b;&#x41;&amp;lt;</title>')}`)).toContain('## &b;A\\&lt;');
});

test('R3: headings go deeper, lines of code stay', () => {
  expect(shiftHeadings('# a\n\n```\n# b\n```\n\n##### c', 2)).toBe('### a\n\n```\n# b\n```\n\n###### c');
});
