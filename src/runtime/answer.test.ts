import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {echoTool, openTestRuntime, toolOf} from '../../test/support/open-test-runtime.ts';
import type {Json} from '../core/result.ts';
import type {Tool, ToolContext} from '../core/tool.ts';
import {type Fitted, fitAnswer, fitJson, textsOf} from './answer.ts';
import {roomForAnswer} from './execute-call.ts';
import {outputLimitOf} from './runtime.ts';

const bytes = (value: Json): number => Buffer.byteLength(JSON.stringify(value));

describe('FR-WF-03a generic truncation', () => {
  test('policy: what fits is not touched', () => {
    const data = {a: 'x'.repeat(900), truncated: false};
    expect(fitJson(data, bytes(data), true)).toEqual({data, truncated: false});
  });

  test('policy: the longest texts lose their middle, and say how much; the rest stays', () => {
    const data = {stdout: `${'a'.repeat(20_000)}ERROR at the end`, name: 'short', truncated: false};
    const fitted = fitJson(data, 2000, true);
    const {stdout, name, truncated} = (fitted?.data ?? {}) as typeof data;
    expect(stdout).toMatch(
      /^a+\n\.\.\. \[output truncated: \d+ of 20016 characters left out\] \.\.\.\na+ERROR at the end$/,
    );
    const [, left = ''] = /truncated: (\d+) of/.exec(stdout) ?? [];
    expect(stdout.replace(/\n\.{3} .* \.{3}\n/, '').length + Number(left)).toBe(20_016);
    expect([name, truncated]).toEqual(['short', true]);
    expect(bytes(fitted?.data ?? null)).toBeLessThanOrEqual(2000);
    expect(bytes(fitted?.data ?? null)).toBeGreaterThan(1950);
  });

  test('policy: many short entries lose the end of their list', () => {
    const matches = Array.from({length: 5000}, (_, line) => ({file: 'src/a.ts', line}));
    const fitted = fitJson({matches, total: 5000}, 4000, true);
    const data = fitted?.data as {matches: typeof matches; total: number; truncated: boolean};
    expect(data.matches).toEqual(matches.slice(0, data.matches.length));
    expect(data).toMatchObject({total: 5000, truncated: true});
    expect(bytes(data)).toBeGreaterThan(3900);
  });

  test('policy: nothing is left out that cannot be marked', () => {
    const list = Array.from({length: 5000}, (_, at) => at);
    expect(fitJson({list}, 1000, false)).toBeUndefined();
    expect(fitJson(list, 1000, true)).toBeUndefined();
    expect(fitJson('x'.repeat(5000), 1000, false)?.data).toContain('output truncated');
    expect(fitJson({a: 'x'.repeat(5000)}, 1000, false)?.data).not.toHaveProperty('truncated');
  });

  test('policy: it fits, keeps its keys and splits no character', () => {
    const text = fc.string({unit: 'binary', maxLength: 3000});
    const data = fc.record({a: text, list: fc.array(fc.record({b: text, n: fc.integer()}), {maxLength: 20})});
    fc.assert(
      fc.property(data, fc.integer({min: 600, max: 20_000}), (value, limit) => {
        const fitted = fitJson(value, limit, true);
        if (fitted === undefined) throw new Error('600 bytes are enough for this shape.');
        expect(bytes(fitted.data)).toBeLessThanOrEqual(limit);
        expect(fitted.truncated).toBe(bytes(value) > limit);
        expect(Object.keys(Object(fitted.data))).toEqual(expect.arrayContaining(['a', 'list']));
        expect(JSON.stringify(fitted.data)).not.toMatch(/(?<!\\)\\ud[89ab]../);
      }),
      {numRuns: 60},
    );
  });

  test('policy: ten megabytes take no long time', () => {
    const started = performance.now();
    fitJson(
      {a: 'é\u0000'.repeat(2_000_000), list: Array.from({length: 10_000}, () => 'x'.repeat(200))},
      102_400,
      true,
    );
    expect(performance.now() - started).toBeLessThan(2000);
  });
});

describe('ruling E7, W12: the limit of a tool', () => {
  test.each([
    ['what the operator wrote', false, 'own', 5000],
    ['what the operator wrote, where nothing says whether', undefined, 'own', 5000],
    ['its own where the operator wrote none', true, 'own', 20_000],
    ['the default where it has none', true, 'echo', 5000],
    ['the default for a tool that is not there', true, 'none', 5000],
  ])('is %s', async (_, maxOutputBytesIsDefault, tool, limit) => {
    const own: Tool = {...toolOf('own', async () => 1), maxOutputBytes: 20_000};
    const {runtime} = await openTestRuntime({tools: [echoTool, own]});
    expect(outputLimitOf({...runtime, maxOutputBytes: 5000, maxOutputBytesIsDefault}, tool)).toBe(limit);
  });
});

describe('W19: a change is not made where there is no room to say so', () => {
  const change = toolOf('change', async () => 1, {action: 'write_file'});
  const refused = (max_bytes: number) => ({
    ok: false,
    error: {
      code: 'internal',
      message: `change was not run: its answer may have ${max_bytes} bytes and needs 1024. Allow more output and repeat the call.`,
      retryable: false,
      details: {error: 'tool_output_limit', max_bytes},
    },
  });

  test.each([
    [1024, 1024, true],
    [1023, 5000, false],
    [5000, 1023, false],
  ])('%d bytes of output, %d of capacity: %s', (maxOutputBytes, availableCapacityBytes, isOk) => {
    const room = roomForAnswer(change, {maxOutputBytes, availableCapacityBytes});
    expect(room).toEqual(isOk ? {ok: true, value: undefined} : refused(1023));
  });

  test('what reads, and a fetch, answers with what fits', () => {
    const limits = {maxOutputBytes: 10, availableCapacityBytes: 10};
    for (const tool of [
      {...change, action: undefined},
      {...change, action: 'web_fetch' as const},
    ])
      expect(roomForAnswer(tool, limits).ok).toBe(true);
  });
});

describe('FR-WF-03a: an answer is made to fit', () => {
  const dataSchemas: readonly (readonly [string, Tool['dataSchema'], boolean])[] = [
    ['has `truncated`', {properties: {truncated: {}}, additionalProperties: false}, true],
    ['has none, and takes no other', {properties: {a: {}}, additionalProperties: false}, false],
    ['has none, and takes others', {properties: {a: {}}}, true],
    ['has no properties', {additionalProperties: false}, false],
    ['has odd properties', {properties: null, additionalProperties: false}, false],
    ['inherits it', {properties: Object.create({truncated: {}}), additionalProperties: false}, false],
  ];

  test.each(dataSchemas)('a schema that %s', (_, dataSchema, isMarked) => {
    const tool = {...toolOf('t', async () => 1), dataSchema} as Tool;
    const context = {maxOutputBytes: 500, availableCapacityBytes: 900, allowTruncation: true} as ToolContext;
    const fitted = fitAnswer({data: {a: 'x'.repeat(2000)}, fields: {exit_code: 3}}, tool, context);
    expect(fitted).toMatchObject({ok: true, value: {truncated: true, fields: {exit_code: 3}}});
    expect(fitted.ok && Object.keys(Object(fitted.value.data))).toEqual(
      isMarked ? ['a', 'truncated'] : ['a'],
    );
  });

  test('one that fits is left as it is, and one that cannot is a failure', () => {
    const tool = toolOf('t', async () => 1);
    const context = {maxOutputBytes: 900, availableCapacityBytes: 20, allowTruncation: true} as ToolContext;
    expect(fitAnswer({data: {a: 1}, fields: {}}, tool, context)).toEqual({
      ok: true,
      value: {data: {a: 1}, fields: {}, truncated: false},
    });
    expect(fitAnswer({data: {a: 123_456, b: 123_456, c: 1}, fields: {}}, tool, context)).toEqual({
      ok: false,
      error: {
        code: 'internal',
        message: 'tool_output_limit',
        retryable: false,
        details: {error: 'tool_output_limit', max_bytes: 20},
      },
    });
  });
});

describe('FR-WF-03a: what is taken from an answer, step by step', () => {
  const text = (length: number) => 'x'.repeat(length);
  const bytes = (data: Json) => Buffer.byteLength(JSON.stringify(data));
  const lengths = (fitted: Fitted | undefined) => {
    const data = fitted?.data as {readonly list: readonly string[]; readonly note: string};
    return [data.list.length, Math.max(0, ...data.list.map(({length}) => length)), data.note.length];
  };
  const DATA = {list: Array.from({length: 20}, () => text(1000)), note: text(2000)};

  test.each([
    // Long texts first, to no less than 400 characters each.
    [20_000, [20, 945, 946]],
    [9000, [20, 421, 422]],
    // Then the list, from its end.
    [5000, [11, 399, 400]],
    [900, [1, 399, 400]],
    // Then short texts, to no less than 40, of the one entry that is left.
    [500, [1, 227, 228]],
    // And last the whole list. A text is no shorter than what says how much of it is missing.
    [150, [0, 0, 62]],
  ])('into %d bytes', (max, expected) => {
    const fitted = fitJson(DATA, max, true);
    expect(lengths(fitted)).toEqual(expected);
    expect(bytes(fitted?.data ?? null)).toBeLessThanOrEqual(max);
  });

  test('less than the least is nothing', () => {
    const least = fitJson(DATA, 150, true)?.data ?? null;
    expect(fitJson(DATA, bytes(least), true)).toEqual({data: least, truncated: true});
    expect(fitJson(DATA, bytes(least) - 1, true)).toBeUndefined();
  });

  test('what is neither a text nor a list stays', () => {
    const data = {text: text(5000), n: 7, yes: true, none: null, deep: {text: text(5000), list: [1, [2]]}};
    const fitted = fitJson(data, 2000, true)?.data;
    expect(fitted).toMatchObject({n: 7, yes: true, none: null, deep: {list: [1, [2]]}, truncated: true});
  });
});

test('T1: the texts of an answer are its values, a line each', () => {
  expect(textsOf({a: 'one', b: ['two', {c: 'three', d: 4}], e: null, f: ''})).toBe('one\ntwo\nthree\n');
  expect(textsOf('alone')).toBe('alone');
  expect(textsOf(null)).toBe('');
});
