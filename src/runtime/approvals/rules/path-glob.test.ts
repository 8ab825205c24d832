import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {compileGlob} from '../../../workspace/glob/compile-glob.ts';
import {compilePathGlob} from './path-glob.ts';

function matches(pattern: string, path: string): boolean {
  const glob = compilePathGlob(pattern);
  if (!glob.ok) throw new Error(glob.error);
  return glob.value(path);
}

describe('ruling W2: gitignore-style', () => {
  test.each([
    ['*.md', 'a.md', true],
    ['*.md', 'deep/er/a.md', true],
    ['*.md', 'a.md.txt', false],
    ['/*.md', 'deep/a.md', false],
    ['/*.md', 'a.md', true],
    ['docs/*.md', 'docs/a.md', true],
    ['docs/*.md', 'docs/b/a.md', false],
    ['docs/*.md', 'x/docs/a.md', false],
    ['docs/**', 'docs/b/a.md', true],
    ['**/b/**', 'docs/b/a.md', true],
    ['a/**/z', 'a/z', true],
    ['a/**/z', 'a/b/c/z', true],
    ['a/**/z', 'a/b/c/y', false],
    ['secrets', 'secrets/key', true],
    ['secrets', 'app/secrets/deep/key', true],
    ['secrets/', 'secrets/key', true],
    ['/secrets/', 'app/secrets/key', false],
    ['secrets', 'secrets2/key', false],
    ['.env', '.env', true],
    ['.env*', 'app/.env.local', true],
    ['?.txt', 'a.txt', true],
    ['?.txt', '😀.txt', true],
    ['?.txt', 'ab.txt', false],
    ['[a-c]x', 'bx', true],
    ['[a-c]x', 'dx', false],
    ['[!a-c]x', 'dx', true],
    ['[^a-c]x', 'bx', false],
    ['[]]x', ']x', true],
    ['[a-]x', '-x', true],
    ['a\\*b', 'a*b', true],
    ['a\\*b', 'axb', false],
    ['README', 'readme', false],
    ['[\\]x]y', ']y', true],
    ['[{]x', '{x', true],
    ['b[c-a]', 'bc', true],
    ['docs/**', 'docs', true],
    ['**', '.', true],
    ['*', '.', false],
    ['src', './src//main.ts', true],
    ['x**y', 'x/y', false],
    ['x**y', 'xzzy', true],
  ])('%s on %s is %s', (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected);
  });

  test.each([
    ['!a', 'starts with "!"; write a rule that says the opposite'],
    ['', 'matches nothing; write ** for everything'],
    ['/', 'matches nothing; write ** for everything'],
    ['//', 'matches nothing; write ** for everything'],
    ['a//b', 'has the segment ""'],
    ['a/../b', 'has the segment ".."'],
    ['./a', 'has the segment "."'],
    ['[a', 'has a "[" without "]"; write \\[ for the character'],
    ['a\\', 'ends in a backslash'],
    ['*.{pem,key}', 'has "{"; write one rule for each alternative, or \\{ for the character'],
  ])('policy: %j stops start-up instead of meaning something else, and says why', (pattern, error) => {
    expect(compilePathGlob(pattern)).toEqual({ok: false, error});
  });

  test('policy: a path matches itself, its directory and nothing beside it', () => {
    const name = fc.stringMatching(/^[a-z0-9_-]{1,8}$/);
    fc.assert(
      fc.property(fc.array(name, {minLength: 2, maxLength: 5}), segments => {
        const path = segments.join('/');
        const directory = segments.slice(0, -1).join('/');
        expect(matches(`/${path}`, path)).toBe(true);
        expect(matches(`/${directory}`, path)).toBe(true);
        expect(matches(`/${directory}/*`, `${path}x`)).toBe(true);
        expect(matches(`/${path}`, `${path}x`)).toBe(false);
      }),
    );
  });

  test('policy: what the tool glob finds by a pattern is what a rule with that pattern covers', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      '*',
      '**',
      '?',
      '[ab]',
      '[!a]',
      '[\\]a]',
      '/',
      '/**/',
      '\\a',
      '\\{',
    );
    const pattern = fc.array(piece, {minLength: 1, maxLength: 6}).map(pieces => pieces.join(''));
    const name = fc.constantFrom('a', 'b', 'ab', ']', '{', 'ba');
    const path = fc.array(name, {minLength: 1, maxLength: 4}).map(names => names.join('/'));
    fc.assert(
      fc.property(pattern, path, (text, file) => {
        const [rule, glob] = [compilePathGlob(text), compileGlob(text, 'pattern')];
        fc.pre(rule.ok && glob.ok);
        if (glob.value.keepsPath(file)) expect([text, file, rule.value(file)]).toEqual([text, file, true]);
        // And all that lies below it.
        if (rule.value(file)) expect(rule.value(`${file}/c`)).toBe(true);
      }),
      {numRuns: 2000},
    );
  });

  test('policy: a hostile path costs at most its length times the pattern', () => {
    const started = performance.now();
    expect(matches('*a*a*a*a*b', 'a'.repeat(20_000))).toBe(false);
    expect(matches('**/a/**/a/**/b', 'a/'.repeat(20_000))).toBe(false);
    expect(performance.now() - started).toBeLessThan(1000);
  });
});
