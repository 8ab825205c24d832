import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {codeOf, unwrap} from '../../../../test/support/outcome.ts';
import {ok} from '../../../core/result.ts';
import {atOnce} from '../../turns.ts';
import {replaceExact} from './replace-exact.ts';

const replace = (text: string, oldString: string, newString: string) => {
  const done = atOnce(replaceExact('f.ts', Buffer.from(text), oldString, newString));
  return done.ok ? ok({text: Buffer.from(done.value.content).toString(), match: done.value.match}) : done;
};

describe('ADR 08: the one occurrence is replaced', () => {
  test.each([
    ['one\ntwo\nthree\n', 'two', '2', 'one\n2\nthree\n', [2, 2]],
    ['one\ntwo\nthree\n', 'one\ntwo\n', '', 'three\n', [1, 2]],
    ['one\ntwo\nthree', 'three', '3\n', 'one\ntwo\n3\n', [3, 3]],
    ['\ufeffone\r\ntwo', 'one\r\ntwo', 'x', '\ufeffx', [1, 2]],
    ['a\r\nb\nc', '\nc', '\n$&c', 'a\r\nb\n$&c', [2, 3]],
    ['x😀y', '😀', '😁', 'x😁y', [1, 1]],
  ])('%j: %j → %j', (text, oldString, newString, expected, lines) => {
    expect(unwrap(replace(text, oldString, newString))).toEqual({text: expected, match: {lines, count: 1}});
  });

  test('ruling W6: everything else stays, byte for byte', () => {
    const part = fc
      .array(fc.constantFrom('a', '\r', '\n', '\r\n', '\t', 'é', '\ufeff', '😀'))
      .map(parts => parts.join(''));
    fc.assert(
      fc.property(part, part, part, (before, after, inserted) => {
        const {text} = unwrap(replace(`${before}<x>${after}`, '<x>', inserted));
        expect(text.startsWith(before) && text.endsWith(after)).toBe(true);
        expect(text.slice(before.length, text.length - after.length).replaceAll('\r\n', '\n')).toBe(
          inserted.replaceAll('\r\n', '\n'),
        );
      }),
    );
  });

  test('ruling W6: a file with CRLF throughout keeps it; a mixed one takes what it is given', () => {
    expect(unwrap(replace('a\r\nb\r\n', 'a', 'x\ny'))).toEqual({
      text: 'x\r\ny\r\nb\r\n',
      match: {lines: [1, 1], count: 1, line_endings: 'crlf'},
    });
    expect(unwrap(replace('a\r\nb\n', 'a', 'x\ny')).text).toBe('x\ny\r\nb\n');
    expect(unwrap(replace('a\nb\n', 'a', 'x\r\ny')).text).toBe('x\r\ny\nb\n');
    expect(unwrap(replace('a\r\n', 'a', 'x\r\ny\nz')).text).toBe('x\r\ny\nz\r\n');
  });
});

describe('ruling W6: what is refused', () => {
  test('more than one occurrence, overlapping ones included, with their lines', () => {
    expect(replace('aXa\nb\naXaXa\n', 'aXa', 'c')).toMatchObject({
      ok: false,
      error: {
        code: 'ambiguous_match',
        message:
          'old_string occurs 3 times in "f.ts", on lines 1, 3. Add surrounding lines until it is unique, or set replace_all.',
        details: {count: 3, lines: [1, 3]},
      },
    });
    expect(replace('\n\n', '\n', 'x')).toMatchObject({error: {details: {count: 2, lines: [1, 2]}}});
    expect(replace('x\n'.repeat(1000), 'x', 'y')).toMatchObject({error: {details: {count: 1000}}});
  });

  test('none', () => {
    expect(replace('a\n', 'b', 'c')).toMatchObject({
      ok: false,
      error: {code: 'no_match', details: {path: 'f.ts'}},
    });
    expect(replace('', 'b', 'c')).toMatchObject({
      error: {message: 'old_string does not occur in "f.ts". The file is empty.'},
    });
    expect(codeOf(replace('A', 'a', 'b'))).toBe('no_match');
    expect(codeOf(replace('a.c', 'a.*c', 'b'))).toBe('no_match');
  });

  test('an empty old_string, an equal new_string, half a character', () => {
    expect(replace('a', '', 'b')).toMatchObject({
      error: {code: 'invalid_params', details: {field: 'old_string'}},
    });
    expect(replace('a', 'a', 'a')).toMatchObject({
      error: {code: 'invalid_params', details: {field: 'new_string'}},
    });
    expect(replace('😀', '\ud83d', 'a')).toMatchObject({
      error: {code: 'invalid_params', details: {field: 'old_string'}},
    });
    expect(replace('a', 'a', '\ud83d')).toMatchObject({
      error: {code: 'invalid_params', details: {field: 'new_string'}},
    });
  });
});
