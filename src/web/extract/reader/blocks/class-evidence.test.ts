import {expect, test} from 'vitest';
import {CLASS_CATEGORIES, ClassReader, evidenceOf} from './class-evidence.ts';

function categoriesOf(names: string): readonly string[] {
  return evidenceOf(names).categories.map(category => CLASS_CATEGORIES[category] ?? '');
}

test.each([
  ['nav', ['navigation']],
  ['NAV', ['navigation']],
  ['siteNav', ['navigation']],
  ['main-nav_2 footer', ['navigation', 'footer']],
  ['footer nav footer', ['footer', 'navigation']],
  // Of a run of capitals with a word behind it nothing is known, and a part of a word is no word.
  ['XYNav', []],
  ['navx', []],
  ['xnav', []],
  ['', []],
  ['1 2', []],
])('R2: the words of a class "%s" say of its element what it may be', (names, categories) => {
  expect(categoriesOf(names)).toEqual(categories.length === 0 ? [] : expect.arrayContaining(categories));
  expect(new Set(categoriesOf(names)).size).toBe(categoriesOf(names).length);
});

test('R2: classes that differ in digits only have one signature', () => {
  const {signature} = evidenceOf('item-1 row');
  expect(evidenceOf('item-27 row').signature).toBe(signature);
  expect(evidenceOf('item-1 column').signature).not.toBe(signature);
  expect(evidenceOf('row item-1').signature).not.toBe(signature);
});

test('R2: of a class attribute without an end the beginning is read', () => {
  const machineMade = 'x'.repeat(395);
  expect(categoriesOf(`${machineMade} nav`)).toContain('navigation');
  expect(categoriesOf(`${machineMade}xx nav`)).toEqual([]);
  expect(evidenceOf(`${machineMade}xxxxx a`)).toEqual(evidenceOf(`${machineMade}xxxxx b`));
});

test('R2: what comes again is read once', () => {
  const reader = new ClassReader();
  expect(reader.read('nav')).toBe(reader.read('nav'));
  expect(reader.read('nav')).toEqual(evidenceOf('nav'));
});
