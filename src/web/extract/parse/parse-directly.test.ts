import {readdirSync, readFileSync} from 'node:fs';
import {delimiter, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {describeTree} from '../../../../test/support/describe-tree.ts';
import {markupSoup, mutationOf} from '../../../../test/support/markup-soup.ts';
import {BEYOND_CASES, TREE_CONSTRUCTION_CASES} from '../../../../test/support/tree-construction-cases.ts';
import {parseHtml} from '../tree/parse-html.ts';
import {ELEMENT_NAMES} from './element-name.ts';
import {parseDirectly} from './parse-directly.ts';
import {parseFully} from './parse-fully.ts';

/** `FORGE_TEST_PAGES` adds a folder of pages that both parsers have to read alike (decision 0019). */
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
const BEGINNINGS = [
  ...[
    '',
    '<!DOCTYPE html>',
    '<html>',
    '<head>',
    '<head></head>',
    '<p>a',
    '<div><p><b>a',
    '<ul><li>a',
    '<dl><dd>a',
    '<a><i>b',
  ],
  ...[
    '<p><b>a</p>',
    '<table>',
    '<table><caption>a',
    '<table><colgroup>',
    '<table><tbody>',
    '<table><tr>',
    '<table><tr><td>a',
  ],
  ...[
    '<b><table><tr>',
    '<select>',
    '<select><option>a',
    '<table><tr><td><select>',
    '<table><select>',
    '<form><div>',
    '<button><p>a',
  ],
  ...[
    '<svg>',
    '<svg><g>',
    '<svg><desc>',
    '<math>',
    '<math><mi>',
    '<math><annotation-xml>',
    '<body></body>',
    '</html>',
    '<ruby>a<rt>b',
  ],
  ...[
    '<object><b>a',
    '<h1>a',
    '<option>a',
    '<nobr>a',
    '<pre>',
    '<div><x><y>a',
    '<table><tr><td><svg><title>',
  ],
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

  test('HTML 13.2.6 every tag in every insertion mode', {tags: 'slow', timeout: 60_000}, () => {
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
