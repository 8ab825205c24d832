import {
  closeSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import type {FileHandle} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {
  type EntryHandle,
  type HoldEntry,
  handleByDescriptor,
  handleByName,
  syncDirectory,
} from './entry-handle.ts';

/** A directory `d` with one file `f` in it. */
function place() {
  const root = temporaryDirectory();
  mkdirSync(join(root, 'd'));
  writeFileSync(join(root, 'd/f'), 'original');
  return {root, directory: join(root, 'd'), file: join(root, 'd/f')};
}

const openDescriptors = (): number => readdirSync('/proc/self/fd').length;

/** The flags that the system keeps of an open file. */
function flagsOf(handle: FileHandle): number {
  const [, flags = ''] =
    /flags:\s*([0-7]+)/.exec(readFileSync(`/proc/self/fdinfo/${handle.fd}`, 'utf8')) ?? [];
  return Number.parseInt(flags, 8);
}

async function contentOf(handle: FileHandle): Promise<string> {
  try {
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

describe.each<readonly [string, HoldEntry]>([
  ['by descriptor', handleByDescriptor],
  ['by name', handleByName],
])('an entry held %s', (_, holdEntry) => {
  test('ruling W1: is opened without blocking, to read and to write', async () => {
    const {file} = place();
    const entryHandle = holdEntry(file);
    const reader = await entryHandle.reopen(constants.O_RDONLY);
    expect(flagsOf(reader) & constants.O_NONBLOCK).toBe(constants.O_NONBLOCK);
    expect(await contentOf(reader)).toBe('original');
    const writer = await entryHandle.reopen(constants.O_WRONLY);
    await writer.write('O');
    await writer.close();
    expect(readFileSync(file, 'utf8')).toBe('Original');
    entryHandle.close();
  });

  test('ruling W1: a link is held, not what it leads to', () => {
    const {root, file} = place();
    symlinkSync(file, join(root, 'link'));
    const entryHandle = holdEntry(join(root, 'link'));
    expect(entryHandle.stats.isSymbolicLink()).toBe(true);
    entryHandle.close();
  });

  test('what is not there is an error of the system', () => {
    const {root} = place();
    expect(() => holdEntry(join(root, 'none'))).toThrow(expect.objectContaining({code: 'ENOENT'}));
  });
});

describe('an entry held by descriptor', () => {
  test('ruling W1: is that entry whatever happens to its name', async () => {
    const {root, directory, file} = place();
    const entryHandle = handleByDescriptor(file);
    const above = handleByDescriptor(directory);
    renameSync(directory, join(root, 'moved'));
    mkdirSync(directory);
    writeFileSync(file, 'exchanged');
    expect(await contentOf(await entryHandle.reopen(constants.O_RDONLY))).toBe('original');
    expect(readFileSync(`${above.address}/f`, 'utf8')).toBe('original');
    entryHandle.close();
    above.close();
  });

  test('is let go once, since its number may be another\u2019s by the second time', () => {
    const {file} = place();
    const before = openDescriptors();
    const entryHandle = handleByDescriptor(file);
    expect(openDescriptors()).toBe(before + 1);
    entryHandle.close();
    const other = handleByDescriptor(file);
    entryHandle.close();
    expect(openDescriptors()).toBe(before + 1);
    other.close();
    expect(openDescriptors()).toBe(before);
  });
});

test('security: a descriptor that other code closed is a bug that is thrown', () => {
  const {file} = place();
  const entryHandle = handleByDescriptor(file);
  closeSync(Number(entryHandle.address.slice('/proc/self/fd/'.length)));
  expect(() => entryHandle.close()).toThrow(expect.objectContaining({code: 'EBADF'}));
});

describe('an entry held by name', () => {
  const stale = expect.objectContaining({
    code: 'ESTALE',
    syscall: 'open',
    message: 'The file was exchanged while it was opened',
  });

  test('ruling W1: a file exchanged before it is opened is stale, and is not left open', async () => {
    const {root, file} = place();
    const entryHandle = handleByName(file);
    writeFileSync(join(root, 'other'), 'exchanged');
    renameSync(join(root, 'other'), file);
    const before = openDescriptors();
    await expect(entryHandle.reopen(constants.O_RDONLY)).rejects.toThrow(stale);
    expect(openDescriptors()).toBe(before);
  });

  test('ruling W1: one that became a link is not followed', async () => {
    const {root, file} = place();
    const entryHandle = handleByName(file);
    renameSync(file, join(root, 'other'));
    symlinkSync(join(root, 'other'), file);
    await expect(entryHandle.reopen(constants.O_RDONLY)).rejects.toThrow(
      expect.objectContaining({code: 'ELOOP'}),
    );
  });

  test('ruling W1: one whose directory became a link is stale, though it is the same file', async () => {
    const {root, directory, file} = place();
    const entryHandle = handleByName(file);
    renameSync(directory, join(root, 'moved'));
    symlinkSync('moved', directory);
    await expect(entryHandle.reopen(constants.O_RDONLY)).rejects.toThrow(stale);
  });
});

describe('sync directory', () => {
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
});
