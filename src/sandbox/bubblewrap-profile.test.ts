import {describe, expect, test} from 'vitest';
import {workspaceArguments} from './bubblewrap-profile.ts';

function hasHostName(workspace: string, readablePaths: readonly string[] = ['/opt']): boolean {
  const args = workspaceArguments(workspace, [], {}, readablePaths);
  return args.some((argument, at) => argument === '--symlink' && args[at + 2] === workspace);
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
