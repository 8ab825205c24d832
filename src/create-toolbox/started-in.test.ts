import {expect, test} from 'vitest';
import {startedIn} from './started-in.ts';

test.each([
  ['/home/ann/project', ['/home/ann/project']],
  ['/srv/project', ['/srv/project']],
  ['/home/ann2', ['/home/ann2']],
  ['/home/ann', []],
  ['/home', []],
  ['/', []],
])('review R3: without a workspace, started in %s, programs below %j are not run', (cwd, barred) => {
  expect(startedIn({cwd, homeDir: '/home/ann'})).toEqual(barred);
});
