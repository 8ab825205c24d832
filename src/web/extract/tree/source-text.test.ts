import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {markupSoup} from '../../../../test/support/markup-soup.ts';
import {pageAbout} from '../about/page-about.ts';
import {extractHtml} from '../extract-html.ts';
import {hasSpaIndicators} from '../spa-indicators.ts';
import {SourceText} from './source-text.ts';

const options = {baseUrl: 'https://example.com/a', honorBaseHref: true};

function inBytes(text: string): SourceText {
  return SourceText.ofUtf8(Buffer.from(text), text.length);
}

const far = fc.constantFrom('é', '–', '😀', '\u00a0', '\u2028', '\u3000', '\ufeff', 'ſ', '\u212a', 'ﬁ');
const mark = fc.constantFrom(
  ...[
    '<div id=app',
    'id=root',
    '<p id="app">',
    '<h1',
    '<h1>',
    '<time datetime=2024-05-01>',
    '<meta name=author content=',
  ],
  ...[
    '<script type="application/ld+json">{"author":"',
    '"}</script>',
    '<noscript>',
    '</noscript>',
    '\r\n',
    '&eacute;',
  ],
  ...[
    '<textarea>\n',
    '<title>',
    '<a href="/',
    '<a href=',
    '>',
    '"',
    ' ',
    '<![CDATA[',
    '<svg>',
    '\0',
    '<template id="B:1">',
  ],
);
const pages = fc.array(fc.oneof(far, mark, markupSoup), {maxLength: 20}).map(parts => parts.join(''));

describe('a source in UTF-8', () => {
  test('policy: makes the same document as its text', {tags: 'slow', timeout: 60_000}, () => {
    fc.assert(
      fc.property(pages, fc.constantFrom('srd' as const, 'reader' as const), (page, mode) => {
        const text = page.toWellFormed();
        expect(extractHtml(inBytes(text), {...options, mode})).toEqual(extractHtml(text, {...options, mode}));
        expect(pageAbout(inBytes(text), mode)).toEqual(pageAbout(text, mode));
        expect(hasSpaIndicators(inBytes(text))).toBe(hasSpaIndicators(text));
      }),
      {numRuns: 1500},
    );
  });

  test('policy: gives as many units from a place on as are asked for', () => {
    const text = 'aé–😀b';
    const source = inBytes(text);
    for (let units = 0; units <= text.length + 1; units++)
      expect(source.from(0, units)).toBe(text.slice(0, units));
    expect(source.slice(1, 3)).toBe('é');
    expect(String(source)).toBe(text);
    expect(inBytes('a\r\né').replace(/\r\n?/g, '\n')).toEqual(inBytes('a\né'));
  });

  test.each([
    ['<div id=app\u2028', true],
    ['<div id=app\u00e9', false],
    ['<div id=app\u00e9><div id=root>', true],
  ])('FR-WF-12c of %j the mark of an application is found or not: %s', (page, found) => {
    expect([hasSpaIndicators(page), hasSpaIndicators(inBytes(page))]).toEqual([found, found]);
  });
});
