import {describe, expect, test} from 'vitest';
import {nearMatch} from './near-match.ts';

const near = (text: string, wanted: string) => nearMatch(Buffer.from(text), wanted);

describe('ruling W6: what is said to a caller whose text does not occur', () => {
  test.each<[string, string, string, string]>([
    ['an empty file', '', 'a', 'The file is empty.'],
    [
      'nothing like it',
      'abc def',
      'something else entirely',
      'No line of the file is similar. Read the file again.',
    ],
    [
      'one line',
      'x\n\treturn sum;\ny',
      '  return sum;',
      'Nearest: line 2 differs in tabs against spaces. Line 2 is "\\treturn sum;" in the file, "  return sum;" in old_string.',
    ],
    [
      'two lines',
      'x\n\tone();\n\ttwo();\ny',
      '  one();\n  two();',
      'Nearest: lines 2-3 differ in tabs against spaces. Line 2 is "\\tone();" in the file, "  one();" in old_string.',
    ],
    [
      'two kinds at once',
      'x\n\tone(“a”);\ny',
      'one("a") ;',
      'Nearest: line 2 differs in tabs against spaces, indentation, curly quotes or dashes, white space within a line. Line 2 is "\\tone(“a”);" in the file, "one(\\"a\\") ;" in old_string.',
    ],
    [
      'line numbers',
      'one();\ntwo();\n',
      '1\tone();\n2\ttwo();',
      'Nearest: lines 1-2; old_string has line numbers pasted with the text. Send lines 1-2 as in the file.',
    ],
    [
      'line numbers on one line',
      'one();\ntwo();\n',
      '2: two();',
      'Nearest: line 2; old_string has line numbers pasted with the text. Send line 2 as in the file.',
    ],
    [
      'line numbers and another indentation',
      '\tone();\n',
      '1|    one();',
      'Nearest: line 1; old_string has line numbers pasted with the text, and differs in tabs against spaces. Send line 1 as in the file.',
    ],
    [
      'an escaped tab',
      'a\tb\n',
      'a\\tb',
      'Nearest: line 1; old_string has escaped newlines, tabs or quotes (such as \\n) instead of the characters. Send line 1 as in the file.',
    ],
    [
      'an escaped quote and backslash',
      'say("\\")\n',
      'say(\\"\\\\\\")',
      'Nearest: line 1; old_string has escaped newlines, tabs or quotes (such as \\n) instead of the characters. Send line 1 as in the file.',
    ],
    [
      'an escaped carriage return',
      'a;\rb;\n',
      'a;\\rb;',
      'Nearest: line 1; old_string has escaped newlines, tabs or quotes (such as \\n) instead of the characters. Send line 1 as in the file.',
    ],
    [
      'a real newline',
      'x = "a\\nb";\n',
      'x = "a\nb";',
      'Nearest: line 1; old_string has real newlines where the file has the characters \\n. Send line 1 as in the file.',
    ],
  ])('ruling W6: %s', (_, text, wanted, hint) => {
    expect(near(text, wanted).hint).toBe(hint);
  });

  test('ruling W6: line numbers are taken for such only where each line that says something has one', () => {
    expect(near('one();\n\ntwo();\n', '1\tone();\n\n3\ttwo();').nearest?.lines).toEqual([1, 3]);
    const some = near('one();\ntwo();\n', '1\tone();\ntwo();').nearest;
    expect(some?.differs).toEqual(['the text']);
    expect(near('x 12:30\n', 'x  12:30').nearest?.differs).toEqual(['the number of spaces']);
  });

  test('ruling W6: the text of the place is shown as it is, with the end of its last line where it has one', () => {
    expect(near('a\n\tb;;;\n\tc;;;\nd', ' b;;;\n c;;;').nearest).toEqual({
      lines: [2, 3],
      text: '\tb;;;\n\tc;;;',
      differs: ['tabs against spaces'],
    });
    expect(near('\tb;;;', ' b;;;\n').nearest?.differs).toEqual([
      'white space at the end',
      'tabs against spaces',
    ]);
    expect(near('\tb;;;\n', ' b;;;\n').nearest?.differs).toEqual(['tabs against spaces']);
  });

  test('ruling W6: a place is found by its text across blank lines, and from within lines', () => {
    expect(near('x\n\n  one\n\n  two three\n', 'one\n  two').nearest?.lines).toEqual([3, 5]);
    expect(near('ab cd\nef gh\nij', 'd\nef  g').nearest?.lines).toEqual([1, 2]);
    expect(near('a\nb\nc  c', 'c c').nearest?.lines).toEqual([3, 3]);
  });

  test('policy: twenty lines and 2000 characters of it are shown', () => {
    const lines = (count: number, indent: string): string =>
      Array.from({length: count}, (_, at) => `${indent}line ${at};`).join('\n');
    expect(near(lines(30, '\t'), lines(20, ' ')).nearest?.text).toBe(lines(20, '\t'));
    expect(near(lines(30, '\t'), lines(21, ' ')).nearest).toMatchObject({
      lines: [1, 21],
      text: lines(20, '\t'),
    });
    const long = 'x'.repeat(1998);
    expect(near(`\t${long};`, ` ${long};`).nearest?.text).toBe(`\t${long};`);
    expect(near(`\t${long}x;`, ` ${long}x;`).nearest?.text.length).toBeLessThanOrEqual(2000);
  });

  test('policy: a file and a text of 1,048,576 characters together are searched, of one more not', () => {
    const wanted = ' last;';
    const text = `${'x\n'.repeat((1024 * 1024 - 12) / 2)}\tlast;`;
    expect(text.length + wanted.length).toBe(1024 * 1024);
    expect(near(text, wanted).nearest?.differs).toEqual(['tabs against spaces']);
    expect(near(`${text} `, wanted).hint).toContain('too large');
    expect(near('€'.repeat(1024 * 1024), wanted).hint).toContain('too large');
  });
});
