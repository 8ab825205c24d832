import {describe, expect, test} from 'vitest';
import {isJsHeavy} from './choose-rendering.ts';

describe('T-WF-REN-01 js_heavy_domains', () => {
  test.each([
    ['example.com', 'example.com', true],
    ['example.com', 'a.example.com', false],
    ['.example.com', 'a.example.com', true],
    ['.example.com', 'a.b.example.com', true],
    ['.example.com', 'example.com', false],
    ['.example.com', 'notexample.com', false],
    ['EXAMPLE.com', 'example.com', true],
    ['münchen.example', 'xn--mnchen-3ya.example', true],
    ['.münchen.example', 'shop.xn--mnchen-3ya.example', true],
    ['example.com.', 'example.com', true],
    ['', 'example.com', false],
    ['.', 'example.com', false],
    ['not a host', 'example.com', false],
  ])('T-WF-REN-01 %j against host %j: %j', (entry, name, expected) => {
    expect(isJsHeavy(name, [entry])).toBe(expected);
  });

  test('T-WF-REN-01 any entry of the list may match', () => {
    expect(isJsHeavy('b.example', ['a.example', '.b.example', 'b.example'])).toBe(true);
    expect(isJsHeavy('b.example', [])).toBe(false);
  });
});
