import {describe, expect, test} from 'vitest';
import {describeDifference, mostSimilarLines, nearMatch} from './nearest-text.ts';

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

  test('numbers within the lines are no line numbers', () => {
    const {nearest} = near('case a\ncase b\n', 'case 1: a\ncase 2: b');
    expect(nearest?.differs ?? []).not.toContain('line numbers pasted with the text');
  });

  test('line numbers where a line of blanks has none', () => {
    expect(near('a = 1;\n  \nb = 2;\n', '1|a = 1;\n  \n3|b = 2;').nearest).toEqual({
      lines: [1, 3],
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
    const {hint} = near(`${'x'.repeat(100_000)} y`, `${'x'.repeat(100_000)}\ty`);
    expect(hint.length).toBeLessThan(400);
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
    const started = process.cpuUsage();
    const {hint} = near(text, wanted);
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(2000);
    expect(hint).not.toContain('too large');
  });
});

const similar = (text: string, wanted: string) => mostSimilarLines(text.split('\n'), wanted.split('\n'));
const many = (line: string, times: number): string => `${line}\n`.repeat(times);

describe('W6: the place that was most likely meant', () => {
  test.each<[string, string, string, readonly [number, number] | undefined]>(
    // biome-ignore format: a case is a line
    [
      ['an equal line tells', 'a\nb\nsome line\nc', 'some line\nother', [3, 4]],
      ['its place in what was wanted counts', 'a\nb\nsome line\nc', 'other\nsome line\nmore', [2, 4]],
      ['more equal lines win', 'line one\nx\nline one\nline two', 'line one\nline two', [3, 4]],
      ['of as many the first wins', 'line one\nx\nline one', 'line one\nx', [1, 2]],
      ['nor do fewer, though they come first', 'x\nline two\nline one\nline two', 'line one\nline two', [3, 4]],
      ['the first also where its line is the last', 'x\nline two\ny\nline one\nz', 'line one\nline two', [1, 2]],
      ['blanks do not count', '  some   line', 'some line', [1, 1]],
      ['three characters tell nothing', 'abc\nabcd', 'abc\nabcx', undefined],
      ['four do', 'x\nabcd\ny', 'abcd', [2, 2]],
      ['it does not begin before the file', 'some line\nb', 'x1\nx2\nsome line', [1, 1]],
      ['it does not end behind the file', 'a\nsome line', 'some line\nx\ny', [2, 2]],
      ['without an equal line, the likest to the longest', 'a\nconst total = sum(values);\nb', 'zz\nconst totals = sum(value);', [1, 2]],
      ['nothing in common', 'some line\nanother line', 'Completely Different Words', undefined],
      ['nothing to compare', 'some line', 'so', undefined],
      ['a file without a line that long', 'a\nb', 'some line', undefined],
    ],
  )('W6: %s', (_, text, wanted, lines) => {
    expect(similar(text, wanted)).toEqual(lines);
  });

  test('W6: of two that are alike the liker one, and of two equally like the first', () => {
    const wanted = 'const total = values.reduce(add);';
    expect(similar('let total = values.map(x);\nconst total = values.reduce(sum);', wanted)).toEqual([2, 2]);
    expect(similar('const total = values.reduce(sum);\nlet total = values.map(x);', wanted)).toEqual([1, 1]);
    expect(similar('const total = values.reduce(one);\nconst total = values.reduce(two);', wanted)).toEqual([
      1, 1,
    ]);
  });

  test('W6: half of the runs of three characters have to be shared, in both directions', () => {
    expect(similar('abcdefXXXX', 'abcdefYYYY')).toBeUndefined();
    expect(similar('abcdefghXX', 'abcdefghYY')).toEqual([1, 1]);
    expect(similar(`abcdefghYY${'X'.repeat(20)}`, 'abcdefghYY')).toBeUndefined();
    expect(similar('abc', 'abcdefghYY')).toBeUndefined();
  });

  test('policy: a line that stands there more than twenty times tells nothing', () => {
    const wanted = 'return;\nvoid this.done();';
    expect(similar(`${many('return;', 20)}void that.gone();`, wanted)).toEqual([1, 2]);
    expect(similar(`x\n${many('return;', 21)}y`, wanted)).toBeUndefined();
    expect(similar(`${many('return;', 21)}void this.gone();`, wanted)).toEqual([21, 22]);
  });

  test('policy: a long line is compared by its first 1000 characters', () => {
    const start = Array.from({length: 250}, (_, at) => String(1000 + at)).join('');
    expect(similar(`x\n${start}${'a'.repeat(5000)}`, `${start}${'b'.repeat(5000)}`)).toEqual([2, 2]);
    expect(similar(`x\n${'a'.repeat(1000)}${start}`, `${'b'.repeat(1000)}${start}`)).toBeUndefined();
  });
});

const differs = (found: string, wanted: string): readonly string[] =>
  describeDifference(found, wanted).differs;
const detail = (found: string, wanted: string, firstLine?: number): string =>
  describeDifference(found, wanted, firstLine).detail;

describe('W6: what differs is named by its kind', () => {
  test.each<[string, string, readonly string[]]>([
    ['a\r\nb', 'a\nb', ['line endings (the file has CRLF)']],
    ['a\rb', 'a\nb', ['line endings (the file has CRLF)']],
    ['a\nb', 'a\rb', ['line endings (the file has LF)']],
    ['a \nb', 'a\nb', ['white space at line ends']],
    ['a', 'a\n\n', ['white space at the end']],
    ['\ta', '  a', ['tabs against spaces']],
    ['a\t b', 'a b', ['tabs against spaces']],
    ['a  b', 'a b', ['the number of spaces']],
    ['a\t\tb', 'a\tb', ['the number of spaces']],
    ['a', '  a', ['indentation']],
    ['a\nb', '  a\n  b', ['indentation']],
    ['\u2018a\u201b \u2032', "'a' '", ['curly quotes or dashes']],
    ['\u201ca\u201d\u201e\u201f\u2033', '"a""""', ['curly quotes or dashes']],
    ['a \u2010 b \u2015 c \u2212', 'a - b - c -', ['curly quotes or dashes']],
    ['a\u2026', 'a...', ['curly quotes or dashes']],
    ['\u201a', "'", ['curly quotes or dashes']],
    ['a\u200bb', 'ab', ['invisible or composed characters']],
    ['a\u3000b', 'a b', ['invisible or composed characters']],
    ['e\u0301', '\u00e9', ['invisible or composed characters']],
  ])('W6: %j against %j: %j', (found, wanted, names) => {
    expect(differs(found, wanted)).toEqual(names);
  });

  test.each<[string, string, readonly string[]]>([
    [
      '\ta\r\nb',
      'a\nb c',
      ['line endings', 'tabs against spaces', 'indentation', 'white space within a line'],
    ],
    ['\u201ca\u201d\r\nb', '"a"\nb', ['line endings', 'curly quotes or dashes']],
    // Each kind is in both of them, and differs.
    ['a\t b\r\nc', 'a \tb\rc', ['white space']],
    ['a b', 'ab', ['white space within a line']],
    ['a b', 'a\nb', ['white space or line breaks']],
    ['a\nb\n', 'ab', ['white space or line breaks']],
    ['a b\n', 'ab', ['white space within a line']],
    ['a b\r\n', 'ab', ['white space within a line']],
    ['x = f( a )\r\ny', 'x = f(a)\ny', ['line endings', 'white space within a line']],
  ])('W6: several kinds in %j against %j: %j', (found, wanted, names) => {
    expect(differs(found, wanted)).toEqual(names);
  });
});

describe('W6: the first line that differs is shown as both have it', () => {
  test.each<[string, string, string]>([
    ['a\nb\nc', 'a\nB\nC', 'Line 2 is "b" in the file, "B" in old_string.'],
    ['\ta', '  a', 'Line 1 is "\\ta" in the file, "  a" in old_string.'],
    ['one', 'one\ntwo', 'The file ends before "two" of old_string.'],
    ['say one\ntwo', 'one\ntwo', ''],
    ['one\ntwo three', 'one\ntwo', ''],
    ['one two three', 'two', ''],
    ['one\ntwo three\nfour', 'one\ntwo\nfour', 'Line 2 is "two three" in the file, "two" in old_string.'],
    ['one two\nthree', 'one\nthree', 'Line 1 is "one two" in the file, "one" in old_string.'],
    ['one\nsay two', 'one\ntwo', 'Line 2 is "say two" in the file, "two" in old_string.'],
    ['a two b\nc', 'two\nc', 'Line 1 is "a two b" in the file, "two" in old_string.'],
  ])('W6: %j against %j: %j', (found, wanted, says) => {
    expect(detail(found, wanted)).toBe(says);
  });

  test('W6: it is numbered as in the file', () => {
    expect(detail('a\nb', 'a\nc', 7)).toBe('Line 8 is "b" in the file, "c" in old_string.');
    expect(detail('a', 'a\nc', 7)).toBe('The file ends before "c" of old_string.');
  });

  test('policy: of a long line the part is shown where it begins to differ', () => {
    const [start, end] = ['s'.repeat(200), 'e'.repeat(200)];
    const quoted = (unit: string): string => `"${'s'.repeat(20)}${unit}${'e'.repeat(51)}"`;
    expect(detail(`${start}a${end}`, `${start}b${end}`)).toBe(
      `Line 1 is …${quoted('a')}… in the file, …${quoted('b')}… in old_string.`,
    );
    expect(detail(`a${end}`, `b${end}`)).toBe(
      `Line 1 is "a${'e'.repeat(71)}"… in the file, "b${'e'.repeat(71)}"… in old_string.`,
    );
    expect(detail(`${start}a`, `${start}b`)).toBe(
      `Line 1 is …"${'s'.repeat(71)}a" in the file, …"${'s'.repeat(71)}b" in old_string.`,
    );
  });

  test('policy: a line of 72 units is shown whole, one of 73 in part', () => {
    const whole = 's'.repeat(71);
    expect(detail(`${whole}a`, `${whole}b`)).toBe(
      `Line 1 is "${whole}a" in the file, "${whole}b" in old_string.`,
    );
    expect(detail(`${whole}sa`, `${whole}sb`)).toBe(
      `Line 1 is …"${whole}a" in the file, …"${whole}b" in old_string.`,
    );
    expect(detail(`a${whole}s`, `b${whole}`)).toBe(
      `Line 1 is "a${whole}"… in the file, "b${whole}" in old_string.`,
    );
  });
});

describe('ruling W6: what is said to a caller whose text does not occur', () => {
  test.each<[string, string, string, string]>(
    // biome-ignore format: a case is a line
    [
      ['an empty file', '', 'a', 'The file is empty.'],
      ['nothing like it', 'abc def', 'something else entirely', 'No line of the file is similar. Read the file again.'],
      ['one line', 'x\n\treturn sum;\ny', '  return sum;', 'Nearest: line 2 differs in tabs against spaces. Line 2 is "\\treturn sum;" in the file, "  return sum;" in old_string.'],
      ['two lines', 'x\n\tone();\n\ttwo();\ny', '  one();\n  two();', 'Nearest: lines 2-3 differ in tabs against spaces. Line 2 is "\\tone();" in the file, "  one();" in old_string.'],
      ['two kinds at once', 'x\n\tone(“a”);\ny', 'one("a") ;', 'Nearest: line 2 differs in tabs against spaces, indentation, curly quotes or dashes, white space within a line. Line 2 is "\\tone(“a”);" in the file, "one(\\"a\\") ;" in old_string.'],
      ['line numbers', 'one();\ntwo();\n', '1\tone();\n2\ttwo();', 'Nearest: lines 1-2; old_string has line numbers pasted with the text. Send lines 1-2 as in the file.'],
      ['line numbers on one line', 'one();\ntwo();\n', '2: two();', 'Nearest: line 2; old_string has line numbers pasted with the text. Send line 2 as in the file.'],
      ['line numbers and another indentation', '\tone();\n', '1|    one();', 'Nearest: line 1; old_string has line numbers pasted with the text, and differs in tabs against spaces. Send line 1 as in the file.'],
      ['an escaped tab', 'a\tb\n', 'a\\tb', 'Nearest: line 1; old_string has escaped newlines, tabs or quotes (such as \\n) instead of the characters. Send line 1 as in the file.'],
      ['an escaped quote and backslash', 'say("\\")\n', 'say(\\"\\\\\\")', 'Nearest: line 1; old_string has escaped newlines, tabs or quotes (such as \\n) instead of the characters. Send line 1 as in the file.'],
      ['an escaped carriage return', 'a;\rb;\n', 'a;\\rb;', 'Nearest: line 1; old_string has escaped newlines, tabs or quotes (such as \\n) instead of the characters. Send line 1 as in the file.'],
      ['a real newline', 'x = "a\\nb";\n', 'x = "a\nb";', 'Nearest: line 1; old_string has real newlines where the file has the characters \\n. Send line 1 as in the file.'],
    ],
  )('ruling W6: %s', (_, text, wanted, hint) => {
    expect(near(text, wanted).hint).toBe(hint);
  });

  test('ruling W6: line numbers are taken for such only where each line that says something has one', () => {
    expect(near('one();\n\ntwo();\n', '1\tone();\n\n3\ttwo();').nearest?.lines).toEqual([1, 3]);
    const some = near('one();\ntwo();\n', '1\tone();\ntwo();').nearest;
    expect(some?.differs).toEqual(['the text']);
    expect(near('x 12:30\n', 'x  12:30').nearest?.differs).toEqual(['the number of spaces']);
  });

  test('ruling W6: the end of the last line counts where the file has one', () => {
    expect(near('\tb;;;', ' b;;;\n').nearest?.differs).toEqual([
      'white space at the end',
      'tabs against spaces',
    ]);
    expect(near('\tb;;;\n', ' b;;;\n').nearest?.differs).toEqual(['tabs against spaces']);
  });

  test('ruling W6: of more lines that differ the number is said', () => {
    const text = 'first();\nsecond(1);\nthird(1);\nfourth();\n';
    expect(near(text, 'first();\nsecond(2);\nthird(2);').hint).toBe(
      'Nearest: lines 1-3 differ in the text. Line 2 is "second(1);" in the file, "second(2);" in old_string. 1 line below differs too.',
    );
    expect(near(text, 'first();\nsecond(2);\nthird(2);\nfifth();').hint).toContain(
      ' 2 lines below differ too.',
    );
  });

  test('ruling W6: a place is found by its text across blank lines, and from within lines', () => {
    expect(near('x\n\n  one\n\n  two three\n', 'one\n  two').nearest?.lines).toEqual([3, 5]);
    expect(near('ab cd\nef gh\nij', 'd\nef  g').nearest?.lines).toEqual([1, 2]);
    expect(near('a\nb\nc  c', 'c c').nearest?.lines).toEqual([3, 3]);
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
