import {describe, expect, test} from 'vitest';
import {isProtectedName} from './protected-name.ts';

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
