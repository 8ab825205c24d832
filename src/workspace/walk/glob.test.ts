import {execFileSync} from 'node:child_process';
import {rgPath} from '@vscode/ripgrep';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {writeFiles} from '../../../test/support/open-test-workspace.ts';
import {codeOf, unwrap} from '../../../test/support/outcome.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {compileGlob} from './glob.ts';

const keeps = (glob: string, path: string): boolean => unwrap(compileGlob(glob, 'glob')).matchesPath(path);

describe('compile-glob', () => {
  test.each([
    ['*.ts', ['a.ts', 'b/c.ts', '.x.ts'], ['a.tsx', 'a.ts/b']],
    ['/*.ts', ['a.ts'], ['b/c.ts']],
    ['./*.ts', ['a.ts'], ['b/c.ts']],
    ['src/*.ts', ['src/a.ts'], ['src/b/c.ts', 'x/src/a.ts']],
    ['src/**', ['src/a', 'src/b/c'], ['src', 'x/src/a']],
    ['src/**/*.ts', ['src/a.ts', 'src/b/c/d.ts'], ['a.ts']],
    ['**/test/*.ts', ['test/a.ts', 'b/c/test/a.ts'], ['test/b/a.ts']],
    ['**', ['a', 'a/b/c'], []],
    ['a**b', ['ab', 'axxb', 'x/ab'], ['a/b']],
    ['?.ts', ['a.ts', '\u{1f600}.ts'], ['ab.ts', '.ts']],
    ['[a-c]x', ['ax', 'cx'], ['dx', '-x']],
    ['[!a-c]x', ['dx', '-x'], ['ax']],
    ['[]a]x', [']x', 'ax'], ['[x']],
    ['\\*.ts', ['*.ts'], ['a.ts']],
    ['*.{ts,tsx}', ['a.ts', 'b/a.tsx'], ['a.t', 'a.js']],
    ['{src,test}/**/*.ts', ['src/a.ts', 'test/b/c.ts'], ['x/src/a.ts']],
    ['{a,b/c}', ['a', 'b/c'], ['x/a']],
    ['a{b,{c,d}e}f', ['abf', 'acef', 'adef'], ['acf']],
    ['\\{a,b}'.replace('}', '\\}'), ['{a,b}'], ['a']],
    ['!*.md', ['a.ts', 'b/c'], ['a.md', 'b/a.md']],
    ['!node_modules', ['a'], ['node_modules/a', 'b/node_modules/c/d']],
    ['!build/', ['build', 'x/build'], ['build/a']],
    ['src', ['src', 'x/src'], ['src/a']],
    ['src/', [], ['src', 'src/a']],
    ['*abc*xyz*', ['abcxyz', '1abc2xyz3'], ['abxyz', 'xyzabc', 'abcxy']],
    ['a*a', ['aa', 'aba'], ['a']],
  ])('ruling W2: %s', (glob, yes, no) => {
    for (const path of yes) expect([path, keeps(glob, path)]).toEqual([path, true]);
    for (const path of no) expect([path, keeps(glob, path)]).toEqual([path, false]);
  });

  test('what is no glob is refused with the parameter and the reason', () => {
    for (const text of [
      '',
      '  ',
      'a[b',
      'a\\',
      'a{b',
      'a}b',
      '#a',
      '/',
      '!',
      'a\nb',
      'a\0',
      '\ud800',
      '!/',
    ]) {
      const result = compileGlob(text, 'pattern');
      expect([text, codeOf(result)]).toEqual([text, 'invalid_params']);
      expect(result.ok || result.error.details).toMatchObject({field: 'pattern'});
    }
    expect(codeOf(compileGlob('a'.repeat(1025), 'glob'))).toBe('invalid_params');
  });

  test('ruling W1: a pattern that climbs is an escape', () => {
    for (const text of ['../*', 'a/../../b', '{..,a}/x', '!../x']) {
      expect([text, codeOf(compileGlob(text, 'glob'))]).toEqual([text, 'path_escape']);
    }
  });

  test('policy: braces do not multiply without end', () => {
    expect(codeOf(compileGlob('{a,b}'.repeat(8), 'glob'))).toBe('ok');
    expect(codeOf(compileGlob('{a,b}'.repeat(200), 'glob'))).toBe('invalid_params');
    expect(codeOf(compileGlob(`${'{'.repeat(500)}a${'}'.repeat(500)}`, 'glob'))).toBe('ok');
  });

  test('policy: matching is linear in name and pattern', () => {
    const start = performance.now();
    for (const glob of ['a*'.repeat(200), '?*'.repeat(200), '**/a/'.repeat(200), '*[ab]'.repeat(100)]) {
      keeps(`${glob}b`, 'a'.repeat(4000));
      keeps(`${glob}b`, 'a/'.repeat(2000));
    }
    expect(performance.now() - start).toBeLessThan(1000);
  });

  test('ruling W2: decides as `rg -g` does', {tags: 'slow'}, () => {
    const names = fc.constantFrom('a', 'b', 'ab', '.h', 'a.b', '-x', '[a]', 'A', 'ba');
    const path = fc.array(names, {minLength: 1, maxLength: 3}).map(parts => parts.join('/'));
    // No "[!a]": for ripgrep it matches a slash, which gitignore(5) excludes.
    const piece = fc.constantFrom(
      'a',
      'b',
      '.',
      '*',
      '**',
      '?',
      '[ab]',
      '/',
      '/',
      '{a,b}',
      '{a,b/}',
      '\\[a\\]',
      '-x',
      'A',
    );
    const glob = fc
      .tuple(fc.boolean(), fc.array(piece, {minLength: 1, maxLength: 5}))
      .map(([not, parts]) => `${not ? '!' : ''}${parts.join('')}`);
    fc.assert(
      fc.property(fc.array(path, {minLength: 1, maxLength: 6}), glob, (paths, text) => {
        const files = paths.filter(one => !paths.some(other => other.startsWith(`${one}/`)));
        const compiled = compileGlob(text, 'glob');
        // "//" is nothing that a path has; ripgrep is no help there.
        fc.pre(compiled.ok && !text.includes('//'));
        const root = mount(files);
        const kept = [...new Set(files)].filter(file => unwrap(compiled).matchesPath(file)).sort();
        // For ripgrep, "**" behind a brace is no directory, and "./" matches nothing.
        if (!/\/\}|^!?\.\//.test(text)) expect(kept).toEqual(ripgrepFiles(root, ['-g', text]));
      }),
      {numRuns: 30},
    );
  });
});

const mounted = new Map<string, string>();

function mount(files: readonly string[]): string {
  const key = files.join('\n');
  const root = mounted.get(key) ?? temporaryDirectory();
  if (!mounted.has(key)) writeFiles(root, Object.fromEntries(files.map(file => [file, ''])));
  mounted.set(key, root);
  return root;
}

function ripgrepFiles(cwd: string, globs: readonly string[]): string[] {
  try {
    const args = ['--no-config', '--files', '--hidden', '--no-ignore', ...globs];
    return execFileSync(rgPath, args, {cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe']})
      .split('\n')
      .slice(0, -1)
      .sort();
  } catch (error) {
    // 1: no file.
    if (error instanceof Error && 'status' in error && error.status === 1) return [];
    throw error;
  }
}
