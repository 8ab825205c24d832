// Compiles system call rules to a BPF program for seccomp.
import {type ArgumentTest, LAST_KNOWN_SYSCALL, type SyscallRule} from './rules.ts';

export type Machine = 'x64' | 'arm64';

/** AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64. */
const AUDIT_ARCH: Readonly<Record<Machine, number>> = {x64: 0xc000_003e, arm64: 0xc000_00b7};

/** Offsets in `struct seccomp_data`. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const ARGUMENTS = 16;

const LOAD = 0x20;
const JUMP_IF_EQUAL = 0x15;
const JUMP_IF_GREATER = 0x25;
const JUMP_IF_ANY_BIT = 0x45;
const RETURN = 0x06;

const ALLOW = 0x7fff_0000;
const KILL_PROCESS = 0x8000_0000;
const ERRNO = 0x0005_0000;
const ENOSYS = 38;

/** `struct sock_filter`: jumps skip that many instructions. */
interface Instruction {
  readonly code: number;
  readonly ifTrue: number;
  readonly ifFalse: number;
  readonly value: number;
}

const load = (offset: number): Instruction => ({code: LOAD, ifTrue: 0, ifFalse: 0, value: offset});
const give = (action: number): Instruction => ({code: RETURN, ifTrue: 0, ifFalse: 0, value: action});
const jump = (code: number, value: number, ifTrue: number, ifFalse: number): Instruction => ({
  code,
  ifTrue,
  ifFalse,
  value,
});

/** The classic BPF program that bubblewrap installs with `--seccomp`. */
export function seccompFilter(machine: Machine, rules: readonly SyscallRule[]): Buffer {
  return encode([
    load(ARCHITECTURE),
    // The 32-bit call table has other numbers for the same calls.
    jump(JUMP_IF_EQUAL, AUDIT_ARCH[machine], 1, 0),
    give(KILL_PROCESS),
    load(NUMBER),
    // Takes the x32 table too, whose numbers have bit 30 set.
    jump(JUMP_IF_GREATER, LAST_KNOWN_SYSCALL, 0, 1),
    give(ERRNO | ENOSYS),
    ...rules.flatMap(rule => instructionsOf(rule, machine)),
    give(ALLOW),
  ]);
}

/** Begins and goes on with the number of the call loaded. */
function instructionsOf(rule: SyscallRule, machine: Machine): readonly Instruction[] {
  const number = rule[machine];
  if (number === undefined) return [];
  const refusal = give(ERRNO | rule.errno);
  if (rule.when.length === 0) return [jump(JUMP_IF_EQUAL, number, 0, 1), refusal];
  // Built from its end, so that the way out (to the last instruction) is known.
  let body: readonly Instruction[] = [refusal, load(NUMBER)];
  for (const test of rule.when.toReversed()) body = [...instructionsOfTest(test, body.length - 1), ...body];
  return [jump(JUMP_IF_EQUAL, number, 0, body.length), ...body];
}

/** Goes on behind itself if the test holds, else skips `wayOut` instructions more. */
function instructionsOfTest(test: ArgumentTest, wayOut: number): readonly Instruction[] {
  const loadArgument = load(ARGUMENTS + 8 * test.argument);
  if ('hasAnyOf' in test) return [loadArgument, jump(JUMP_IF_ANY_BIT, test.hasAnyOf, 0, wayOut)];
  if ('equals' in test) return [loadArgument, jump(JUMP_IF_EQUAL, test.equals, 0, wayOut)];
  const values = test.isNoneOf;
  return [
    loadArgument,
    ...values.map((value, at) => jump(JUMP_IF_EQUAL, value, values.length - 1 - at + wayOut, 0)),
  ];
}

function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(({code, ifTrue, ifFalse, value}, at) => {
    bytes.writeUInt16LE(code, at * 8);
    bytes.writeUInt8(ifTrue, at * 8 + 2);
    bytes.writeUInt8(ifFalse, at * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, at * 8 + 4);
  });
  return bytes;
}
