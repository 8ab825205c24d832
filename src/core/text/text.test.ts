import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {cutMiddle, takeEnd, takeStart} from './cut.ts';
import {showInvisible, stripInvisible} from './invisible.ts';
import {toUrl, wellFormedJson} from './parse.ts';

function parsed(text: string, base?: string): string | undefined {
  try {
    return new URL(text, base).href;
  } catch {
    return undefined;
  }
}

test('policy: an address stays one after its check was optimised', () => {
  let misses = 0;
  for (let round = 0; round < 30_000; round++) {
    if (toUrl('http://\u00e9vil.test/?q=\u00e9') === undefined) misses++;
    if (toUrl('/path', 'http://\u00e9vil.test/') === undefined) misses++;
  }
  expect(misses).toBe(0);
});

const unit = fc.constantFrom(
  ...':/?#[]@.%é日\u{feff}\u{10000}\ud800x1 -\t'.split(''),
  'http://',
  'xn--',
  '%C3',
);
const texts = fc.array(unit, {maxLength: 12}).map(units => units.join(''));

test('policy: what the URL standard takes for an address is one, and nothing else', () => {
  fc.assert(
    fc.property(texts, fc.option(texts, {nil: undefined}), (text, end) => {
      const base = end === undefined ? undefined : `http://${end}`;
      expect(toUrl(text, base)?.href).toBe(parsed(text, base));
      expect(toUrl(`http://a${text}`)?.href).toBe(parsed(`http://a${text}`));
    }),
    {numRuns: 5000},
  );
});

const LONE = /\p{Surrogate}/u;
const FAMILY = '👨‍👩‍👧‍👦';
const TEXT = fc
  .array(fc.oneof(fc.string({unit: 'grapheme'}), fc.constantFrom(FAMILY, '🇩🇪', 'e\u0301', '\r\n', '한', '𝔘')))
  .map(parts => parts.join(''));

describe('review B8: a text is never cut inside a character', () => {
  test.each([
    ['a😀b', 2, 'a', 'b'],
    [`x${FAMILY}y`, 5, 'x', 'y'],
    ['ae\u0301i', 2, 'a', 'i'],
    ['a\r\nb', 2, 'a', 'b'],
    ['plain', 3, 'pla', 'ain'],
    ['plain', 9, 'plain', 'plain'],
    ['plain', 0, '', ''],
  ])('%j in %d', (text, max, start, end) => {
    expect(takeStart(text, max)).toBe(start);
    expect(takeEnd(text, max)).toBe(end);
  });

  test('a character that is longer than any is cut between its code points, not lost', () => {
    const endless = `a${'\u0301'.repeat(1000)}`;
    expect(takeStart(endless, 500)).toHaveLength(500);
    expect(takeEnd(endless, 500)).toHaveLength(500);
    const pairs = '\u{1d165}'.repeat(500);
    expect(takeStart(pairs, 333)).toBe('\u{1d165}'.repeat(166));
  });

  test('every part is well formed, short enough, and a part of the text', () => {
    fc.assert(
      fc.property(TEXT, fc.nat(80), (text, max) => {
        const start = takeStart(text, max);
        const end = takeEnd(text, max);
        expect(text.startsWith(start) && text.endsWith(end)).toBe(true);
        expect(Math.max(start.length, end.length)).toBeLessThanOrEqual(max);
        expect(LONE.test(start + end)).toBe(LONE.test(text));
      }),
      {numRuns: 500},
    );
  });

  test('the middle that is cut out says how much it was', () => {
    const text = `${'a'.repeat(60)}😀${'b'.repeat(60)}`;
    const cut = cutMiddle(text, 60);
    expect(cut).toMatch(/^a+\n\[… \d+ characters left out …\]\nb+$/);
    expect(cut.length).toBeLessThanOrEqual(60);
    expect(cutMiddle('short', 60)).toBe('short');
    fc.assert(
      fc.property(TEXT, fc.integer({min: 40, max: 90}), (written, max) => {
        const short = cutMiddle(written, max);
        expect(short.length).toBeLessThanOrEqual(max);
        expect(LONE.test(short)).toBe(false);
      }),
      {numRuns: 500},
    );
  });
});

describe('review B11: one rule of what cannot be seen', () => {
  const HIDDEN = [
    0x00, 0x07, 0x08, 0x0d, 0x1b, 0x7f, 0x80, 0x9b, 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x180e,
    0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2060, 0x2064, 0x2066, 0x2069, 0x206f, 0x3164,
    0xfeff, 0xffa0, 0xfff9, 0xe0001, 0xe0041, 0xe01ef, 0x1d173,
  ];

  test('is shown by its number, and stripped from what is only read', () => {
    for (const code of HIDDEN) {
      const text = `a${String.fromCodePoint(code)}b`;
      expect(showInvisible(text)).toBe(`a\\u{${code.toString(16)}}b`);
      expect(stripInvisible(text)).toBe('ab');
    }
    expect(showInvisible('a\ud800b')).toBe('a\\u{d800}b');
    expect(stripInvisible('a\udfffb')).toBe('ab');
  });

  test('joiners and selectors are shown, and stay in what is only read', () => {
    expect(showInvisible('می\u200cخواهم ❤\ufe0f')).toBe('می\\u{200c}خواهم ❤\\u{fe0f}');
    for (const text of ['می\u200cخواهم', `${FAMILY} ❤\ufe0f`, '\ue0b0'])
      expect(stripInvisible(text)).toBe(text);
  });

  test('what has a glyph is left alone', () => {
    for (const text of ['a\tb\nc', 'naïve e\u0301 日本語 한국어 עברית ٠\u0600', '😀 ﷽ \u3000 \u00a0']) {
      expect(showInvisible(text)).toBe(text);
      expect(stripInvisible(text)).toBe(text);
    }
  });
});

test('review B8: no half of a character leaves as JSON', () => {
  const halves = {'k\ud800': ['\udc00x', '\\ud800', '\\\\\udfff', '😀'], n: 1};
  const whole = {'k\ufffd': ['\ufffdx', '\\ud800', '\\\\\ufffd', '😀'], n: 1};
  expect(wellFormedJson(halves)).toEqual(whole);
  const same = {a: ['😀', '\\ud800']};
  expect(wellFormedJson(same)).toEqual(same);
});
