import {mkdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {join, posix} from 'node:path';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {openWorkspaceForTest} from '../../../test/support/open-workspace-for-test.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {readWhole} from '../open-file.ts';

const name = fc.constantFrom(
  'a',
  'b',
  'f',
  'up',
  'away',
  'link',
  '..',
  '.',
  '',
  '.git',
  '.GIT',
  'secret',
  'é',
  '\0',
);

test('W1 property: no path of these names reads what lies outside, and none below .git is writable', async () => {
  const base = temporaryDirectory();
  const root = join(base, 'work');
  mkdirSync(join(root, 'a/b'), {recursive: true});
  mkdirSync(join(root, '.git'));
  for (const path of ['work/a/f', 'work/a/b/f', 'work/.git/f']) writeFileSync(join(base, path), 'inside');
  for (const path of ['secret', 'f']) writeFileSync(join(base, path), 'secret');
  symlinkSync('../../..', join(root, 'a/up'));
  symlinkSync('../secret', join(root, 'link'));
  symlinkSync(base, join(root, 'away'));
  const workspace = openWorkspaceForTest(root);
  let read = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(name, {maxLength: 6}), fc.boolean(), async (names, absolute) => {
      const path = (absolute ? `${root}/` : '') + names.join('/');
      const resolved = workspace.resolve(path);
      if (!resolved.ok) return;
      expect(resolved.value).toBe(posix.relative(root, posix.resolve(root, path)) || '.');
      const file = await workspace.openFile(resolved.value);
      if (file.ok) {
        const content = await readWhole(file.value);
        expect(content.ok && Buffer.from(content.value).toString()).toBe('inside');
        read += 1;
      }
      const isProtected = resolved.value.split('/').some(one => one.toLowerCase() === '.git');
      if (isProtected) expect(workspace.resolveForWrite(path).ok).toBe(false);
    }),
    {numRuns: 3000, seed: 9},
  );
  expect(read).toBeGreaterThan(0);
});
