import {WORKSPACE_MOUNT} from '../../core/workspace-mount.ts';
import type {GuardedMount, GuardedTree} from './guarded-tree.ts';

/** The last line of a report. */
export const REPORTED = 'ready';

/**
 * review R1, R4: a shell function of a sandbox, for before a command is in it. It says what lies at each of its arguments, and then
 * what is mounted: a mount that is there afterwards was there before, as none comes back. Its programs are those
 * of the system, as `PATH` may name a directory of the workspace.
 */
export const REPORT_MOUNTS = `
report_mounts() (
  PATH=/usr/sbin:/usr/bin:/sbin:/bin
  read -r boot </proc/sys/kernel/random/boot_id
  echo "kernel $boot"
  if command -v stat >/dev/null; then stat -c 'at %d:%i' "$@"; else echo 'no stat'; fi
  cat /proc/self/mountinfo
  echo ${REPORTED}
)
`;

/** The arguments: where the guarded parts are inside. */
export function mountPoints(tree: GuardedTree): readonly string[] {
  return tree.map(mountPoint);
}

function mountPoint({path}: GuardedMount): string {
  return path === '' ? WORKSPACE_MOUNT : `${WORKSPACE_MOUNT}/${path}`;
}

export type MountCheck =
  | {readonly kind: 'as_planned'}
  | {readonly kind: 'differs'; readonly path: string}
  /** The image has no `stat`. */
  | {readonly kind: 'no_stat'}
  /** A daemon in a virtual machine: its devices and inodes are not ours. */
  | {readonly kind: 'other_kernel'};

/** Whether the mounts of a sandbox are the entries that were looked at, and for reading where they should be. */
export function checkMounts(tree: GuardedTree, lines: readonly string[], bootId: string): MountCheck {
  const after = (prefix: string): readonly string[] =>
    lines.filter(line => line.startsWith(prefix)).map(line => line.slice(prefix.length));
  const [kernel] = after('kernel ');
  if (kernel !== undefined && kernel !== bootId) return {kind: 'other_kernel'};
  if (lines.includes('no stat')) return {kind: 'no_stat'};
  const places = after('at ');
  const options = new Map(lines.map(mountOptions));
  const wrong = tree.findIndex((mount, at) => {
    const found = options.get(mountPoint(mount));
    return places[at] !== mount.place || found === undefined || (!mount.writable && !found.includes('ro'));
  });
  if (wrong < 0 && places.length === tree.length) return {kind: 'as_planned'};
  return {kind: 'differs', path: tree[wrong]?.path || '.'};
}

/** proc_pid_mountinfo(5): the fifth field is the mount point, with blanks as octal numbers; the sixth its options. */
function mountOptions(line: string): readonly [string, readonly string[]] {
  const [, , , , point = '', options = ''] = line.split(' ');
  return [
    point.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))),
    options.split(','),
  ];
}
