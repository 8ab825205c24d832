import {describe, expect, test} from 'vitest';
import {nearMatch} from './near-match.ts';

const near = (text: string, wanted: string) => nearMatch(Buffer.from(text), wanted);

const CODE = `function add(a, b) {
\tconst sum = a + b;
\treturn sum;
}

function say(name) {
  console.log("Hello, " + name);
  return 'done';
}
`;

describe('ruling W6: no_match says where the nearest is, and what differs', () => {
  test.each([
    ['spaces for tabs', CODE, '    const sum = a + b;\n    return sum;', [2, 3], ['tabs against spaces']],
    [
      'another indentation',
      CODE,
      '    console.log("Hello, " + name);\n    return',
      [7, 8],
      ['the number of spaces'],
    ],
    ['lost indentation', CODE, 'const sum = a + b;\nreturn sum;', [2, 3], ['indentation']],
    ['blanks at line ends', 'a = 1;  \nb = 2;\n', 'a = 1;\nb = 2;', [1, 2], ['white space at line ends']],
    ['LF for CRLF', 'a = 1;\r\nb = 2;\r\n', 'a = 1;\nb = 2;\n', [1, 2], ['line endings (the file has CRLF)']],
    ['CRLF for LF', 'a = 1;\nb = 2;\n', 'a = 1;\r\nb = 2;\r\n', [1, 2], ['line endings (the file has LF)']],
    ['a final newline that is not there', 'a = 1;\nb = 2;', 'b = 2;\n', [2, 2], ['white space at the end']],
    ['curly quotes', CODE, 'return \u2018done\u2019;', [8, 8], ['curly quotes or dashes']],
    ['a dash', 'a - b\n', 'a \u2013 b', [1, 1], ['curly quotes or dashes']],
    ['a no-break space', 'a b\n', 'a\u00a0b', [1, 1], ['invisible or composed characters']],
    ['a zero-width space', 'foo bar\n', 'foo\u200b bar', [1, 1], ['invisible or composed characters']],
    ['a composed letter', 'caf\u00e9\n', 'cafe\u0301', [1, 1], ['invisible or composed characters']],
  ])('%s', (_, text, wanted, lines, differs) => {
    expect(text).not.toContain(wanted);
    expect(near(text, wanted)).toMatchObject({nearest: {lines, differs}});
  });

  test.each([
    ['  12\\t', '  6\tfunction say(name) {\n  7\t  console.log("Hello, " + name);'],
    ['12|', '6|function say(name) {\n7|  console.log("Hello, " + name);'],
    ['12 | ', '6 | function say(name) {\n7 |   console.log("Hello, " + name);'],
    ['12→', '     6→function say(name) {\n     7→  console.log("Hello, " + name);'],
    ['12: ', '6: function say(name) {\n7:   console.log("Hello, " + name);'],
  ])('line numbers such as %s', (_, wanted) => {
    const {nearest, hint} = near(CODE, wanted);
    expect(nearest?.lines).toEqual([6, 7]);
    expect(nearest?.differs).toEqual(['line numbers pasted with the text']);
    expect(hint).toContain(
      'Nearest: lines 6-7; old_string has line numbers pasted with the text. Send lines 6-7 as in the file.',
    );
  });

  test('what is shown is as it is in the file, its byte order mark too', () => {
    expect(near('\ufeffa = 1;\nb = 2;\n', 'a =  1;\nb = 2;').nearest?.text).toBe('\ufeffa = 1;\nb = 2;');
  });

  test('numbers within the lines are no line numbers', () => {
    const {nearest} = near('case a\ncase b\n', 'case 1: a\ncase 2: b');
    expect(nearest?.differs ?? []).not.toContain('line numbers pasted with the text');
  });

  test('line numbers where a line of blanks has none', () => {
    expect(near('a = 1;\n  \nb = 2;\n', '1|a = 1;\n  \n3|b = 2;').nearest).toEqual({
      lines: [1, 3],
      text: 'a = 1;\n  \nb = 2;',
      differs: ['line numbers pasted with the text'],
    });
  });

  test.each([
    ['7\t', '8\t'],
    ['7|', '8|'],
    ['7 |', '8 |'],
    ['7\u2502', '8\u2502'],
    ['7\u2192', '8\u2192'],
    ['7:', '8:'],
    ['107:', '108:'],
    [' 7:', ' 8:'],
    ['   107\t', '   108\t'],
    // A blank may belong to the number.
    ['7| ', '8| '],
    ['7 | ', '8 | '],
    ['7\u2502 ', '8\u2502 '],
    ['7 \u2192 ', '8 \u2192 '],
    ['7: ', '8: '],
    ['   107: ', '   108: '],
  ])('line numbers %j and %j, and nothing else', (first, second) => {
    const wanted = `${first}  console.log("Hello, " + name);\n${second}  return 'done';`;
    expect(near(CODE, wanted)).toEqual({
      hint: 'Nearest: lines 7-8; old_string has line numbers pasted with the text. Send lines 7-8 as in the file.',
      nearest: {
        lines: [7, 8],
        text: `  console.log("Hello, " + name);\n  return 'done';`,
        differs: ['line numbers pasted with the text'],
      },
    });
  });

  test.each([
    ['one line has none', '7: console.log("Hello, " + name);\nreturn'],
    ['there are letters before it', 'a7: console.log("Hello, " + name);'],
    ['two blanks before the bar', '7  | console.log("Hello, " + name);'],
    ['nothing ends it', '7 console.log("Hello, " + name);'],
  ])('no line numbers: %s', (_, wanted) => {
    expect(near(CODE, wanted).nearest?.differs ?? []).not.toContain('line numbers pasted with the text');
  });

  test('a line that is empty needs no number', () => {
    const wanted = '4\t}\n\n6\tfunction say(name) {';
    expect(near(CODE, wanted)).toMatchObject({
      nearest: {lines: [4, 6], differs: ['line numbers pasted with the text']},
    });
  });

  test('escapes of each kind', () => {
    const text = 'a\tb\r\n"c" \'d\' `e` \\ f\n';
    expect(near(text, 'a\\tb\\r\\n\\"c\\" \\\'d\\\' \\`e\\` \\\\ f').nearest).toEqual({
      lines: [1, 2],
      text: text.slice(0, -1),
      differs: ['escaped newlines, tabs or quotes (such as \\n) instead of the characters'],
    });
    expect(near('x = "a\\nb";\n', 'x = "a\nb";')).toMatchObject({
      hint: 'Nearest: line 1; old_string has real newlines where the file has the characters \\n. Send line 1 as in the file.',
    });
  });

  test('what a repair leaves different is said as well', () => {
    expect(near(CODE, '7: console.log("Hello, "  +  name);').hint).toBe(
      'Nearest: line 7; old_string has line numbers pasted with the text, and differs in the number of spaces. Send line 7 as in the file.',
    );
  });

  test('escaped newlines, and the reverse', () => {
    expect(near(CODE, 'function add(a, b) {\\n\\tconst sum').nearest).toMatchObject({
      lines: [1, 2],
      differs: ['escaped newlines, tabs or quotes (such as \\n) instead of the characters'],
    });
    expect(near('x = "a\\nb";\n', 'x = "a\nb";').nearest?.lines).toEqual([1, 1]);
  });

  test('another word: the lines around it are found, and the first that differs is shown', () => {
    const {hint, nearest} = near(CODE, 'function say(name) {\n  console.info("Hello, " + name);\n  return');
    expect(nearest?.lines).toEqual([6, 8]);
    expect(hint).toBe(
      'Nearest: lines 6-8 differ in the text. Line 7 is "  console.log(\\"Hello, \\" + name);" in the file, "  console.info(\\"Hello, \\" + name);" in old_string.',
    );
    expect(near(CODE, 'console.log("Hallo, " + names)').nearest?.lines).toEqual([7, 7]);
  });

  test('nothing like it', () => {
    expect(near(CODE, 'SELECT * FROM users WHERE id = 1')).toEqual({
      hint: 'No line of the file is similar. Read the file again.',
    });
    expect(near('x', ' \n ').nearest).toBeUndefined();
  });

  test('policy: what is shown is bounded', () => {
    const {hint, nearest} = near(`${'x'.repeat(100_000)} y`, `${'x'.repeat(100_000)}\ty`);
    expect(nearest?.text.length).toBeLessThanOrEqual(2000);
    expect(hint.length).toBeLessThan(600);
  });
});

test('policy: above 1,048,576 characters nothing is looked for, since nothing else runs meanwhile', () => {
  const text = `${'первая строка\n'.repeat(75_000)}last line\n`;
  expect(text.length).toBeGreaterThan(1024 * 1024);
  expect(near(text, 'last  line')).toEqual({
    hint: 'The file is too large to look for something like it; read the lines again.',
  });
  const wanted = 'last  line\n'.repeat(100_000);
  expect(near('last line\n', wanted).nearest).toBeUndefined();
});

describe('policy: what is searched at most is searched in bounded time', () => {
  const line = (at: number): string => `  const value${at} = compute(${at}, "${at * 7}");\n`;
  const big = Array.from({length: 22_000}, (_, at) => line(at)).join('');
  test.each([
    ['a near place', big, `const value21999 =  compute(21999, "${21_999 * 7}");`],
    ['no near place', big, 'SELECT something completely different\nFROM elsewhere'],
    ['another alphabet', 'первая строка\n'.repeat(74_000), 'вторая  строка\nтретья строка'],
    ['many equal lines', '}\n'.repeat(500_000), '}\n'.repeat(1000).concat('x')],
    ['one line of a letter', 'a'.repeat(900_000), `${'a'.repeat(100_000)}b`],
    ['blanks', ' '.repeat(900_000), `${' '.repeat(100_000)}b`],
    ['blanks and letters', `${' '.repeat(1000)}x`.repeat(900), `x${' '.repeat(999)}x`.repeat(100)],
    ['wanted is as long', big.slice(0, 500_000), big.slice(0, 500_000).replaceAll('  ', '\t')],
  ])('%s', {tags: 'slow'}, (_, text, wanted) => {
    const started = performance.now();
    const {hint} = near(text, wanted);
    expect(performance.now() - started).toBeLessThan(2000);
    expect(hint).not.toContain('too large');
  });
});
