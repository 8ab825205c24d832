import {mkdir, readFile, stat, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {tempDirectory} from '../../test/support/open-test-runtime.ts';
import {streamArtifact} from './stream-artifact.ts';

const ioError = (path: string, error: string, operation: string) => ({
  code: 'io_error',
  message: `Could not ${operation} ${JSON.stringify(path)}: ${error}. Check permissions and free space.`,
  retryable: true,
  details: {path, error, operation},
});

describe('W21: an artifact that grows', () => {
  async function stream(maxBytes: number, name: readonly string[] = ['output', 'a.txt']) {
    const root = await tempDirectory();
    const growing = new Set<string>();
    const text = () => readFile(join(root, ...name), 'utf8');
    return {root, growing, text, ...streamArtifact(root, name, maxBytes, growing)};
  }
  const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/);

  test('keeps what comes up to its limit, and is growing meanwhile', async () => {
    const {write, finish, growing, text} = await stream(5);
    expect([...growing]).toEqual([]);
    write(Buffer.from('abc'));
    expect([...growing]).toEqual(['output/a.txt']);
    write(Buffer.from('defg'));
    write(Buffer.from('h'));
    expect(finish()).toEqual({ok: true, value: {path: 'output/a.txt', bytes: 5, sha256}});
    expect([...growing]).toEqual([]);
    expect(await text()).toBe('abcde');
  });

  test('its hash is that of its content, in a private file', async () => {
    const {root, write, finish} = await stream(100);
    for (const part of ['ab', 'c']) write(Buffer.from(part));
    expect(finish()).toMatchObject({
      value: {sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'},
    });
    expect((await stat(join(root, 'output/a.txt'))).mode & 0o777).toBe(0o600);
    expect((await stat(join(root, 'output'))).mode & 0o777).toBe(0o700);
  });

  test('nothing written is no file', async () => {
    const {write, finish, text} = await stream(5);
    write(Buffer.alloc(0));
    expect(finish()).toEqual({ok: true, value: undefined});
    await expect(text()).rejects.toThrow('ENOENT');
  });

  test('one that is there already is not touched, and the failure is said at the end', async () => {
    const {root, write, finish, text} = await stream(100);
    await mkdir(join(root, 'output'));
    await writeFile(join(root, 'output/a.txt'), 'there');
    write(Buffer.from('abc'));
    write(Buffer.from('abc'));
    expect(finish()).toEqual({ok: false, error: ioError('output/a.txt', 'EEXIST', 'save the artifact')});
    expect(await text()).toBe('there');
  });

  test('a folder that cannot be made is said as well', async () => {
    const {root, write, finish} = await stream(100);
    await writeFile(join(root, 'output'), 'no folder');
    write(Buffer.from('abc'));
    expect(finish()).toEqual({ok: false, error: ioError('output/a.txt', 'ENOTDIR', 'save the artifact')});
  });
});
