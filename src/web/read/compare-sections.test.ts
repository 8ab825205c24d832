import {expect, test} from 'vitest';
import {compareSections} from './compare-sections.ts';

const compare = (before: string, now: string) => {
  const {sections, gone} = compareSections(before, now, 's');
  return {now: sections.map(({number, change}) => `${number} ${change}`), gone};
};

test('R1: a section is known by its headings; text below it is not its own', () => {
  const page = '# A\n\nx\n\n## B\n\ny\n\n# C\n\nz\n';
  expect(compare(page, page)).toEqual({now: [], gone: []});
  expect(compare(page, page.replace('y', 'yy'))).toEqual({now: ['2 changed'], gone: []});
  expect(compare(page, page.replace('# C', '# D'))).toEqual({now: ['3 new'], gone: ['C']});
  expect(compare(page, `${page}\n`)).toEqual({now: [], gone: []});
  expect(compare(page, `before\n\n${page}`)).toEqual({now: ['0 new'], gone: []});
});

test('R1: of sections with the same headings, those that stayed are put together first', () => {
  const entries = (texts: readonly string[]) => texts.map(text => `## Entry\n\n${text}`).join('\n\n');
  expect(compare(entries(['a', 'b']), entries(['new', 'a', 'b']))).toEqual({now: ['1 new'], gone: []});
  expect(compare(entries(['a', 'b', 'c']), entries(['a', 'x', 'c']))).toEqual({now: ['2 changed'], gone: []});
  expect(compare(entries(['a', 'a']), entries(['a']))).toEqual({now: [], gone: ['Entry']});
});

test('R1: at most thirty sections are named', () => {
  const page = (text: string) =>
    Array.from({length: 50}, (_, index) => `# H${index}\n\n${text}`).join('\n\n');
  const {sections, left_out} = compareSections(page('a'), page('b'), 's');
  expect([sections.length, left_out]).toEqual([30, 20]);
});
