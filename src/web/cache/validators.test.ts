import {describe, expect, test} from 'vitest';
import type {HeaderMap} from '../page.ts';
import {keptDocument, readValidators, validatorsOf} from './validators.ts';

const AS = '0123456789abcdef';
const DATE = 'Sat, 10 Jan 2026 11:59:00 GMT';
const NOON = Date.parse('2026-01-10T12:00:00Z');

const headers = (fields: Readonly<Record<string, string | readonly string[]>>): HeaderMap =>
  new Map(Object.entries(fields).map(([name, value]) => [name, typeof value === 'string' ? [value] : value]));

describe('RFC 9110 §8.8 what a response can be asked for again with', () => {
  test.each<[string, Readonly<Record<string, string | readonly string[]>>, object | undefined]>([
    ['nothing', {}, undefined],
    ['a tag', {etag: '"a1"'}, {etag: '"a1"'}],
    ['a weak tag', {etag: 'W/"a1"'}, {etag: 'W/"a1"'}],
    ['an empty tag', {etag: '""'}, {etag: '""'}],
    ['a tag before a date', {etag: '"a"', 'last-modified': DATE}, {etag: '"a"'}],
    ['a tag of 512 characters', {etag: `"${'a'.repeat(512)}"`}, {etag: `"${'a'.repeat(512)}"`}],
    ['a longer tag', {etag: `"${'a'.repeat(513)}"`}, undefined],
    ['a tag without quotes', {etag: 'a1'}, undefined],
    ['a tag with text before it', {etag: 'x"a1"'}, undefined],
    ['a tag with text behind it', {etag: '"a1"x'}, undefined],
    ['a tag with a blank', {etag: '"a 1"'}, undefined],
    ['a tag with a quote in it', {etag: '"a"1"'}, undefined],
    ['two tags', {etag: ['"a"', '"b"']}, undefined],
    ['a header without a value', {etag: []}, undefined],
    ['no tag, but a date', {etag: 'none', 'last-modified': DATE}, {last_modified: DATE}],
    ['two dates', {'last-modified': [DATE, DATE]}, undefined],
    ['a date of another form', {'last-modified': '2026-01-10T11:00:00Z'}, undefined],
    ['a date in words', {'last-modified': 'Sat, 10 Jan 2026 11:59:00 CET'}, undefined],
    ['a document that depends on everything', {etag: '"a"', vary: '*'}, undefined],
    ['the same among others', {etag: '"a"', vary: ['accept', 'origin, *']}, undefined],
    ['a document that depends on a header', {etag: '"a"', vary: 'accept'}, {etag: '"a"'}],
  ])('RFC 9110 §8.8 %s', (_, fields, expected) => {
    expect(validatorsOf(headers(fields), NOON, AS)).toEqual(expected && {...expected, asked_as: AS});
  });

  test('RFC 9110 §8.8.2.2 a document has to be a minute old for its date to tell', () => {
    const at = (time: string) =>
      validatorsOf(headers({'last-modified': `Sat, 10 Jan 2026 ${time} GMT`}), NOON, AS);
    expect(at('11:59:00')).toEqual({last_modified: DATE, asked_as: AS});
    expect(at('11:59:01')).toBeUndefined();
    expect(at('13:00:00')).toBeUndefined();
    expect(at('25:00:00')).toBeUndefined();
  });
});

describe('RFC 9110 §13.1 the question, and which 304 answers it', () => {
  test.each<[string, readonly string[] | undefined, boolean]>([
    ['without a tag', undefined, true],
    ['with the same', ['"a1"'], true],
    ['with the same, weak', ['W/"a1"'], true],
    ['with the coding behind it', ['"a1-gzip"'], true],
    ['with another', ['"a2"'], false],
    ['with none', [''], false],
    ['with two', ['"a1"', '"a1"'], false],
    ['with no value', [], false],
    ['with what is no coding', ['"a1-zip"'], false],
  ])('RFC 9110 §8.8.3.2 a tag: a 304 %s', (_, said, confirmed) => {
    const kept = keptDocument({etag: '"a1"', asked_as: AS});
    expect(kept?.conditions).toEqual({'If-None-Match': '"a1"'});
    expect(kept?.isConfirmedBy(said === undefined ? headers({}) : headers({etag: said}))).toBe(confirmed);
  });

  test.each(['gzip', 'br', 'deflate', 'zstd'])(
    'RFC 9110 §8.8.3.2 the coding %s may be named on either side',
    coding => {
      const coded = `"a1-${coding}"`;
      expect(keptDocument({etag: coded, asked_as: AS})?.isConfirmedBy(headers({etag: 'W/"a1"'}))).toBe(true);
      expect(keptDocument({etag: '"a1"', asked_as: AS})?.isConfirmedBy(headers({etag: coded}))).toBe(true);
      const within = `"a1-${coding}"-b"`;
      expect(keptDocument({etag: '"a1"-b"', asked_as: AS})?.isConfirmedBy(headers({etag: within}))).toBe(
        false,
      );
    },
  );

  test('RFC 9110 §8.8.3.2 what looks like the sign of a weak tag within one is a part of it', () => {
    const kept = keptDocument({etag: '"W/a"', asked_as: AS});
    expect(kept?.isConfirmedBy(headers({etag: '"a"'}))).toBe(false);
  });

  test.each<[string, readonly string[] | undefined, boolean]>([
    ['without a date', undefined, true],
    ['with the same', [DATE], true],
    ['with another', ['Sat, 10 Jan 2026 11:58:00 GMT'], false],
    ['with two', [DATE, DATE], false],
    ['with no value', [], false],
  ])('RFC 9110 §13.1.3 a date: a 304 %s', (_, said, confirmed) => {
    const kept = keptDocument({last_modified: DATE, asked_as: AS});
    expect(kept?.conditions).toEqual({'If-Modified-Since': DATE});
    const answer = said === undefined ? headers({}) : headers({'last-modified': said});
    expect(kept?.isConfirmedBy(answer)).toBe(confirmed);
  });

  test('RFC 9110 §13.1 a document without either is not asked for', () => {
    expect(keptDocument({asked_as: AS})).toBeUndefined();
  });
});

describe('ruling F4 what an entry says becomes a header only if it has the form of one', () => {
  test.each<[unknown, object | undefined]>([
    [
      {etag: '"a"', asked_as: AS},
      {etag: '"a"', asked_as: AS},
    ],
    [
      {etag: '"a"', last_modified: DATE, asked_as: AS},
      {etag: '"a"', asked_as: AS},
    ],
    [
      {last_modified: DATE, asked_as: AS},
      {last_modified: DATE, asked_as: AS},
    ],
    [
      {etag: 'a', last_modified: DATE, asked_as: AS},
      {last_modified: DATE, asked_as: AS},
    ],
    [{asked_as: AS}, undefined],
    [{etag: '"a"\r\nX: y', asked_as: AS}, undefined],
    [{etag: ['"a"'], asked_as: AS}, undefined],
    [{last_modified: [DATE], asked_as: AS}, undefined],
    [{last_modified: `${DATE}\r\nX: y`, asked_as: AS}, undefined],
    [{last_modified: `x ${DATE}`, asked_as: AS}, undefined],
    [{last_modified: 'S, 10 Jan 2026 11:59:00 GMT', asked_as: AS}, undefined],
    [{last_modified: 'Sat, 1x Jan 2026 11:59:00 GMT', asked_as: AS}, undefined],
    [{last_modified: 'Sat, 10 Jan year 11:59:00 GMT', asked_as: AS}, undefined],
    [{etag: '"a"'}, undefined],
    [{etag: '"a"', asked_as: 1}, undefined],
    [{etag: '"a"', asked_as: [AS]}, undefined],
    [{etag: '"a"', asked_as: AS.slice(1)}, undefined],
    [{etag: '"a"', asked_as: `x${AS}`}, undefined],
    [{etag: '"a"', asked_as: `${AS}0`}, undefined],
    [{etag: '"a"', asked_as: AS.toUpperCase()}, undefined],
    [null, undefined],
    [undefined, undefined],
    ['"a"', undefined],
    [[], undefined],
  ])('ruling F4 %j', (value, expected) => {
    expect(readValidators(value)).toEqual(expected);
  });
});
