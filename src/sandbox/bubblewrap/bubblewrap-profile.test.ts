import {describe, expect, test} from 'vitest';
import type {GuardedTree} from '../guard/guarded-tree.ts';
import {flatProfile, nestedProfile} from './bubblewrap-profile.ts';

const ROOT_ONLY: GuardedTree = [{path: '', writable: true, place: '1:1', version: '1'}];

function hasHostName(workspace: string, readablePaths: readonly string[] = ['/opt']): boolean {
  const profile = {
    commandArgs: [],
    systemArgs: [],
    workspace,
    tree: ROOT_ONLY,
    egressMounts: [],
    env: {},
    readablePaths,
  };
  const isThere = (args: readonly string[]): boolean =>
    args.some((argument, at) => argument === '--symlink' && args[at + 2] === workspace);
  const nested = isThere(nestedProfile(profile).outer);
  expect(isThere(flatProfile(profile))).toBe(nested);
  return nested;
}

describe('the name that the workspace has on the host', () => {
  test.each([
    '/home/ada/project',
    '/root/project',
    '/tmp/project',
    '/srv/usr',
    '/var/lib/project',
    '/option',
  ])('W18: %s is a link in a box', workspace => {
    expect(hasHostName(workspace)).toBe(true);
  });

  test.each([
    ...[
      '/',
      '/tmp',
      '/usr',
      '/usr/src/project',
      '/etc/project',
      '/lib/project',
      '/proc/1',
      '/dev/shm/project',
    ],
    ...['/var', '/var/tmp/project', '/workspace', '/workspace/project', '/opt/project', '/opt'],
  ])('W18: %s is not, since something else lies there', workspace => {
    expect(hasHostName(workspace)).toBe(false);
  });

  test('W18: nor is one that holds a readable path, or lies in one', () => {
    expect(hasHostName('/home/ada', ['/home/ada/tools'])).toBe(false);
    expect(hasHostName('/home/ada/project', ['/home/ada/'])).toBe(false);
    expect(hasHostName('/home/ada/project', ['/'])).toBe(false);
    expect(hasHostName('/home/ada/project', ['relative', '/home/adam'])).toBe(true);
  });
});
