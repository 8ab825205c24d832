import {existsSync, readdirSync, readFileSync} from 'node:fs';
import fc from 'fast-check';
import {describe, expect, onTestFinished, test} from 'vitest';
import {createManualClock} from '../../test/support/manual-clock.ts';
import {readCommonMark} from '../../test/support/read-commonmark.ts';
import {systemClock} from '../core/clock.ts';
import {LruCache} from '../core/lru-cache.ts';
import {globFiles, InMemoryFileSystem} from '../workspace/memory-workspace.ts';
import {planChunks} from './chunk/plan-chunks.ts';
import {WorkerPool} from './convert/worker-pool.ts';
import {planPage} from './fetch-page.ts';
import {cacheVariant, mediaVariant} from './find-cached.ts';
import {isOwnText} from './load-shared.ts';
import type {CanonicalUrl, Page} from './page.ts';
import {
  canonicalizeUrl,
  chunkMarkdown,
  countTokens,
  htmlToMarkdown,
  isAllowedByRobots,
  parseRobots,
} from './public-api.ts';
import {isJsHeavy} from './rendering.ts';
import type {WebContext} from './web-context.ts';

const options = (mode: 'full' | 'reader', accept_markdown = false) => ({
  http: {use_system_proxy: false, accept_markdown},
  extraction: {honor_base_href: false, mode},
});
const terms = (...accepts: readonly ('json' | 'markdown')[]) => ({
  accepts: new Set(accepts),
  maxAgeMs: undefined,
});

test('R2: the page of the mode of the SRD has the SRD’s address, and that of readers another one', () => {
  expect(cacheVariant(undefined, options('full'))).toBe('');
  expect(cacheVariant(undefined, options('reader'))).toBe('reader');
});

test('R3: other media make another page, in either mode, in one order', () => {
  expect(cacheVariant(terms('markdown', 'json'), options('full'))).toBe('json+markdown');
  expect(cacheVariant(terms('json'), options('reader'))).toBe('json,reader');
  expect(cacheVariant(terms('markdown'), options('full', true))).toBe('');
  expect(mediaVariant(terms('json'), options('reader'))).toBe('json');
});

test('FR-WF-CCH-CONTENT-01 the plan of a page is used for chunks of its size, and others are planned', async () => {
  const markdown = 'Some words of a page.\n\n'.repeat(200);
  const plan = {maxTokens: 600, chunks: []};
  const page = {markdown, plan} as unknown as Page;
  const workers = new WorkerPool();
  onTestFinished(() => workers.close());
  const web = {options: {timeout_seconds: 60}, workers, clock: systemClock} as WebContext;
  expect(await planPage(page, 600, undefined, web)).toEqual({ok: true, value: plan});
  for (const maxTokens of [128, 601]) {
    const expected = planChunks(markdown, {maxTokens, countTokens});
    expect(await planPage(page, maxTokens, undefined, web)).toEqual({ok: true, value: expected});
  }
});

const url = (name: string) => `https://${name}.example/` as CanonicalUrl;

test('F2: a redirect is known until its time is over, and anew from when it is seen again', () => {
  const clock = createManualClock();
  const redirects = new LruCache<CanonicalUrl>({entries: 10, ttlMs: 1000}, clock);
  redirects.set(url('a'), url('b'));
  expect(redirects.peek(url('b'))).toBeUndefined();
  clock.advance(999);
  expect(redirects.peek(url('a'))).toBe(url('b'));
  redirects.set(url('a'), url('c'));
  clock.advance(999);
  expect(redirects.peek(url('a'))).toBe(url('c'));
  clock.advance(1);
  expect(redirects.peek(url('a'))).toBeUndefined();
});

test('F2: no more are known than there is room for, and the oldest goes first', () => {
  const redirects = new LruCache<CanonicalUrl>({entries: 2, ttlMs: 1000}, createManualClock());
  const known = () => ['a', 'b', 'c', 'd'].filter(name => redirects.peek(url(name)) !== undefined);
  redirects.set(url('a'), url('x'));
  redirects.set(url('b'), url('x'));
  expect(known()).toEqual(['a', 'b']);
  redirects.set(url('a'), url('y'));
  expect(known()).toEqual(['a', 'b']);
  redirects.set(url('c'), url('x'));
  expect(known()).toEqual(['a', 'c']);
  redirects.set(url('d'), url('x'));
  expect(known()).toEqual(['c', 'd']);
});

test('F2: without room nothing is known', () => {
  const redirects = new LruCache<CanonicalUrl>({entries: 0, ttlMs: 1000}, createManualClock());
  redirects.set(url('a'), url('x'));
  expect(redirects.peek(url('a'))).toBeUndefined();
});

const PAGES = new URL('../../test/fixtures/pages/', import.meta.url);

const said = (
  markdown: string,
  more: Parameters<typeof isOwnText>[1] & {title?: string; language?: string} = {},
) => {
  const {title, language, ...facts} = more;
  return isOwnText(
    {markdown, ...(title !== undefined && {title}), ...(language !== undefined && {language})},
    facts,
  );
};

test.each([
  ['an escape sequence', 'a\u001b[31mb'],
  ['NUL', 'a\0b'],
  ['an invisible character', 'a\u200bb'],
  ['raw HTML', 'a <b>c'],
  ['a comment', '<!-- a -->'],
  ['a link that runs something', '[a](javascript:alert(1))'],
  ['such a link, escaped', '[a](javascript\\:alert)'],
  ['such a link, with an entity', '[a](javascript&colon;alert)'],
  ['such a link, elsewhere', '[a]\n\n[a]: data:text/html,x'],
  ['HTML behind a quoted fence', '> ```\n<script>'],
  ['HTML behind a fence of an item', '- ```\n<script>'],
  ['HTML behind a quoted fence that is indented code', '>     ~~~\n> <script>'],
  ['HTML behind a blank line in a quote', '> ```\n\n> <script>\n> ```'],
  ['HTML between two runs of backticks', 'a ` b\nc ` <script> ` d'],
  ['HTML behind an address', '<https://a/`> <script> `'],
])('red team G9: is none with %s', (_, markdown) => {
  expect(said(markdown)).toBe(false);
});

test.each([
  ['a title', {title: 'a\nb'}],
  ['a language', {language: '\u001b]0;x'}],
  ['an author', {author: 'a\u001b[31m'}],
  ['a date', {published: 'z\u0007'}],
  ['another form', {alternate: 'javascript:alert(1)'}],
])('red team G9: is none with %s that we would have cleaned', (_, more) => {
  expect(said('a', more)).toBe(false);
});

test.each(
  readdirSync(PAGES).flatMap(page => {
    const path = new URL(`${page}/expected.md`, PAGES);
    return existsSync(path) ? [[page, readFileSync(path, 'utf8')] as const] : [];
  }),
)('red team G9: %s, which we extracted, is one', (page, markdown) => {
  // Code right behind the text of a nested item is not certain, so the page is fetched again.
  expect(said(markdown)).toBe(page !== 'nested-lists');
});

test('red team G9: what is one has no HTML and no such link to CommonMark', () => {
  const piece = fc.constantFrom(
    ...[
      '`',
      '``',
      '```',
      '~~~',
      '\n',
      '\n\n',
      '> ',
      '- ',
      '1. ',
      '10) ',
      '  ',
      '    ',
      '\\',
      '|',
      ' ',
      'a',
      '# ',
    ],
    ...['<b>', '<!--', '<https://a>', '[a](', '[a]: ', ')', 'javascript:x', 'https://b', '<', '>', '&lt;'],
  );
  fc.assert(
    fc.property(fc.array(piece, {maxLength: 24}), pieces => {
      const markdown = pieces.join('');
      if (!said(markdown)) return;
      const {html, links} = readCommonMark(markdown);
      expect(html).toEqual([]);
      for (const {target} of links) expect(target).not.toMatch(/^\s*javascript:/i);
    }),
    {numRuns: 2000},
  );
});

const any = (value: unknown) => value as never;

test.each<[string, () => unknown, string]>(
  // biome-ignore format: a case is a line
  [
    ['countTokens', () => countTokens(any(7)), 'Expected text to be a string, got 7.'],
    ['countTokens', () => countTokens(any(undefined)), 'Expected text to be a string, got undefined.'],
    ['countTokens', () => countTokens(any(new Uint8Array(1))), 'Expected text to be a string, got an instance of Uint8Array. Decode the bytes first, such as by new TextDecoder().'],
    ['chunkMarkdown', () => chunkMarkdown(any(null), 10), 'Expected markdown to be a string, got null.'],
    ['chunkMarkdown', () => chunkMarkdown('a', 0), 'Expected maxTokens to be an integer of at least 1, got 0.'],
    ['chunkMarkdown', () => chunkMarkdown('a', 1.5), 'Expected maxTokens to be an integer of at least 1, got 1.5.'],
    ['chunkMarkdown', () => chunkMarkdown('a', any('9')), 'Expected maxTokens to be an integer of at least 1, got "9".'],
    ['htmlToMarkdown', () => htmlToMarkdown(any({}), 'https://a.example/'), 'Expected html to be a string, got an instance of Object.'],
    ['htmlToMarkdown', () => htmlToMarkdown('', any(true)), 'Expected baseUrl to be a string, got true.'],
    ['canonicalizeUrl', () => canonicalizeUrl(any(new URL('https://a.example/'))), 'Expected input to be a string, got an instance of URL.'],
    ['parseRobots', () => parseRobots(any(() => 1)), 'Expected text to be a string, got a function.'],
    ['isAllowedByRobots', () => isAllowedByRobots(any({}), 'bot', '/'), 'Expected robots to come from parseRobots.'],
    ['isAllowedByRobots', () => isAllowedByRobots(parseRobots(''), any(1), '/'), 'Expected token to be a string, got 1.'],
    ['isAllowedByRobots', () => isAllowedByRobots(parseRobots(''), 'bot', any(1)), 'Expected pathAndQuery to be a string, got 1.'],
  ],
)('policy: %s says which argument is wrong, what came, and what helps', (_, call, message) => {
  expect(call).toThrow(new TypeError(message));
});

test('policy: globFiles says the same', async () => {
  const files = new InMemoryFileSystem({'a.ts': ''});
  await expect(globFiles(files, any(7))).rejects.toThrow('Expected pattern to be a string, got 7.');
  await expect(globFiles(files, '*', any(7))).rejects.toThrow('Expected root to be a string, got 7.');
  expect(await globFiles(files, '*.ts')).toMatchObject({ok: true, value: ['a.ts']});
});

test('policy: arguments that are right do what they did', () => {
  expect(countTokens('one two')).toBe(2);
  expect(chunkMarkdown('one two', 10)).toHaveLength(1);
  expect(isAllowedByRobots(parseRobots('User-agent: *\nDisallow: /x'), 'bot', '/x')).toBe(false);
});

describe('T-WF-REN-01 js_heavy_domains', () => {
  test.each([
    ['example.com', 'example.com', true],
    ['example.com', 'a.example.com', false],
    ['.example.com', 'a.example.com', true],
    ['.example.com', 'a.b.example.com', true],
    ['.example.com', 'example.com', false],
    ['.example.com', 'notexample.com', false],
    ['EXAMPLE.com', 'example.com', true],
    ['münchen.example', 'xn--mnchen-3ya.example', true],
    ['.münchen.example', 'shop.xn--mnchen-3ya.example', true],
    ['example.com.', 'example.com', true],
    ['', 'example.com', false],
    ['.', 'example.com', false],
    ['not a host', 'example.com', false],
  ])('T-WF-REN-01 %j against host %j: %j', (entry, name, expected) => {
    expect(isJsHeavy(name, [entry])).toBe(expected);
  });

  test('T-WF-REN-01 any entry of the list may match', () => {
    expect(isJsHeavy('b.example', ['a.example', '.b.example', 'b.example'])).toBe(true);
    expect(isJsHeavy('b.example', [])).toBe(false);
  });
});
