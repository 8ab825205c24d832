import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {normalizeWhitespace} from './normalize-whitespace.ts';

describe('normalizeWhitespace', () => {
  test('T-WF-EXT-03 CRLF becomes LF, blank lines collapse to two, line ends are trimmed, one LF at the end', () => {
    expect(normalizeWhitespace('a \t\r\n\r\n\r\n\r\n\r\nb\r\nc\n\n\n')).toBe('a\n\n\nb\nc\n');
    expect(normalizeWhitespace('a')).toBe('a\n');
  });

  test('T-WF-EXT-03 lines of blanks are blank lines', () => {
    expect(normalizeWhitespace('a\n \n\t\n  \nb')).toBe('a\n\n\nb\n');
  });

  test('text without content is empty', () => {
    expect(normalizeWhitespace('')).toBe('');
    expect(normalizeWhitespace(' \r\n\n')).toBe('');
  });

  test('FR-WF-EXT-WS-01 between fences only line ends change', () => {
    expect(normalizeWhitespace('```\r\na  \r\n\r\n\r\n\r\nb\t\n````\nc  \n')).toBe(
      '```\na  \n\n\n\nb\t\n````\nc\n',
    );
    expect(normalizeWhitespace('> ````js\n> a  \n> ```\n> b  \n> ````\nc  ')).toBe(
      '> ````js\n> a  \n> ```\n> b  \n> ````\nc\n',
    );
  });

  test('FR-WF-EXT-WS-01 a code span is no fence', () => {
    expect(normalizeWhitespace('```a``` b  \n\n\n\nc')).toBe('```a``` b\n\n\nc\n');
  });

  test('a second pass changes nothing', () => {
    const pieces = fc.constantFrom(
      'a',
      ' ',
      '\t',
      '\n',
      '\r',
      '\r\n',
      '```',
      '````',
      '`',
      '> ',
      '- ',
      '\u00a0',
      '\u2028',
    );
    fc.assert(
      fc.property(fc.array(pieces, {maxLength: 30}), parts => {
        const once = normalizeWhitespace(parts.join(''));
        expect(normalizeWhitespace(once)).toBe(once);
      }),
    );
  });

  test('a megabyte of CRs, blanks or backticks is no trouble', () => {
    for (const unit of ['\r', ' ', '`', '> ', '- ']) {
      const start = performance.now();
      normalizeWhitespace(`x${unit.repeat(1_000_000)}x`);
      expect(performance.now() - start).toBeLessThan(2000);
    }
  });
});
