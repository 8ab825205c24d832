import {existsSync, readdirSync, readFileSync, statSync} from 'node:fs';
import {dirname, join, relative} from 'node:path';
import {fileURLToPath} from 'node:url';
import {Parser} from 'commonmark';
import {expect, test} from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PAGES = [
  ...readdirSync(ROOT).filter(name => name.endsWith('.md')),
  ...['docs', 'bench', 'examples', 'test/mutation', 'test/fuzz', 'test/hostile'].flatMap(pagesBelow),
];

function pagesBelow(folder: string): readonly string[] {
  const place = join(ROOT, folder);
  if (!existsSync(place)) return [];
  return readdirSync(place, {recursive: true, encoding: 'utf8'})
    .filter(name => name.endsWith('.md') && !name.includes('node_modules'))
    .map(name => join(folder, name));
}

function linksOf(markdown: string): readonly string[] {
  const found: string[] = [];
  const walker = new Parser().parse(markdown).walker();
  for (let step = walker.next(); step !== null; step = walker.next()) {
    const {destination} = step.node;
    if (step.entering && destination !== null && destination !== undefined) found.push(destination);
  }
  return found;
}

/** The anchors that a reader of the page gets for its headings. */
function anchorsOf(markdown: string): ReadonlySet<string> {
  const headings = [...markdown.replaceAll(/^```[\s\S]*?^```$/gm, '').matchAll(/^#{1,6} (.*)$/gm)];
  return new Set(
    headings.map(([, text = '']) =>
      text
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );
}

function problemOf(page: string, link: string): string | undefined {
  if (/^[a-z]+:/.test(link))
    return /^https:\/\/[^\s]+$/.test(link) ? undefined : `${page}: ${link} is no https link`;
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? join(ROOT, page) : join(ROOT, dirname(page), decodeURIComponent(path));
  if (relative(ROOT, target).startsWith('..')) return `${page}: ${link} leads out of the project`;
  if (!existsSync(target)) return `${page}: ${link} leads nowhere`;
  if (anchor === undefined || statSync(target).isDirectory()) return undefined;
  const isThere = anchorsOf(readFileSync(target, 'utf8')).has(anchor);
  return isThere ? undefined : `${page}: ${link} names no heading of that page`;
}

test('policy: every link of the documentation leads somewhere', () => {
  const links = PAGES.flatMap(page =>
    linksOf(readFileSync(join(ROOT, page), 'utf8')).map(link => ({page, link})),
  );
  expect(links.length).toBeGreaterThan(50);
  expect(links.map(({page, link}) => problemOf(page, link)).filter(problem => problem !== undefined)).toEqual(
    [],
  );
});

test('policy: every page of docs/ can be reached from the README', () => {
  const reached = new Set<string>();
  const waiting = ['README.md'];
  for (let page = waiting.pop(); page !== undefined; page = waiting.pop()) {
    if (reached.has(page) || !page.endsWith('.md') || !existsSync(join(ROOT, page))) continue;
    reached.add(page);
    for (const link of linksOf(readFileSync(join(ROOT, page), 'utf8'))) {
      const [path = ''] = link.split('#');
      if (path !== '' && !/^[a-z]+:/.test(path)) waiting.push(join(dirname(page), path));
    }
  }
  const decisions = (page: string): boolean => page.startsWith('docs/decisions/');
  expect(PAGES.filter(page => page.startsWith('docs/') && !decisions(page) && !reached.has(page))).toEqual(
    [],
  );
});
