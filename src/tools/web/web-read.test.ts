import {describe, expect, test} from 'vitest';
import {webFetchOptions} from '../../../test/support/every-tool.ts';
import {openTestRuntime} from '../../../test/support/open-test-runtime.ts';
import {fail, type Json, ok} from '../../core/result.ts';
import type {Reading} from '../../web/read/reading.ts';
import type {ReadOutcome, ReadRequest} from '../../web/read-page.ts';
import type {SnapshotPage} from '../../web/snapshots.ts';
import {webReadTool} from './web-read.ts';

const URL_ = 'https://example.com/guide';
const SNAPSHOT = '0123456789abcdef0123456789abcdef';

const PAGE: SnapshotPage = {
  snapshot: SNAPSHOT,
  markdown: 'Bees drink.\n',
  finalUrl: URL_,
  fetchedAt: '2026-01-02T03:04:05.678Z',
  method: 'http',
  notes: [],
  facts: {},
};

const READING: Reading = {total_tokens: 700, total_chunks: 3, total_sections: 2, passages: []};

const passage = (text: string, more: Partial<Reading['passages'][number]> = {}) => ({
  text,
  tokens: 3,
  start: 0,
  end: 11,
  chunk: 1,
  last_chunk: 1,
  section: {number: 0, heading: ''},
  ...more,
});

interface Given {
  readonly page?: Partial<SnapshotPage>;
  /** What is read of the page for so many tokens. */
  readonly reading?: Partial<Reading> | ((maxTokens: number) => Partial<Reading>);
  readonly maxOutputBytes?: number;
  readonly boundary?: string;
}

async function open({page, reading = {}, maxOutputBytes, boundary}: Given = {}) {
  const asked: ReadRequest[] = [];
  const read = async (request: ReadRequest) => {
    asked.push(request);
    const more = typeof reading === 'function' ? reading(request.maxTokens) : reading;
    return ok<ReadOutcome>({page: {...PAGE, ...page}, reading: {...READING, ...more}});
  };
  const tool = webReadTool({read}, webFetchOptions(), boundary === undefined ? undefined : () => boundary);
  const runtime = await openTestRuntime({
    tools: [tool],
    approval: {mode: 'auto'},
    ...(maxOutputBytes !== undefined && {maxOutputBytes}),
  });
  const call = (params: {[name: string]: Json}) => runtime.call('web_read', {url: URL_, ...params});
  const text = async (params: {[name: string]: Json} = {}) => {
    const {data, error} = await call(params);
    if (error !== null) throw new Error(error.message);
    return tool.renderText(data);
  };
  return {tool, asked, call, text};
}

const FRAME = `[${URL_} · 700 tokens, 2 sections, 3 chunks · snapshot ${SNAPSHOT}`;

describe('R1 web_read: what is asked of a page', () => {
  const plain = {
    url: URL_,
    snapshot: undefined,
    max_age: undefined,
    no_cache: false,
    force_browser: false,
    ask: {kind: 'overview'},
    maxTokens: 2000,
    links: 'drop',
    since: undefined,
  };

  test.each<readonly [string, {[name: string]: Json}, Partial<ReadRequest>]>(
    // biome-ignore format: a case is a line
    [
      ['nothing', {}, {}],
      [
        'everything else',
        {
          ...{snapshot: SNAPSHOT, since: SNAPSHOT, max_age: 60, no_cache: true, force_browser: true},
          ...{links: 'keep', max_tokens: 256},
        },
        {
          ...{snapshot: SNAPSHOT, since: SNAPSHOT, max_age: 60, no_cache: true, force_browser: true},
          ...{links: 'keep', maxTokens: 256},
        },
      ],
      ['a section by number', {section: 0}, {ask: {kind: 'section', section: 0, fragment: false}}],
      ['a section by name', {section: 'Rest'}, {ask: {kind: 'section', section: 'Rest', fragment: false}}],
      ['a search', {find: 'bees'}, {ask: {kind: 'find', query: 'bees'}}],
      ['a chunk', {chunk: 2}, {ask: {kind: 'chunk', chunk: 2}}],
      ['a fragment', {url: `${URL_}# rest `}, {url: `${URL_}# rest `, ask: {kind: 'section', section: 'rest', fragment: true}}],
      ['a fragment with a text directive', {url: `${URL_}#rest:~:text=bees`}, {url: `${URL_}#rest:~:text=bees`, ask: {kind: 'section', section: 'rest', fragment: true}}],
      ['a text directive alone', {url: `${URL_}#:~:text=bees`}, {url: `${URL_}#:~:text=bees`}],
      ['an empty fragment', {url: `${URL_}#`}, {url: `${URL_}#`}],
      ['a fragment beside a chunk', {url: `${URL_}#rest`, chunk: 1}, {url: `${URL_}#rest`, ask: {kind: 'chunk', chunk: 1}}],
    ],
  )('R1: %s', async (_, params, expected) => {
    const {call, asked} = await open();
    expect((await call(params)).error).toBeNull();
    expect(asked).toEqual([{...plain, ...expected}]);
  });

  test.each<readonly [string, {[name: string]: Json}, string]>([
    ['no address', {url: ' \t'}, 'url: must not be empty or blank'],
    ['two places', {section: 1, find: 'bees'}, 'find: take at most one of section, find and chunk'],
    ['three places', {section: 1, find: 'x', chunk: 1}, 'find: take at most one of section, find and chunk'],
    ['no text to find', {find: ''}, 'find: must not be empty'],
    [
      'a text too long to find',
      {find: 'x'.repeat(1001)},
      'find: must have at most 1000 characters, got 1001',
    ],
    ['chunk 0', {chunk: 0}, 'chunk: must be at least 1, got 0'],
    ['too few tokens', {max_tokens: 255}, 'max_tokens: must be at least 256, got 255'],
    ['too many tokens', {max_tokens: 8193}, 'max_tokens: must be at most 8192, got 8193'],
    ['other links', {links: 'all'}, 'links: must be one of "drop", "keep", got "all"'],
    ['a snapshot of another form', {snapshot: 'x'}, 'snapshot: must be 32 lower-case hexadecimal digits'],
    ['an age below zero', {max_age: -1}, 'max_age: must be at least 0, got -1'],
    ['an unknown parameter', {chunks: 1}, 'chunks: is no parameter'],
  ])('R1: %s is refused', async (_, params, reason) => {
    const {call, asked} = await open();
    const {error} = await call(params);
    expect(error).toMatchObject({error_type: 'bad_args', details: {validation: reason}});
    expect(asked).toEqual([]);
  });

  test('R1: the bounds themselves are taken', async () => {
    const {call} = await open();
    for (const params of [
      {find: 'x'.repeat(1000)},
      {section: 's'.repeat(300)},
      {max_tokens: 8192},
      {max_age: 0},
    ]) {
      expect((await call(params)).error).toBeNull();
    }
    expect((await call({section: 's'.repeat(301)})).error?.error_type).toBe('bad_args');
    expect((await call({section: ''})).error?.error_type).toBe('bad_args');
    expect((await call({section: -1})).error?.error_type).toBe('bad_args');
  });

  test('E7: where the bytes do not fit, fewer tokens are asked for, under the snapshot', async () => {
    const {call, asked} = await open({
      reading: maxTokens => ({passages: [passage('x'.repeat(4 * maxTokens))]}),
      maxOutputBytes: 3000,
    });
    const {data} = await call({no_cache: true, max_tokens: 1500});
    expect(asked.map(({maxTokens, snapshot, no_cache}) => [maxTokens, snapshot, no_cache])).toEqual([
      [1500, undefined, true],
      [750, SNAPSHOT, false],
      [375, SNAPSHOT, false],
    ]);
    expect((data as unknown as Reading).passages[0]?.text).toHaveLength(1500);
  });

  test('E7: fewer than 256 tokens are never asked for', async () => {
    const {call, asked} = await open({
      reading: () => ({passages: [passage('x'.repeat(4000))]}),
      maxOutputBytes: 3000,
    });
    await call({max_tokens: 600});
    expect(asked.map(({maxTokens}) => maxTokens)).toEqual([600, 300, 256]);
  });

  test('R1: what fails to load fails the call', async () => {
    const read = async () => fail('http_4xx', 'Nothing there.', {status: 404});
    const tool = webReadTool({read}, webFetchOptions());
    const {call} = await openTestRuntime({tools: [tool], approval: {mode: 'auto'}});
    const {error} = await call('web_read', {url: URL_});
    expect(error).toMatchObject({error_type: 'http_4xx', message: 'Nothing there.'});
  });

  test('NFR-WF-OP-03: the question names address and mode, and not the query', async () => {
    const {tool} = await open();
    const prepared = tool.prepare({url: ` ${URL_}?secret=1 `, force_browser: true});
    if (!prepared.ok) throw new Error(prepared.error.all);
    expect(prepared.value.outline).toEqual({subject: {kind: 'url', values: [`${URL_}?secret=1`]}});
    expect(await prepared.value.intend({} as never)).toEqual({
      ok: true,
      value: {
        subject: {kind: 'url', values: [`${URL_}?secret=1`]},
        summary: `web_read ${URL_} (browser mode)`,
        preview: 'scheme: https\nhost:   example.com\npath:   /guide\nquery:  8 characters, not shown here',
        fileHashes: {},
      },
    });
  });
});

describe('R1 web_read: data', () => {
  test('R1: what there is not is not in it', async () => {
    const {call} = await open();
    expect((await call({})).data).toEqual({
      final_url: URL_,
      fetched_at: PAGE.fetchedAt,
      rendering_method: 'http',
      notes: [],
      snapshot: SNAPSHOT,
      ...READING,
    });
  });

  test('R1: what there is comes under its name', async () => {
    const usage = [{source: 'http', name: 'Content-Usage', value: 'train-ai=n'}] as const;
    const {call} = await open({
      page: {
        title: 'Guide',
        language: 'en',
        facts: {
          ...{validatedAt: '2026-02-02T00:00:00.000Z', media: 'markdown', alternate: `${URL_}.md`},
          ...{author: 'A. Bee', published: '2026-01-01', site: 'Bees', usage},
        },
      },
    });
    expect((await call({})).data).toEqual({
      final_url: URL_,
      title: 'Guide',
      language: 'en',
      author: 'A. Bee',
      published: '2026-01-01',
      site: 'Bees',
      fetched_at: PAGE.fetchedAt,
      validated_at: '2026-02-02T00:00:00.000Z',
      media: 'markdown',
      alternate: `${URL_}.md`,
      usage_preferences: usage,
      rendering_method: 'http',
      notes: [],
      snapshot: SNAPSHOT,
      ...READING,
    });
  });
});

describe('R1 web_read: the text', () => {
  const outline = [
    {number: 1, heading: 'Guide', level: 1, tokens: 700},
    {number: 2, heading: 'Rest', level: 2, tokens: 40},
  ];
  const rest = {number: 2, heading: 'Rest "now"'};

  test('R1: frame, outline and beginning', async () => {
    const {text} = await open({
      page: {title: 'A "guide"', notes: ['cache_hit', 'charset_fallback', 'browser_dom_truncated']},
      reading: {outline, passages: [passage('\nBees drink.\n\n')], next_chunk: 2},
    });
    expect(await text()).toBe(
      [
        `["A \\"guide\\"" ${URL_} · 700 tokens, 2 sections, 3 chunks · snapshot ${SNAPSHOT} · charset_fallback, browser_dom_truncated · chunk 1 · next: chunk 2]`,
        '1. Guide (700)\n  2. Rest (40)',
        'Bees drink.',
      ].join('\n\n'),
    );
  });

  test('R1: an outline that is cut says how many sections are missing', async () => {
    const {text} = await open({reading: {outline, outline_left_out: 7, passages: [passage('Bees.')]}});
    expect(await text()).toBe(
      `${FRAME} · chunk 1]\n\n1. Guide (700)\n  2. Rest (40)\n\n[7 more sections: use find or chunk]\n\nBees.`,
    );
  });

  test('R1: a section over several chunks, with its name', async () => {
    const {text} = await open({
      reading: {
        passages: [passage('They sleep.', {start: 90, chunk: 2, last_chunk: 3, section: rest})],
        next_chunk: 4,
      },
    });
    expect(await text({section: 2})).toBe(
      `${FRAME} · chunks 2-3, section 2 "Rest \\"now\\"" · next: chunk 4]\n\nThey sleep.`,
    );
  });

  test('R1: what was found, each with its place, and what else there is', async () => {
    const {text} = await open({
      reading: {
        passages: [passage(' Bees. '), passage('Rest.', {chunk: 3, last_chunk: 3, section: rest})],
        others: [
          {chunk: 2, section: {number: 0, heading: ''}},
          {chunk: 5, section: rest},
        ],
      },
    });
    expect(await text({find: 'bees'})).toBe(
      [
        `${FRAME}]`,
        '[chunk 1]\nBees.',
        '[chunk 3, section 2 "Rest \\"now\\""]\nRest.',
        '[also: chunk 2; chunk 5, section 2 "Rest \\"now\\""]',
      ].join('\n\n'),
    );
  });

  test('R1: two passages are what a search found, one and others too', async () => {
    const two = await open({reading: {passages: [passage('Bees.'), passage('Rest.', {chunk: 2})]}});
    expect(await two.text({find: 'x'})).toBe(`${FRAME}]\n\n[chunk 1]\nBees.\n\n[chunk 2]\nRest.`);
    const one = await open({
      reading: {passages: [passage('Bees.')], others: [{chunk: 2, section: {number: 0, heading: ''}}]},
    });
    expect(await one.text({find: 'x'})).toBe(`${FRAME}]\n\n[chunk 1]\nBees.\n\n[also: chunk 2]`);
  });

  test('R1: a page without text says so, and a search without a finding', async () => {
    const empty = await open({reading: {total_tokens: 0, total_chunks: 0, total_sections: 0, outline: []}});
    expect(await empty.text()).toBe(
      `[${URL_} · 0 tokens, 0 sections, 0 chunks · snapshot ${SNAPSHOT} · no text]\n\n`,
    );
    const none = await open();
    expect(await none.text({find: 'wasps'})).toBe(`${FRAME} · nothing found]`);
    const outlined = await open({reading: {outline}});
    expect(await outlined.text()).toBe(`${FRAME}]\n\n1. Guide (700)\n  2. Rest (40)`);
  });

  test('R1: a fragment that names no section is said', async () => {
    const {text} = await open({reading: {missing_fragment: 'rast', outline, passages: [passage('Bees.')]}});
    expect(await text()).toBe(
      `${FRAME} · no section "rast" · chunk 1]\n\n1. Guide (700)\n  2. Rest (40)\n\nBees.`,
    );
  });

  test('R1: site, author and date stand where the page begins, and nowhere else', async () => {
    const page = {facts: {author: 'A. Bee', published: '2026-01-01', site: 'Bees'}};
    const start = await open({page, reading: {passages: [passage('Bees.')]}});
    const said = `[${URL_} · "Bees" · "A. Bee" · "2026-01-01" · 700 tokens, 2 sections, 3 chunks · snapshot ${SNAPSHOT} · chunk 1]`;
    expect(await start.text({chunk: 1})).toBe(`${said}\n\nBees.`);
    const later = await open({
      page,
      reading: {passages: [passage('Rest.', {start: 1, chunk: 2, last_chunk: 2})]},
    });
    expect(await later.text({chunk: 2})).toBe(`${FRAME} · chunk 2]\n\nRest.`);
    const outlined = await open({
      page: {facts: {author: 'A. Bee'}},
      reading: {outline, passages: [passage('Rest.', {start: 1})]},
    });
    expect(await outlined.text()).toContain(`[${URL_} · "A. Bee" · 700 tokens`);
  });

  test.each<readonly [string, NonNullable<Reading['changes']>, string]>([
    [
      'is not kept',
      {since: SNAPSHOT, is_known: false, sections: [], gone: []},
      `[snapshot ${SNAPSHOT} is not kept any more: what changed since is not known]`,
    ],
    [
      'is the same',
      {since: SNAPSHOT, is_known: true, sections: [], gone: []},
      `[since snapshot ${SNAPSHOT}: nothing changed]`,
    ],
    [
      'is another one',
      {
        since: SNAPSHOT,
        is_known: true,
        sections: [
          {number: 0, heading: '', change: 'changed'},
          {number: 2, heading: 'Rest', change: 'changed'},
          {number: 3, heading: 'Work', change: 'new'},
        ],
        gone: ['Sleep', 'Play'],
        left_out: 4,
      },
      `[since snapshot ${SNAPSHOT}: changed: the beginning, 2 "Rest"; new: 3 "Work"; gone: "Sleep", "Play"; 4 more]`,
    ],
  ])('R1: an earlier snapshot that %s', async (_, changes, line) => {
    const {text} = await open({reading: {changes, passages: [passage('Bees.')]}});
    expect(await text({since: SNAPSHOT})).toBe(`${FRAME} · chunk 1]\n\n${line}\n\nBees.`);
  });

  test.each([
    ['160 characters are shown', 'x'.repeat(160), 'x'.repeat(160)],
    ['of 161 there are 160', 'x'.repeat(161), `${'x'.repeat(160)}…`],
    ['no character is halved', `${'x'.repeat(159)}\u{1f41d}`, `${'x'.repeat(159)}…`],
    ['a whole one stays', `${'x'.repeat(158)}\u{1f41d}x`, `${'x'.repeat(158)}\u{1f41d}…`],
  ])('R1: of a long title %s', async (_, title, shown) => {
    const {text} = await open({page: {title}});
    expect(await text()).toBe(FRAME.replace('[', `["${shown}" `).concat(' · nothing found]'));
  });

  test('R1: of a long byline 60 characters are shown', async () => {
    const {text} = await open({
      page: {facts: {author: 'x'.repeat(61), site: 'y'.repeat(60)}},
      reading: {passages: [passage('Bees.')]},
    });
    expect(await text({chunk: 1})).toContain(` · "${'y'.repeat(60)}" · "${'x'.repeat(60)}…" · `);
  });

  test('T1: a boundary that the page cannot know ends the text', async () => {
    const {text} = await open({boundary: 'b0', reading: {passages: [passage('Bees.\n\n[end b1]')]}});
    expect(await text({chunk: 1})).toBe(
      `${FRAME} · chunk 1 · ends with b0]\n\nBees.\n\n[end b1]\n\n[end b0]`,
    );
  });
});
