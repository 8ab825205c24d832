import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {readCommonMark} from '../../../test/support/read-commonmark.ts';
import {normalizeWhitespace} from './block-writer.ts';
import {extractHtml} from './extract-html.ts';

const options = {baseUrl: 'https://example.com/dir/page?q=1', honorBaseHref: false};

/** HTML and the text that its rendering must have; nothing in it is dropped by a rule. */
interface Sample {
  readonly html: string;
  readonly text: string;
}

// biome-ignore format: a case is a line
const NASTY = [
  ...['*', '**', '***', '_', '__', '`', '``', '```', '````', '[', ']', '](', '](x)', '[a]', '[a]:', '[a]: /u', '![', '!'],
  ...['<', '<b>', '</b>', '<!--', '-->', '<?x', '<![CDATA[', '<http://a.b>', '<a@b.c>', '&', '&amp;', '&copy;', '&#35;'],
  ...['\\', '\\*', '#', '##', '# ', '1.', '1. ', '2)', '42. ', '-', '- ', '+ ', '>', '> ', '=', '===', '---', '- - -'],
  ...['~', '~~', '~~~', '|', ':---', '|---|', ':', '(', ')', '"', "'", '.', ',', 'a', 'bc', 'snake_case', '2 * 3', 'C#'],
  ...['a < b', 'é', '“', '」', '→', '€', '😀', '漢字', 'כתב', '\u00a0', ' ', ' ', ' ', '\n', '\t', '    ', 'x', 'http://x.y'],
];

const nastyText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      {weight: 8, arbitrary: fc.constantFrom(...NASTY)},
      fc.string({maxLength: 3, unit: 'grapheme-ascii'}),
    ),
    {
      minLength: 1,
      maxLength: 6,
    },
  )
  .map(parts => parts.join(''));

const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const leaf: fc.Arbitrary<Sample> = nastyText.map(text => ({html: escapeHtml(text), text}));
const code: fc.Arbitrary<Sample> = nastyText.map(text => ({html: `<code>${escapeHtml(text)}</code>`, text}));
const lineBreak: fc.Arbitrary<Sample> = fc.constant({html: '<br>', text: ''});
const image: fc.Arbitrary<Sample> = nastyText.map(text => ({
  html: `<img src="i(1).png" alt="${escapeHtml(text)}">`,
  text,
}));

const joined = (arbitrary: fc.Arbitrary<Sample>, maxLength: number): fc.Arbitrary<Sample> =>
  fc.array(arbitrary, {minLength: 1, maxLength}).map(samples => ({
    html: samples.map(({html}) => html).join(''),
    text: samples.map(({text}) => text).join(''),
  }));
const within = (tag: string, arbitrary: fc.Arbitrary<Sample>, attributes = ''): fc.Arbitrary<Sample> =>
  arbitrary.map(({html, text}) => ({html: `<${tag}${attributes}>${html}</${tag.split(' ')[0]}>`, text}));

const {styled} = fc.letrec<{styled: Sample}>(tie => ({
  styled: fc.oneof(
    {depthSize: 'small', withCrossShrink: true},
    leaf,
    code,
    lineBreak,
    image,
    within('em', joined(tie('styled'), 3)),
    within('strong', joined(tie('styled'), 3)),
    within('i', joined(tie('styled'), 2)),
    within('span', joined(tie('styled'), 3)),
  ),
}));
// biome-ignore format: a list
const HREFS = [
  '/a(b)', '?a=1&copy;=2', 'x y', '#f`', 'javascript:alert(1)', 'mailto:a b@c.d', 'https://o.example/\\*',
  '//h/[x]',
];
const link = fc
  .tuple(fc.constantFrom(...HREFS), joined(styled, 3))
  .map(([href, {html, text}]): Sample => ({html: `<a href="${escapeHtml(href)}">${html}</a>`, text}));
const inline = joined(
  fc.oneof(
    {weight: 4, arbitrary: styled},
    {weight: 1, arbitrary: link},
    {weight: 1, arbitrary: within('em', link)},
  ),
  5,
);

const paragraph = within('p', inline);
const fence = nastyText.map((text): Sample => ({html: `<pre><code>${escapeHtml(text)}</code></pre>`, text}));
const table = joined(within('tr', joined(within('td', inline), 3)), 3).map(
  ({html, text}): Sample => ({html: `<table>${html}</table>`, text}),
);
const orderedList = fc
  .tuple(fc.integer({min: 0, max: 12}), joined(within('li', inline), 3))
  .map(([start, {html, text}]): Sample => ({html: `<ol start="${start}">${html}</ol>`, text}));

const {block} = fc.letrec<{block: Sample}>(tie => ({
  block: fc.oneof(
    {depthSize: 'small', withCrossShrink: true},
    paragraph,
    inline,
    within('h2', inline),
    fence,
    orderedList,
    fc.constant({html: '<hr>', text: ''}),
    within('div', joined(tie('block'), 3)),
    within('blockquote', joined(tie('block'), 3)),
    within('ul', joined(within('li', joined(tie('block'), 3)), 3)),
  ),
}));
const page = joined(fc.oneof({weight: 5, arbitrary: block}, {weight: 1, arbitrary: table}), 5);

const withoutBlanks = (text: string): string => text.replace(/\s+/g, '');
const sorted = (text: string): string => [...text].sort().join('');

describe('properties of extraction', () => {
  test('ruling D7 CommonMark reads the text of the page and no raw HTML', () => {
    fc.assert(
      fc.property(page, ({html, text}) => {
        const {markdown} = extractHtml(`<body>${html}`, options);
        const read = readCommonMark(markdown);
        expect(read.html).toEqual([]);
        // Tables are read after everything else, so the order is compared without them.
        if (html.includes('<table>')) expect(sorted(read.text)).toBe(sorted(withoutBlanks(text)));
        else expect(read.text).toBe(withoutBlanks(text));
      }),
      {numRuns: 800},
    );
  });

  test('ruling D7 no target of a script or of data is a link', () => {
    fc.assert(
      fc.property(page, ({html}) => {
        const {links} = readCommonMark(extractHtml(`<body>${html}`, options).markdown);
        for (const {target} of links) expect(target).toMatch(/^(?:https?|mailto):\S*$/);
      }),
      {numRuns: 300},
    );
  });

  test('FR-WF-13b the Markdown is normal already', () => {
    fc.assert(
      fc.property(page, ({html}) => {
        const {markdown} = extractHtml(`<body>${html}`, options);
        expect(normalizeWhitespace(markdown)).toBe(markdown);
      }),
      {numRuns: 300},
    );
  });

  test('the same bytes twice, and no exception, whatever the input', () => {
    const fragments = fc.constantFrom(
      ...[
        '<table>',
        '<tr>',
        '<td>',
        '<a href=x>',
        '<b>',
        '<i>',
        '<p>',
        '<li>',
        '<ul>',
        '<ol start=-9>',
        '<pre>',
        '<svg>',
      ],
      ...[
        '<template>',
        '<select>',
        '<math>',
        '<frameset>',
        '</p>',
        '</table>',
        '</a>',
        '</b>',
        '<!--',
        ']]>',
        '<title>',
        '\0',
      ],
      ...[
        '<h1>',
        '<caption>',
        '<dl><dt>',
        '<blockquote>',
        '<textarea>',
        '</body>',
        '<plaintext>',
        '&#0;',
        '\ud800',
        '"',
        "'>",
      ],
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(fragments, fc.string({unit: 'binary'})), {maxLength: 30}), parts => {
        const html = parts.join('');
        const first = extractHtml(html, options);
        expect(extractHtml(html, options)).toEqual(first);
        expect(normalizeWhitespace(first.markdown)).toBe(first.markdown);
        expect(readCommonMark(first.markdown).html).toEqual([]);
      }),
      {numRuns: 500},
    );
  });
});
