import {chmodSync, chownSync, writeFileSync} from 'node:fs';
import promises from 'node:fs/promises';
import {syncBuiltinESMExports} from 'node:module';
import {join} from 'node:path';
import {expect, onTestFinished, test, vi} from 'vitest';
import {asUnusedUser} from '../../../test/support/as-unused-user.ts';
import {runOptions} from '../../../test/support/open-sandbox.ts';
import {breakPipes, startedChildren} from '../../../test/support/started-children.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import type {LogEvent} from '../../core/log.ts';
import type {SandboxHost} from '../sandbox.ts';
import {seccompFilter} from '../seccomp/seccomp-filter.ts';
import {SYSCALL_RULES} from '../seccomp/syscall-rules.ts';
import {commandArguments} from './bubblewrap-profile.ts';
import {bubblewrapSetup} from './bubblewrap-setup.ts';

const isRoot = process.getuid?.() === 0;

/** What is found out with these programs instead of those of the system. */
async function setup(scripts: Readonly<Record<string, string>>, place: Partial<SandboxHost> = {}) {
  const programs = temporaryDirectory();
  chmodSync(programs, 0o755);
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(programs, name), `#!/bin/sh\n${script}\n`, {mode: 0o755});
  }
  const log: LogEvent[] = [];
  const host: SandboxHost = {
    ...{workspace: temporaryDirectory(), protectedPaths: [], env: {}, programDirectories: [programs]},
    ...{clock: systemClock, log: event => log.push(event), machine: {platform: 'linux', arch: 'x64'}},
    ...place,
  };
  if (place.workspace === undefined && isRoot) chownSync(host.workspace, 1001, 1002);
  const found = await bubblewrapSetup(runOptions(), host);
  return {found, said: found.ok ? 'ok' : found.error.message, log, programs};
}

const versionIs = (version: string) => ({bwrap: `echo "bubblewrap ${version}"`, setpriv: 'exit 1'});

test.each([
  ['win32', 'x64'],
  ['linux', 'riscv64'],
  ['darwin', 'arm64'],
])('W8: there is none for %s on %s', async (platform, arch) => {
  const {found, said} = await setup(versionIs('0.9.0'), {machine: {platform, arch}});
  expect(found).toMatchObject({ok: false, error: {code: 'unsupported_platform'}});
  expect(said).toBe(
    `Without Docker there is no sandbox here: bubblewrap needs Linux on x86-64 or ARM64, this is ${platform} on ${arch}. Nothing was run. To fix it: install and start Docker; tools.run.sandbox = "docker" or "auto" takes it.`,
  );
});

test('W8: where it is not installed, that is said with the line that installs it', async () => {
  const {said} = await setup({}, {env: {PATH: ''}});
  expect(said).toBe(
    'bubblewrap is not installed. Nothing was run. To fix it: apt-get install bubblewrap (dnf install bubblewrap, apk add bubblewrap).',
  );
});

test.each(['0.5.9', '0.3', 'x', ''])('W8: version "%s" is not taken', async version => {
  const {said, programs} = await setup(versionIs(version));
  const answer = JSON.stringify(`bubblewrap ${version}`.trim());
  expect(said).toBe(
    `${join(programs, 'bwrap')} says ${answer}, but version 0.6 is needed. Nothing was run. To fix it: install a newer bubblewrap.`,
  );
});

test.each([
  ['0.6.0', false],
  ['0.7', false],
  ['0.8.0', true],
  ['0.11.2', true],
  ['1.0', true],
  ['10.1', true],
])('W8: version %s is taken, and asked to forbid namespaces where it can: %s', async (version, disables) => {
  for (const arch of ['x64', 'arm64'] as const) {
    const {found} = await setup(versionIs(version), {machine: {platform: 'linux', arch}});
    expect(found).toMatchObject({
      ok: true,
      value: {
        ...{version: `bubblewrap ${version}`, commandArgs: commandArguments(disables), nests: false},
        filter: seccompFilter(arch, SYSCALL_RULES),
      },
    });
  }
});

test('review R1: whether one runs in another is tried, and a warning says where it does not', async () => {
  const warning = {level: 'warn', event: 'sandbox_not_nested', sandbox: 'bubblewrap'};
  expect((await setup(versionIs('0.9.0'))).log).toEqual([warning]);
  const able = await setup({...versionIs('0.9.0'), setpriv: 'exit 0'});
  expect(able.found).toMatchObject({ok: true, value: {nests: process.getuid?.() === 0}});
});

test('W8: who is not root stays who it is', async () => {
  asUnusedUser();
  // Its answer has nothing of our environment.
  const {found, log} = await setup({bwrap: 'echo "bubblewrap 0.9.0 $HOME"'});
  expect(found).toMatchObject({
    ok: true,
    value: {becomeOwner: [], nests: true, version: 'bubblewrap 0.9.0'},
  });
  expect(log).toEqual([]);
});

test.runIf(isRoot)('W8: a workspace of root needs a control group', async () => {
  const {readFile} = promises;
  const spy = vi.spyOn(promises, 'readFile').mockImplementation((async (
    ...call: Parameters<typeof readFile>
  ) => {
    if (call[0] === '/proc/self/cgroup') throw new Error('Expected nobody to look.');
    return readFile(...call);
  }) as typeof readFile);
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  const workspace = temporaryDirectory();
  expect((await setup(versionIs('0.9.0'), {workspace})).said).toBe(
    `The workspace belongs to root, and there is no control group to limit processes with. Nothing was run. To fix it: give it to a user (chown -R 1000:1000 "${workspace}"), or make /sys/fs/cgroup writable.`,
  );
});

test.runIf(process.getuid?.() === 0)('W8: root becomes the owner of the workspace, by setpriv', async () => {
  const {found, programs} = await setup(versionIs('0.9.0'));
  expect(found.ok && found.value.becomeOwner).toEqual([
    ...[join(programs, 'setpriv'), '--reuid', '1001', '--regid', '1002', '--clear-groups'],
    ...['--inh-caps=-all', '--'],
  ]);
  const {said} = await setup({bwrap: 'echo "bubblewrap 0.9.0"'}, {env: {PATH: ''}});
  expect(said).toBe(
    'setpriv is not installed, so root cannot become the owner of the workspace. Nothing was run. To fix it: apt-get install util-linux.',
  );
});

test('policy: a pipe to what is asked that breaks is no exception', async () => {
  const children = startedChildren();
  expect((await setup({...versionIs('0.9.0'), setpriv: 'exit 0'})).said).toBe('ok');
  expect(children.length).toBeGreaterThan(1);
  for (const child of children) breakPipes(child);
});
