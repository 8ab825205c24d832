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
import {type PinEntry, pinByDescriptor, pinByName} from './pin-entry.ts';

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

describe.each<readonly [string, PinEntry]>([
  ['by descriptor', pinByDescriptor],
  ['by name', pinByName],
])('an entry held %s', (_, pinEntry) => {
  test('ruling W1: is opened without blocking, to read and to write', async () => {
    const {file} = place();
    const pin = pinEntry(file);
    const reader = await pin.reopen(constants.O_RDONLY);
    expect(flagsOf(reader) & constants.O_NONBLOCK).toBe(constants.O_NONBLOCK);
    expect(await contentOf(reader)).toBe('original');
    const writer = await pin.reopen(constants.O_WRONLY);
    await writer.write('O');
    await writer.close();
    expect(readFileSync(file, 'utf8')).toBe('Original');
    pin.close();
  });

  test('ruling W1: a link is held, not what it leads to', () => {
    const {root, file} = place();
    symlinkSync(file, join(root, 'link'));
    const pin = pinEntry(join(root, 'link'));
    expect(pin.stats.isSymbolicLink()).toBe(true);
    pin.close();
  });

  test('what is not there is an error of the system', () => {
    const {root} = place();
    expect(() => pinEntry(join(root, 'none'))).toThrow(expect.objectContaining({code: 'ENOENT'}));
  });
});

describe('an entry held by descriptor', () => {
  test('ruling W1: is that entry whatever happens to its name', async () => {
    const {root, directory, file} = place();
    const pin = pinByDescriptor(file);
    const above = pinByDescriptor(directory);
    renameSync(directory, join(root, 'moved'));
    mkdirSync(directory);
    writeFileSync(file, 'exchanged');
    expect(await contentOf(await pin.reopen(constants.O_RDONLY))).toBe('original');
    expect(readFileSync(`${above.address}/f`, 'utf8')).toBe('original');
    pin.close();
    above.close();
  });

  test('is let go once, since its number may be another\u2019s by the second time', () => {
    const {file} = place();
    const before = openDescriptors();
    const pin = pinByDescriptor(file);
    expect(openDescriptors()).toBe(before + 1);
    pin.close();
    const other = pinByDescriptor(file);
    pin.close();
    expect(openDescriptors()).toBe(before + 1);
    other.close();
    expect(openDescriptors()).toBe(before);
  });
});

test('security: a descriptor that somebody else closed is a bug that is heard of', () => {
  const {file} = place();
  const pin = pinByDescriptor(file);
  closeSync(Number(pin.address.slice('/proc/self/fd/'.length)));
  expect(() => pin.close()).toThrow(expect.objectContaining({code: 'EBADF'}));
});

describe('an entry held by name', () => {
  const stale = expect.objectContaining({
    code: 'ESTALE',
    syscall: 'open',
    message: 'The file was exchanged while it was opened',
  });

  test('ruling W1: a file exchanged before it is opened is stale, and is not left open', async () => {
    const {root, file} = place();
    const pin = pinByName(file);
    writeFileSync(join(root, 'other'), 'exchanged');
    renameSync(join(root, 'other'), file);
    const before = openDescriptors();
    await expect(pin.reopen(constants.O_RDONLY)).rejects.toThrow(stale);
    expect(openDescriptors()).toBe(before);
  });

  test('ruling W1: one that became a link is not followed', async () => {
    const {root, file} = place();
    const pin = pinByName(file);
    renameSync(file, join(root, 'other'));
    symlinkSync(join(root, 'other'), file);
    await expect(pin.reopen(constants.O_RDONLY)).rejects.toThrow(expect.objectContaining({code: 'ELOOP'}));
  });

  test('ruling W1: one whose directory became a link is stale, though it is the same file', async () => {
    const {root, directory, file} = place();
    const pin = pinByName(file);
    renameSync(directory, join(root, 'moved'));
    symlinkSync('moved', directory);
    await expect(pin.reopen(constants.O_RDONLY)).rejects.toThrow(stale);
  });
});
