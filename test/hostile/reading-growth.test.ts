import {describe, expect, test} from 'vitest';
import {checkQuotes} from '../../src/web/read/quote/check-quotes.ts';
import {readDocument} from '../../src/web/read/read-document.ts';
import {countTokens} from '../../src/web/tokens/count-tokens.ts';
import {growth} from './support/documents-growth.ts';

/** What pages made to be slow to read repeat. */
const HOSTILE: Readonly<Record<string, string>> = {
  openings: '](https:',
  brackets: '[',
  pictures: '![',
  backticks: '` `` ``` ',
  headings: '# a\n',
  'nested headings': '# a\n## a\n### a\n#### a\n##### a\n###### a\n',
  links: '[](https://e.com/a) ',
  'the word of the question': 'water ',
  'one letter': 'a',
  'one accent': '\u0301',
  'table bars': '|',
  quotes: '> ',
  'blank lines': '\n',
  'different words': '',
};

function grown(name: string, units: number): string {
  if (name === 'different words')
    return Array.from({length: units / 8}, (_, at) => `w${at.toString(36)}`).join(' ');
  const piece = HOSTILE[name] ?? '';
  return piece.repeat(Math.ceil(units / piece.length)).slice(0, units);
}

function work(markdown: string): void {
  const settings = {maxTokens: 2000, links: 'drop', countTokens} as const;
  readDocument(markdown, {kind: 'overview'}, settings);
  readDocument(markdown, {kind: 'find', query: 'how much water'}, settings);
  checkQuotes(markdown, ['a'.repeat(4000), 'water '.repeat(600), `${'a'.repeat(3999)}b`], countTokens);
}

/** Times per doubling: 2 is linear, 4 quadratic. */
const LIMIT = 2.6;

describe('R1 hostile documents', () => {
  test.each(Object.keys(HOSTILE))('R1: the time to read %s grows with their length, no faster', name => {
    const {perDoubling} = growth(size => grown(name, size), work, 25_000, LIMIT);
    expect(perDoubling).toBeLessThan(LIMIT);
  });
});
