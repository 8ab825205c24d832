import {describe, expect, test} from 'vitest';
import {BYTES_A_TURN, LINES_A_TURN, type Turns} from '../open-file.ts';
import {findNext, findOccurrences, isCrlf, withCrlf} from './find-occurrences.ts';
import {replaceExact} from './replace-exact.ts';

/** Does the work, and counts how often others had their turn. */
function turned<Value>(work: Turns<Value>): {readonly value: Value; readonly turns: number} {
  for (let turns = 0; ; turns += 1) {
    const turn = work.next();
    if (turn.done === true) return {value: turn.value, turns};
  }
}

const MIB = BYTES_A_TURN;

describe('review R12: a large text is gone through in turns of a MiB', () => {
  test.each([
    ['a short text', 3, 0],
    ['a text of one', MIB, 0],
    ['one unit more', MIB + 1, 1],
    ['a text of three', 3 * MIB, 2],
  ])('review R12: %s', (_, length, turns) => {
    const text = 'a'.repeat(length);
    expect(turned(withCrlf(text))).toEqual({value: text, turns});
    expect(turned(isCrlf(Buffer.from(text)))).toEqual({value: false, turns});
    expect(turned(findNext(`${text}b`, 'c', 1)).turns).toBe(turns);
    expect(turned(findOccurrences(text, 'b')).turns).toBe(turns);
  });

  test('review R12: a long text that is looked for is gone through in turns too', () => {
    const wanted = 'a'.repeat(2 * MIB + 1);
    expect(turned(findOccurrences('a'.repeat(2 * MIB + 3), wanted))).toEqual({
      value: {count: 3, first: [0, 1, 2]},
      turns: 2 + 2,
    });
  });

  test('review R12: many places are replaced in turns', () => {
    const content = Buffer.from('ab'.repeat(LINES_A_TURN));
    const {value, turns} = turned(replaceExact('f', content, 'a', 'c', {replaceAll: true}));
    expect(value.ok && value.value.match.count).toBe(LINES_A_TURN);
    expect(turns).toBe(1);
  });
});

describe('W6: a border between two turns hides nothing', () => {
  const place = (at: number, what: string): string =>
    'x'.repeat(at) + what + 'x'.repeat(Math.max(0, 2 * MIB + 100 - at - what.length));

  test.each([-3, -2, -1, 0, 1])('W6: a text that begins %i units from it is found', off => {
    const at = MIB + off;
    expect(turned(findNext(place(at, 'abc'), 'abc', 0)).value).toBe(at);
    expect(turned(findNext(place(at, 'abc'), 'abc', at)).value).toBe(at);
    expect(turned(findNext(place(at, 'abc'), 'abc', at + 1)).value).toBe(-1);
    expect(turned(findOccurrences(place(at, 'ababa'), 'aba')).value).toEqual({count: 2, first: [at, at + 2]});
  });

  test('W6: a text is found at the very end, and not behind it', () => {
    expect(turned(findNext('xabc', 'abc', 0)).value).toBe(1);
    expect(turned(findNext('xab', 'abc', 0)).value).toBe(-1);
    expect(turned(findOccurrences('abc', 'abc')).value).toEqual({count: 1, first: [0]});
    expect(turned(findOccurrences('abc', '')).value).toEqual({count: 0, first: []});
  });

  test.each([4095, 4096, 4097])('W6: a text of %i units is found like any other', length => {
    const wanted = `${'a'.repeat(length - 1)}b`;
    expect(turned(findOccurrences(`a${wanted}-${wanted}`, wanted)).value).toEqual({
      count: 2,
      first: [1, length + 2],
    });
    expect(turned(findOccurrences(`aaab${wanted}`, wanted)).value).toEqual({count: 1, first: [4]});
  });

  test.each([-1, 0])('W6: a CRLF across it is one line end (%i)', off => {
    const content = Buffer.from(place(MIB + off, '\r\n'));
    expect(turned(isCrlf(content)).value).toBe(true);
    content[MIB + off] = 0x20;
    expect(turned(isCrlf(content)).value).toBe(false);
  });

  test('W6: each line feed becomes CRLF, also at the border', () => {
    expect(turned(withCrlf(place(MIB - 1, '\n\n'))).value).toBe(
      place(MIB - 1, '\n\n').replaceAll('\n', '\r\n'),
    );
    expect(turned(withCrlf('')).value).toBe('');
  });
});

test.each([
  ['', false],
  ['a', false],
  ['a\r', false],
  ['\n', false],
  ['\r\n', true],
  ['a\r\nb\r\n', true],
  ['a\r\nb\n', false],
  ['a\nb\r\n', false],
  ['a\r\n\n', false],
  ['a\r\nb\rc', true],
])('W6: whether %j has CRLF throughout: %s', (text, expected) => {
  expect(turned(isCrlf(Buffer.from(text))).value).toBe(expected);
});
