import {createHash} from 'node:crypto';
import {existsSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {chunkMarkdown} from '../src/web/chunk/plan-chunks.ts';
import {pageAbout} from '../src/web/extract/about.ts';
import {normalizeWhitespace} from '../src/web/extract/block-writer.ts';
import {extractHtml} from '../src/web/extract/extract-html.ts';
import {countTokens} from '../src/web/tokens/count-tokens.ts';
import {readCommonMark} from './support/read-commonmark.ts';

const pagesDirectory = join(import.meta.dirname, 'fixtures', 'pages');
const slugs = readdirSync(pagesDirectory).sort();
const isUpdate = process.env['UPDATE_GOLDENS'] === '1';
const MAX_TOKENS = 600;

function extracted(slug: string): {markdown: string; json: string} {
  const html = readFileSync(join(pagesDirectory, slug, 'source.html'), 'utf8');
  const {markdown, title, language} = extractHtml(html, {
    baseUrl: `https://golden.example/${slug}/page`,
    honorBaseHref: false,
  });
  const chunks = chunkMarkdown(markdown, MAX_TOKENS, countTokens);
  return {markdown, json: `${JSON.stringify({title, language, chunks}, undefined, 2)}\n`};
}

/** T-WF-INFRA-06: `UPDATE_GOLDENS=1` writes what is then to be reviewed. */
function expectGolden(slug: string, name: string, actual: string): void {
  const path = join(pagesDirectory, slug, name);
  if (isUpdate) writeFileSync(path, actual);
  expect(existsSync(path), `${path} is missing; run with UPDATE_GOLDENS=1`).toBe(true);
  expect(actual).toBe(readFileSync(path, 'utf8'));
}

/** R2: the main content, with what the page says about itself. */
function read(slug: string): string {
  const html = readFileSync(join(pagesDirectory, slug, 'source.html'), 'utf8');
  const baseUrl = `https://golden.example/${slug}/page`;
  const {markdown} = extractHtml(html, {baseUrl, honorBaseHref: false, mode: 'reader'});
  return `<!-- ${JSON.stringify(pageAbout(html, 'reader'))} -->\n\n${markdown}`;
}

describe('goldens', () => {
  test.each(slugs)('R2 %s in the mode of the reader', slug => {
    expectGolden(slug, 'reader.md', read(slug));
    expect(read(slug)).toBe(read(slug));
  });

  test.each(slugs)('T-WF-INFRA-06 %s', slug => {
    const {markdown, json} = extracted(slug);
    expectGolden(slug, 'expected.md', markdown);
    expectGolden(slug, 'expected.json', json);
  });

  test.each(slugs)('T-WF-DET-03 %s gives the same bytes twice, and normal ones', slug => {
    const first = extracted(slug);
    expect(extracted(slug)).toEqual(first);
    expect(normalizeWhitespace(first.markdown)).toBe(first.markdown);
  });

  test.each(slugs)('NFR-WF-SEC-03 %s: CommonMark finds no raw HTML and no unwanted target', slug => {
    const {html, links} = readCommonMark(extracted(slug).markdown);
    expect(html).toEqual([]);
    for (const {target} of links) expect(target).toMatch(/^(?:https?|mailto|tel):/);
  });
});

/** Pages of other people, which are no part of this project: they lie beside the checkout on some machines. */
const PAGES = join(import.meta.dirname, '../../shared/data/pages');
/** Of each page the SHA-256 of its Markdown in each mode; `bench/reader/pages-read.md` says what they lose or keep wrongly. */
const HASHES = join(import.meta.dirname, 'fixtures/real-pages.json');
const MODES = ['full', 'reader'] as const;

type Hashes = Readonly<Record<string, Readonly<Record<(typeof MODES)[number], string>>>>;

const known = JSON.parse(readFileSync(HASHES, 'utf8')) as Hashes;

function hashOf(name: string, mode: (typeof MODES)[number]): string {
  const html = readFileSync(join(PAGES, name), 'utf8');
  const {markdown} = extractHtml(html, {baseUrl: 'https://golden.example/page', honorBaseHref: true, mode});
  return createHash('sha256').update(markdown).digest('hex');
}

// T-WF-INFRA-06: `UPDATE_GOLDENS=1` writes what is then to be reviewed.
test.each(MODES)(
  'R2 each real page at hand gives the bytes in mode %s that were read and accepted',
  {
    tags: 'slow',
  },
  mode => {
    const names = Object.keys(known).filter(name => existsSync(join(PAGES, name)));
    const found = Object.fromEntries(names.map(name => [name, hashOf(name, mode)]));
    if (process.env['UPDATE_GOLDENS'] === '1') {
      const all = names.map(name => [name, Object.fromEntries(MODES.map(one => [one, hashOf(name, one)]))]);
      writeFileSync(HASHES, `${JSON.stringify(Object.fromEntries(all), undefined, 2)}\n`);
    }
    expect(found).toEqual(Object.fromEntries(names.map(name => [name, known[name]?.[mode]])));
  },
);
