import {expect, test} from 'vitest';
import {globFiles, InMemoryFileSystem} from '../../index.ts';

const files = new InMemoryFileSystem({'src/b.ts': '', 'src/a.ts': '', 'src/deep/c.ts': '', 'readme.md': ''});

test('ADR 08: a host globs a file system in memory, in bytewise order', async () => {
  expect(await globFiles(files, '*.ts')).toEqual({
    ok: true,
    value: ['src/a.ts', 'src/b.ts', 'src/deep/c.ts'],
  });
  expect(await globFiles(files, '/*.ts', 'src')).toEqual({ok: true, value: ['src/a.ts', 'src/b.ts']});
});

test('ADR 08: a wrong pattern and a root outside are refused', async () => {
  expect(await globFiles(files, '{a,b')).toMatchObject({error: {code: 'invalid_params'}});
  expect(await globFiles(files, '*', '../x')).toMatchObject({error: {code: 'path_escape'}});
});
