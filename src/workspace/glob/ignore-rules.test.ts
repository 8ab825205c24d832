import {execFileSync} from 'node:child_process';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {rgPath} from '@vscode/ripgrep';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {writeFiles} from '../../../test/support/open-test-workspace.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {IgnoreRules} from './ignore-rules.ts';

/** Which of the paths are ignored by these .gitignore files (directory → text). */
function ignored(ignores: Readonly<Record<string, string>>, paths: readonly string[]): string[] {
  const rules = new IgnoreRules(new Map(Object.entries(ignores)));
  return paths.filter(path => rules.ignoresFile(path));
}

describe('ignore-rules', () => {
  test.each([
    [
      'gitignore(5): a pattern without a slash holds at every level',
      '*.log',
      ['a.log', 'b/c.log'],
      ['a.txt'],
    ],
    ['gitignore(5): one with a slash holds where it is', 'b/*.log', ['b/c.log'], ['a/b/c.log', 'b/c/d.log']],
    ['gitignore(5): a slash in front anchors', '/a', ['a', 'a/x'], ['b/a']],
    ['gitignore(5): a slash at the end is for directories', 'a/', ['a/x', 'b/a/x'], ['a', 'b/a']],
    ['gitignore(5): the last one that fits decides', '*.log\n!keep.log', ['a.log'], ['keep.log']],
    ['gitignore(5): nothing comes back from an ignored directory', 'd/\n!d/keep', ['d/keep'], []],
    ['gitignore(5): but from one whose entries are ignored', 'd/*\n!d/keep', ['d/x'], ['d/keep']],
    ['gitignore(5): **', 'a/**/z\n**/q\nr/**', ['a/z', 'a/b/c/z', 'x/q', 'r/x/y'], ['z', 'r']],
    [
      'gitignore(5): comments, blanks, escapes',
      '#c\n\n\\#d\n\\!e\nf  \ng\\ ',
      ['#d', '!e', 'f', 'g '],
      ['#c', 'g'],
    ],
    ['gitignore(5): CRLF and a BOM', '\ufeffa\r\nb\r\n', ['a', 'b'], []],
    ['what is no pattern matches nothing', 'a[\nb\\\nc', ['c'], ['a[', 'a', 'b', 'b\\']],
    ['braces are characters there', '{a,b}', ['{a,b}'], ['a', 'b']],
  ])('%s', (_, text, yes, no) => {
    expect(ignored({'.': text}, [...yes, ...no])).toEqual(yes);
  });

  test('gitignore(5): a nearer file decides over one above', () => {
    const ignores = {'.': '*.log\n', sub: '!keep.log\n/x\n'};
    const paths = ['keep.log', 'sub/keep.log', 'sub/deep/keep.log', 'sub/x', 'sub/deep/x'];
    expect(ignored(ignores, paths)).toEqual(['keep.log', 'sub/x']);
  });

  test('as one file: patterns are moved to the root, the outer ones first', () => {
    const files = {'a-b/c': '*.log\n!/keep.log\nx/y/\n{z}\n', 'a[1]': 'q/\n', '.': '# c\n/top\nn\n'};
    expect(new IgnoreRules(new Map(Object.entries(files))).asOneFile().split('\n')).toEqual([
      '/top',
      'n',
      '/a\\[1\\]/**/q/',
      '/a-b/c/**/*.log',
      '!/a-b/c/keep.log',
      '/a-b/c/x/y/',
      '/a-b/c/**/\\{z\\}',
      '',
    ]);
  });

  test('rulings W3, W4: ignores what git ignores, and so does ripgrep with the rules as one file', () => {
    const names = fc.constantFrom('a', 'b', 'ab', '.h', 'a.b', '{a}');
    const path = fc.array(names, {minLength: 1, maxLength: 4}).map(parts => parts.join('/'));
    const piece = fc.constantFrom('a', 'b', '.', '*', '**', '?', '[ab]', '[!a]', '/', '/**/', '\\a', '{a}');
    const line = fc
      .tuple(
        fc.constantFrom('', '', '', '!'),
        fc.array(piece, {minLength: 1, maxLength: 4}),
        fc.constantFrom('', '/', ' '),
      )
      .map(([not, parts, end]) => `${not}${parts.join('')}${end}`)
      // Of "**" within a name, git makes now this, now that (it compares pointers into different strings).
      // With "//", ripgrep skips an empty name, and so matches what git does not.
      .filter(text => !/[^/!]\*\*|\*\*[^/ ]|\/\//.test(text));
    const file = fc.array(line, {minLength: 1, maxLength: 4}).map(lines => `${lines.join('\n')}\n`);
    const tree = fc.tuple(
      fc.uniqueArray(path, {minLength: 1, maxLength: 8}),
      file,
      fc.option(file),
      fc.option(file),
    );
    fc.assert(
      fc.property(tree, ([paths, top, sub, deep]) => {
        const files = paths.filter(one => !paths.some(other => other.startsWith(`${one}/`)));
        const ignores = {
          '.': top,
          ...(sub === null ? {} : {a: sub}),
          ...(deep === null ? {} : {'a/{a}': deep}),
        };
        fc.pre(
          !files.some(name => Object.keys(ignores).some(one => one === name || one.startsWith(`${name}/`))),
        );
        const root = temporaryDirectory();
        execFileSync('git', ['init', '-q'], {cwd: root});
        writeFiles(root, Object.fromEntries(files.map(name => [name, ''])));
        for (const [directory, text] of Object.entries(ignores))
          writeFiles(root, {[`${directory}/.gitignore`]: text});
        const env = {HOME: root, PATH: process.env['PATH'] ?? '', GIT_CONFIG_NOSYSTEM: '1'};
        const git = ['ls-files', '-z', '--others', '--exclude-standard'];
        const kept = execFileSync('git', git, {cwd: root, env, encoding: 'utf8'}).split('\0');
        const expected = files.filter(name => !kept.includes(name));
        expect(ignored(ignores, files)).toEqual(expected);
        const input = new IgnoreRules(new Map(Object.entries(ignores))).asOneFile();
        const list = join(temporaryDirectory(), 'list');
        writeFileSync(list, input);
        const args = [
          '--no-config',
          '--files',
          '--hidden',
          '--no-ignore',
          `--ignore-file=${list}`,
          '-0',
          '.',
        ];
        const listed = ripgrep(args, root).split('\0');
        // For ripgrep, a class that leaves something out matches a slash.
        if (!input.includes('[!a]'))
          expect(files.filter(name => !listed.includes(`./${name}`))).toEqual(expected);
      }),
      {numRuns: 30},
    );
  });
});

function ripgrep(args: readonly string[], cwd: string): string {
  try {
    return execFileSync(rgPath, args, {cwd, encoding: 'utf8'});
  } catch (error) {
    // 1: no file.
    if (error instanceof Error && 'status' in error && error.status === 1) return '';
    throw error;
  }
}
