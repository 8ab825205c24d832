import {chmodSync, mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {expect, test} from 'vitest';
import {fileSystemContract} from '../../../test/contracts/file-system.ts';
import {openWorkspaceForTest} from '../../../test/support/open-workspace-for-test.ts';
import {codeOf, unwrap} from '../../../test/support/outcome.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {fail} from '../../core/failure/fail.ts';
import type {FileSystem} from '../file-system.ts';
import {jailedFileSystem} from './jailed-file-system.ts';

async function onDisk(
  files: Readonly<Record<string, string | Uint8Array>>,
  root = temporaryDirectory(),
): Promise<FileSystem> {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), {recursive: true});
    writeFileSync(join(root, path), content);
    chmodSync(join(root, path), 0o644);
  }
  return jailedFileSystem(openWorkspaceForTest(root));
}

fileSystemContract('in the jail', files => onDisk(files));

test('Tool API, list_files: symbolic links are left out, and not followed', async () => {
  const root = temporaryDirectory();
  const files = await onDisk({'a/f': 'x'}, root);
  symlinkSync('a', join(root, 'link'));
  symlinkSync('f', join(root, 'a/g'));
  expect(unwrap(await files.listFiles(unwrap(files.resolve('.'))))).toEqual(['a/f']);
  expect(codeOf(await files.listFiles(unwrap(files.resolve('link'))))).toBe('symlink_blocked');
});

test('policy: what takes long ends when its time is spent', async () => {
  const files = await onDisk({f: 'x'});
  const deadline = {spent: true, failure: () => fail('timeout', 'spent')};
  const path = unwrap(files.resolveForWrite('f'));
  expect(codeOf(await files.listFiles(unwrap(files.resolve('.')), deadline))).toBe('timeout');
  expect(codeOf(await files.readFile(path, {deadline}))).toBe('timeout');
  expect(codeOf(await files.writeFile(path, new Uint8Array(), {expected: 'absent', deadline}))).toBe(
    'stale_read',
  );
});
