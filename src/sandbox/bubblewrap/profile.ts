// The mounts, namespaces and flags of a bubblewrap sandbox.
import {lstat, readlink} from 'node:fs/promises';
import {isAbsolute, join, resolve} from 'node:path';
import {WORKSPACE_MOUNT} from '../../core/tool.ts';
import {EGRESS_MOUNT} from '../egress-relay.ts';
import type {GuardedTree} from '../guard/hold-protected.ts';
import type {RunOptions} from '../options.ts';
import {DESCRIPTORS} from './scripts.ts';

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

/**
 * A command has no capability, is nobody, and comes to none by a namespace of its own. review R14: what begins it
 * stays in the process group that the watchdog kills until it is to die with its parent.
 */
export function commandArguments(disableUserns: boolean): readonly string[] {
  return [
    ...['--unshare-user', '--unshare-pid', '--die-with-parent', '--as-pid-1', '--new-session'],
    ...(disableUserns ? ['--disable-userns', '--assert-userns-disabled'] : []),
    ...['--cap-drop', 'ALL', '--uid', NOBODY, '--gid', NOBODY, '--clearenv'],
  ];
}

/** Namespaces without a network, and without anything that other processes of the host can be asked by. */
const APART = [
  ...['--unshare-ipc', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try'],
  ...['--hostname', 'sandbox'],
];

/** Where the inner bubblewrap may mount, and nowhere else. */
const MOUNTING_ROOM = [
  ...['--unshare-user', '--die-with-parent', '--cap-add', 'ALL', '--uid', '0', '--gid', '0', '--clearenv'],
  // The one of the host, as it is: below another one the kernel lets nobody mount one that is whole.
  ...['--bind', '/proc', '/proc'],
];

/**
 * Who commits, where the weakest configuration of git lies. Before everything of the host, which may have one of its
 * own there. A file and no mount, which would take time.
 */
const GIT_CONFIG = ['--perms', '0444', '--file', String(DESCRIPTORS.gitConfig), '/etc/gitconfig'];

/** What of the system a command sees, the same for every command. */
export async function systemArguments(options: RunOptions): Promise<string[]> {
  const tmpBytes = String(options.tmp_mb * MIB);
  const args = ['--ro-bind', '/usr', '/usr'];
  for (const name of SYSTEM_DIRECTORIES) args.push(...(await asItIs(`/${name}`)));
  for (const name of READABLE_ETC) args.push(...(await asItIs(`/etc/${name}`)));
  args.push(
    ...['--dev', '/dev', '--size', tmpBytes, '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ...['--perms', '1777', '--size', tmpBytes, '--tmpfs', '/tmp', '--symlink', '/tmp', '/var/tmp'],
  );
  // After /tmp, below which they may lie.
  for (const path of options.readable_paths.filter(isAbsolute)) args.push('--ro-bind-try', path, path);
  return args;
}

/** Files of root in /proc can be written by a root without capabilities. */
const OWN_PROC = ['--proc', '/proc', '--remount-ro', '/proc'];

/** A link stays a link, which costs no mount; what is not there is left out. */
async function asItIs(path: string): Promise<readonly string[]> {
  const info = await lstat(path).catch(() => undefined);
  if (info === undefined) return [];
  return info.isSymbolicLink() ? ['--symlink', await readlink(path), path] : ['--ro-bind', path, path];
}

export interface SandboxProfile {
  readonly commandArgs: readonly string[];
  readonly systemArgs: readonly string[];
  readonly workspace: string;
  readonly tree: GuardedTree;
  readonly env: Readonly<Record<string, string>>;
  /** `tools.run.readable_paths`. */
  readonly readablePaths: readonly string[];
  /** What of the host belongs to the way out, and where it is mounted. */
  readonly egressMounts: readonly {readonly source: string; readonly target: string}[];
}

/**
 * review R1: bubblewrap makes the place of a mount where it is missing, through whatever link another process has put on the
 * way to it. So the outer one mounts the workspace alone. The inner one, which mounts the parts of it, sees nothing
 * of the host that such a link could lead to.
 */
export function nestedProfile(profile: SandboxProfile): {outer: readonly string[]; inner: readonly string[]} {
  const {commandArgs, systemArgs, workspace, tree, env, readablePaths} = profile;
  const mounts = [
    ...egressArguments(profile),
    ...['--bind', workspace, WORKSPACE_MOUNT],
    ...hostName(workspace, readablePaths),
  ];
  return {
    outer: [...outerArguments([...GIT_CONFIG, ...systemArgs]), ...mounts],
    inner: [...innerArguments(commandArgs), ...partArguments(WORKSPACE_MOUNT, tree), ...endArguments(env)],
  };
}

export function outerArguments(systemArgs: readonly string[]): readonly string[] {
  return [...MOUNTING_ROOM, ...APART, ...systemArgs];
}

export function innerArguments(commandArgs: readonly string[]): readonly string[] {
  // The /proc of the host stays below the own one, where nobody gets; for reading all the same.
  return [...commandArgs, '--dev-bind', '/', '/', '--remount-ro', '/proc', ...OWN_PROC];
}

/** Where a bubblewrap cannot run in another one: everything at once, by names of the host. */
export function flatProfile(profile: SandboxProfile): readonly string[] {
  const {commandArgs, systemArgs, workspace, tree, env, readablePaths} = profile;
  return [
    ...commandArgs,
    ...[...APART, ...GIT_CONFIG, ...systemArgs, ...OWN_PROC, ...egressArguments(profile)],
    ...['--bind', workspace, WORKSPACE_MOUNT],
    ...partArguments(workspace, tree),
    ...hostName(workspace, readablePaths),
    ...endArguments(env),
  ];
}

function egressArguments({egressMounts}: SandboxProfile): readonly string[] {
  return egressMounts.flatMap(({source, target}) => ['--ro-bind', source, target]);
}

/** What lies over the workspace, as it is now. */
function partArguments(workspace: string, [, ...parts]: GuardedTree): readonly string[] {
  return parts.flatMap(({path, writable}) => [
    writable ? '--bind' : '--ro-bind',
    join(workspace, path),
    `${WORKSPACE_MOUNT}/${path}`,
  ]);
}

function endArguments(env: Readonly<Record<string, string>>): readonly string[] {
  return [
    // The root is a tmpfs of no size limit, so it is closed when everything is in its place.
    ...['--remount-ro', '/', '--chdir', WORKSPACE_MOUNT],
    ...['--seccomp', String(DESCRIPTORS.filter), '--json-status-fd', String(DESCRIPTORS.status)],
    ...Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
}

/** What a sandbox has of its own, or by links of its own. */
const OF_THE_SANDBOX = [
  ...['/usr', '/etc', '/proc', '/dev', '/sys', '/var/tmp', EGRESS_MOUNT, WORKSPACE_MOUNT],
  ...SYSTEM_DIRECTORIES.map(name => `/${name}`),
];

/**
 * The workspace by the name that it has on the host, which programs in it know: the first line of a script in a
 * virtual environment, an editable install. A link in the root of the sandbox and no second mount, so that what is for
 * reading is so by both names. Not where something else lies by that name or below it.
 */
function hostName(workspace: string, readablePaths: readonly string[]): readonly string[] {
  const lies = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);
  const taken = [...OF_THE_SANDBOX, ...readablePaths.filter(isAbsolute).map(path => resolve(path))];
  const isFree =
    workspace !== '/' &&
    workspace !== '/tmp' &&
    !taken.some(place => place === '/' || lies(workspace, place) || lies(place, workspace));
  return isFree ? ['--symlink', WORKSPACE_MOUNT, workspace] : [];
}
