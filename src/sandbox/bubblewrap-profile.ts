import {lstat, readlink} from 'node:fs/promises';
import {isAbsolute, join, resolve} from 'node:path';
import {WORKSPACE_MOUNT} from '../core/workspace-mount.ts';
import {DESCRIPTORS} from './bubblewrap-scripts.ts';
import type {GuardedTree} from './guard/guarded-tree.ts';
import {mountPoints} from './guard/mount-report.ts';
import type {RunOptions} from './options.ts';

/**
 * What of /etc programs need to start, to know names and to trust certificates. No secrets: a root
 * that was dropped still owns its files. Each one is a mount, and a mount takes time.
 */
const READABLE_ETC = [
  'alternatives',
  'ca-certificates',
  'crypto-policies',
  'group',
  'hosts',
  'ld.so.cache',
  'localtime',
  'nsswitch.conf',
  'os-release',
  'passwd',
  'pki/ca-trust',
  'pki/tls/certs',
  'ssl/certs',
  'ssl/openssl.cnf',
];

const SYSTEM_DIRECTORIES = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];

const NOBODY = '65534';
const MIB = 1_048_576;

/** The part of the profile that is the same for every command. */
export async function systemArguments(options: RunOptions, disableUserns: boolean): Promise<string[]> {
  const tmpBytes = String(options.tmp_mb * MIB);
  const args = [
    ...['--unshare-all', '--unshare-user', '--die-with-parent', '--new-session', '--as-pid-1'],
    ...(disableUserns ? ['--disable-userns', '--assert-userns-disabled'] : []),
    ...['--cap-drop', 'ALL', '--uid', NOBODY, '--gid', NOBODY, '--hostname', 'sandbox', '--clearenv'],
    ...['--ro-bind', '/usr', '/usr'],
  ];
  for (const name of SYSTEM_DIRECTORIES) args.push(...(await asItIs(`/${name}`)));
  for (const name of READABLE_ETC) args.push(...(await asItIs(`/etc/${name}`)));
  for (const path of options.readable_paths.filter(isAbsolute)) args.push('--ro-bind-try', path, path);
  args.push(
    // Files of root in /proc can be written by a root without capabilities.
    ...['--proc', '/proc', '--remount-ro', '/proc'],
    ...['--dev', '/dev', '--size', tmpBytes, '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ...['--perms', '1777', '--size', tmpBytes, '--tmpfs', '/tmp', '--symlink', '/tmp', '/var/tmp'],
    ...['--seccomp', String(DESCRIPTORS.filter), '--json-status-fd', String(DESCRIPTORS.status)],
  );
  return args;
}

/** A link stays a link, which costs no mount; what is not there is left out. */
async function asItIs(path: string): Promise<readonly string[]> {
  const info = await lstat(path).catch(() => undefined);
  if (info === undefined) return [];
  return info.isSymbolicLink() ? ['--symlink', await readlink(path), path] : ['--ro-bind', path, path];
}

/** The part that differs: the workspace as it is now. */
export function workspaceArguments(
  workspace: string,
  tree: GuardedTree,
  env: Readonly<Record<string, string>>,
  readablePaths: readonly string[] = [],
): string[] {
  const args: string[] = [];
  const points = mountPoints(tree);
  for (const [at, {path, writable}] of tree.entries()) {
    args.push(writable ? '--bind' : '--ro-bind', join(workspace, path), points[at] ?? '');
  }
  args.push(...hostName(workspace, readablePaths));
  // The root is a tmpfs of no size limit, so it is closed when everything is in its place.
  args.push('--remount-ro', '/', '--chdir', WORKSPACE_MOUNT);
  for (const [name, value] of Object.entries(env)) args.push('--setenv', name, value);
  return args;
}

/** What a box has of its own, or by links of its own. */
const OF_THE_BOX = [
  ...['/usr', '/etc', '/proc', '/dev', '/sys', '/var/tmp', WORKSPACE_MOUNT],
  ...SYSTEM_DIRECTORIES.map(name => `/${name}`),
];

/**
 * The workspace by the name that it has on the host, which programs in it know: the first line of a script in a
 * virtual environment, an editable install. A link in the root of the box and no second mount, so that what is for
 * reading is so by both names. Not where something else lies by that name or below it.
 */
function hostName(workspace: string, readablePaths: readonly string[]): readonly string[] {
  const lies = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);
  const taken = [...OF_THE_BOX, ...readablePaths.filter(isAbsolute).map(path => resolve(path))];
  const isFree =
    workspace !== '/' &&
    workspace !== '/tmp' &&
    !taken.some(place => place === '/' || lies(workspace, place) || lies(place, workspace));
  return isFree ? ['--symlink', WORKSPACE_MOUNT, workspace] : [];
}
