import {statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {makeDirectories} from './make-directories.ts';

test('policy: what is missing is made for its owner, and what is there stays', async () => {
  const root = temporaryDirectory();
  const path = join(root, 'a', 'b', 'c');
  await Promise.all([makeDirectories(path), makeDirectories(path), makeDirectories(join(root, 'a', 'd'))]);
  await makeDirectories(path);
  expect(statSync(join(root, 'a')).mode & 0o777).toBe(0o700);
  expect(statSync(path).isDirectory()).toBe(true);
});

test('policy: a file in the way, or a place where none can be made, is an error at once', async () => {
  const root = temporaryDirectory();
  writeFileSync(join(root, 'file'), '');
  await expect(makeDirectories(join(root, 'file'))).rejects.toMatchObject({code: 'EEXIST'});
  await expect(makeDirectories(join(root, 'file', 'below'))).rejects.toMatchObject({code: 'ENOTDIR'});
  await expect(makeDirectories('/proc/nope/x')).rejects.toMatchObject({code: expect.stringMatching(/^E/)});
});
