import fc from 'fast-check';
import {expect, test} from 'vitest';
import {pieceEnd} from './pretokenize.ts';

// The published pattern, in JavaScript's words. ſ stands for what (?i) adds to s, and the classes are
// written so that they mean the same to every version of Node.js over the alphabet below.
const PATTERN =
  /'(?:[sSſ]|[tT]|[rR][eE]|[vV][eE]|[mM]|[lL][lL]|[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\p{White_Space}\p{L}\p{N}]+[\r\n]*|\p{White_Space}*[\r\n]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;

function pieces(text: string): string[] {
  const units = new Uint16Array(text.length);
  for (let at = 0; at < text.length; at++) units[at] = text.charCodeAt(at);
  const found: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(units, start, text.length);
    found.push(text.slice(start, end));
    start = end;
  }
  return found;
}

test('pieces are the matches of the cl100k_base pattern', () => {
  const alphabet = [..."'sSſtTrReEvVmMlLdDxя的١¹½𝔸𝟘😀 \t\u00a0\u0085\u2028\u3000\ufeff\r\n.,!-7", '\u0301'];
  const texts = fc.string({unit: fc.constantFrom(...alphabet), maxLength: 24});
  fc.assert(
    fc.property(texts, text => {
      expect(pieces(text)).toEqual(text.match(PATTERN) ?? []);
    }),
    {numRuns: 5000},
  );
});

test.each([
  ["I'll've", ['I', "'ll", "'ve"]],
  ["it'ſo", ['it', "'ſ", 'o']],
  ['a  b', ['a', ' ', ' b']],
  ['a \n\n  b', ['a', ' \n\n', ' ', ' b']],
  ['x.\r\n\r\ny', ['x', '.\r\n\r\n', 'y']],
  ['12345', ['123', '45']],
  ['\ufeffa', ['\ufeffa']],
  ['end  ', ['end', '  ']],
])('%j is cut into %j', (text, expected) => {
  expect(pieces(text)).toEqual(expected);
});
