import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {normalizeWhitespace} from './block-writer.ts';
import {extractFeed, shiftHeadings} from './feed.ts';
import {extractJson} from './json.ts';
import {LinkTargets} from './link-targets.ts';
import {parseSitemap, sitemapsOfRobots} from './sitemap.ts';

describe('normalizeWhitespace', () => {
  test('T-WF-EXT-03 CRLF becomes LF, blank lines collapse to two, line ends are trimmed, one LF at the end', () => {
    expect(normalizeWhitespace('a \t\r\n\r\n\r\n\r\n\r\nb\r\nc\n\n\n')).toBe('a\n\n\nb\nc\n');
    expect(normalizeWhitespace('a')).toBe('a\n');
  });

  test('T-WF-EXT-03 lines of blanks are blank lines', () => {
    expect(normalizeWhitespace('a\n \n\t\n  \nb')).toBe('a\n\n\nb\n');
  });

  test('text without content is empty', () => {
    expect(normalizeWhitespace('')).toBe('');
    expect(normalizeWhitespace(' \r\n\n')).toBe('');
  });

  test('FR-WF-EXT-WS-01 between fences only line ends change', () => {
    expect(normalizeWhitespace('```\r\na  \r\n\r\n\r\n\r\nb\t\n````\nc  \n')).toBe(
      '```\na  \n\n\n\nb\t\n````\nc\n',
    );
    expect(normalizeWhitespace('> ````js\n> a  \n> ```\n> b  \n> ````\nc  ')).toBe(
      '> ````js\n> a  \n> ```\n> b  \n> ````\nc\n',
    );
  });

  test('conformance V9: the closing fence is a delimiter and no content, so the blanks behind it go', () => {
    expect(normalizeWhitespace('```\na  \n```  \nb')).toBe('```\na  \n```\nb\n');
    expect(normalizeWhitespace('```\na  \n``` \t\r\n')).toBe('```\na  \n```\n');
    expect(normalizeWhitespace('````\n```  \n````')).toBe('````\n```  \n````\n');
  });

  test('FR-WF-EXT-WS-01 a code span is no fence', () => {
    expect(normalizeWhitespace('```a``` b  \n\n\n\nc')).toBe('```a``` b\n\n\nc\n');
  });

  test('a second pass changes nothing', () => {
    const pieces = fc.constantFrom(
      'a',
      ' ',
      '\t',
      '\n',
      '\r',
      '\r\n',
      '```',
      '````',
      '`',
      '> ',
      '- ',
      '\u00a0',
      '\u2028',
    );
    fc.assert(
      fc.property(fc.array(pieces, {maxLength: 30}), parts => {
        const once = normalizeWhitespace(parts.join(''));
        expect(normalizeWhitespace(once)).toBe(once);
      }),
    );
  });

  test('a megabyte of CRs, blanks or backticks is no trouble', () => {
    for (const unit of ['\r', ' ', '`', '> ', '- ']) {
      const start = performance.now();
      normalizeWhitespace(`x${unit.repeat(1_000_000)}x`);
      expect(performance.now() - start).toBeLessThan(2000);
    }
  });
});

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
  ['href="/b"', '/b'],
  ["a href = '/b'", '/b'],
  ['a="href=\'/a\'" href="/b" href="/c"', '/b'],
  ['"href=\'/a\'" href="/b"', '/b'],
  ['=href="/b"', '/b'],
  ['href=/a href="/b"', '/b'],
])('red team F6: attributes are read from left to right, once: %s', (attributes, target) => {
  expect(markdownOf(item(`<title>T</title><link ${attributes}/>`))).toContain(
    `https://example.com${target}\n`,
  );
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

const filler = (count: number): string => 'words '.repeat(count).trim();

/** What stands in the fences of a document. */
function fenced(markdown: string): string[] {
  return [...markdown.matchAll(/```json\n([\s\S]*?)\n```/g)].map(([, text = '']) => text);
}

function headings(markdown: string): string[] {
  return markdown.split('\n').filter(line => line.startsWith('#'));
}

test('R3: large values are sections under their path, small ones stay together', () => {
  const {markdown} = extractJson(
    JSON.stringify({
      info: {title: 'A', version: '1'},
      paths: {'/bees': {text: filler(400)}, other: {text: filler(400)}},
      list: Array.from({length: 100}, (_, id) => ({id, text: filler(10)})),
      last: true,
    }),
  );
  expect(headings(markdown)).toEqual([
    '# `$`',
    '## `$.paths`',
    '### `$.paths["/bees"]`',
    '#### `$.paths["/bees"].text`',
    '### `$.paths.other`',
    '#### `$.paths.other.text`',
    '## `$.list`',
    expect.stringMatching(/^### `\$\.list\[0-\d+\]`$/),
    ...Array.from({length: headings(markdown).length - 9}, () =>
      expect.stringMatching(/^### `\$\.list\[\d+-\d+\]`$/),
    ),
    '## `$.last`',
  ]);
  expect(fenced(markdown)[0]).toBe('"info": {\n  "title": "A",\n  "version": "1"\n}');
});

test('R3: nothing of a document is lost, and the same document gives the same text', () => {
  fc.assert(
    fc.property(fc.json({maxDepth: 6}), source => {
      const {markdown} = extractJson(source);
      expect(extractJson(source).markdown).toBe(markdown);
      const written = fenced(markdown).join(',').replace(/\s/g, '');
      for (const [literal] of source.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/g)) {
        if (/^"[ -~]*"$/.test(literal)) expect(written).toContain(literal.replace(/\s/g, ''));
      }
    }),
  );
});

test('D8: invisible characters are written as escapes, and no text ends its fence', () => {
  const {markdown} = extractJson(JSON.stringify({a: 'x\u202ey\u{e0041}', '```': '\n```\n# no heading'}));
  expect(markdown).toContain('x\\u202ey\\udb40\\udc41');
  expect(headings(markdown)).toEqual(['# `$`']);
  expect(extractJson(`{"\`a\`": "${filler(500)}"}`).markdown).toContain('## `$["\\u0060a\\u0060"]`');
});

test.each([
  ['damaged', '{"a": }'],
  ['damaged', ''],
  ['too_complex', `${'['.repeat(300)}${']'.repeat(300)}`],
  ['too_complex', `[${'1,'.repeat(1_000_000)}1]`],
])('R3: %s is a problem of its own', (reason, source) => {
  expect(() => extractJson(source)).toThrow(expect.objectContaining({name: 'ConversionProblem', reason}));
});

/** Not `URL.canParse`: optimised code of Node 20 has it wrong for letters such as é. */
function hrefOf(reference: string, base: string): string | undefined {
  try {
    return new URL(reference, base).href;
  } catch {
    return undefined;
  }
}

/** D10 said by the URL parser alone. */
function expected(reference: string, base: string): string | undefined {
  const href = hrefOf(reference, base);
  if (href === undefined) return undefined;
  return href
    .replace(/[ ()\\`<>]/g, unit => `%${unit.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/&(?=(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});)/g, '\\&');
}

const PART = fc.constantFrom(
  ...[
    'http://',
    'https://',
    'HTTP://',
    '//',
    '/',
    '/',
    '.',
    '..',
    '/./',
    '%2e',
    '?',
    '#',
    '&',
    '&amp;',
    ':',
    ':80',
    '@',
  ],
  ...[
    'example.com',
    'EXAMPLE.com',
    'a.b',
    '1.2',
    '0x7f.1',
    'xn--a',
    '-',
    '_',
    'a',
    'B',
    '9',
    '(',
    ')',
    ' ',
    '\t',
    '\\',
    '%41',
  ],
  ...['é', '"', "'", '<', '|', '^', '{', '~', '$', '!', '*', '+', ',', ';', '=', '[', ']', 'mailto:'],
);
const BASES = [
  'https://example.org/a/b?c#d',
  'http://u:p@example.org/(x)/',
  'https://example.org:8443/',
  'ftp://h/x',
  'file:///a/b',
];

test('D10 links are serialised as the URL parser serialises them, parsed or not', () => {
  const reference = fc.array(PART, {minLength: 1, maxLength: 8}).map(parts => parts.join(''));
  fc.assert(
    fc.property(reference, fc.constantFrom(...BASES), (text, base) => {
      expect(new LinkTargets(base, 1000).resolve(text), `${text} on ${base}`).toBe(expected(text, base));
    }),
    {numRuns: 5000},
  );
});

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

test.each(
  // biome-ignore format: a case is a line
  [
    ['entities that are declared', '<!DOCTYPE x [<!ENTITY a "&a;&a;">]><loc>https://a/&a;</loc>', ['https://a/&a;']],
    ['an external entity', '<!DOCTYPE x SYSTEM "file:///etc/passwd"><loc>https://a/&x;</loc>', ['https://a/&x;']],
    ['a comment without end', '<!-- <loc>https://a/</loc>', []],
    ['a loc without end', '<loc>https://a/', []],
    ['a loc that is long', `<loc>https://a/${'x'.repeat(5000)}</loc><loc>https://b/</loc>`, ['https://b/']],
    ['no markup at all', '<', []],
    ['nothing', '', []],
  ],
)('S1 hostile XML: %s', (_, text, urls) => {
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

test('red team F22: names that are no address cost no more than addresses', () => {
  const best = (text: string): number => {
    const rounds = Array.from({length: 4}, () => {
      const before = process.cpuUsage();
      parseSitemap(text);
      return process.cpuUsage(before).user;
    });
    return Math.min(...rounds);
  };
  const sitemap = '<loc>https://a.example/</loc>'.repeat(50_000);
  const addresses = best(sitemap);
  for (const name of ['a'.repeat(1050), `${'a'.repeat(60)}:${'b'.repeat(60)}`, `loc ${'a'.repeat(990)}`]) {
    expect(best(`<${name}`.repeat(sitemap.length / name.length))).toBeLessThan(addresses);
  }
});

test('S1 the sitemaps that a robots.txt names stand in any group', () => {
  const robots =
    '\ufeffSitemap: https://a/1.xml # first\nUser-agent: *\r\nDisallow: /\rsitemap :https://a/2.xml\nSitemap:\nSitemap: https://a/1.xml';
  expect(sitemapsOfRobots(robots, 10)).toEqual(['https://a/1.xml', 'https://a/2.xml']);
  expect(sitemapsOfRobots(robots, 1)).toEqual(['https://a/1.xml']);
});
