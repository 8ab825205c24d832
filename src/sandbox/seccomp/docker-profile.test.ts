import {readFileSync, writeFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {dockerSeccomp} from '../../../scripts/docker-profile.ts';
import {KNOWN_SYSCALLS} from '../../../scripts/known-syscalls.data.ts';
import {packageFile} from '../../core/package-file.ts';
import {LAST_KNOWN_SYSCALL, SYSCALL_RULES} from './rules.ts';

interface Profile {
  readonly defaultAction: string;
  readonly syscalls: readonly {
    readonly names: readonly string[];
    readonly action: string;
    readonly args?: readonly unknown[];
  }[];
}

const profile = dockerSeccomp(SYSCALL_RULES) as Profile;
const allowedFreely = new Set(
  profile.syscalls
    .filter(({action, args = []}) => action === 'SCMP_ACT_ALLOW' && args.length === 0)
    .flatMap(({names}) => names),
);

test('R16: the profile that is given to Docker is that of our rules', () => {
  const file = packageFile('assets/docker-seccomp.json');
  const text = `${JSON.stringify(profile, undefined, 1)}\n`;
  if (process.env['UPDATE_GOLDENS'] !== undefined) writeFileSync(file, text);
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test('R16: what our rules refuse is not let through, but where an argument decides', () => {
  expect(profile.defaultAction).toBe('SCMP_ACT_ERRNO');
  for (const {name} of SYSCALL_RULES) {
    if (name !== 'ioctl') expect({name, allowed: allowedFreely.has(name)}).toEqual({name, allowed: false});
  }
  for (const name of ['read', 'openat2', 'execve', 'kill', 'fork', 'mmap']) {
    expect(allowedFreely.has(name)).toBe(name !== 'openat2');
  }
});

test('R16: every rule names a call that is classified', () => {
  expect(KNOWN_SYSCALLS.length).toBeLessThanOrEqual(LAST_KNOWN_SYSCALL + 1);
  for (const {name} of SYSCALL_RULES) expect(KNOWN_SYSCALLS).toContain(name);
});

test('R16: a test that a profile cannot hold is a bug', () => {
  const rule = {name: 'read', x64: 0, arm64: 63, errno: 1, when: [{argument: 2, equals: 7}]};
  expect(() => dockerSeccomp([rule])).toThrow(
    'Expected the rule on argument 2 to be among those that are let through by name.',
  );
});
