// Checks from inside a sandbox whether it confines as it should.
import type {Execution} from './sandbox.ts';

/** Prints what the kernel says about a process inside. Asks for access, so that nothing is done where it is given. */
export const PROBE = {
  command: [
    'cat /proc/self/status /proc/self/limits /proc/net/dev',
    'for path in / /usr /etc/passwd /proc/sys/kernel/core_pattern; do [ -w "$path" ] && echo "writable $path"; done',
    '[ -w . ] && echo workspace writable',
    // review R16: AF_VSOCK reaches the hypervisor. Where the sandbox has neither program, our filter is taken on trust.
    `perl -e 'socket(S, 40, 1, 0) and print "hypervisor reachable\\n"'`,
    `python3 -c 'import socket; socket.socket(40); print("hypervisor reachable")' 2>/dev/null`,
    'exit 0',
  ].join('\n'),
  env: {},
  timeoutMs: 10_000,
} as const;

export interface ConfinementCheck {
  /** Capabilities that may be in the bounding set, where `no_new_privs` makes them useless. */
  readonly boundingSet: bigint;
  readonly openFiles: number;
  /** `undefined` where a control group counts them. */
  readonly processes: number | undefined;
}

/** Ruling W8: what is wrong with a sandbox, checked by the real profile; `undefined` if nothing is. */
export function unconfined(
  {exitStatus, stdout, stderr}: Execution,
  check: ConfinementCheck,
): string | undefined {
  const text = Buffer.from(stdout.bytes).toString();
  if (exitStatus.kind !== 'exited' || exitStatus.code !== 0) {
    const words = Buffer.from(stderr.bytes).toString().trim().slice(0, 200);
    return `its probe ended with ${JSON.stringify(exitStatus)} ${words}`;
  }
  const status = (name: string): string => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(text)?.[1] ?? '';
  const limit = (name: string): number =>
    Number(new RegExp(`^${name}\\s+\\d+\\s+(\\d+)`, 'm').exec(text)?.[1] ?? Number.POSITIVE_INFINITY);
  const maskOf = (hex: string): bigint => (/^[0-9a-f]+$/.test(hex) ? BigInt(`0x${hex}`) : ~0n);
  const sets = ['CapInh', 'CapPrm', 'CapEff', 'CapAmb', 'CapBnd'];
  const held = sets.find(set => (maskOf(status(set)) & ~(set === 'CapBnd' ? check.boundingSet : 0n)) !== 0n);
  if (held !== undefined) return `capabilities are left (${held} ${status(held)})`;
  if (status('NoNewPrivs') !== '1') return 'no_new_privs is not set';
  if (status('Seccomp') !== '2') return 'no system call filter is installed';
  if (limit('Max open files') > check.openFiles) return 'the limit on open files does not hold';
  if (check.processes !== undefined && limit('Max processes') > check.processes) {
    return 'the limit on processes does not hold';
  }
  // The kernel may add tunnels to every network namespace, which are down and which nobody can set up.
  const wired = [...text.matchAll(/^\s*((?:eth|en|wl|veth|docker|br)[\w-]*):/gm)].map(([, name]) => name);
  if (wired.length > 0) return `it has a network (${wired.join(', ')})`;
  if (text.includes('hypervisor reachable')) return 'sockets of the hypervisor (AF_VSOCK) are let through';
  const writable = /^writable (.*)/m.exec(text)?.[1];
  if (writable !== undefined) return `${writable} is writable`;
  if (!text.includes('workspace writable')) return 'the workspace is not writable';
  return undefined;
}
