import type {ArgumentTest, SyscallRule} from '../src/sandbox/seccomp/rules.ts';
import {KNOWN_SYSCALLS} from './known-syscalls.data.ts';

const EPERM = 1;

/** An `args` entry of a Docker seccomp profile: compares all 64 bits, so a high bit can only make it refuse. */
interface Condition {
  readonly index: number;
  readonly value: number;
  readonly valueTwo?: number;
  readonly op: 'SCMP_CMP_EQ' | 'SCMP_CMP_MASKED_EQ';
}

interface Entry {
  readonly names: readonly string[];
  readonly action: 'SCMP_ACT_ALLOW' | 'SCMP_ACT_ERRNO';
  readonly args?: readonly Condition[];
  readonly errnoRet?: number;
}

/** What Docker refuses by default to a container without capabilities, and our rules do not. */
const REFUSED_BY_DOCKER = [
  ...['get_mempolicy', 'mbind', 'set_mempolicy', 'set_mempolicy_home_node', 'unshare', 'name_to_handle_at'],
  ...[
    'afs_syscall',
    'getpmsg',
    'putpmsg',
    'security',
    'tuxcall',
    'vserver',
    'epoll_ctl_old',
    'epoll_wait_old',
  ],
];

/** PER_LINUX, PER_LINUX32, both with UNAME26, and the question which one is set: those of Docker. */
const PERSONALITIES = [0, 8, 0x2_0000, 0x2_0008, 0xffff_ffff];

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;

/** Where two rules on one call would have to be joined, which a profile cannot do: what is let through. */
const LET_THROUGH: Readonly<Record<string, readonly (readonly Condition[])[]>> = {
  personality: PERSONALITIES.map(value => [equals(0, value)]),
  socket: [
    [equals(0, AF_UNIX)],
    [equals(0, AF_INET)],
    [equals(0, AF_INET6)],
    [equals(0, AF_NETLINK), equals(2, NETLINK_ROUTE)],
  ],
  // Its rules are about terminals, and a container has none of the host.
  ioctl: [[]],
};

/**
 * review R16: our rules as a Docker seccomp profile. Docker's own default lets through sockets of the hypervisor,
 * ptrace and other families of netlink. What is not named is refused, the 32-bit calls as well; runc answers ENOSYS
 * for calls that are newer than all of these.
 */
export function dockerSeccomp(rules: readonly SyscallRule[]): object {
  const ruled = new Set(rules.map(({name}) => name));
  const special = new Set(Object.keys(LET_THROUGH));
  const free = KNOWN_SYSCALLS.filter(
    name => !ruled.has(name) && !special.has(name) && !REFUSED_BY_DOCKER.includes(name),
  );
  const entries: Entry[] = [{names: free, action: 'SCMP_ACT_ALLOW'}];
  for (const [name, alternatives] of Object.entries(LET_THROUGH)) {
    for (const args of alternatives) entries.push({names: [name], action: 'SCMP_ACT_ALLOW', args});
  }
  for (const rule of rules) {
    if (special.has(rule.name) || REFUSED_BY_DOCKER.includes(rule.name)) continue;
    entries.push(...entriesOf(rule));
  }
  return {
    defaultAction: 'SCMP_ACT_ERRNO',
    defaultErrnoRet: EPERM,
    archMap: ['SCMP_ARCH_X86_64', 'SCMP_ARCH_AARCH64'].map(architecture => ({
      architecture,
      subArchitectures: [],
    })),
    syscalls: entries,
  };
}

/** A call is refused if all tests of its rule hold, so one that does not hold lets it through. */
function entriesOf({name, when, errno}: SyscallRule): readonly Entry[] {
  if (when.length > 0) {
    const alternatives = when.flatMap(conditionsAgainst);
    return alternatives.map(condition => ({names: [name], action: 'SCMP_ACT_ALLOW', args: [condition]}));
  }
  // Libraries fall back to another call on ENOSYS only.
  return errno === EPERM ? [] : [{names: [name], action: 'SCMP_ACT_ERRNO', errnoRet: errno}];
}

function conditionsAgainst(test: ArgumentTest): readonly Condition[] {
  if ('hasAnyOf' in test) {
    return [{index: test.argument, value: test.hasAnyOf, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ'}];
  }
  if ('isNoneOf' in test) return test.isNoneOf.map(value => equals(test.argument, value));
  // "Not equal" in 64 bits is no answer to a kernel that looks at 32.
  throw new Error(
    `Expected the rule on argument ${test.argument} to be among those that are let through by name.`,
  );
}

function equals(index: number, value: number): Condition {
  return {index, value, op: 'SCMP_CMP_EQ'};
}
