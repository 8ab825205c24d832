import {mkdirSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {guardedMount} from './guarded-tree.ts';

test('review R4: a workspace is told from one that has taken over its inode, and stays the same with what is made in it', () => {
  const workspace = temporaryDirectory();
  const mount = (change = {}) =>
    guardedMount('', Object.assign(statSync(workspace, {bigint: true}), change), true);
  const before = mount();
  mkdirSync(join(workspace, 'new'));
  expect(mount()).toEqual(before);
  expect(mount({birthtimeNs: 1n}).version).not.toBe(before.version);
});
