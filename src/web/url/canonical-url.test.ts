import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {parseUrl} from './parse-url.ts';

function canonical(input: string): string {
  const result = parseUrl(input);
  return result.ok ? result.value.canonical : result.error.code;
}

describe('Appendix A', () => {
  test.each([
    ['HTTPS://Example.COM/Page#section', 'https://example.com/Page'],
    ['http://example.com:80/', 'http://example.com/'],
    ['https://example.com:443/a/../b', 'https://example.com/b'],
    ['http://EXAMPLE.com:8080/', 'http://example.com:8080/'],
    ['https://example.com/path?b=2&a=1', 'https://example.com/path?b=2&a=1'],
  ])('T-WF-DET-02 A.3: %s', (input, expected) => {
    expect(canonical(input)).toBe(expected);
  });

  test.each([
    ['http://münchen.example/', 'http://xn--mnchen-3ya.example/'],
    ['http://日本語.jp/', 'http://xn--wgv71a119e.jp/'],
    ['http://例え.jp/', 'http://xn--r8jz45g.jp/'],
    ['http://mu\u0308nchen.example/', 'http://xn--mnchen-3ya.example/'],
    ['http://EXAMPLE.COM/', 'http://example.com/'],
    ['https://münich.example/', 'https://xn--mnich-kva.example/'],
    ['https://faß.example/', 'https://xn--fa-hia.example/'],
    ['https://EXAMPLE。com/', 'https://example.com/'],
  ])('FR-WF-NORM-07 %s', (input, expected) => {
    expect(canonical(input)).toBe(expected);
  });

  test.each([
    ['/%7euser', '/~user'],
    ['/a%2fb', '/a%2Fb'],
    ['/%41%5a%61%7A%30%39%2D%5f', '/AZaz09-_'],
    ['/%2e%2E/x', '/x'],
    ['/a/.%2e/b', '/b'],
    ['/a/%2e/b', '/a/b'],
    ['/%25%34%31', '/%2541'],
    ['/100%', '/100%'],
    ['/%zz%4', '/%zz%4'],
    ['/%c3%a9é', '/%C3%A9%C3%A9'],
    ['/a b', '/a%20b'],
    ['/a//b/', '/a//b/'],
    ['\\a\\..\\b', '/b'],
    ['/a%5cb', '/a%5Cb'],
    ['?q=%7e%2f+%20', '/?q=~%2F+%20'],
    ['?', '/?'],
    ['?#f', '/?'],
    ['?b&a=&b=1', '/?b&a=&b=1'],
    ['?a=/../b', '/?a=/../b'],
  ])('FR-WF-NORM-06 http://example.com%s', (rest, expected) => {
    expect(canonical(`http://example.com${rest}`)).toBe(`http://example.com${expected}`);
  });

  test.each([
    ['/%4%31', '/%4%31'],
    ['/%%34%31', '/%%341'],
    ['/%%32%66', '/%%32f'],
    ['/%2%65', '/%2%65'],
    ['/%a%2D', '/%a-'],
  ])('FR-WF-NORM-06 decoding makes no new triplet: %s', (path, expected) => {
    expect(canonical(`http://example.com${path}`)).toBe(`http://example.com${expected}`);
  });

  const piece = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        '%',
        '%2',
        '%2e',
        '%2E',
        '.',
        '/',
        '\\',
        '%25',
        '?',
        '#',
        '%4',
        '1',
        'e',
        '%34',
      ),
    },
    {weight: 1, arbitrary: fc.string({unit: 'grapheme', maxLength: 4})},
  );
  const rest = fc.array(piece, {maxLength: 12}).map(pieces => `/${pieces.join('')}`);

  test('T-WF-DET-02 property: canonical form of the canonical form is itself', () => {
    fc.assert(
      fc.property(rest, text => {
        const once = canonical(`HTTP://Example.com:80${text}`);
        expect(canonical(once)).toBe(once);
        expect(once).not.toContain('#');
        // WHATWG has nothing left to change in it.
        expect(new URL(once).href).toBe(once);
      }),
      {numRuns: 2000},
    );
  });

  test('T-WF-DET-02 property: scheme, host case, default port, fragment and blanks do not matter', () => {
    fc.assert(
      fc.property(rest, fc.constantFrom('http', 'https'), (text, scheme) => {
        // Blanks at the end of an address do not matter, those before its fragment do.
        const clean = text.replaceAll('#', '').replace(/[\0- ]+$/, '');
        const port = scheme === 'http' ? 80 : 443;
        const plain = canonical(`${scheme}://example.com${clean}`);
        expect(canonical(` ${scheme.toUpperCase()}:/\\EXAMPLE.com:${port}${clean}#x\n`)).toBe(
          canonical(`${scheme}://example.com${clean}#x`),
        );
        expect(canonical(`${scheme}:example.com${clean}#`)).toBe(canonical(plain));
      }),
    );
  });

  test('a megabyte of triplets takes no time to speak of', () => {
    const started = performance.now();
    canonical(`http://example.com/${'%41%%34'.repeat(150_000)}`);
    expect(performance.now() - started).toBeLessThan(2000);
  });
});
