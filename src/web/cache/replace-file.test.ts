import {readdirSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {replaceFile} from './replace-file.ts';

const bytes = Buffer.from('new');
const failing = (code: string) => () =>
  Promise.reject(Object.assign(new Error(code), {code, syscall: 'rename'}));

test('FR-WF-16g where a rename is not possible the file is copied, never through a link', async () => {
  const directory = temporaryDirectory();
  const [path, outside] = [join(directory, 'a.json'), join(directory, 'outside')];
  writeFileSync(outside, 'old');
  symlinkSync(outside, path);
  expect(await replaceFile(path, bytes, {rename: failing('EXDEV')})).toBe(true);
  expect([path, outside].map(file => readFileSync(file, 'utf8'))).toEqual(['new', 'old']);
  expect(readdirSync(directory).sort()).toEqual(['a.json', 'outside']);
});

test('FR-WF-16g until it is put in its place it lies beside it, under a name that a later look clears away', async () => {
  const directory = temporaryDirectory();
  const names: string[] = [];
  const still = async (): Promise<boolean> => {
    names.push(...readdirSync(directory));
    return true;
  };
  expect(await replaceFile(join(directory, 'a.json'), bytes, {still})).toBe(true);
  expect(names).toEqual([expect.stringMatching(/^a\.tmp\.[0-9a-f]{16}$/)]);
  expect(readdirSync(directory)).toEqual(['a.json']);
});

test('FR-WF-16g what fails leaves the old file and no other', async () => {
  const directory = temporaryDirectory();
  const path = join(directory, 'a.json');
  writeFileSync(path, 'old');
  await expect(replaceFile(path, bytes, {rename: failing('EIO')})).rejects.toThrow('EIO');
  expect(await replaceFile(path, bytes, {still: async () => false})).toBe(false);
  expect(readFileSync(path, 'utf8')).toBe('old');
  expect(readdirSync(directory)).toEqual(['a.json']);
});
