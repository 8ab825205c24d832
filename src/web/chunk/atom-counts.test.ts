import {expect, test} from 'vitest';
import {countTokens} from '../tokens/count-tokens.ts';
import {AtomCounts} from './atom-counts.ts';
import type {Atom} from './atoms.ts';
import {TokenCounter} from './token-counter.ts';

const TEXT = 'a first sentence of some words. supercalifragilistic\n  expialidocious\nand);';
const word = TEXT.indexOf('super');
const line = TEXT.indexOf('\n');
const last = TEXT.lastIndexOf('\n');
const rest = {rank: 4, whole: false};
const ATOMS: readonly Atom[] = [
  {from: 0, start: 0, end: word - 1, next: word - 1, ...rest},
  {from: word - 1, start: word, end: line, next: line + 1, ...rest},
  {from: line + 1, start: line + 1, end: last, next: last + 1, ...rest},
  {from: last + 1, start: last + 1, end: TEXT.length, next: TEXT.length, ...rest},
];

/** Counts of a block that starts at the tenth unit of its document, and what was counted. */
function open(maxTokens = 100, known?: Int32Array) {
  const counted: string[] = [];
  const count = (text: string): number => {
    counted.push(text);
    return countTokens(text);
  };
  const limit = {maxTokens, countTokens: count};
  const counter = new TokenCounter(limit, known);
  const counts = new AtomCounts({kind: 'text', text: TEXT, start: 10}, ATOMS, limit, counter);
  return {counted, counter, counts};
}

const tokensIn = (from: number, to: number) => countTokens(TEXT.slice(from, to));

test('FR-WF-15d an atom is counted once, with the blank before it', () => {
  const {counted, counts} = open();
  for (let time = 0; time < 2; time++) expect(counts.toEnd(1, word - 1)).toBe(tokensIn(word - 1, line));
  expect(counted).toEqual([TEXT.slice(word - 1, line)]);
});

test('FR-WF-15d an atom of one token is counted once too', () => {
  const counted: string[] = [];
  const limit = {maxTokens: 100, countTokens: (text: string) => Math.min(1, counted.push(text))};
  const block = {kind: 'text', text: TEXT, start: 10} as const;
  const counts = new AtomCounts(block, ATOMS, limit, new TokenCounter(limit, undefined));
  for (let time = 0; time < 2; time++) expect(counts.toEnd(0, 0)).toBe(1);
  expect(counted).toHaveLength(1);
});

test('FR-WF-15d an atom that was cut is counted from the cut', () => {
  const {counts} = open();
  counts.toEnd(1, word - 1);
  expect(counts.toEnd(1, word + 5)).toBe(tokensIn(word + 5, line));
  expect(counts.behind(1, word + 5)).toBe(tokensIn(word + 5, line + 1) - tokensIn(word + 5, line));
});

test('FR-WF-15d an atom that was never counted whole has a cut and white space behind it all the same', () => {
  const {counts} = open();
  expect(counts.toEnd(1, word - 1) + counts.behind(1, word - 1)).toBe(tokensIn(word - 1, line + 1));
  expect(counts.toEnd(2, line + 5)).toBe(tokensIn(line + 5, last));
  expect(counts.behind(2, line + 5)).toBe(tokensIn(line + 5, last + 1) - tokensIn(line + 5, last));
});

test('FR-WF-15d white space behind an atom adds what it adds, and none adds nothing', () => {
  const {counts} = open();
  for (const [index, from] of [0, word - 1, line + 1, last + 1].entries()) {
    const {end, next} = ATOMS[index] as Atom;
    expect(counts.toEnd(index, from)).toBe(tokensIn(from, end));
    expect(counts.behind(index, from)).toBe(tokensIn(from, next) - tokensIn(from, end));
  }
  expect(counts.behind(1, word - 1)).toBe(1);
});

test('FR-WF-CCH-CONTENT-01 atoms are known by their places in the document, not in their block', () => {
  const {counter, counts} = open();
  for (const [index, from] of [0, word - 1, line + 1, last + 1].entries()) counts.toEnd(index, from);
  const again = open(100, counter.counts);
  again.counts.toEnd(1, word - 1);
  expect(again.counted).toEqual([]);
  expect([...counter.counts].filter((_, at) => at % 4 === 0)).toEqual([10, word - 1, line + 2 - word]);
});

test('T-WF-CHK-01 an atom whose length says that it is too large is never counted, and stays too large', () => {
  const {counted, counts} = open(0.1);
  expect(counts.toEnd(0, 0)).toBeGreaterThan(1e9);
  expect(counts.toEnd(0, 0)).toBeGreaterThan(1e9);
  expect(counted).toEqual([]);
});
