import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {codeOf, unwrap} from '../../../test/support/outcome.ts';
import {ok} from '../../core/result.ts';
import {atOnce} from '../open-file.ts';
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
          'old_string occurs 3 times in "f.ts", on lines 1, 3. Add surrounding lines until it is unique, or set line or replace_all.',
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

describe('replace all', () => {
  const replace = (text: string, oldString: string, newString: string) => {
    const done = atOnce(replaceExact('f.ts', Buffer.from(text), oldString, newString, {replaceAll: true}));
    return done.ok ? ok({text: Buffer.from(done.value.content).toString(), match: done.value.match}) : done;
  };

  describe('W18: with replace_all each place is replaced', () => {
    test.each([
      ['a = old\nb = old\nc = old', 'old', 'new', 'a = new\nb = new\nc = new', {lines: [1, 3], count: 3}],
      ['old old', 'old', '', ' ', {lines: [1, 1], count: 2}],
      ['é1\né2\n', 'é', '😀', '😀1\n😀2\n', {lines: [1, 2], count: 2}],
      ['x\na\nb\ny\na\nb\nz', 'a\nb\n', 'c\n', 'x\nc\ny\nc\nz', {lines: [2, 6], count: 2}],
      ['aaaaa b', 'aa', 'c', 'cca b', {lines: [1, 1], count: 2}],
      [
        'a\r\nb a\r\n',
        'a',
        'x\ny',
        'x\r\ny\r\nb x\r\ny\r\n',
        {lines: [1, 2], count: 2, line_endings: 'crlf'},
      ],
      ['a\r\nb a\n', 'a', 'x\ny', 'x\ny\r\nb x\ny\n', {lines: [1, 2], count: 2}],
      ['one', 'one', 'two', 'two', {lines: [1, 1], count: 1}],
    ])('W18: %j: %j → %j', (text, oldString, newString, expected, match) => {
      expect(replace(text, oldString, newString)).toEqual(ok({text: expected, match}));
    });

    test('W18: a text that does not occur is none to replace', () => {
      expect(replace('a', 'b', 'c')).toMatchObject({ok: false, error: {code: 'no_match'}});
    });

    test('policy: a result of 32 MiB is made, and one of a byte more is refused with its size', () => {
      const [half, most] = [16 * 1024 * 1024, 32 * 1024 * 1024];
      const large = 'b'.repeat(half);
      const done = atOnce(replaceExact('f.ts', Buffer.from('aa'), 'a', large, {replaceAll: true}));
      expect(done.ok && done.value.content.length).toBe(most);
      expect(replace('aac', 'a', large)).toMatchObject({
        ok: false,
        error: {code: 'file_too_large', details: {path: 'f.ts', size: most + 1, max_bytes: most}},
      });
    });
  });

  describe('W6: what is said of a place', () => {
    const failure = (text: string, oldString: string) => {
      const done = atOnce(replaceExact('f.ts', Buffer.from(text), oldString, 'new'));
      return done.ok ? undefined : done.error;
    };

    test('W6: of more than twenty places the first are named, of twenty all', () => {
      const lines = Array.from({length: 20}, (_, at) => at + 1);
      const named = (times: number): string =>
        `old_string occurs ${times} times in "f.ts", on lines ${lines.join(', ')}${times > 20 ? ' and more' : ''}. Add surrounding lines until it is unique, or set line or replace_all.`;
      for (const times of [20, 21]) {
        expect(failure('x\n'.repeat(times), 'x')).toMatchObject({
          code: 'ambiguous_match',
          message: named(times),
          details: {path: 'f.ts', count: times, lines},
        });
      }
    });

    test('W6: why a text cannot be replaced is said with the field it is in', () => {
      const said = (oldString: string, newString: string) => {
        const done = atOnce(replaceExact('f.ts', Buffer.from('a'), oldString, newString));
        return done.ok ? undefined : done.error;
      };
      const refused = (field: string, reason: string) => ({
        code: 'invalid_params',
        message: reason,
        details: {field, reason},
      });
      expect(said('', 'b')).toMatchObject(
        refused('old_string', 'old_string is empty. Give the text to replace; write_file makes new files.'),
      );
      expect(said('a', 'a')).toMatchObject(
        refused(
          'new_string',
          'old_string and new_string are equal. Write what the text should become into new_string.',
        ),
      );
      expect(said('\ud83d', 'a')).toMatchObject(
        refused('old_string', 'old_string is not well-formed Unicode.'),
      );
      expect(said('a', '\ud83d')).toMatchObject(
        refused('new_string', 'new_string is not well-formed Unicode.'),
      );
    });

    test('W6: lines are counted beyond the first MiB, in the file and in what is replaced', () => {
      const head = 'a line of text\n'.repeat(100_000);
      const done = atOnce(replaceExact('f.ts', Buffer.from(`${head}here\n`), 'here', 'there'));
      expect(done.ok && done.value.match).toEqual({lines: [100_001, 100_001], count: 1});
      const whole = atOnce(replaceExact('f.ts', Buffer.from(`x\n${head}`), head, ''));
      expect(whole.ok && whole.value.match).toEqual({lines: [2, 100_001], count: 1});
      const ends = atOnce(
        replaceExact('f.ts', Buffer.from(`here\n${head}here`), 'here', 'there', {replaceAll: true}),
      );
      expect(ends.ok && ends.value.match).toEqual({lines: [1, 100_002], count: 2});
    });
  });
});

describe('ruling W6: LF in old_string matches CRLF in the file', () => {
  test.each([
    ['a\r\nb\r\n', 'a\nb', 'x\ny', 'x\r\ny\r\n'],
    ['a\nb\r\nc\r\n', 'b\nc\n', 'x\ny\n', 'a\nx\r\ny\r\n'],
  ])('%j: %j → %j', (text, oldString, newString, expected) => {
    const done = unwrap(replace(text, oldString, newString));
    expect([done.text, done.match.line_endings]).toEqual([expected, 'crlf']);
  });

  test('in each place', () => {
    const done = atOnce(
      replaceExact('f', Buffer.from('a\r\nb\r\na\r\nb\r\n'), 'a\nb', 'x\ny', {replaceAll: true}),
    );
    expect(Buffer.from(unwrap(done).content).toString()).toBe('x\r\ny\r\nx\r\ny\r\n');
  });
});

describe('policy: a line chooses the nearest of several places', () => {
  const chosen = (nearLine: number) =>
    atOnce(replaceExact('f', Buffer.from('a\nb\na\nb\nb\na\n'), 'a', 'x', {nearLine}));
  test.each([
    [1, 'x\nb\na\nb\nb\na\n'],
    [4, 'a\nb\nx\nb\nb\na\n'],
    [99, 'a\nb\na\nb\nb\nx\n'],
  ])('line %i', (line, expected) => {
    expect(Buffer.from(unwrap(chosen(line)).content).toString()).toBe(expected);
  });

  test('two that are as near are refused', () => expect(codeOf(chosen(2))).toBe('ambiguous_match'));
});
