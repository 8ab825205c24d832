import {constants} from 'node:fs';
import type {FileHandle} from 'node:fs/promises';
import {describe, expect, test} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {type EntryHandle, handleByName} from './entry-handle.ts';
import {syncDirectory} from './sync-directory.ts';

const systemError = (code: string): Error => Object.assign(new Error(code), {code, syscall: 'fsync'});

/** A directory where one step fails; and the steps that were taken. */
function place(failing?: 'open' | 'sync' | 'close', error: Error = systemError('EIO')) {
  const steps: string[] = [];
  const step = (name: string) => async () => {
    steps.push(name);
    if (name === failing) throw error;
  };
  const directory: EntryHandle = {
    ...handleByName(temporaryDirectory()),
    reopen: async flags => {
      expect(flags).toBe(constants.O_RDONLY);
      await step('open')();
      return {sync: step('sync'), close: step('close')} as unknown as FileHandle;
    },
  };
  return {directory, steps};
}

describe('W6: what was renamed in a directory survives a crash', () => {
  test('as it is synchronised, and let go', async () => {
    const {directory, steps} = place();
    await syncDirectory(directory);
    expect(steps).toEqual(['open', 'sync', 'close']);
  });

  test.each(['EACCES', 'EPERM', 'EISDIR', 'EINVAL', 'ENOTSUP'])(
    'unless the system cannot do that: %s',
    async code => {
      for (const failing of ['open', 'sync'] as const) {
        const {directory, steps} = place(failing, systemError(code));
        await syncDirectory(directory);
        expect(steps).toEqual(failing === 'open' ? ['open'] : ['open', 'sync', 'close']);
      }
    },
  );

  test('or the disk fails, which is told', async () => {
    for (const failing of ['open', 'sync'] as const) {
      await expect(syncDirectory(place(failing).directory)).rejects.toThrow('EIO');
    }
    // By then it is on the disk.
    await syncDirectory(place('close').directory);
  });

  test('a bug is no answer of the system', async () => {
    for (const failing of ['open', 'sync', 'close'] as const) {
      await expect(syncDirectory(place(failing, new TypeError('bug')).directory)).rejects.toThrow('bug');
    }
  });
});
