import {execFileSync} from 'node:child_process';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {writeFiles} from '../../../test/support/open-test-workspace.ts';
import {unwrap} from '../../../test/support/outcome.ts';
import {needs} from '../../../test/support/parts.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {openWorkspace} from '../jail/jail.ts';
import {walkTree} from './walk-tree.ts';

/** Which of the paths are left out of a walk, with these .gitignore files (directory → text). */
async function ignored(
  ignores: Readonly<Record<string, string>>,
  paths: readonly string[],
): Promise<string[]> {
  const left: string[] = [];
  // One by one, as a path may be a file here and a directory there.
  for (const path of paths) if (!(await keptOf(ignores, [path])).includes(path)) left.push(path);
  return left;
}

async function keptOf(
  ignores: Readonly<Record<string, string>>,
  paths: readonly string[],
): Promise<readonly string[]> {
  const root = temporaryDirectory();
  writeFiles(root, Object.fromEntries(paths.map(path => [path, ''])));
  for (const [directory, text] of Object.entries(ignores))
    writeFiles(root, {[`${directory}/.gitignore`]: text});
  const workspace = unwrap(openWorkspace(root));
  try {
    const start = unwrap(workspace.resolve('.'));
    return unwrap(await walkTree(workspace, start, {ignored: 'left-out', maxFiles: 1000})).files;
  } finally {
    workspace.close();
  }
}

describe('ignore-scope', () => {
  test.each(
    // biome-ignore format: a case is a line
    [
      ['gitignore(5): a pattern without a slash holds at every level', '*.log', ['a.log', 'b/c.log'], ['a.txt']],
      ['gitignore(5): one with a slash holds where it is', 'b/*.log', ['b/c.log'], ['a/b/c.log', 'b/c/d.log']],
      ['gitignore(5): a slash in front anchors', '/a', ['a', 'a/x'], ['b/a']],
      ['gitignore(5): a slash at the end is for directories', 'a/', ['a/x', 'b/a/x'], ['a', 'b/a']],
      ['gitignore(5): the last one that fits decides', '*.log\n!keep.log', ['a.log'], ['keep.log']],
      ['gitignore(5): nothing comes back from an ignored directory', 'd/\n!d/keep', ['d/keep'], []],
      ['gitignore(5): but from one whose entries are ignored', 'd/*\n!d/keep', ['d/x'], ['d/keep']],
      ['gitignore(5): **', 'a/**/z\n**/q\nr/**', ['a/z', 'a/b/c/z', 'x/q', 'r/x/y'], ['z', 'r']],
      ['gitignore(5): comments, blanks, escapes', '#c\n\n\\#d\n\\!e\nf  \ng\\ ', ['#d', '!e', 'f', 'g '], ['#c', 'g']],
      ['gitignore(5): CRLF and a BOM', '\ufeffa\r\nb\r\n', ['a', 'b'], []],
      ['what is no pattern matches nothing', 'a[\nb\\\nc', ['c'], ['a[', 'a', 'b', 'b\\']],
      ['git: a range that runs backwards has its first member', '[b-a]', ['b'], ['a', 'c']],
      ['braces are characters there', '{a,b}', ['{a,b}'], ['a', 'b']],
    ],
  )('%s', async (_, text, yes, no) => {
    expect(await ignored({'.': text}, [...yes, ...no])).toEqual(yes);
  });

  test('gitignore(5): a nearer file decides over one above', async () => {
    const ignores = {'.': '*.log\n', sub: '!keep.log\n/x\n'};
    const paths = ['keep.log', 'sub/keep.log', 'sub/deep/keep.log', 'sub/x', 'sub/deep/x'];
    expect(await ignored(ignores, paths)).toEqual(['keep.log', 'sub/x']);
  });

  test('rulings W3, W4: ignores what git ignores', {...needs('git'), tags: 'stress'}, async () => {
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
      .filter(text => !/[^/!]\*\*|\*\*[^/ ]/.test(text));
    const file = fc.array(line, {minLength: 1, maxLength: 4}).map(lines => `${lines.join('\n')}\n`);
    const tree = fc.tuple(
      fc.uniqueArray(path, {minLength: 1, maxLength: 8}),
      file,
      fc.option(file),
      fc.option(file),
    );
    await fc.assert(
      fc.asyncProperty(tree, async ([paths, top, sub, deep]) => {
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
        expect((await keptOf(ignores, files)).filter(name => files.includes(name))).toEqual(
          files.filter(name => kept.includes(name)).sort(),
        );
      }),
      {numRuns: 30},
    );
  });
});
