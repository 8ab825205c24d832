import {expect, test} from 'vitest';
import {callWorkspaceTools} from '../../../test/support/call-workspace-tools.ts';
import {openTestWorkspace} from '../../../test/support/open-test-workspace.ts';
import {fail} from '../../core/result.ts';
import {takeWithin} from './list-files.ts';
import {lastShownLine, renderRead} from './read-file.ts';
import {suggestSimilar} from './suggest-similar.ts';

const range = (
  start_line: number,
  end_line: number,
  total_lines: number,
  content: string,
  more: object = {},
) => ({
  content,
  total_lines,
  start_line,
  end_line,
  ...more,
});
const x = (count: number): string => 'x'.repeat(count);

test.each<readonly [string, Parameters<typeof renderRead>[0], string, number]>(
  // biome-ignore format: a case is a line
  [
    ['a whole file', range(1, 2, 2, 'a\nb\n'), '[lines 1-2 of 2]\na\nb\n', 2],
    ['without a last newline', range(1, 2, 2, 'a\nb'), '[lines 1-2 of 2]\na\nb', 2],
    ['a part', range(3, 4, 9, 'c\nd\n'), '[lines 3-4 of 9]\nc\nd\n', 4],
    ['an empty file', range(1, 0, 0, ''), '[lines 1-0 of 0]\n', 0],
    ['a line of 2000 characters', range(1, 1, 1, x(2000)), `[lines 1-1 of 1]\n${x(2000)}`, 1],
    ['a longer line', range(1, 1, 1, x(3001)), `[lines 1-1 of 1]\n${x(2000)} [… 1,001 more characters]`, 1],
    ['numbers of lines', range(9, 10, 12, 'i\nj\n', {line_numbers: true}), '[lines 9-10 of 12]\n 9\ti\n10\tj\n', 10],
    ['what is before a cut', range(1, 9, 9, 'a\nb\n[… 3 bytes of lines 3-8 left out …]\ni\n', {left_out: {start_line: 3, end_line: 8}}), '[lines 1-2 of 9; next: start_line=3]\na\nb\n', 2],
    ['a first line that is cut', range(4, 9, 9, 'aa\n[… left out …]\nz\n', {left_out: {start_line: 4, end_line: 8}}), '[a part of line 4 of 9, which is too long to be shown whole; next: start_line=5]\naa\n', 3],
    ['an only line that is cut', range(9, 9, 9, 'aa\n[… left out …]\nz\n', {left_out: {start_line: 9, end_line: 9}}), '[a part of line 9 of 9, which is too long to be shown whole]\naa\n', 8],
  ],
)('W17: the text of a read has %s', (_, answer, text, last) => {
  expect(renderRead(answer)).toBe(text);
  expect(lastShownLine(answer)).toBe(last);
});

test('W17: 39,000 characters of lines are shown, and no line in part for the sake of them', () => {
  // 20 lines of 1949 characters and their breaks are 39,000.
  const lines = (last: number) => `${`${x(1949)}\n`.repeat(19)}${x(last)}\nend\n`;
  const shown = (last: number) => lastShownLine(range(1, 21, 21, lines(last)));
  expect([shown(1950), shown(1951)]).toEqual([20, 19]);
  expect(renderRead(range(1, 21, 21, lines(1951)))).toBe(
    `[lines 1-19 of 21; next: start_line=20]\n${`${x(1949)}\n`.repeat(19)}`,
  );
});

test('ruling E7: as many items as fit, each with what separates it', () => {
  expect(takeWithin(['a', 'bb'], 9)).toEqual(['a', 'bb']);
  expect(takeWithin(['a', 'bb'], 8)).toEqual(['a']);
  expect(takeWithin(['ä'], 4)).toEqual([]);
  expect(takeWithin([], 0)).toEqual([]);
  const items = [{a: 1}];
  expect(takeWithin(items, 8)).toBe(items);
});

async function similarTo(
  path: unknown,
  files: readonly string[],
  code: 'file_not_found' | 'io_error' = 'file_not_found',
) {
  const {session} = await openTestWorkspace(Object.fromEntries(files.map(name => [name, ''])));
  const failure = fail(code, 'There is none.', {path, more: 1} as never);
  const suggested = await suggestSimilar(session, failure, new AbortController().signal);
  if (suggested === failure) return 'nothing';
  const {similar, ...rest} = suggested.error.details;
  expect(rest).toEqual({path, more: 1});
  expect(suggested.error).toMatchObject({
    code,
    message: `There is none. Similar: ${(similar as string[]).map(one => `"${one}"`).join(', ')}.`,
  });
  return similar;
}

test.each<readonly [string, unknown, readonly string[], readonly string[] | 'nothing']>(
  // biome-ignore format: a case is a line
  [
    ['a letter more', 'read.ts', ['readd.ts', 'other.ts'], ['readd.ts']],
    ['the nearest first, then by name', 'abcdef', ['abcdxx', 'abcdez', 'abcdey'], ['abcdey', 'abcdez', 'abcdxx']],
    ['a third of the letters', 'abcdef', ['abcxxx', 'abcdxx'], ['abcdxx']],
    ['one letter of a short name', 'ab', ['ax', 'xy'], ['ax']],
    ['in any case', 'README.MD', ['readme.md'], ['readme.md']],
    ['the same name elsewhere', 'lib/Main.ts', ['src/a/main.ts', 'x'], ['src/a/main.ts']],
    ['the same name below', 'main.ts', ['src/a/main.ts', 'x'], ['src/a/main.ts']],
    ['a directory above that is nearly there', 'srd/a/b.ts', ['src/x'], ['src']],
    ['a name in the nearest directory that is there', 'd/e/f.ts', ['d/g/h', 'x'], ['d/g']],
    ['each once', 'd/abc', ['d/abd', 'e/abc', 'abc'], ['d/abd', 'abc', 'e/abc']],
    ['five at most', 'abcdef', ['abcde1', 'abcde2', 'abcde3', 'abcde4', 'abcde5', 'abcde6'], ['abcde1', 'abcde2', 'abcde3', 'abcde4', 'abcde5']],
    ['nothing that is too far', 'abc', ['xyz'], 'nothing'],
    ['nothing for the root', '.', ['x'], 'nothing'],
    ['nothing for a path outside', '../x', ['x'], 'nothing'],
    ['nothing without a path', 7, ['x'], 'nothing'],
    ['a name of 100 letters', x(100), [`${x(99)}y`], [`${x(99)}y`]],
    ['no name that is longer', x(101), [`${x(99)}y`], 'nothing'],
    ['nothing that is longer', x(100), [`${x(100)}y`], 'nothing'],
  ],
)('W17: of what is not there similar is: %s', async (_, path, files, similar) => {
  expect(await similarTo(path, files)).toEqual(similar);
});

test('W17: another failure stays as it is', async () => {
  expect(await similarTo('abc', ['abd'], 'io_error')).toBe('nothing');
});

test('ruling W16: where a list is cut, what is not ignored has half of the room', async () => {
  const modules = Array.from({length: 40}, (_, at) => `node_modules/${String(at).padStart(20, '0')}`);
  const own = Array.from({length: 40}, (_, at) => `own/${String(at).padStart(20, '0')}`);
  const files = Object.fromEntries([...modules, ...own, 'z'].map(name => [name, '']));
  const {call} = await callWorkspaceTools({...files, '.gitignore': 'node_modules/\n'});
  const {data} = await call('list_files', {}, {maxOutputBytes: 1500});
  // Of 1400 bytes the directory has 52, and each list half of the others.
  expect(data).toEqual({
    files: ['.gitignore', ...modules.slice(0, 18)],
    truncated: true,
    total_files: 82,
    directories: [{path: 'node_modules/', files: 40, ignored: true}],
    own_files: ['.gitignore', ...own.slice(0, 24)],
  });
  const whole = await call('list_files', {}, {maxOutputBytes: 10_000});
  expect(whole.data).toMatchObject({truncated: false, files: {length: 82}});
  expect(whole.data).not.toHaveProperty('own_files');
});
