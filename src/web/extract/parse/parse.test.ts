import {readdirSync, readFileSync} from 'node:fs';
import {delimiter, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import fc from 'fast-check';
import {html, parse} from 'parse5';
import {describe, expect, test} from 'vitest';
import {describeTree} from '../../../../test/support/describe-tree.ts';
import {markupSoup, mutationOf} from '../../../../test/support/markup-soup.ts';
import {BEYOND_CASES, TREE_CONSTRUCTION_CASES} from '../../../../test/support/tree-construction-cases.ts';
import {ELEMENT_NAMES} from './element-names.ts';
import {isQuirksDoctype} from './in-head.ts';
import {parseDirectly, parseFully, parseHtml} from './parse-fully.ts';
import {ReferenceDecoder} from './references.ts';

const isQuirks = (doctype: string) => parse(doctype).mode === html.DOCUMENT_MODE.QUIRKS;

const part = fc.constantFrom(
  ...[
    'html',
    'HTML',
    'svg',
    'public',
    'PUBLIC',
    'system',
    'SyStEm',
    ' ',
    ' ',
    ' ',
    '\t',
    '\n',
    '\r\n',
    '"',
    "'",
  ],
  ...[
    '"HTML"',
    "'-//W3C//DTD HTML 3.2//EN'",
    '"-//W3C//DTD HTML 4.01 Transitional//EN"',
    '""',
    "''",
    'x',
    '\0',
  ],
  ...[
    '"-//W3C//DTD XHTML 1.0 Transitional//EN"',
    '"http://www.w3.org/TR/html4/loose.dtd"',
    '"about:legacy-compat"',
  ],
  ...[
    '"http://www.ibm.com/data/dtd/v11/ibmxhtml1-transitional.dtd"',
    '-//ietf//dtd html//',
    '"-/W3C/DTD HTML 4.0 Transitional/EN"',
  ],
);

test('HTML 13.2.6.4.1 the mode of a document is that of the full algorithm', {tags: 'slow'}, () => {
  fc.assert(
    fc.property(fc.array(part, {maxLength: 9}), parts => {
      const doctype = `<!doctype${parts.join('')}>`;
      expect(isQuirksDoctype(doctype), doctype).toBe(isQuirks(doctype));
    }),
    {numRuns: 20_000},
  );
});

test.each(
  // biome-ignore format: a case is a line
  [
    ...['+//Silmaril//dtd html Pro v0r11 19970101//', '-//AS//DTD HTML 3.0 asWedit + extensions//'],
    ...['-//AdvaSoft Ltd//DTD HTML 3.0 asWedit + extensions//', '-//IETF//DTD HTML 2.0 Level 1//'],
    ...['-//IETF//DTD HTML 2.1E//', '-//IETF//DTD HTML Strict Level 3//', '-//Metrius//DTD Metrius Presentational//'],
    ...['-//Microsoft//DTD Internet Explorer 3.0 Tables//', '-//Netscape Comm. Corp.//DTD Strict HTML//'],
    ...["-//O'Reilly and Associates//DTD HTML Extended Relaxed 1.0//", '-//SQ//DTD HTML 2.0 HoTMetaL + extensions//'],
    ...['-//SoftQuad//DTD HoTMetaL PRO 4.0::19971010::extensions to HTML 4.0//', '-//Spyglass//DTD HTML 2.0 Extended//'],
    ...['-//Sun Microsystems Corp.//DTD HotJava Strict HTML//', '-//W3C//DTD HTML Experimental 970421//'],
    ...['-//W3C//DTD W3 HTML//', '-//W3O//DTD W3 HTML 3.0//', '-//WebTechs//DTD Mozilla HTML 2.0//', "nobody's"],
    ...['-//W3C//DTD HTML 4.01 Frameset//', '-//W3C//DTD HTML 4.0 Frameset//', '-//W3C//DTD XHTML 1.1//'],
  ],
)('HTML 13.2.6.4.1 the public identifier %s', id => {
  for (const rest of ['', ' "x"']) {
    const doctype = `<!DOCTYPE html PUBLIC "${id}EN"${rest}>`;
    expect(isQuirksDoctype(doctype)).toBe(isQuirks(doctype));
  }
});

/** `FORGE_TEST_PAGES` adds a folder of pages that both parsers have to read alike (decision 0020). */
const PLACES = [
  ...(process.env['FORGE_TEST_PAGES']?.split(delimiter) ?? []),
  fileURLToPath(new URL('../../../../test/fixtures/pages', import.meta.url)),
];
const PAGES = PLACES.flatMap(place =>
  readdirSync(place, {recursive: true, encoding: 'utf8'})
    .filter(name => name.endsWith('.html'))
    .map(name => join(place, name)),
);
const OWN_PAGES = PAGES.filter(page => page.includes(join('test', 'fixtures')));

/** A document that ends in each insertion mode, or in each kind of foreign element. */
// biome-ignore format: a case is a line
const BEGINNINGS = [
  ...['', '<!DOCTYPE html>', '<html>', '<head>', '<head></head>', '<p>a', '<div><p><b>a', '<ul><li>a', '<dl><dd>a', '<a><i>b'],
  ...['<p><b>a</p>', '<table>', '<table><caption>a', '<table><colgroup>', '<table><tbody>', '<table><tr>', '<table><tr><td>a'],
  ...['<b><table><tr>', '<select>', '<select><option>a', '<table><tr><td><select>', '<table><select>', '<form><div>', '<button><p>a'],
  ...['<svg>', '<svg><g>', '<svg><desc>', '<math>', '<math><mi>', '<math><annotation-xml>', '<body></body>', '</html>', '<ruby>a<rt>b'],
  ...['<object><b>a', '<h1>a', '<option>a', '<nobr>a', '<pre>', '<div><x><y>a', '<table><tr><td><svg><title>'],
];

function expectSameTree(html: string): void {
  const tree = parseDirectly(html);
  if (tree !== undefined)
    expect(describeTree(tree), html.slice(0, 2000)).toBe(describeTree(parseFully(html)));
}

describe('the direct parser builds the tree of the full algorithm', () => {
  test('D1 real pages, of which only those with templates need the full one', {
    tags: 'slow',
    timeout: 120_000,
  }, () => {
    expect(PAGES.length).toBeGreaterThan(8);
    for (const page of PAGES) {
      const html = readFileSync(page, 'utf8');
      const tree = parseDirectly(html);
      expect(tree === undefined, page).toBe(html.includes('<template'));
      if (tree !== undefined) expect(describeTree(tree), page).toBe(describeTree(parseFully(html)));
    }
  });

  test.each(Object.keys(TREE_CONSTRUCTION_CASES))('HTML 13.2 %s', section => {
    for (const html of TREE_CONSTRUCTION_CASES[section] ?? []) {
      expectSameTree(html);
      expectSameTree(`<!DOCTYPE html>${html}`);
      expectSameTree(`<div><b>${html}</b></div>x`);
    }
  });

  test('HTML 13.2.6 every tag in every insertion mode', {tags: 'stress', timeout: 60_000}, () => {
    for (const beginning of BEGINNINGS) {
      for (const name of ELEMENT_NAMES) {
        expectSameTree(`${beginning}<${name}>x`);
        expectSameTree(`${beginning}<${name} type=hidden color=a/> <p>x</${name}>y<b>z`);
        expectSameTree(`${beginning}</${name}>x<td>y</b>z`);
      }
    }
  });

  test('D1 soup of tags', {tags: 'slow', timeout: 60_000}, () => {
    fc.assert(fc.property(markupSoup, expectSameTree), {numRuns: 3000});
  });

  test('D1 pages with tags left out, repeated and swapped', {tags: 'slow', timeout: 60_000}, () => {
    const small = OWN_PAGES.map(page => readFileSync(page, 'utf8')).filter(html => html.length < 20_000);
    fc.assert(fc.property(fc.constantFrom(...small).chain(mutationOf), expectSameTree), {numRuns: 300});
  });
});

test('D1 what the direct parser does not know is left to the full one', () => {
  for (const html of BEYOND_CASES) {
    expect(parseDirectly(html), html).toBeUndefined();
    expect(describeTree(parseHtml(html)), html).toBe(describeTree(parseFully(html)));
  }
});

test('D1 most cases are not left to the full one', () => {
  const cases = Object.values(TREE_CONSTRUCTION_CASES).flat();
  const direct = cases.filter(html => parseDirectly(html) !== undefined);
  expect(direct.length).toBeGreaterThan(cases.length * 0.95);
});

test('D1 elements that are opened again and again are left to the full parser before they fill the tree', () => {
  const many = Array.from({length: 60}, (_, id) => `<b id=${id}>`).join('');
  const html = `<p>${many.replaceAll('<b', '<i')}${'<p>x'.repeat(4000)}`;
  expect(parseDirectly(html)).toBeUndefined();
});

const NAMES = 'amp lt gt quot nbsp not notin copy ngE hellip Aacute CounterClockwiseContourIntegral'.split(
  ' ',
);

function expectSameDecoding(text: string): void {
  const html = `${text.replaceAll('<', '')}<p class="${text.replaceAll('"', '')}">`;
  const tree = parseDirectly(html);
  expect(tree, html).toBeDefined();
  if (tree !== undefined) expect(describeTree(tree), html).toBe(describeTree(parseFully(html)));
}

describe('HTML 13.5 named character references', () => {
  test('with and without a semicolon, before what may and may not follow', () => {
    for (const name of NAMES) expectSameDecoding(`&${name};-&${name}-&${name}x-&${name}=-&${name}`);
  });

  test('none is missing: every name that another decoder knows is decoded alike', {tags: 'slow'}, () => {
    const letters = fc.string({
      unit: fc.constantFrom(...'abcdehilnopqrstuAEGLNRZ12'),
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(letters, name => expectSameDecoding(`&${name};&${name}`)),
      {numRuns: 3000},
    );
  });
});

test('HTML 13.2.5.80 numbers: C1 controls, surrogates, what is beyond Unicode', () => {
  for (let code = 0; code < 0x200; code++) expectSameDecoding(`x&#${code};y&#x${code.toString(16)}z`);
  for (const code of [0xd7ff, 0xd800, 0xdfff, 0xe000, 0xfffe, 0xffff, 0x10000, 0x10ffff, 0x110000, 2 ** 53]) {
    expectSameDecoding(`&#${code};&#x${code.toString(16)};`);
  }
});

test('a reference ends where the text does', () => {
  const decoder = new ReferenceDecoder('&amp;&lt;&#65;');
  expect(decoder.decode(0, 3, false)).toBe('&am');
  expect(decoder.decode(5, 8, false)).toBe('<');
  expect(decoder.decode(9, 13, false)).toBe('A');
});
