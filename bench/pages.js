import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';

/** Where every page is said to come from, so that links have something to be relative to. */
export const BASE = 'https://bench.example/page';

/** `--pages DIR`; without it a shared set beside the checkout where there is one, else the fixtures of the tests. */
export function loadPages() {
  const shared = join(import.meta.dirname, '../../shared/data/pages');
  const fixtures = join(import.meta.dirname, '../test/fixtures/pages');
  const directory = process.env.FORGE_BENCH_PAGES || (existsSync(shared) ? shared : fixtures);
  return readdirSync(directory, {recursive: true})
    .filter(name => name.endsWith('.html'))
    .sort()
    .map(name => {
      const html = readFileSync(join(directory, name), 'utf8');
      return {name, html, bytes: Buffer.byteLength(html)};
    });
}

/** The paragraphs of the largest page, over and over up to `size` units, as one well-formed page. */
export function grownPage(pages, size) {
  const {html} = pages.toSorted((one, other) => other.html.length - one.html.length)[0];
  const found = [...html.matchAll(/<p[ >](?:(?!<p[ >])[\s\S])*?<\/p>/g)].map(([whole]) => whole);
  const paragraphs = found.length > 0 ? found : ['<p>One paragraph of text and no more.</p>'];
  const parts = [];
  for (let length = 0, at = 0; length < size; at += 1) {
    const paragraph = paragraphs[at % paragraphs.length];
    parts.push(paragraph);
    length += paragraph.length + 1;
  }
  return `<!DOCTYPE html><title>Grown</title><main>${parts.join('\n')}</main>`;
}

/** The size of `pages` together, in a sentence for the remarks. */
export function describePages(pages) {
  const bytes = pages.reduce((sum, page) => sum + page.bytes, 0);
  return `${pages.length} pages, ${(bytes / 1e6).toFixed(2)} MB of HTML.`;
}
