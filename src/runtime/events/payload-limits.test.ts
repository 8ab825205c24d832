import {createHash} from 'node:crypto';
import {describe, expect, test} from 'vitest';
import type {Json} from '../../core/json.ts';
import {redactPayload} from './redact-payload.ts';

const hash = (text: string) => createHash('sha256').update(text).digest('hex');

describe('policy: what of a payload is kept', () => {
  test('a text of 1000 characters is, of a longer one 200, its length and its hash', () => {
    const [fits, long] = ['x'.repeat(1000), 'x'.repeat(1001)];
    expect(redactPayload({fits, long})).toEqual({
      fits,
      long: `${'x'.repeat(200)}… [1001 characters, sha256 ${hash(long)}]`,
    });
  });

  test('a long name is shortened in the same way', () => {
    const name = 'n'.repeat(1001);
    expect(redactPayload({[name]: 1})).toEqual({
      [`${'n'.repeat(200)}… [1001 characters, sha256 ${hash(name)}]`]: 1,
    });
  });

  test('a hundred entries are, and how many more there were', () => {
    const list = Array.from({length: 101}, (_, at) => at);
    const object = Object.fromEntries(list.map(at => [`k${at}`, at]));
    const kept = redactPayload({list, object, fits: list.slice(0, 100)}) as Readonly<Record<string, Json>>;
    expect(kept['list']).toEqual([...list.slice(0, 100), '… 1 more']);
    expect(kept['fits']).toEqual(list.slice(0, 100));
    expect(Object.entries(kept['object'] ?? {})).toEqual([
      ...Object.entries(object).slice(0, 100),
      ['…', '1 more'],
    ]);
  });

  test('twelve levels are', () => {
    const nested = (levels: number): Json =>
      Array.from({length: levels}).reduce<Json>(inner => ({a: inner}), 'end');
    expect(redactPayload(nested(12) as never)).toEqual(nested(12));
    expect(JSON.stringify(redactPayload(nested(13) as never))).toBe(
      `${'{"a":'.repeat(12)}"…"${'}'.repeat(12)}`,
    );
  });

  test('32,000 characters are, and the rest is left out', () => {
    const texts = Array.from({length: 40}, () => 'x'.repeat(996));
    const kept = redactPayload({texts})['texts'] as readonly string[];
    expect(kept.filter(text => text === texts[0])).toHaveLength(32);
    expect(kept.slice(32)).toEqual(Array(8).fill('…'));
    const numbers = Array.from({length: 50}, () => Array.from({length: 100}, () => 7));
    const rest = redactPayload({numbers})['numbers'] as readonly Json[];
    expect(rest.filter(one => one === '…')).toHaveLength(10);
  });

  test('secrets go by their names, in whatever is below them, and an address shows where it is', () => {
    expect(
      redactPayload({
        password: 'a',
        empty: {password: ''},
        token: ['a', {b: 'c', n: 7, yes: true, none: null}],
        urls: ['https://a.example/?q'],
        url: ['data:text/html,x', 'https://u:p@a.example/b?q'],
        final_url: 'https://a.example/b?q',
        text: 'data:x',
        n: 7,
        yes: false,
        none: null,
      }),
    ).toEqual({
      password: '[redacted]',
      empty: {password: ''},
      token: ['[redacted]', {b: '[redacted]', n: 7, yes: true, none: null}],
      urls: ['https://a.example/?…'],
      url: ['data:…', 'https://…@a.example/b?…'],
      final_url: 'https://a.example/b?…',
      text: 'data:…',
      n: 7,
      yes: false,
      none: null,
    });
  });

  test('other limits are kept to as well', () => {
    const limits = {longestText: 4, shown: 2, mostEntries: 2, deepest: 2, mostCharacters: 1000};
    expect(redactPayload({a: 'abcd', b: 'abcde', c: 1}, limits)).toEqual({
      a: 'abcd',
      b: `ab… [5 characters, sha256 ${hash('abcde')}]`,
      '…': '1 more',
    });
    expect(redactPayload({a: {b: {c: 1}}}, limits)).toEqual({a: {b: '…'}});
  });
});
