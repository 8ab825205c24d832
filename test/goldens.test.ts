import {existsSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {chunkMarkdown} from '../src/web/chunk/chunk-markdown.ts';
import {pageAbout} from '../src/web/extract/about/page-about.ts';
import {extractHtml} from '../src/web/extract/extract-html.ts';
import {normalizeWhitespace} from '../src/web/extract/normalize-whitespace.ts';
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
