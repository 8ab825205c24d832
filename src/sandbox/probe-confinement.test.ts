import {expect, test} from 'vitest';
import {CONFINED} from '../../test/support/pretend-docker.ts';
import {unconfined} from './probe-confinement.ts';
import type {Execution} from './sandbox.ts';

const output = (text: string) => ({
  ...{bytes: Buffer.from(text), totalBytes: text.length, totalLines: 1, leftOutBytes: 0},
});

function check(text: string, changes: Partial<Execution> = {}, limits = {}) {
  const ran: Execution = {
    ...{sandbox: 'docker', exitStatus: {kind: 'exited', code: 0}, durationMs: 1, leftRunning: []},
    ...{stdout: output(text), stderr: output('')},
    ...changes,
  };
  return unconfined(ran, {boundingSet: 0x20n, openFiles: 4096, processes: undefined, ...limits});
}

/** What is wrong where this text takes the place of that one. */
const changed = (from: string, to: string) => check(CONFINED.replace(from, to));

test('ruling W8 a sandbox that confines has nothing wrong with it', () => {
  expect(check(CONFINED)).toBeUndefined();
  // Tunnels of the kernel are no network.
  expect(check(`${CONFINED}  sit0: 0 0\n  tunl0: 0\n  ip6tnl-eth0: 0\n`)).toBeUndefined();
  // Only a line of our own says what is writable.
  expect(check(`${CONFINED}is not writable here\n`)).toBeUndefined();
});

test.each([
  [
    'CapInh:\t0000000000000000',
    'CapInh:\t0000000000000001',
    'capabilities are left (CapInh 0000000000000001)',
  ],
  [
    'CapPrm:\t0000000000000000',
    'CapPrm:\t0000000000000020',
    'capabilities are left (CapPrm 0000000000000020)',
  ],
  [
    'CapEff:\t0000000000000000',
    'CapEff:\tffffffffffffffff',
    'capabilities are left (CapEff ffffffffffffffff)',
  ],
  ['CapAmb:\t0000000000000000', 'CapAmb:\tx0', 'capabilities are left (CapAmb x0)'],
  ['CapAmb:\t0000000000000000', 'CapAmb:\t0x', 'capabilities are left (CapAmb 0x)'],
  ['CapAmb:\t0000000000000000', '', 'capabilities are left (CapAmb )'],
  [
    'CapBnd:\t0000000000000020',
    'CapBnd:\t0000000000000021',
    'capabilities are left (CapBnd 0000000000000021)',
  ],
  ['NoNewPrivs:\t1', 'NoNewPrivs:\t0', 'no_new_privs is not set'],
  ['NoNewPrivs:\t1', 'XNoNewPrivs:\t1', 'no_new_privs is not set'],
  ['Seccomp:\t2', 'Seccomp:\t0', 'no system call filter is installed'],
  ['4096                 4096', '4096                 4097', 'the limit on open files does not hold'],
  ['Max open files ', 'Max closed files ', 'the limit on open files does not hold'],
  ['    lo:', '  eth0:', 'it has a network (eth0)'],
  ['    lo:', '  wlan0:0\nveth-1: 0\n tunl0:', 'it has a network (wlan0, veth-1)'],
  ['workspace writable', 'hypervisor reachable', 'sockets of the hypervisor (AF_VSOCK) are let through'],
  ['workspace', 'writable /etc/passwd\nworkspace', '/etc/passwd is writable'],
  ['workspace writable', '', 'the workspace is not writable'],
])('ruling W8 with %j as %j it does not', (from, to, problem) => {
  expect(CONFINED).toContain(from);
  expect(changed(from, to)).toBe(problem);
});

test('ruling W8 where no control group counts processes, their limit has to hold', () => {
  expect(check(CONFINED, {}, {processes: 128})).toBe('the limit on processes does not hold');
  const limited = CONFINED.replace(/(Max processes +)unlimited( +)unlimited/, '$1128$2129');
  expect(check(limited, {}, {processes: 128})).toBe('the limit on processes does not hold');
  expect(check(limited, {}, {processes: 129})).toBeUndefined();
});

test('ruling W8 a probe that fails says with what', () => {
  const failed = {
    exitStatus: {kind: 'exited', code: 1},
    stderr: output(` no shell ${'x'.repeat(300)}\n`),
  } as const;
  expect(check(CONFINED, failed)).toBe(
    `its probe ended with {"kind":"exited","code":1} no shell ${'x'.repeat(191)}`,
  );
  expect(check(CONFINED, {exitStatus: {kind: 'timeout'}})).toBe('its probe ended with {"kind":"timeout"} ');
});
