import {dirname} from 'node:path';

/** Where things are inside: a file system of memory that dies with the last process. */
export const INNER_HOME = '/tmp/home';
/** bubblewrap writes `{"child-pid": …}` to it, the process whose end ends everything inside. */
export const INFO_FD = 5;

const TEMPORARY_BYTES = 1_073_741_824;
const NOBODY = '65534';

/** What Chromium and the libraries under it read. No home directory, no configuration of the host. */
const READ_ONLY = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib64',
  '/lib32',
  '/opt',
  '/nix/store',
  '/etc/alternatives',
  '/etc/chromium.d',
  '/etc/fonts',
  '/etc/ld.so.cache',
  '/etc/localtime',
  '/etc/mime.types',
  '/var/cache/fontconfig',
];

/** Below /proc, settings of the whole machine: where we are root, "nobody" inside is root to them. */
const MACHINE = [
  '/proc/sys',
  '/proc/sysrq-trigger',
  '/proc/irq',
  '/proc/bus',
  '/proc/fs',
  '/proc/acpi',
  '/proc/scsi',
  '/proc/mtrr',
  '/proc/pressure',
];

/**
 * Ruling G1, first layer: arguments of bubblewrap for a process without any network but an empty
 * loopback, without files of the host, and without a way to outlive us. `executable` is the real path.
 */
export function bubblewrapArguments(executable: string): readonly string[] {
  const home = dirname(executable) === '/' ? executable : dirname(executable);
  const readable = READ_ONLY.some(path => home === path || home.startsWith(`${path}/`))
    ? READ_ONLY
    : [...READ_ONLY, home];
  return [
    '--unshare-all',
    '--unshare-user',
    ...['--uid', NOBODY, '--gid', NOBODY],
    '--die-with-parent',
    '--new-session',
    ...['--cap-drop', 'ALL'],
    '--clearenv',
    ...['--setenv', 'PATH', '/usr/bin:/bin', '--setenv', 'HOME', INNER_HOME],
    ...['--proc', '/proc', '--dev', '/dev'],
    ...MACHINE.flatMap(path => ['--ro-bind-try', path, path]),
    ...['--size', String(TEMPORARY_BYTES), '--tmpfs', '/tmp', '--dir', INNER_HOME],
    // After /tmp, so that a Chromium that is kept there is seen.
    ...readable.flatMap(path => ['--ro-bind-try', path, path]),
    ...['--chdir', INNER_HOME],
    ...['--info-fd', String(INFO_FD)],
  ];
}
