import {lstatSync, readlinkSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {runOptions} from '../../../test/support/open-sandbox.ts';
import type {GuardedTree} from '../guard/hold-protected.ts';
import {
  commandArguments,
  flatProfile,
  innerArguments,
  nestedProfile,
  outerArguments,
  systemArguments,
} from './profile.ts';

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
    // What is relative is readable nowhere.
    expect(hasHostName(join(process.cwd(), 'relative'), ['relative'])).toBe(true);
  });
});

const TREE: GuardedTree = [
  ...ROOT_ONLY,
  {path: '.git', writable: false, place: '1:2', version: '1'},
  {path: 'a', writable: true, place: '1:3', version: '1'},
];
const PROFILE = {
  commandArgs: ['COMMAND'],
  systemArgs: ['SYSTEM'],
  workspace: '/w',
  tree: TREE,
  env: {A: 'b c', D: ''},
  readablePaths: [],
  egressMounts: [],
};
const APART = [
  ...['--unshare-ipc', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try', '--hostname', 'sandbox'],
];
const GIT_CONFIG = ['--perms', '0444', '--file', '12', '/etc/gitconfig'];
const END = [
  ...['--remount-ro', '/', '--chdir', '/workspace', '--seccomp', '11', '--json-status-fd', '8'],
  ...['--setenv', 'A', 'b c', '--setenv', 'D', ''],
];
const OWN_PROC = ['--proc', '/proc', '--remount-ro', '/proc'];

describe('the arguments of bubblewrap', () => {
  test('W8: a command has the user "nobody", no capabilities, and namespaces of its own that end with us', () => {
    const nobody = ['--cap-drop', 'ALL', '--uid', '65534', '--gid', '65534', '--clearenv'];
    const apart = [
      ...['--unshare-user', '--unshare-pid', '--die-with-parent', '--as-pid-1', '--new-session'],
    ];
    expect(commandArguments(false)).toEqual([...apart, ...nobody]);
    expect(commandArguments(true)).toEqual([
      ...[...apart, '--disable-userns', '--assert-userns-disabled', ...nobody],
    ]);
  });

  test('W8: the outer one has no network, and rights in its own namespace alone', () => {
    expect(outerArguments(['SYSTEM'])).toEqual([
      ...['--unshare-user', '--die-with-parent', '--cap-add', 'ALL', '--uid', '0', '--gid', '0'],
      ...['--clearenv', '--bind', '/proc', '/proc', ...APART, 'SYSTEM'],
    ]);
  });

  test('review R1: the outer one mounts the workspace, and the inner one its parts, by names inside', () => {
    const {outer, inner} = nestedProfile(PROFILE);
    expect(outer).toEqual([
      ...outerArguments([...GIT_CONFIG, 'SYSTEM']),
      ...['--bind', '/w', '/workspace', '--symlink', '/workspace', '/w'],
    ]);
    expect(inner).toEqual([
      ...innerArguments(['COMMAND']),
      ...['--ro-bind', '/workspace/.git', '/workspace/.git', '--bind', '/workspace/a', '/workspace/a'],
      ...END,
    ]);
    expect(innerArguments(['COMMAND'])).toEqual([
      ...['COMMAND', '--dev-bind', '/', '/', '--remount-ro', '/proc', ...OWN_PROC],
    ]);
  });

  test('W8: where none runs in another, one mounts all of it by names of the host', () => {
    expect(flatProfile(PROFILE)).toEqual([
      ...['COMMAND', ...APART, ...GIT_CONFIG, 'SYSTEM', ...OWN_PROC, '--bind', '/w', '/workspace'],
      ...['--ro-bind', '/w/.git', '/workspace/.git', '--bind', '/w/a', '/workspace/a'],
      ...['--symlink', '/workspace', '/w', ...END],
    ]);
  });

  test('X1: what belongs to the way out is there for reading', () => {
    const profile = {...PROFILE, egressMounts: [{source: '/s', target: '/t'}]};
    const mounts = ['--ro-bind', '/s', '/t', '--bind', '/w', '/workspace'];
    const at = flatProfile(profile).indexOf('/s') - 1;
    expect(flatProfile(profile).slice(at, at + 6)).toEqual(mounts);
    expect(nestedProfile(profile).outer.slice(-9, -3)).toEqual(mounts);
  });

  test('W18: without its name of the host nothing takes its place', () => {
    expect(nestedProfile({...PROFILE, workspace: '/usr/w'}).outer.slice(-3)).toEqual([
      ...['--bind', '/usr/w', '/workspace'],
    ]);
  });

  test('W8: of the system a command reads programs and what they need to start, nothing else of /etc', async () => {
    const args = await systemArguments(runOptions({tmp_mb: 3, readable_paths: ['/opt', 'relative']}));
    const asItIs = (path: string): readonly string[] => {
      const info = lstatSync(path, {throwIfNoEntry: false});
      if (info === undefined) return [];
      return info.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
    };
    const bytes = String(3 * 1024 * 1024);
    expect(args).toEqual([
      ...['--ro-bind', '/usr', '/usr'],
      ...['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'].flatMap(asItIs),
      ...[
        ...['alternatives', 'ca-certificates', 'crypto-policies', 'group', 'hosts', 'ld.so.cache'],
        ...['localtime', 'nsswitch.conf', 'os-release', 'passwd', 'pki/ca-trust', 'pki/tls/certs'],
        ...['ssl/certs', 'ssl/openssl.cnf'],
      ].flatMap(name => asItIs(`/etc/${name}`)),
      ...['--dev', '/dev', '--size', bytes, '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
      ...['--perms', '1777', '--size', bytes, '--tmpfs', '/tmp', '--symlink', '/tmp', '/var/tmp'],
      ...['--ro-bind-try', '/opt', '/opt'],
    ]);
  });
});
