import {expect, test} from 'vitest';
import type {Failure} from '../../core/failure/failure.ts';
import {isPassedOver} from './is-passed-over.ts';

const failure = (code: Failure['code'], error?: string): Failure => ({
  code,
  message: '',
  retryable: false,
  details: error === undefined ? {} : {error},
});

test('W3 what vanished or may not be read is passed over; a failing disk is no shorter list', () => {
  expect(isPassedOver(failure('file_not_found'))).toBe(true);
  expect(isPassedOver(failure('symlink_blocked'))).toBe(true);
  for (const error of ['EACCES', 'EPERM', 'ESTALE'])
    expect(isPassedOver(failure('io_error', error))).toBe(true);
  expect(isPassedOver(failure('io_error', 'EIO'))).toBe(false);
  expect(isPassedOver(failure('io_error', 'EMFILE'))).toBe(false);
});
