import {describe, expect, test} from 'vitest';
import {ok} from '../../../core/result.ts';
import {atOnce} from '../../turns.ts';
import {replaceExact} from './replace-exact.ts';

const replace = (text: string, oldString: string, newString: string) => {
  const done = atOnce(replaceExact('f.ts', Buffer.from(text), oldString, newString, true));
  return done.ok ? ok({text: Buffer.from(done.value.content).toString(), match: done.value.match}) : done;
};

describe('W18: with replace_all each place is replaced', () => {
  test.each([
    ['a = old\nb = old\nc = old', 'old', 'new', 'a = new\nb = new\nc = new', {lines: [1, 3], count: 3}],
    ['old old', 'old', '', ' ', {lines: [1, 1], count: 2}],
    ['é1\né2\n', 'é', '😀', '😀1\n😀2\n', {lines: [1, 2], count: 2}],
    ['x\na\nb\ny\na\nb\nz', 'a\nb\n', 'c\n', 'x\nc\ny\nc\nz', {lines: [2, 6], count: 2}],
    ['aaaaa b', 'aa', 'c', 'cca b', {lines: [1, 1], count: 2}],
    ['a\r\nb a\r\n', 'a', 'x\ny', 'x\r\ny\r\nb x\r\ny\r\n', {lines: [1, 2], count: 2, line_endings: 'crlf'}],
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
    const done = atOnce(replaceExact('f.ts', Buffer.from('aa'), 'a', large, true));
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
      `old_string occurs ${times} times in "f.ts", on lines ${lines.join(', ')}${times > 20 ? ' and more' : ''}. Add surrounding lines until it is unique, or set replace_all.`;
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
    const ends = atOnce(replaceExact('f.ts', Buffer.from(`here\n${head}here`), 'here', 'there', true));
    expect(ends.ok && ends.value.match).toEqual({lines: [1, 100_002], count: 2});
  });
});
