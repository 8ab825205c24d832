import {expect, test} from 'vitest';
import {atOnce, type Turns} from '../open-file.ts';
import {countLines} from './changed-window.ts';
import {LineIndex, TextLines} from './text-lines.ts';

const linesOf = (content: string): TextLines => atOnce(TextLines.of(content));

test.each([
  ['', false],
  ['a', false],
  ['a\n', false],
  ['a\r\n', true],
  ['a\r\nb', true],
  ['a\r\nb\n', false],
  ['a\nb\r\n', false],
  ['a\rb\r\n', true],
  ['\n\r\n', false],
])('W7: whether every line of %j ends with CRLF', (content, isCrlf) => {
  expect(atOnce(linesOf(content).isCrlf())).toBe(isCrlf);
});

test('W7: lines by number, their places, and what is there', () => {
  const lines = linesOf('a\nbb\nc');
  expect([lines.count, lines.endsWithNewline, linesOf('a\n').endsWithNewline, linesOf('').count]).toEqual([
    ...[3, false, true, 0],
  ]);
  expect([-1, 0, 1, 2, 3].map(at => lines.line(at))).toEqual([undefined, 'a\n', 'bb\n', 'c', undefined]);
  expect([0, 1, 2, 3, 9].map(at => lines.start(at))).toEqual([0, 2, 5, 6, 6]);
  expect(lines.slice(1, 3)).toBe('bb\nc');
  const isAt = (text: string, count: number, at: number) => lines.matches(text, count, at);
  expect([isAt('bb\nc', 2, 1), isAt('bb\n', 1, 1), isAt('bb\n', 2, 1), isAt('bx\n', 1, 1)]).toEqual([
    ...[true, true, false, false],
  ]);
  expect([isAt('', 0, 3), isAt('c', 1, 2), isAt('c\n', 1, 2), isAt('', 0, 4)]).toEqual([
    ...[true, true, false, false],
  ]);
});

test('W7: lines are told apart to the byte, or without their white space', () => {
  const file = linesOf('a b\nab\nc\na b\n\n');
  const index = (form: 'exact' | 'withoutWhitespace') => atOnce(LineIndex.of(file, form));
  const found = (form: 'exact' | 'withoutWhitespace', line: string) => [
    index(form).count(line),
    ...index(form).positions(line),
  ];
  expect(found('exact', 'a b\n')).toEqual([2, 0, 3]);
  expect(found('exact', 'x\n')).toEqual([0]);
  expect(found('withoutWhitespace', '\tab\r\n')).toEqual([3, 0, 1, 3]);
  expect(found('withoutWhitespace', 'x')).toEqual([0]);
  expect(found('withoutWhitespace', ' ')).toEqual([1, 4]);
});

test('review R12: what is short has no turns for others in it', () => {
  const turnsOf = (work: Turns<unknown>): number => {
    for (let turns = 0; ; turns += 1) if (work.next().done === true) return turns;
  };
  for (const content of ['', 'x', 'x'.repeat(65_537)]) {
    expect([turnsOf(countLines(content)), turnsOf(TextLines.of(content))]).toEqual([0, 0]);
  }
});
