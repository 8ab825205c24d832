import {execFileSync} from 'node:child_process';
import {chmod, mkdir, readdir, readFile, stat, symlink, utimes, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {tempDirectory} from '../../test/support/open-test-runtime.ts';
import type {OpenArtifact} from '../core/tool.ts';
import {artifactStore, streamArtifact} from './artifacts.ts';

async function filled(sizes: Readonly<Record<string, number>>, growing: readonly string[] = []) {
  const root = await tempDirectory();
  await mkdir(join(root, 'output'));
  for (const [name, bytes] of Object.entries(sizes)) {
    await writeFile(join(root, 'output', name), Buffer.alloc(bytes, name));
  }
  const sizesNow = async () => {
    const names = await readdir(join(root, 'output'));
    const found = names.map(async name => [name, (await stat(join(root, 'output', name))).size] as const);
    return Object.fromEntries(await Promise.all(found));
  };
  return {root, sizesNow, store: artifactStore(root, new Set(growing))};
}

async function openedOf(store: ReturnType<typeof artifactStore>, path: string): Promise<OpenArtifact> {
  const opened = await store.open(path);
  if (!opened.ok || opened.value === undefined) throw new Error('Expected an artifact');
  const {value} = opened;
  onTestFinished(() => value.close());
  return value;
}

async function blocksOf({blocks}: OpenArtifact, from?: number): Promise<readonly Buffer[]> {
  const all: Buffer[] = [];
  for await (const block of blocks(from)) all.push(Buffer.from(block));
  return all;
}

describe('W21: the files of a folder', () => {
  test('are listed, and none where there is no such folder', async () => {
    const {store} = await filled({'a.txt': 1, 'b.txt': 2});
    const listed = await store.list('output');
    expect(listed.ok && [...listed.value].sort()).toEqual(['a.txt', 'b.txt']);
    expect(await store.list('none')).toEqual({ok: true, value: []});
  });

  test('what cannot be listed, opened or trimmed is said with its path', async () => {
    const {store} = await filled({'a.txt': 1});
    const failure = (what: string, path: string, operation: string) => ({
      ok: false,
      error: {
        code: 'io_error',
        message: `Could not ${operation} "${path}": ${what}. Check permissions and free space.`,
        retryable: false,
        details: {path, error: what, operation},
      },
    });
    expect(await store.list('output/a.txt')).toEqual(
      failure('ENOTDIR', 'output/a.txt', 'list the artifacts'),
    );
    expect(await store.open('output/a.txt/b')).toEqual(
      failure('ENOTDIR', 'output/a.txt/b', 'read the artifact'),
    );
    expect(await store.trim('output/a.txt', 0)).toEqual(
      failure('ENOTDIR', 'output/a.txt', 'trim the artifacts'),
    );
  });
});

describe('W21: an artifact', () => {
  test('is read in blocks, from its beginning or from a byte of it on', async () => {
    const {root, store} = await filled({});
    const content = Buffer.from(Array.from({length: 150_000}, (_, at) => at % 251));
    await writeFile(join(root, 'output/long.txt'), content);
    const artifact = await openedOf(store, 'output/long.txt');
    expect(artifact.bytes).toBe(150_000);
    const all = await blocksOf(artifact);
    expect(all.map(({length}) => length)).toEqual([65_536, 65_536, 18_928]);
    expect(Buffer.concat(all).equals(content)).toBe(true);
    const rest = await blocksOf(artifact, 100_001);
    expect(Buffer.concat(rest).equals(content.subarray(100_001))).toBe(true);
    expect(await blocksOf(artifact, 150_000)).toEqual([]);
    expect(await blocksOf(artifact, 150_001)).toEqual([]);
  });

  test('one that became shorter ends where it ends now', async () => {
    const {root, store} = await filled({'a.txt': 100});
    const artifact = await openedOf(store, 'output/a.txt');
    await writeFile(join(root, 'output/a.txt'), 'short');
    expect(Buffer.concat(await blocksOf(artifact)).toString()).toBe('short');
  });

  test('what is no file of its own is none: nothing, a folder, a FIFO; a link is refused', async () => {
    const {root, store} = await filled({'a.txt': 1});
    execFileSync('mkfifo', [join(root, 'output/fifo')]);
    await symlink('a.txt', join(root, 'output/link'));
    for (const path of ['output/none', 'output', 'output/fifo'])
      expect(await store.open(path)).toEqual({ok: true, value: undefined});
    expect(await store.open('output/link')).toMatchObject({ok: false, error: {details: {error: 'ELOOP'}}});
  });
});

describe('W21: trim empties the oldest files by the numbers in their names', () => {
  const FILES = {'step_2.txt': 40, 'step_10.txt': 40, 'step_9.txt': 40};

  test.each([
    [120, {'step_2.txt': 40, 'step_9.txt': 40, 'step_10.txt': 40}],
    [119, {'step_2.txt': 0, 'step_9.txt': 40, 'step_10.txt': 40}],
    [80, {'step_2.txt': 0, 'step_9.txt': 40, 'step_10.txt': 40}],
    [79, {'step_2.txt': 0, 'step_9.txt': 0, 'step_10.txt': 40}],
    [40, {'step_2.txt': 0, 'step_9.txt': 0, 'step_10.txt': 40}],
    [0, {'step_2.txt': 0, 'step_9.txt': 0, 'step_10.txt': 0}],
  ])('until all have at most %d bytes', async (most, expected) => {
    const {store, sizesNow} = await filled(FILES);
    expect(await store.trim('output', most)).toEqual({ok: true, value: undefined});
    expect(await sizesNow()).toEqual(expected);
  });

  test('one that grows is left, and its bytes count', async () => {
    const {store, sizesNow} = await filled(FILES, ['output/step_2.txt', 'other/step_9.txt']);
    await store.trim('output', 50);
    expect(await sizesNow()).toEqual({'step_2.txt': 40, 'step_9.txt': 0, 'step_10.txt': 0});
  });

  test('an emptied one is a new private file, and one that is empty already is left as it is', async () => {
    const {root, store} = await filled({'step_1.txt': 0, 'step_2.txt': 10});
    const path = (name: string) => join(root, 'output', name);
    await chmod(path('step_2.txt'), 0o644);
    await utimes(path('step_1.txt'), 1000, 1000);
    const before = await Promise.all(['step_1.txt', 'step_2.txt'].map(name => stat(path(name))));
    await store.trim('output', 0);
    const after = await Promise.all(['step_1.txt', 'step_2.txt'].map(name => stat(path(name))));
    expect(after[0]?.mtimeMs).toBe(before[0]?.mtimeMs);
    expect([after[1]?.size, (after[1]?.mode ?? 0) & 0o777]).toEqual([0, 0o600]);
  });

  test('folders in it have no size, and stay', async () => {
    const {root, store, sizesNow} = await filled({'step_3.txt': 10});
    await mkdir(join(root, 'output/step_1'));
    await store.trim('output', 10);
    expect(await sizesNow()).toMatchObject({'step_3.txt': 10, step_1: expect.any(Number)});
  });

  test('two calls at the same time do no harm, and no folder is nothing to trim', async () => {
    const {root, store, sizesNow} = await filled(FILES);
    const both = await Promise.all([store.trim('output', 0), store.trim('output', 0), store.trim('none', 0)]);
    expect(both).toEqual(Array(3).fill({ok: true, value: undefined}));
    expect(await sizesNow()).toEqual({'step_2.txt': 0, 'step_9.txt': 0, 'step_10.txt': 0});
    expect(await readFile(join(root, 'output/step_2.txt'), 'utf8')).toBe('');
  });
});

const ioError = (path: string, error: string, operation: string) => ({
  code: 'io_error',
  message: `Could not ${operation} ${JSON.stringify(path)}: ${error}. Check permissions and free space.`,
  retryable: false,
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
