import {describe, expect, test} from 'vitest';
import {webFetchOptions} from '../../../test/support/every-tool.ts';
import {openTestRuntime} from '../../../test/support/open-test-runtime.ts';
import {fail, type Json, ok} from '../../core/result.ts';
import type {QuoteCheck} from '../../web/read/reading.ts';
import type {DocumentRequest} from '../../web/read-page.ts';
import type {SnapshotPage} from '../../web/snapshots.ts';
import {renderVerifyQuote, type VerifyQuoteData, verifyQuoteTool} from './verify-quote.ts';

const PAGE_URL = 'https://example.com/guide';
const SNAPSHOT = '0123456789abcdef0123456789abcdef';
const REST = {number: 2, heading: 'Rest'};
const PLACE = {start: 10, end: 20, chunk: 3, section: REST};

async function open(checks: readonly QuoteCheck[] = [], snapshots: Readonly<Record<string, string>> = {}) {
  const asked: (DocumentRequest & {readonly quotes: readonly string[]})[] = [];
  const page: SnapshotPage = {
    ...{snapshot: SNAPSHOT, markdown: '', finalUrl: PAGE_URL, fetchedAt: '2026-01-02T03:04:05.678Z'},
    ...{method: 'http' as const, notes: [], facts: {}},
  };
  const tool = verifyQuoteTool(
    {
      quote: async request => {
        asked.push(request);
        return request.url.endsWith('/gone') ? fail('http_4xx', 'Nothing there.') : ok({page, checks});
      },
      snapshotAddress: async snapshot => snapshots[snapshot],
    },
    webFetchOptions(),
  );
  const runtime = await openTestRuntime({tools: [tool], approval: {mode: 'auto'}});
  const call = (params: {[name: string]: Json}) => runtime.call('verify_quote', params);
  const text = async (params: {[name: string]: Json} = {url: PAGE_URL, quote: 'x'}) =>
    tool.renderText((await call(params)).data);
  return {tool, asked, call, text};
}

describe('R1 verify_quote: what is asked', () => {
  test.each<readonly [string, {[name: string]: Json}, object]>([
    ['one quote', {url: PAGE_URL, quote: 'Bees drink.'}, {quotes: ['Bees drink.']}],
    ['several quotes', {url: PAGE_URL, quotes: ['a', 'b']}, {quotes: ['a', 'b']}],
    [
      'how the page is loaded',
      {
        ...{url: PAGE_URL, quote: 'x', snapshot: SNAPSHOT},
        ...{max_age: 5, no_cache: true, force_browser: true},
      },
      {snapshot: SNAPSHOT, max_age: 5, no_cache: true, force_browser: true},
    ],
    ['the address of a snapshot', {snapshot: SNAPSHOT, quote: 'x'}, {snapshot: SNAPSHOT}],
  ])('R1: %s', async (_, params, expected) => {
    const {call, asked} = await open([], {[SNAPSHOT]: PAGE_URL});
    expect((await call(params)).error).toBeNull();
    expect(asked).toEqual([
      {
        url: PAGE_URL,
        snapshot: undefined,
        max_age: undefined,
        no_cache: false,
        force_browser: false,
        quotes: ['x'],
        ...expected,
      },
    ]);
  });

  test.each<readonly [string, {[name: string]: Json}, string]>(
    // biome-ignore format: a case is a line
    [
      ['no page', {quote: 'x'}, 'url: give url or snapshot'],
      ['no quote', {url: PAGE_URL}, 'quote: give either quote or quotes'],
      ['quotes in two ways', {url: PAGE_URL, quote: 'x', quotes: ['x']}, 'quote: give either quote or quotes'],
      ['an empty quote', {url: PAGE_URL, quote: ''}, 'quote: must not be empty'],
      ['a quote that is too long', {url: PAGE_URL, quote: 'x'.repeat(8001)}, 'quote: must have at most 8000 characters, got 8001'],
      ['an empty list', {url: PAGE_URL, quotes: []}, 'quotes: must have at least 1 entry, got 0'],
      ['too many quotes', {url: PAGE_URL, quotes: Array(21).fill('x')}, 'quotes: must have at most 20 entries, got 21'],
      ['a blank address', {url: ' ', quote: 'x'}, 'url: must not be empty or blank'],
    ],
  )('R1: %s is refused', async (_, params, validation) => {
    const {call, asked} = await open();
    expect((await call(params)).error).toMatchObject({error_type: 'bad_args', details: {validation}});
    expect(asked).toEqual([]);
  });

  test('R1: the bounds themselves are taken', async () => {
    const {call} = await open();
    expect((await call({url: PAGE_URL, quote: 'x'.repeat(8000)})).error).toBeNull();
    expect((await call({url: PAGE_URL, quotes: Array(20).fill('x')})).error).toBeNull();
  });

  test('R1: a snapshot that nobody read here needs its address', async () => {
    const {call, asked} = await open();
    expect((await call({snapshot: SNAPSHOT, quote: 'x'})).error).toMatchObject({
      error_type: 'snapshot_gone',
      message: `Nothing was read here under snapshot ${SNAPSHOT}. Give the url of the page too: its snapshot may still be kept.`,
      details: {snapshot: SNAPSHOT},
    });
    expect(asked).toEqual([]);
  });

  test('R1: what fails to load fails the call', async () => {
    const {call} = await open();
    const {error} = await call({url: `${PAGE_URL}/gone`, quote: 'x'});
    expect(error).toMatchObject({error_type: 'http_4xx', message: 'Nothing there.'});
  });

  test('NFR-WF-OP-03: the question names the address, also that of a snapshot', async () => {
    const {tool} = await open([], {[SNAPSHOT]: PAGE_URL});
    for (const params of [
      {url: PAGE_URL, quote: 'x'},
      {snapshot: SNAPSHOT, quote: 'x'},
    ]) {
      const prepared = tool.prepare(params);
      if (!prepared.ok) throw new Error(prepared.error.all);
      expect(await prepared.value.intend({} as never)).toEqual({
        ok: true,
        value: {
          subject: {kind: 'url', values: [PAGE_URL]},
          summary: `verify_quote ${PAGE_URL} (http mode)`,
          preview: 'scheme: https\nhost:   example.com\npath:   /guide',
          fileHashes: {},
        },
      });
    }
  });
});

describe('R1 verify_quote: the answer', () => {
  const checks: readonly QuoteCheck[] = [
    {...PLACE, verdict: 'exact', fragment: ':~:text=Bees'},
    {...PLACE, verdict: 'same', section: {number: 0, heading: ''}},
    {...PLACE, verdict: 'near', share: 0.879, text: 'Bees "drink"'},
    {...PLACE, verdict: 'absent'},
    {verdict: 'absent'},
  ];

  test('R1: data has the link to a quote in the place of its fragment', async () => {
    const {call} = await open(checks);
    expect((await call({url: PAGE_URL, quote: 'x'})).data).toEqual({
      final_url: PAGE_URL,
      fetched_at: '2026-01-02T03:04:05.678Z',
      snapshot: SNAPSHOT,
      checks: [
        {...PLACE, verdict: 'exact', link: `${PAGE_URL}#:~:text=Bees`},
        {...PLACE, verdict: 'same', section: {number: 0, heading: ''}},
        {...PLACE, verdict: 'near', share: 0.879, text: 'Bees "drink"'},
        {...PLACE, verdict: 'absent'},
        {verdict: 'absent'},
      ],
    });
  });

  test('R1: the text has a line for each quote', async () => {
    const {text} = await open(checks);
    expect(await text()).toBe(
      [
        '1. exact · chunk 3, section 2 "Rest" · 10-20 · #:~:text=Bees',
        '2. same but for white space, links, quotation marks, dashes or Markdown · chunk 3 · 10-20',
        '3. NOT as quoted; near (87 %) · "Bees \\"drink\\"" · chunk 3, section 2 "Rest" · 10-20',
        '4. NOT on the page · nearest: chunk 3, section 2 "Rest"',
        '5. NOT on the page',
      ].join('\n'),
    );
  });

  test('R1: one quote has no number', async () => {
    const {text} = await open([{...PLACE, verdict: 'exact'}]);
    expect(await text()).toBe('exact · chunk 3, section 2 "Rest" · 10-20');
  });

  test.each([
    ['160 characters are shown', 'x'.repeat(160), 'x'.repeat(160)],
    ['of 161 there are 160', 'x'.repeat(161), `${'x'.repeat(160)}…`],
    ['no character is halved', `${'x'.repeat(159)}\u{1f41d}`, `${'x'.repeat(159)}…`],
    ['a whole one stays', `${'x'.repeat(158)}\u{1f41d}x`, `${'x'.repeat(158)}\u{1f41d}…`],
  ])('R1: of a near match %s', async (_, words, shown) => {
    const {text} = await open([{...PLACE, verdict: 'near', share: 0.5, text: words}]);
    expect(await text()).toBe(`NOT as quoted; near (50 %) · "${shown}" · chunk 3, section 2 "Rest" · 10-20`);
  });
});

const PAGE = {final_url: 'https://example.com/', fetched_at: '2026-01-02T03:04:05.678Z', snapshot: 's'};
const section = {number: 2, heading: 'Rest'};

test.each<readonly [VerifyQuoteData['checks'][number], string]>([
  [{verdict: 'exact', start: 1, end: 2, chunk: 3, section}, 'exact · chunk 3, section 2 "Rest" · 1-2'],
  [{verdict: 'exact', start: 1, end: 2, chunk: 3}, 'exact · 1-2'],
  [{verdict: 'exact', start: 1, end: 2, section}, 'exact · 1-2'],
  [{verdict: 'exact', link: 'https://example.com/#:~:text=a#b'}, 'exact · #:~:text=a#b'],
  [
    {verdict: 'absent', start: 1, end: 2, chunk: 3, section},
    'NOT on the page · nearest: chunk 3, section 2 "Rest"',
  ],
  [{verdict: 'near', text: 'a "b"'}, 'NOT as quoted; near (0 %) · "a \\"b\\""'],
  [
    {verdict: 'exact', within: ['struck', 'picture']},
    'exact · STRUCK OUT on the page · alternative text of a picture',
  ],
  [{verdict: 'near', share: 0.999}, 'NOT as quoted; near (99 %)'],
])('ruling R1: of %j the line says what there is', (check, line) => {
  expect(renderVerifyQuote({...PAGE, checks: [check]})).toBe(line);
});
