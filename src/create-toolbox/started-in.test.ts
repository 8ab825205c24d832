import {realpathSync, symlinkSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {startedIn} from './started-in.ts';

test.each([
  ['/home/ann/project', ['/home/ann/project']],
  ['/srv/project', ['/srv/project']],
  ['/home/ann2', ['/home/ann2']],
  ['/home/ann', []],
  ['/home', []],
  ['/', []],
])('review R3: without a workspace, started in %s, programs below %j are not run', (cwd, untrustedTrees) => {
  expect(startedIn({cwd, homeDir: '/home/ann'})).toEqual(untrustedTrees);
});

test('ruling H7: a home that is named by a link is the home', () => {
  const real = realpathSync(temporaryDirectory());
  const link = join(temporaryDirectory(), 'home');
  symlinkSync(real, link);
  expect(startedIn({cwd: real, homeDir: link})).toEqual([]);
  expect(startedIn({cwd: join(real, 'project'), homeDir: link})).toEqual([join(real, 'project')]);
});
