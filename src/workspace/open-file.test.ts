import {describe, expect, test} from 'vitest';
import {codeOf, unwrap} from '../../test/support/outcome.ts';
import {fail} from '../core/failure/fail.ts';
import {contentHash} from './content-hash.ts';
import {hashOpenFile, type OpenFile, readBlocks, readWhole} from './open-file.ts';
import type {WorkspacePath} from './workspace-path.ts';

/** A file that had `size` bytes when it was opened, and has this content now. */
function fileOf(content: Uint8Array, size = content.length) {
  const calls: number[] = [];
  let closed = 0;
  const file: OpenFile = {
    path: 'f' as WorkspacePath,
    info: {kind: 'file', size, mode: 0o644, links: 1},
    read: async (into, position) => {
      calls.push(into.length);
      const part = content.subarray(position, position + into.length);
      into.set(part);
      return part.length;
    },
    close: async () => {
      closed += 1;
    },
  };
  return {file, calls, closed: () => closed};
}

const content = new Uint8Array(700_000).map((_, at) => at % 251);

describe('reading a whole file', () => {
  test('gives every byte of it, in blocks, and closes it', async () => {
    const {file, calls, closed} = fileOf(content);
    expect(Buffer.compare(unwrap(await readWhole(file)), content)).toBe(0);
    // Three blocks, and one read that finds the end.
    expect(calls).toEqual([262_144, 262_144, 262_144, 262_144]);
    expect(closed()).toBe(1);
  });

  test('a small file is read into a small buffer', async () => {
    const {file, calls} = fileOf(new Uint8Array(10));
    expect(unwrap(await readWhole(file))).toHaveLength(10);
    expect(calls).toEqual([4096, 4096]);
    const odd = fileOf(new Uint8Array(5000));
    unwrap(await readWhole(odd.file));
    expect(odd.calls).toEqual([5001, 5001]);
  });

  test('policy: one above the limit is not read at all', async () => {
    const {file, calls, closed} = fileOf(content);
    expect(await readWhole(file, {maxBytes: content.length - 1})).toMatchObject({
      error: {
        code: 'file_too_large',
        message: '"f" has 700000 bytes, more than the 699999 this works on. Use run for a file of that size.',
        details: {path: 'f', size: 700_000, max_bytes: 699_999},
      },
    });
    expect(calls).toEqual([]);
    expect(closed()).toBe(1);
    expect(Buffer.compare(unwrap(await readWhole(file, {maxBytes: content.length})), content)).toBe(0);
  });

  test('policy: one that grows above the limit while it is read ends there', async () => {
    const {file, calls, closed} = fileOf(content, 3);
    expect(await readWhole(file, {maxBytes: 5000})).toMatchObject({
      error: {code: 'file_too_large', details: {size: 8192, max_bytes: 5000}},
    });
    expect(calls).toHaveLength(2);
    expect(closed()).toBe(1);
    // Two blocks are the limit to the byte, and there is more.
    const {file: another} = fileOf(content.subarray(0, 9000), 4096);
    expect(codeOf(await readWhole(another, {maxBytes: 2 * 4097}))).toBe('file_too_large');
  });

  test('one that shrinks is what is left of it', async () => {
    const {file} = fileOf(content.subarray(0, 100), 5000);
    expect(unwrap(await readWhole(file))).toEqual(Buffer.from(content.subarray(0, 100)));
  });

  test('an error of the system is a failure, and the file is closed', async () => {
    const {file, closed} = fileOf(content);
    const read = () => Promise.reject(Object.assign(new Error('x'), {code: 'EIO', syscall: 'read'}));
    expect(await readWhole({...file, read})).toMatchObject({
      error: {code: 'io_error', details: {path: 'f', error: 'EIO', operation: 'read'}},
    });
    expect(closed()).toBe(1);
  });

  test('a deadline that is over ends it between two blocks', async () => {
    const {file, calls, closed} = fileOf(content);
    const deadline = {
      get spent() {
        return calls.length === 2;
      },
      failure: () => fail('timeout', 'spent'),
    };
    expect(codeOf(await readWhole(file, {deadline}))).toBe('timeout');
    expect(calls).toHaveLength(2);
    expect(closed()).toBe(1);
  });
});

test('ruling W6: the hash is that of every byte', async () => {
  const {file} = fileOf(content);
  expect(unwrap(await hashOpenFile(file))).toBe(contentHash(content));
});

test('blocks begin where they are asked for, and end when they are refused', async () => {
  const {file} = fileOf(content);
  const lengths: number[] = [];
  const first: number[] = [];
  const take = (block: Uint8Array) => {
    lengths.push(block.length);
    first.push(block[0] ?? -1);
    return lengths.length < 2;
  };
  expect(await readBlocks(file, take, undefined, 1000)).toEqual({ok: true, value: undefined});
  expect(lengths).toEqual([262_144, 262_144]);
  expect(first).toEqual([1000 % 251, (1000 + 262_144) % 251]);
});
