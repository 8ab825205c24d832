import {expect, test} from 'vitest';
import {errorCode} from '../system/error-code.ts';
import {attempt, ioFailure} from './io-failure.ts';

/** What Node throws for a failed system call. */
const systemError = (code: string): Error => Object.assign(new Error(code), {code, syscall: 'open'});

test.each([
  ['ENOENT', {code: 'file_not_found', details: {path: 'a'}}],
  ['ENOTDIR', {code: 'file_not_found', details: {path: 'a'}}],
  ['ELOOP', {code: 'symlink_blocked', details: {path: 'a', component: 'a'}}],
  ['EISDIR', {code: 'not_a_file', details: {path: 'a', kind: 'directory'}}],
  [
    'ENOSPC',
    {
      code: 'io_error',
      message: 'Could not write "a": ENOSPC. Check permissions and free space.',
      details: {path: 'a', error: 'ENOSPC', operation: 'write'},
    },
  ],
])('policy: an error of the system is a failure: %s', async (code, error) => {
  expect(ioFailure(systemError(code), 'a', 'write')).toMatchObject({ok: false, error});
  const work = () => Promise.reject(systemError(code));
  expect(await attempt('a', 'write', work)).toMatchObject({ok: false, error});
});

test.each([
  ['a TypeError', new TypeError('x')],
  ['an error with a code that no system call set', Object.assign(new Error('x'), {code: 'ERR_X'})],
  ['an error without a code', Object.assign(new Error('x'), {syscall: 'open'})],
  ['a code that is a number', Object.assign(new Error('x'), {code: 1, syscall: 'open'})],
  ['what is no error', {code: 'ENOENT', syscall: 'open'}],
])('policy: a bug is thrown on: %s', async (_, bug) => {
  expect(errorCode(bug)).toBeUndefined();
  const thrown = await attempt('a', 'read', () => Promise.reject(bug)).catch(error => ({error}));
  expect(thrown).toEqual({error: bug});
});

test('what goes well is handed on', async () => {
  expect(await attempt('a', 'read', async () => 1)).toEqual({ok: true, value: 1});
});
