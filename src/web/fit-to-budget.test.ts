import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {fitToBudget, orderNotes, truncateText, type UnfittedResponse} from './fit-to-budget.ts';
import {type FetchChunk, type FetchResponse, NOTE_ORDER, type Note} from './page.ts';
import {countTokens} from './tokens/count-tokens.ts';

const chunkOf = (text: string, heading = 'H'): FetchChunk => ({
  heading,
  text,
  token_count: countTokens(text),
});

const page = (chunks: readonly FetchChunk[], notes: readonly Note[] = []): UnfittedResponse => ({
  requested_url: 'https://example.com/ä',
  final_url: 'https://example.com/%C3%A4',
  fetched_at: '2025-01-01T00:00:00.000Z',
  title: 'Title "quoted"',
  language: 'de',
  chunks,
  rendering_method: 'http',
  notes,
});

function fitted(unfitted: UnfittedResponse, maxBytes: number): {response: FetchResponse; json: string} {
  const result = fitToBudget(unfitted, maxBytes, countTokens);
  if (!result.ok) throw new Error(`Expected a response, got ${result.error.message}.`);
  return {response: result.value, json: JSON.stringify(result.value)};
}

/** The response as FR-WF-OUT-01 would serialise it with these chunks, written the slow way. */
function serialise(unfitted: UnfittedResponse, chunks: readonly FetchChunk[], cut: boolean): string {
  const {rendering_method, notes, chunks: _, ...head} = unfitted;
  const all: Note[] = cut ? [...notes, 'tool_output_limit'] : [...notes];
  const reason = (
    ['tool_output_limit', 'browser_dom_truncated', 'browser_timeout_dom_partial'] as const
  ).find(r => all.includes(r));
  return JSON.stringify({
    ...head,
    chunks,
    rendering_method,
    truncated: reason !== undefined,
    truncation_reason: reason,
    notes: NOTE_ORDER.filter(note => all.includes(note)),
  });
}

const texts = fc.string({
  unit: fc.constantFrom(
    'a',
    ' word',
    '"',
    '\\',
    '\n',
    '\t',
    '\u0001',
    '\u000b',
    '\u007f',
    'é',
    '的',
    '\u2028',
    '😀',
    '\ud800',
    '\udc00',
    '9',
  ),
  maxLength: 60,
});
const pages = fc
  .tuple(fc.array(texts, {maxLength: 8}), fc.subarray([...NOTE_ORDER].slice(0, -1)))
  .map(([all, notes]) =>
    page(
      all.map(text => chunkOf(text)),
      notes,
    ),
  );

describe('T-WF-CHK-05 output fits effective_max_bytes', () => {
  test('T-WF-CHK-05 the JSON of the response is never larger', () => {
    fc.assert(
      fc.property(pages, fc.integer({min: 0, max: 2500}), (unfitted, maxBytes) => {
        const result = fitToBudget(unfitted, maxBytes, countTokens);
        if (!result.ok) return;
        expect(Buffer.byteLength(JSON.stringify(result.value))).toBeLessThanOrEqual(maxBytes);
      }),
      {numRuns: 2000},
    );
  });

  test('T-WF-CHK-05 the output is what dropping chunks, then code points, one by one gives', () => {
    fc.assert(
      fc.property(pages, fc.integer({min: 250, max: 1500}), (unfitted, maxBytes) => {
        const result = fitToBudget(unfitted, maxBytes, countTokens);
        expect(result.ok ? JSON.stringify(result.value) : undefined).toBe(oneByOne(unfitted, maxBytes));
      }),
      {numRuns: 1000},
    );
  });

  function oneByOne(unfitted: UnfittedResponse, maxBytes: number): string | undefined {
    const fits = (json: string) => Buffer.byteLength(json) <= maxBytes;
    const whole = serialise(unfitted, unfitted.chunks, false);
    if (fits(whole)) return whole;
    for (let count = unfitted.chunks.length; count > 0; count--) {
      const json = serialise(unfitted, unfitted.chunks.slice(0, count), true);
      if (fits(json)) return json;
    }
    const [first] = unfitted.chunks;
    if (!first) return undefined;
    const points = [...first.text];
    for (let count = points.length; count >= 0; count--) {
      const text = points.slice(0, count).join('');
      const json = serialise(unfitted, [{...first, text, token_count: countTokens(text)}], true);
      if (fits(json)) return json;
    }
    return undefined;
  }

  test('T-WF-CHK-05 what fits exactly is returned whole; one byte less drops the last chunk', () => {
    const unfitted = page([chunkOf('first'), chunkOf('second '.repeat(50)), chunkOf('third '.repeat(50))]);
    const size = Buffer.byteLength(serialise(unfitted, unfitted.chunks, false));
    expect(fitted(unfitted, size).response).toMatchObject({
      truncated: false,
      notes: [],
      chunks: unfitted.chunks,
    });
    expect(fitted(unfitted, size - 1).response).toMatchObject({
      truncated: true,
      truncation_reason: 'tool_output_limit',
      notes: ['tool_output_limit'],
      chunks: unfitted.chunks.slice(0, 2),
    });
  });

  test('T-WF-CHK-05 chunks beyond the limit are not serialised', () => {
    const beyond = {
      heading: '',
      token_count: 1,
      get text(): string {
        throw new Error('Expected this chunk to be left alone.');
      },
    };
    const filler = chunkOf('x'.repeat(200));
    expect(fitted(page([filler, filler, filler, filler, beyond]), 700).response.chunks.length).toBe(1);
  });
});

test('T-WF-CHK-06 if the first chunk alone is too large, it is returned truncated', () => {
  const {response} = fitted(page([chunkOf('word '.repeat(1000)), chunkOf('next')]), 1000);
  expect(response.chunks.length).toBe(1);
  expect(response.chunks[0]?.text).toMatch(/^word word /);
  expect(response).toMatchObject({truncated: true, truncation_reason: 'tool_output_limit'});
});

describe('T-WF-OUT-02 truncation of the last chunk', () => {
  test('T-WF-OUT-02 cuts between code points and recounts', () => {
    for (let maxBytes = 420; maxBytes < 440; maxBytes++) {
      const {response, json} = fitted(page([chunkOf('😀'.repeat(200))]), maxBytes);
      const [chunk] = response.chunks;
      expect(chunk?.text).toMatch(/^(?:😀)+$/u);
      expect(chunk?.token_count).toBe(countTokens(chunk?.text ?? ''));
      expect(Buffer.byteLength(json)).toBeGreaterThan(maxBytes - 5);
      expect(Buffer.byteLength(json)).toBeLessThanOrEqual(maxBytes);
    }
  });

  test('FR-WF-OUT-02: T-WF-OUT-02 the text may be cut down to nothing, and the refusal names itself in its details', () => {
    const unfitted = page([chunkOf('word '.repeat(100))]);
    const least = Buffer.byteLength(serialise(unfitted, [{heading: 'H', text: '', token_count: 0}], true));
    expect(fitted(unfitted, least).response.chunks).toEqual([{heading: 'H', text: '', token_count: 0}]);
    expect(fitToBudget(unfitted, least - 1, countTokens)).toEqual({
      ok: false,
      error: {
        code: 'internal',
        message: 'tool_output_limit',
        retryable: false,
        details: {error: 'tool_output_limit', max_bytes: least - 1},
      },
    });
  });

  test('FR-WF-OUT-02, ruling E6: an empty document that is too large is internal/tool_output_limit', () => {
    const unfitted = page([]);
    const size = Buffer.byteLength(serialise(unfitted, [], false));
    expect(fitted(unfitted, size).response.chunks).toEqual([]);
    expect(fitToBudget(unfitted, size - 1, countTokens)).toMatchObject({
      ok: false,
      error: {code: 'internal', message: 'tool_output_limit', retryable: false},
    });
  });
});

test('FR-WF-OUT-01 as many chunks as fit to the byte, and one less with one byte less', () => {
  // The last one never fits, so that something is always cut.
  const chunks = ['one', 'two', 'three', 'word '.repeat(400)].map(text => chunkOf(text));
  const unfitted = page(chunks);
  for (let kept = 1; kept < chunks.length; kept++) {
    const size = Buffer.byteLength(serialise(unfitted, chunks.slice(0, kept), true));
    expect(fitted(unfitted, size).response.chunks).toEqual(chunks.slice(0, kept));
    expect(fitted(unfitted, size - 1).response.chunks).toHaveLength(Math.max(1, kept - 1));
  }
});

describe('T-WF-OUT-03 truncation reason precedence', () => {
  const long = [chunkOf('word '.repeat(1000))];
  test.each<[readonly Note[], readonly FetchChunk[], string | undefined]>([
    [['charset_fallback', 'cache_hit'], [], undefined],
    [['browser_timeout_dom_partial'], [], 'browser_timeout_dom_partial'],
    [['browser_timeout_dom_partial', 'browser_dom_truncated'], [], 'browser_dom_truncated'],
    [['browser_timeout_dom_partial', 'browser_dom_truncated'], long, 'tool_output_limit'],
  ])('T-WF-OUT-03 %j', (notes, chunks, reason) => {
    const {response, json} = fitted(page(chunks, notes), 1000);
    expect(response.truncation_reason).toBe(reason);
    expect(response.truncated).toBe(reason !== undefined);
    expect(json.includes('truncation_reason')).toBe(reason !== undefined);
  });
});

test('T-WF-OUT-01 notes are ordered by pipeline stage, each once', () => {
  const {response} = fitted(
    page([chunkOf('word '.repeat(1000))], [...NOTE_ORDER, ...NOTE_ORDER].reverse()),
    1000,
  );
  expect(response.notes).toEqual(NOTE_ORDER);
});

test('T-WF-OUT-04 notes are always present, as [] where there are none', () => {
  expect(fitted(page([]), 1000).json).toMatch(/"notes":\[\]\}$/);
});

test('FR-WF-03 fields come in the order of the schema; absent optional ones are left out', () => {
  const {title: _title, language: _language, ...bare} = page([chunkOf('a')]);
  expect(Object.keys(fitted(bare, 1000).response)).toEqual([
    ...['requested_url', 'final_url', 'fetched_at', 'chunks', 'rendering_method', 'truncated', 'notes'],
  ]);
  expect(Object.keys(JSON.parse(fitted(page([chunkOf('a'.repeat(900))], []), 500).json))).toEqual([
    ...['requested_url', 'final_url', 'fetched_at', 'title', 'language', 'chunks', 'rendering_method'],
    ...['truncated', 'truncation_reason', 'notes'],
  ]);
});

const chunk = (text: string): FetchChunk => ({heading: 'H', text, token_count: 0});
const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
/** One token for each UTF-16 unit keeps the counts predictable. */
const count = (text: string): number => text.length;

/** At both ends of every range that JSON spells with another number of bytes. */
const EDGES = [
  0x00, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x5b, 0x5c, 0x5d, 0x7f,
  0x80, 0x7ff, 0x800, 0xd7ff, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xffff, 0x1_0000, 0x10_ffff,
];

describe('FR-WF-OUT-01 the longest prefix', () => {
  test.each(EDGES.map(code => [`U+${code.toString(16)}`, String.fromCodePoint(code)]))(
    'FR-WF-OUT-01 %s: fits to the byte, and not one byte less',
    (_, character) => {
      const text = `a${character}`;
      const whole = {...chunk(text), token_count: count(text)};
      expect(truncateText(chunk(text), bytesOf(whole), count)).toEqual(whole);
      expect(truncateText(chunk(text), bytesOf(whole) - 1, count)?.text).toBe('a');
      // More room changes nothing.
      expect(truncateText(chunk(text), bytesOf(whole) + 1, count)).toEqual(whole);
    },
  );

  test.each(EDGES.map(code => [`U+${code.toString(16)}`, String.fromCodePoint(code)]))(
    'FR-WF-OUT-01 %s: what stands before it is kept whole',
    (_, character) => {
      const text = `${character}bc`;
      const shorter = {...chunk(text.slice(0, -1)), token_count: count(text) - 1};
      expect(truncateText(chunk(text), bytesOf(shorter), count)).toEqual(shorter);
    },
  );

  test('FR-WF-OUT-01 a count with one more digit takes its byte from the text', () => {
    const nine = {...chunk('a'.repeat(9)), token_count: 9};
    expect(truncateText(chunk('a'.repeat(50)), bytesOf(nine), count)).toEqual(nine);
    // One byte more is room for a tenth letter or for the second digit of its count, not for both.
    expect(truncateText(chunk('a'.repeat(50)), bytesOf(nine) + 1, count)).toEqual(nine);
    const ten = {...chunk('a'.repeat(10)), token_count: 10};
    expect(truncateText(chunk('a'.repeat(50)), bytesOf(nine) + 2, count)).toEqual(ten);
  });

  test('FR-WF-OUT-01 nothing where not even an empty text fits', () => {
    const empty = {...chunk(''), token_count: 0};
    expect(truncateText(chunk('abc'), bytesOf(empty), count)).toEqual(empty);
    expect(truncateText(chunk('abc'), bytesOf(empty) - 1, count)).toBeUndefined();
  });
});

/** FR-WF-NOTES-ORDER-01 as it is printed there. */
// biome-ignore format: a list
const PRINTED = [
  'cache_hit', 'robots_unavailable_fail_open', 'browser_unavailable_used_http', 'browser_timeout_dom_partial',
  'browser_dom_truncated', 'browser_blocked_non_get', 'charset_fallback', 'cache_write_failed',
  'tool_output_limit',
] as const;

test('FR-WF-03c FR-WF-NOTES-ORDER-01 there are nine notes, in the printed order', () => {
  expect(orderNotes([...PRINTED].reverse())).toEqual(PRINTED);
});

test('FR-WF-NOTES-ORDER-01 any notes stand in that order, each once', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...PRINTED)), notes => {
      expect(orderNotes(notes)).toEqual(PRINTED.filter(note => notes.includes(note)));
    }),
  );
});
