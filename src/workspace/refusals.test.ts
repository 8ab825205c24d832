import {expect, test} from 'vitest';
import {MAX_WHOLE_FILE_BYTES} from './max-whole-file-bytes.ts';
import {
  fileNotFound,
  fileTooLarge,
  notADirectory,
  notAFile,
  notRead,
  staleRead,
  symlinkBlocked,
} from './refusals.ts';

test.each([
  [fileNotFound('a'), 'file_not_found', 'There is no "a". Look it up with list_files or glob.'],
  [notADirectory('a'), 'file_not_found', '"a" is not a directory. Name the directory it is in.'],
  [notAFile('a', 'fifo'), 'not_a_file', '"a" is a fifo. Name a regular file.'],
  [
    notAFile('a', 'hard_linked'),
    'not_a_file',
    '"a" has several hard links, and such files are not written. Name a regular file.',
  ],
  [symlinkBlocked('a', 'a'), 'symlink_blocked', '"a" is a symbolic link. Use the path of the real file.'],
  [
    symlinkBlocked('a/b', 'a'),
    'symlink_blocked',
    '"a/b" goes through the symbolic link "a". Use the path of the real file.',
  ],
  [
    staleRead('a'),
    'stale_read',
    '"a" changed since it was read in this session. Read it again and base the change on that.',
  ],
  [
    notRead('a'),
    'not_read',
    '"a" was not read in this session, so it may not be changed. Call read_file on it first.',
  ],
  [
    fileTooLarge('a', 40_000_000),
    'file_too_large',
    `The new content of "a" has 40000000 bytes, more than the ${MAX_WHOLE_FILE_BYTES} that are written at once. Use run for a file of that size.`,
  ],
])('policy: a refusal says what, with which path, and what to do (%#)', ({error}, code, message) => {
  expect(error).toMatchObject({code, message});
});

test('Tool API: the details of a refusal name the path, and what is known of it', () => {
  expect(fileNotFound('a').error.details).toEqual({path: 'a'});
  expect(notADirectory('a').error.details).toEqual({path: 'a'});
  expect(notAFile('a', 'fifo').error.details).toEqual({path: 'a', kind: 'fifo'});
  expect(symlinkBlocked('a/b', 'a').error.details).toEqual({path: 'a/b', component: 'a'});
  expect(staleRead('a').error.details).toEqual({path: 'a'});
  expect(notRead('a').error.details).toEqual({path: 'a'});
  expect(fileTooLarge('a', 1).error.details).toEqual({path: 'a', size: 1, max_bytes: MAX_WHOLE_FILE_BYTES});
});
