import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {type Machine, seccompFilter} from './filter.ts';
import {LAST_KNOWN_SYSCALL, SYSCALL_RULES, type SyscallRule} from './rules.ts';

const ALLOW = 0x7fff_0000;
const KILL = 0x8000_0000;
const ERRNO = 0x0005_0000;
const ARCHITECTURE = {x64: 0xc000_003e, arm64: 0xc000_00b7};

interface Call {
  readonly number: number;
  readonly architecture: number;
  readonly args: readonly number[];
}

/** Runs the program as the kernel would, and fails on what the kernel would not load. */
function check(program: Buffer, call: Call): number {
  const {number, architecture, args} = call;
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number >>> 0, 0);
  data.writeUInt32LE(architecture >>> 0, 4);
  for (const [at, arg] of args.entries()) data.writeUInt32LE(arg >>> 0, 16 + 8 * at);
  let accumulator = 0;
  for (let at = 0; at < program.length / 8; at++) {
    const code = program.readUInt16LE(at * 8);
    const [ifTrue, ifFalse] = [program.readUInt8(at * 8 + 2), program.readUInt8(at * 8 + 3)];
    const value = program.readUInt32LE(at * 8 + 4);
    const holds = {
      21: accumulator === value,
      37: accumulator > value,
      69: (accumulator & value) !== 0,
    }[code];
    if (code === 0x06) return value;
    if (code === 0x20) accumulator = data.readUInt32LE(value);
    else if (holds !== undefined) at += holds ? ifTrue : ifFalse;
    else throw new Error(`Unknown instruction ${code}.`);
  }
  throw new Error('The program has run over its end.');
}

/** The same decision, straight from the table. */
function expected(call: Call, machine: Machine): number {
  if (call.architecture !== ARCHITECTURE[machine]) return KILL;
  if (call.number > LAST_KNOWN_SYSCALL) return ERRNO | 38;
  const holds = (rule: SyscallRule): boolean =>
    rule[machine] === call.number &&
    rule.when.every(condition => {
      const value = call.args[condition.argument] ?? 0;
      if ('hasAnyOf' in condition) return (value & condition.hasAnyOf) !== 0;
      if ('equals' in condition) return value === condition.equals;
      return !condition.isNoneOf.includes(value);
    });
  const rule = SYSCALL_RULES.find(holds);
  return rule === undefined ? ALLOW : ERRNO | rule.errno;
}

describe.each(['x64', 'arm64'] as const)('seccompFilter for %s', machine => {
  const program = seccompFilter(machine, SYSCALL_RULES);

  test('policy: the program decides as the table says, for every call and argument', () => {
    const argument = fc.oneof(
      fc.integer({min: 0, max: 20}),
      fc.constantFrom(0o4755, 0o644, 0x40, 0x41, 0x5412, 0x541c, 0x1000_0000, 0x80, 0x40_0000),
      fc.nat(0xffff_ffff),
    );
    fc.assert(
      fc.property(
        fc.oneof(fc.nat(500), fc.constantFrom(...SYSCALL_RULES.flatMap(rule => rule[machine] ?? []))),
        fc.array(argument, {minLength: 6, maxLength: 6}),
        (number, args) => {
          const call = {number, architecture: ARCHITECTURE[machine], args};
          expect(check(program, call)).toBe(expected(call, machine));
        },
      ),
      {numRuns: 3000},
    );
  });

  /** What a program of its own gets for a call: 0, or the number of an error (errno(3)). */
  test.each<[string, Readonly<Record<Machine, number | undefined>>, readonly number[], number]>([
    ['unshare of a user namespace', {x64: 272, arm64: 97}, [0x1000_0000], 1],
    ['unshare of a time namespace', {x64: 272, arm64: 97}, [0x80], 1],
    ['unshare of the file table', {x64: 272, arm64: 97}, [0x400], 0],
    ['clone of a network namespace', {x64: 56, arm64: 220}, [0x4000_0000], 1],
    ['clone of a process', {x64: 56, arm64: 220}, [17], 0],
    ['clone3', {x64: 435, arm64: 435}, [], 38],
    ['mount', {x64: 165, arm64: 40}, [], 1],
    ['ioctl TIOCSTI', {x64: 16, arm64: 29}, [0, 0x5412], 1],
    ['ioctl TIOCLINUX', {x64: 16, arm64: 29}, [0, 0x541c], 1],
    ['ioctl TIOCGWINSZ', {x64: 16, arm64: 29}, [0, 0x5413], 0],
    ['socket AF_UNIX', {x64: 41, arm64: 198}, [1, 1, 5], 0],
    ['socket AF_INET', {x64: 41, arm64: 198}, [2, 1, 6], 0],
    ['socket AF_INET6', {x64: 41, arm64: 198}, [10, 1, 6], 0],
    ['socket AF_NETLINK, NETLINK_ROUTE', {x64: 41, arm64: 198}, [16, 3, 0], 0],
    ['socket AF_NETLINK, NETLINK_AUDIT', {x64: 41, arm64: 198}, [16, 3, 9], 93],
    ['socket AF_VSOCK', {x64: 41, arm64: 198}, [40, 1, 0], 97],
    ['socket AF_UNSPEC', {x64: 41, arm64: 198}, [0, 1, 0], 97],
    ['socketpair AF_UNIX', {x64: 53, arm64: 199}, [1], 0],
    ['socketpair AF_TIPC', {x64: 53, arm64: 199}, [30], 97],
    ['chmod 4755', {x64: 90, arm64: undefined}, [0, 0o4755], 1],
    ['fchmod 2755', {x64: 91, arm64: 52}, [0, 0o2755], 1],
    ['fchmod 1777', {x64: 91, arm64: 52}, [0, 0o1777], 0],
    ['fchmodat 4755', {x64: 268, arm64: 53}, [0, 0, 0o4755], 1],
    ['fchmodat2 4755', {x64: 452, arm64: 452}, [0, 0, 0o4755], 1],
    ['creat 4755', {x64: 85, arm64: undefined}, [0, 0o4755], 1],
    ['mknodat 4755', {x64: 259, arm64: 33}, [0, 0, 0o4755], 1],
    ['openat O_CREAT 4755', {x64: 257, arm64: 56}, [0, 0, 0x40, 0o4755], 1],
    ['openat O_CREAT 644', {x64: 257, arm64: 56}, [0, 0, 0x40, 0o644], 0],
    // Without O_CREAT there is no mode: what lies there is by chance.
    ['openat without O_CREAT', {x64: 257, arm64: 56}, [0, 0, 0, 0o4755], 0],
    ['open O_TMPFILE 4755', {x64: 2, arm64: undefined}, [0, 0x41_0000, 0o4755], 1],
    ['read', {x64: 0, arm64: 63}, [], 0],
  ])('R16: %s', (_, numbers, args, error) => {
    const number = numbers[machine];
    if (number === undefined) return;
    const call = {number, architecture: ARCHITECTURE[machine], args};
    expect(check(program, call)).toBe(error === 0 ? ALLOW : ERRNO | error);
  });

  test('policy: another call table is no way around', () => {
    const args = [0, 0, 0, 0, 0, 0];
    const other = machine === 'x64' ? 0x4000_0003 : ARCHITECTURE.x64;
    expect(check(program, {number: 1, architecture: other, args})).toBe(KILL);
    const x32 = {number: 0x4000_0000 + 1, architecture: ARCHITECTURE[machine], args};
    expect(check(program, x32)).toBe(ERRNO | 38);
  });

  test('policy: the kernel takes at most 4096 instructions', () => {
    expect(program.length / 8).toBeLessThan(400);
  });
});
