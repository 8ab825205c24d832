import fc from 'fast-check';
import {expect, test} from 'vitest';
import {LruIndex} from './lru-index.ts';

interface Known {
  readonly size: number;
  readonly date: number | undefined;
}

function oldestOf(model: ReadonlyMap<string, Known>): string | undefined {
  const dated = [...model].flatMap(([key, {date}]) => (date === undefined ? [] : [{key, date}]));
  return dated.sort((one, other) => one.date - other.date || (one.key < other.key ? -1 : 1))[0]?.key;
}

test('FR-WF-CCH-LRU-01 agrees with sorting everything, whatever was done', () => {
  const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const step = fc.oneof(
    fc.record({key, size: fc.nat(9), date: fc.option(fc.nat(9), {nil: undefined})}),
    fc.record({key, size: fc.constant(-1), date: fc.constant(undefined)}),
  );
  fc.assert(
    fc.property(fc.array(step, {maxLength: 300}), steps => {
      const index = new LruIndex();
      const model = new Map<string, Known>();
      for (const {key: name, size, date} of steps) {
        if (size < 0) {
          index.delete(name);
          model.delete(name);
        } else {
          index.set(name, size, date);
          model.set(name, {size, date});
        }
        const bytes = [...model.values()].reduce((sum, known) => sum + known.size, 0);
        const undated = [...model].filter(([, known]) => known.date === undefined).map(([each]) => each);
        expect([index.oldest(), index.count, index.bytes]).toEqual([oldestOf(model), model.size, bytes]);
        expect([...index.undated()].sort()).toEqual(undated.sort());
      }
    }),
    {numRuns: 60},
  );
});

test('ruling F6 hits without end do not grow it', () => {
  const index = new LruIndex();
  for (let date = 0; date < 100_000; date += 1) index.set(`${date % 50}`, 1, date);
  expect(index.count).toBe(50);
  for (let gone = 0; gone < 50; gone += 1) {
    expect(index.oldest()).toBe(`${gone}`);
    index.delete(`${gone}`);
  }
  expect([index.oldest(), index.bytes]).toEqual([undefined, 0]);
});
