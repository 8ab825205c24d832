import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import type {Json} from '../../core/json.ts';
import {fitJson} from './fit-json.ts';

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
