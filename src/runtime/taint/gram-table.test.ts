import {describe, expect, test} from 'vitest';
import {exactCode, FORMS, GRAM, hashesOf, isLetter} from './gram-hashes.ts';
import {GramTable} from './gram-table.ts';

/** Numbers that are as good as random, and always the same. */
function numbers(count: number, seed: number): readonly number[] {
  let state = seed;
  return Array.from({length: count}, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return state ^ (state >>> 15);
  });
}

function codesOf(text: string): Uint16Array {
  return Uint16Array.from(text, character => character.charCodeAt(0));
}

describe('T1 the hashes of grams', () => {
  test('there is one for each eight characters in a row, and it is that of these alone', () => {
    const text = 'the launch code of the north gate';
    for (const form of FORMS) {
      const hashes = hashesOf(codesOf(text), form);
      expect(hashes).toHaveLength(text.length - GRAM + 1);
      expect(new Set(hashes).size).toBe(hashes.length);
      for (const [at, hash] of hashes.entries())
        expect(hashesOf(codesOf(text.slice(at, at + GRAM)), form)).toEqual(Int32Array.of(hash));
    }
  });

  test.each([0, 1, 7])('%d characters have none', length => {
    expect(hashesOf(codesOf('x'.repeat(length)), 'exact')).toHaveLength(0);
  });

  test('the two forms of one text have no hash in common', () => {
    const codes = codesOf('thelaunchcodeofthenorthgate');
    const exact = new Set(hashesOf(codes, 'exact'));
    expect([...hashesOf(codes, 'letters')].filter(hash => exact.has(hash))).toEqual([]);
  });

  test('exact is lower case with any white space as a space', () => {
    const written = 'AZ[@az\t\n \u00a0!\u00a1É';
    const codes = [...written].map(character => exactCode(character.charCodeAt(0)));
    expect(String.fromCharCode(...codes)).toBe('az[@az    !\u00a1É');
  });

  test('letters are letters, digits and everything beyond ASCII', () => {
    const kept = [...'a`z{A0/9:_ -\u00a0\u00a1é中'].filter(one => isLetter(one.charCodeAt(0)));
    expect(kept.join('')).toBe('az09\u00a1é中');
  });
});

describe('T1 the table of grams', () => {
  test('knows what it was given and, of some, from where', () => {
    const table = new GramTable();
    expect([table.has(0), table.has(7), table.sourceOf(7)]).toEqual([false, false, undefined]);
    const given = numbers(1000, 1);
    for (const [at, hash] of given.entries()) table.add(hash, at);
    expect(given.every(hash => table.has(hash))).toBe(true);
    expect(numbers(10_000, 2).filter(hash => table.has(hash))).toEqual([]);
    expect(given.map(hash => table.sourceOf(hash))).toEqual(given.map((_, at) => at));
    expect(numbers(10_000, 2).filter(hash => table.sourceOf(hash) !== undefined).length).toBeLessThan(5);
    expect(table.isFull).toBe(false);
  });

  test('a gram is from where it was last', () => {
    const table = new GramTable();
    table.add(0x12345678, 3);
    table.add(0x12345678, 65_535);
    expect(table.sourceOf(0x12345678)).toBe(65_535);
    // The same slot, and another gram in it.
    expect(table.sourceOf(0x22345678)).toBeUndefined();
    table.add(0x22345678, 4);
    expect([table.sourceOf(0x12345678), table.sourceOf(0x22345678)]).toEqual([undefined, 4]);
    expect(table.has(0x12345678)).toBe(true);
  });

  test('mistakes hardly any while it is small', () => {
    const table = new GramTable();
    const given = numbers(20_000, 1);
    for (const hash of given) table.add(hash, 0);
    const known = new Set(given);
    const mistaken = numbers(20_000, 3).filter(hash => !known.has(hash) && table.has(hash));
    expect(mistaken.length).toBeLessThan(3);
  });

  test('grows, forgets nothing, and mistakes about one in a hundred', () => {
    const table = new GramTable();
    const given = numbers(600_000, 1);
    for (const hash of given) table.add(hash, 0);
    expect(given.every(hash => table.has(hash))).toBe(true);
    const known = new Set(given);
    const others = numbers(50_000, 3).filter(hash => !known.has(hash));
    const mistaken = others.filter(hash => table.has(hash)).length;
    expect(mistaken / others.length).toBeLessThan(0.02);
    expect(table.isFull).toBe(false);
  });
});
