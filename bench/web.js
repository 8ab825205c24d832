// Prints MB/s of each stage of a fetch, over real pages, and how the whole grows with the page.
// usage: npm run build && node bench/web.js [--pages DIR] [--rounds N]
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {parseArgs} from 'node:util';
import {chunkMarkdown} from '../dist/web/chunk/chunk-markdown.js';
import {extractHtml} from '../dist/web/extract/extract-html.js';
import {parseHtml} from '../dist/web/extract/parse-html.js';
import {countTokens} from '../dist/web/tokens/count-tokens.js';

const {values} = parseArgs({options: {pages: {type: 'string'}, rounds: {type: 'string', default: '5'}}});
const rounds = Number(values.rounds);
const BASE = 'https://bench.example/page';
const OPTIONS = {baseUrl: BASE, honorBaseHref: false};
const MAX_TOKENS = 600;

const pages = loadPages();
const bytes = pages.reduce((sum, page) => sum + Buffer.byteLength(page.html), 0);
console.log(
  `${pages.length} pages, ${(bytes / 1e6).toFixed(2)} MB of HTML, ${rounds} rounds, Node ${process.version}\n`,
);

const markdowns = pages.map(page => extractHtml(page.html, OPTIONS).markdown);
const markdownBytes = markdowns.reduce((sum, text) => sum + Buffer.byteLength(text), 0);

console.log('stage                      MB/s (median of the rounds, min … max), of');
row('parse (WHATWG tree)', bytes, 'HTML', () => each(pages, page => parseHtml(page.html)));
row('extract (parse included)', bytes, 'HTML', () => each(pages, page => extractHtml(page.html, OPTIONS)));
row('count tokens', markdownBytes, 'Markdown', () => each(markdowns, countTokens));
row('chunk (counting included)', markdownBytes, 'Markdown', () =>
  each(markdowns, text => chunkMarkdown(text, MAX_TOKENS, countTokens)),
);
row('whole: HTML to chunks', bytes, 'HTML', () => each(pages, page => whole(page.html)));

console.log('\ngrowth of the whole        time     per MB');
const article = pages.toSorted((a, b) => b.html.length - a.html.length)[0].html;
for (const size of [10_000, 100_000, 1_000_000, 10_000_000]) {
  const html = grow(article, size);
  const ms = median(times(() => whole(html), size > 1_000_000 ? 2 : rounds));
  console.log(
    `${label(size).padEnd(24)} ${ms.toFixed(1).padStart(8)} ms ${((ms * 1e6) / html.length).toFixed(1).padStart(8)} ms`,
  );
}

function each(items, work) {
  for (const item of items) work(item);
}

function whole(html) {
  return chunkMarkdown(extractHtml(html, OPTIONS).markdown, MAX_TOKENS, countTokens);
}

function row(name, size, of, work) {
  const ms = times(work, rounds).toSorted((a, b) => a - b);
  const rate = time => (size / 1e3 / time).toFixed(1);
  console.log(
    `${name.padEnd(26)} ${rate(median(ms)).padStart(6)} (${rate(ms.at(-1))} … ${rate(ms[0])}) ${of}`,
  );
}

function times(work, count) {
  work();
  return Array.from({length: count}, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

function label(size) {
  return size >= 1_000_000 ? `${size / 1_000_000} MB` : `${size / 1000} KB`;
}

/** The body of a page repeated up to a size, so that the document stays one well-formed page. */
function grow(html, size) {
  const start = html.indexOf('<p');
  const end = html.lastIndexOf('</p>') + 4;
  const body = start >= 0 && end > start ? html.slice(start, end) : html;
  const paragraphs = body.split(/(?=<p[ >])/).filter(part => /^<p[\s\S]*<\/p>$/.test(part.trim()));
  const unit = paragraphs.length > 0 ? paragraphs.join('\n') : '<p>Lorem ipsum dolor sit amet.</p>';
  const copies = Math.ceil(size / unit.length);
  return `<!DOCTYPE html><title>Grown</title><main>${unit.repeat(copies).slice(0, size)}</main>`;
}

function loadPages() {
  const shared = join(import.meta.dirname, '../../shared/data/pages');
  const fixtures = join(import.meta.dirname, '../test/fixtures/pages');
  const directory = values.pages ?? (existsSync(shared) ? shared : fixtures);
  return readdirSync(directory, {recursive: true})
    .filter(name => name.endsWith('.html'))
    .sort()
    .map(name => ({name, html: readFileSync(join(directory, name), 'utf8')}));
}
