// The system calls that no command may make.

/** Looks at the low 32 bits of an argument, which is all that the kernel uses of these. */
export type ArgumentTest =
  | {readonly argument: number; readonly hasAnyOf: number}
  | {readonly argument: number; readonly equals: number}
  | {readonly argument: number; readonly isNoneOf: readonly number[]};

export interface SyscallRule {
  readonly name: string;
  /** Numbers by machine; `undefined` where the machine has no such call. */
  readonly x64: number | undefined;
  readonly arm64: number | undefined;
  readonly errno: number;
  /** The call is refused if all of them hold; always, if there are none. */
  readonly when: readonly ArgumentTest[];
}

const EPERM = 1;
const ENOSYS = 38;
const EPROTONOSUPPORT = 93;
const EAFNOSUPPORT = 97;

/** Newer calls are answered with ENOSYS until their rules are written. 456 is `futex_requeue`. */
export const LAST_KNOWN_SYSCALL = 456;

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. */
const NAMESPACES = 0x7e02_0000;
const CLONE_NEWTIME = 0x80;
const SETUID_OR_SETGID = 0o6000;
/** O_CREAT and O_TMPFILE: only then is there a mode to look at. */
const CREATES = 0x40_0040;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;

/**
 * What no build or test needs, and what escapes are made of. The rest of the kernel is open: this is
 * one layer below namespaces and dropped capabilities, not the only one.
 */
export const SYSCALL_RULES: readonly SyscallRule[] = [
  // Mounts and namespaces: what made the sandbox is not for use inside it.
  refuse('mount', 165, 40),
  refuse('umount2', 166, 39),
  refuse('pivot_root', 155, 41),
  refuse('chroot', 161, 51),
  refuse('open_tree', 428, 428),
  refuse('move_mount', 429, 429),
  refuse('fsopen', 430, 430),
  refuse('fsconfig', 431, 431),
  refuse('fsmount', 432, 432),
  refuse('fspick', 433, 433),
  refuse('mount_setattr', 442, 442),
  refuse('setns', 308, 268),
  refuse('unshare', 272, 97, [{argument: 0, hasAnyOf: NAMESPACES | CLONE_NEWTIME}]),
  refuse('clone', 56, 220, [{argument: 0, hasAnyOf: NAMESPACES}]),
  // Its flags are in memory, where no filter can look; libraries fall back to `clone`.
  refuse('clone3', 435, 435, [], ENOSYS),
  // Other processes and the kernel.
  refuse('ptrace', 101, 117),
  refuse('process_vm_readv', 310, 270),
  refuse('process_vm_writev', 311, 271),
  refuse('process_madvise', 440, 440),
  refuse('pidfd_getfd', 438, 438),
  refuse('kcmp', 312, 272),
  refuse('bpf', 321, 280),
  refuse('perf_event_open', 298, 241),
  refuse('userfaultfd', 323, 282),
  refuse('io_uring_setup', 425, 425, [], ENOSYS),
  refuse('io_uring_enter', 426, 426, [], ENOSYS),
  refuse('io_uring_register', 427, 427, [], ENOSYS),
  // The key rings of the kernel are not in a namespace.
  refuse('add_key', 248, 217),
  refuse('request_key', 249, 218),
  refuse('keyctl', 250, 219),
  refuse('init_module', 175, 105),
  refuse('finit_module', 313, 273),
  refuse('delete_module', 176, 106),
  refuse('kexec_load', 246, 104),
  refuse('kexec_file_load', 320, 294),
  refuse('reboot', 169, 142),
  refuse('swapon', 167, 224),
  refuse('swapoff', 168, 225),
  refuse('acct', 163, 89),
  refuse('quotactl', 179, 60),
  refuse('quotactl_fd', 443, 443),
  refuse('nfsservctl', 180, 42),
  refuse('syslog', 103, 116),
  refuse('lookup_dcookie', 212, 18),
  refuse('fanotify_init', 300, 262),
  // A file handle is valid outside the mounts that are visible.
  refuse('open_by_handle_at', 304, 265),
  refuse('settimeofday', 164, 170),
  refuse('clock_settime', 227, 112),
  refuse('sethostname', 170, 161),
  refuse('setdomainname', 171, 162),
  refuse('migrate_pages', 256, 238),
  refuse('move_pages', 279, 239),
  refuse('vhangup', 153, 58),
  refuse('iopl', 172, undefined),
  refuse('ioperm', 173, undefined),
  refuse('modify_ldt', 154, undefined),
  refuse('uselib', 134, undefined),
  refuse('ustat', 136, undefined),
  refuse('sysfs', 139, undefined),
  refuse('_sysctl', 156, undefined),
  refuse('create_module', 174, undefined),
  refuse('get_kernel_syms', 177, undefined),
  refuse('query_module', 178, undefined),
  // Input that a terminal of the host would take for typed (CVE-2017-5226).
  refuse('ioctl', 16, 29, [{argument: 1, equals: TIOCSTI}]),
  refuse('ioctl', 16, 29, [{argument: 1, equals: TIOCLINUX}]),
  // AF_VSOCK reaches the hypervisor from an empty network namespace; the others are attack surface.
  refuse(
    'socket',
    41,
    198,
    [{argument: 0, isNoneOf: [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK]}],
    EAFNOSUPPORT,
  ),
  refuse(
    'socket',
    41,
    198,
    [
      {argument: 0, equals: AF_NETLINK},
      {argument: 2, isNoneOf: [NETLINK_ROUTE]},
    ],
    EPROTONOSUPPORT,
  ),
  refuse('socketpair', 53, 199, [{argument: 0, isNoneOf: [AF_UNIX]}], EAFNOSUPPORT),
  // A program in the workspace that runs with the rights of its owner would outlive the sandbox.
  refuse('chmod', 90, undefined, [{argument: 1, hasAnyOf: SETUID_OR_SETGID}]),
  refuse('fchmod', 91, 52, [{argument: 1, hasAnyOf: SETUID_OR_SETGID}]),
  refuse('fchmodat', 268, 53, [{argument: 2, hasAnyOf: SETUID_OR_SETGID}]),
  refuse('fchmodat2', 452, 452, [{argument: 2, hasAnyOf: SETUID_OR_SETGID}]),
  refuse('creat', 85, undefined, [{argument: 1, hasAnyOf: SETUID_OR_SETGID}]),
  refuse('mknod', 133, undefined, [{argument: 1, hasAnyOf: SETUID_OR_SETGID}]),
  refuse('mknodat', 259, 33, [{argument: 2, hasAnyOf: SETUID_OR_SETGID}]),
  refuse('open', 2, undefined, [
    {argument: 1, hasAnyOf: CREATES},
    {argument: 2, hasAnyOf: SETUID_OR_SETGID},
  ]),
  refuse('openat', 257, 56, [
    {argument: 2, hasAnyOf: CREATES},
    {argument: 3, hasAnyOf: SETUID_OR_SETGID},
  ]),
  // Its mode is in memory; libraries fall back to `openat`.
  refuse('openat2', 437, 437, [], ENOSYS),
];

function refuse(
  name: string,
  x64: number | undefined,
  arm64: number | undefined,
  when: readonly ArgumentTest[] = [],
  errno = EPERM,
): SyscallRule {
  return {name, x64, arm64, errno, when};
}
