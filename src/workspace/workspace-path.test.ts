import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {codeOf} from '../../test/support/outcome.ts';
import {
  childPath,
  isProtectedName,
  parseWorkspacePath,
  parseWritablePath,
  quotePath,
  type WorkspacePath,
} from './workspace-path.ts';

const ROOTS: readonly [string, ...string[]] = ['/work', '/link/to/work'];

describe('ruling W1: paths inside the root', () => {
  test.each([
    ['src/a.ts', 'src/a.ts'],
    ['./src//a.ts', 'src/a.ts'],
    ['src/../a.ts', 'a.ts'],
    ['src/', 'src'],
    ['.', '.'],
    ['/work', '.'],
    ['/work/', '.'],
    ['/work/src/a.ts', 'src/a.ts'],
    ['/work/../work/a', 'a'],
    ['/link/to/work/a', 'a'],
    ['...', '...'],
    ['..a/b', '..a/b'],
    ['a\\..\\..\\b', 'a\\..\\..\\b'],
    ['~/x', '~/x'],
    ['%2e%2e/x', '%2e%2e/x'],
    [' a ', ' a '],
    ['.git/config', '.git/config'],
    ['a'.repeat(255), 'a'.repeat(255)],
  ])('%j is %j', (path, expected) =>
    expect(parseWorkspacePath(ROOTS, path)).toEqual({ok: true, value: expected}),
  );

  test.each([
    '..',
    '../x',
    'a/../../x',
    '/',
    '/etc/passwd',
    '/work2',
    '/work2/a',
    '/work2',
    '/workspace2',
    '/workspace/../etc',
    '../workspace/a',
    '/Work/a',
    '../work2/x',
    '//etc',
  ])('%j leaves it', path =>
    expect(parseWorkspacePath(ROOTS, path)).toMatchObject({
      ok: false,
      error: {code: 'path_escape', details: {path, reason: 'outside_workspace'}},
    }),
  );

  test.each([
    ['../x', '"../x" lies outside the workspace. Use a path relative to the workspace root.'],
    ['', '"" cannot be a path: it is empty. Correct `path`.'],
    ['a\0', '"a\\u0000" cannot be a path: it contains a NUL character. Correct `path`.'],
    ['\ud800', '"\\ud800" cannot be a path: it is not well-formed Unicode. Correct `path`.'],
    [
      'x'.repeat(5000),
      `"${'x'.repeat(200)}…" cannot be a path: it is longer than 4096 bytes. Correct \`path\`.`,
    ],
    [
      'é'.repeat(128),
      `"${'é'.repeat(128)}" cannot be a path: a name in it is longer than 255 bytes. Correct \`path\`.`,
    ],
    ['a/', '"a/" cannot be a path: it ends in "/", so it names a directory. Correct `path`.'],
    ['.', 'The path names the workspace root. Name a file in it.'],
    ['a/.GIT/x', '"a/.GIT/x" goes through ".GIT", and no tool writes in .git. Leave it to git commands.'],
  ])('policy: a refusal says which path, why, and what to do (%#)', (path, message) => {
    const refused = parseWritablePath(ROOTS, path);
    expect(refused.ok ? 'accepted' : refused.error.message).toBe(message);
  });

  test('a path may have 4096 bytes, and a name 255', () => {
    const longest = `${'a'.repeat(255)}/`.repeat(16);
    expect(parseWorkspacePath(ROOTS, longest)).toMatchObject({ok: true});
    expect(parseWorkspacePath(ROOTS, `${longest}a`)).toMatchObject({
      error: {details: {field: 'path', reason: 'it is longer than 4096 bytes'}},
    });
    expect(parseWorkspacePath(ROOTS, 'é'.repeat(127))).toMatchObject({ok: true});
  });

  test.each([
    '',
    'a\0b',
    '\0',
    'a\ud800',
    'a'.repeat(256),
    'é'.repeat(128),
    `x/${'a'.repeat(300)}/y`,
    'a/'.repeat(2049),
    'x'.repeat(1_000_000),
  ])('what can be no path is invalid_params (%#)', path => {
    const result = parseWorkspacePath(ROOTS, path);
    expect(result).toMatchObject({ok: false, error: {code: 'invalid_params', details: {field: 'path'}}});
    if (!result.ok) expect(result.error.message.length).toBeLessThan(400);
  });

  test('policy: a root that is / contains every absolute path', () => {
    expect(parseWorkspacePath(['/'], '/etc/passwd')).toEqual({ok: true, value: 'etc/passwd'});
    expect(parseWorkspacePath(['/'], '../..')).toEqual({ok: true, value: '.'});
  });

  test('policy: whatever is accepted has only plain names, and is accepted again as itself', () => {
    const piece = fc.oneof(
      fc.constantFrom('..', '.', '', 'a', '.git', '\\', 'work', '…'),
      fc.string({maxLength: 4}),
    );
    fc.assert(
      fc.property(fc.array(piece, {maxLength: 8}), fc.boolean(), (pieces, absolute) => {
        const result = parseWorkspacePath(ROOTS, (absolute ? '/work/' : '') + pieces.join('/'));
        if (!result.ok) return;
        const names = result.value.split('/');
        expect(names.some(name => name === '..' || name === '' || (name === '.' && names.length > 1))).toBe(
          false,
        );
        expect(parseWorkspacePath(ROOTS, result.value)).toEqual(result);
      }),
    );
  });
});

describe('ruling W11: places no tool writes', () => {
  test.each([
    '.git',
    '.git/config',
    'a/.git/hooks/pre-commit',
    '.GIT/x',
    'a/.g\u200cit/x',
    '/work/.git/x',
    'a/../.git/x',
    '.git./x',
  ])('%j is refused', path =>
    expect(parseWritablePath(ROOTS, path)).toMatchObject({
      ok: false,
      error: {code: 'path_escape', details: {reason: 'git_directory'}},
    }),
  );

  test('the root, and a path that ends in a slash, are no files', () => {
    expect(parseWritablePath(ROOTS, '.')).toMatchObject({
      ok: false,
      error: {code: 'not_a_file', details: {path: '.', kind: 'directory'}},
    });
    expect(parseWritablePath(ROOTS, 'a/')).toMatchObject({ok: false, error: {code: 'invalid_params'}});
    expect(parseWritablePath(ROOTS, '.gitignore')).toEqual({ok: true, value: '.gitignore'});
  });
});

test('policy: a child is one name; anything else is a bug', () => {
  const root = '.' as WorkspacePath;
  expect(childPath(root, 'a')).toBe('a');
  expect(childPath('a' as WorkspacePath, 'b')).toBe('a/b');
  for (const name of ['', '.', '..', 'a/b', 'a\0']) {
    expect(() => childPath(root, name)).toThrow(
      new TypeError(`Expected the name of a directory entry, got ${JSON.stringify(name)}`),
    );
  }
});

test('policy: messages show what does not print', () => {
  expect(quotePath('.g\u200cit\u202e\u0007')).toBe('".g\\u{200c}it\\u{202e}\\u0007"');
  expect(quotePath('a\u2028b\u2029\u{e0041}"')).toBe('"a\\u{2028}b\\u{2029}\\u{e0041}\\""');
  expect(quotePath('x'.repeat(200))).toBe(`"${'x'.repeat(200)}"`);
  expect(quotePath('x'.repeat(201))).toBe(`"${'x'.repeat(200)}…"`);
});

test.each([
  ['/workspace', '.'],
  ['/workspace/', '.'],
  ['/workspace/src/a.c', 'src/a.c'],
  ['//workspace/a/../b', 'b'],
])('W18: %j, as commands call it, is %j of the root', (path, expected) => {
  expect(parseWorkspacePath(ROOTS, path)).toEqual({ok: true, value: expected});
});

test('W18: a root below a directory of that name comes before it', () => {
  expect(parseWorkspacePath(['/workspace/project'], '/workspace/project/a')).toEqual({ok: true, value: 'a'});
  // Such a path is one of the host, and lies outside.
  expect(codeOf(parseWorkspacePath(['/workspace/project'], '/workspace/a'))).toBe('path_escape');
  // By its real path alone, too.
  expect(codeOf(parseWorkspacePath(['/workspace/project', '/link'], '/workspace/a'))).toBe('path_escape');
  expect(codeOf(parseWorkspacePath(['/real', '/workspace/project'], '/workspace/a'))).toBe('path_escape');
});

describe('ruling W1: names that some file system takes for .git', () => {
  test.each([
    '.git',
    '.GIT',
    '.gIt',
    '.git ',
    '.git.',
    '.git. .',
    '.g\u200cit',
    '.gi\u200dt\ufeff',
    '\u2060.git',
    '.gi\u00adt',
    '.\uff47\uff49\uff54',
    '\uff0egit',
    '\uff0e\uff47\uff49\uff54',
    '.g\u2170t',
    '.git::$INDEX_ALLOCATION',
    '.git .:x',
    'GIT~1',
    'git~2.',
    'git~10',
  ])('%j is protected', name => expect(isProtectedName(name)).toBe(true));

  test.each([
    '.gitignore',
    '.github',
    'git',
    'a.git',
    '.git2',
    '.gi',
    'x.git',
    '..git',
    'git~',
    'xgit~1',
    'git~1x',
    '.ɡit-x',
    '',
    '.',
  ])('%j is not', name => expect(isProtectedName(name)).toBe(false));
});
