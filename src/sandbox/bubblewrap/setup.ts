// Finds out once what bubblewrap can do on this machine.
import {execFile} from 'node:child_process';
import {stat} from 'node:fs/promises';
import {ok, type Result} from '../../core/result.ts';
import {findGroupPlace, type GroupPlace} from '../../system/control-group.ts';
import {findProgram} from '../../system/find-program.ts';
import {bootId} from '../../system/process.ts';
import {programPlaces} from '../env.ts';
import type {RunOptions} from '../options.ts';
import type {SandboxHost} from '../sandbox.ts';
import {sandboxFailure, unsupportedPlatform} from '../sandbox-failure.ts';
import {seccompFilter} from '../seccomp/filter.ts';
import {SYSCALL_RULES} from '../seccomp/rules.ts';
import {commandArguments, innerArguments, outerArguments, systemArguments} from './profile.ts';

const VERSION_TIMEOUT_MS = 5000;
const OLDEST = [0, 6] as const;
const KNOWS_DISABLE_USERNS = [0, 8] as const;

/** What is found out once for a session. */
export interface BubblewrapSetup {
  readonly program: string;
  /** `setpriv` and its arguments where root is dropped, else nothing. */
  readonly becomeOwner: readonly string[];
  readonly commandArgs: readonly string[];
  readonly systemArgs: readonly string[];
  /** Whether it runs in another one, so that the parts of the workspace are mounted where the host is out of reach. */
  readonly nests: boolean;
  readonly filter: Buffer;
  readonly groupPlace: GroupPlace | undefined;
  readonly version: string;
  readonly bootId: string;
}

export async function bubblewrapSetup(
  options: RunOptions,
  host: SandboxHost,
): Promise<Result<BubblewrapSetup>> {
  const {platform, arch: machine} = host.machine ?? process;
  if (platform !== 'linux' || (machine !== 'x64' && machine !== 'arm64')) {
    return unsupportedPlatform(`${platform} on ${machine}`);
  }
  const program = await findProgram('bwrap', programPlaces(host));
  if (program === undefined) {
    return sandboxFailure({
      problem: 'bubblewrap is not installed',
      remedy: 'apt-get install bubblewrap (dnf install bubblewrap, apk add bubblewrap).',
    });
  }
  const version = await versionOf(program);
  if (!isAtLeast(version, OLDEST)) {
    return sandboxFailure({
      problem: `${program} says ${JSON.stringify(version)}, but version 0.6 is needed`,
      remedy: 'install a newer bubblewrap.',
    });
  }
  const groupPlace = await findGroupPlace();
  const becomeOwner = await ownerSwitch(groupPlace, host);
  if (!becomeOwner.ok) return becomeOwner;
  const commandArgs = commandArguments(isAtLeast(version, KNOWS_DISABLE_USERNS));
  const systemArgs = await systemArguments(options);
  const nesting = await canNest([...becomeOwner.value, program], commandArgs, systemArgs);
  if (nesting === 'no_answer') {
    return sandboxFailure({
      problem: 'bubblewrap did not say in time whether it can run in another bubblewrap',
      remedy: 'call it again when the machine has less to do.',
    });
  }
  const nests = nesting === 'nests';
  // A profile of AppArmor for bubblewrap may forbid it.
  if (!nests) host.log({level: 'warn', event: 'sandbox_not_nested', sandbox: 'bubblewrap'});
  return ok({
    program,
    becomeOwner: becomeOwner.value,
    commandArgs,
    systemArgs,
    nests,
    filter: seccompFilter(machine, SYSCALL_RULES),
    groupPlace,
    version,
    bootId: bootId(),
  });
}

/**
 * Files that a command makes belong to the owner of the workspace: a root of the host becomes that
 * user first. Where the workspace is root's, it stays root, without a capability, in a user namespace.
 */
async function ownerSwitch(
  groupPlace: GroupPlace | undefined,
  host: SandboxHost,
): Promise<Result<readonly string[]>> {
  if (process.getuid?.() !== 0) return ok([]);
  const {workspace} = host;
  const owner = await stat(workspace);
  if (owner.uid === 0) {
    // The kernel exempts root from RLIMIT_NPROC, whatever namespace it is in.
    if (groupPlace !== undefined) return ok([]);
    return sandboxFailure({
      problem: 'The workspace belongs to root, and there is no control group to limit processes with',
      remedy: `give it to a user (chown -R 1000:1000 ${JSON.stringify(workspace)}), or make /sys/fs/cgroup writable.`,
    });
  }
  const setpriv = await findProgram('setpriv', programPlaces(host));
  if (setpriv === undefined) {
    return sandboxFailure({
      problem: 'setpriv is not installed, so root cannot become the owner of the workspace',
      remedy: 'apt-get install util-linux.',
    });
  }
  const identity = ['--reuid', String(owner.uid), '--regid', String(owner.gid), '--clear-groups'];
  return ok([setpriv, ...identity, '--inh-caps=-all', '--']);
}

function versionOf(program: string): Promise<string> {
  return new Promise(resolve => {
    const child = execFile(program, ['--version'], {env: {}, timeout: VERSION_TIMEOUT_MS}, (_, stdout) => {
      resolve(stdout.trim());
    });
    // A pipe that breaks is an answer that is too short, and no exception.
    for (const pipe of [child.stdout, child.stderr]) pipe?.on('error', () => {});
  });
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [, foundMajor = 0, foundMinor = 0] = (/(\d+)\.(\d+)/.exec(version) ?? []).map(Number);
  return foundMajor > major || (foundMajor === major && foundMinor >= minor);
}

const TIMEOUT_MS = 5000;
const MAX_TRIES = 3;

/** `no_answer`: of a machine that is too busy, which says nothing of what it can do. */
type Nesting = 'nests' | 'refused' | 'no_answer';

/**
 * Whether a bubblewrap runs in another one here, with the programs that look at the workspace in between. It runs
 * without the workspace, so that nobody who moves things there has a say. Retries a timed-out probe twice.
 */
export async function canNest(
  start: readonly string[],
  commandArgs: readonly string[],
  systemArgs: readonly string[],
  timeoutMs = TIMEOUT_MS,
): Promise<Nesting> {
  let nesting: Nesting = 'no_answer';
  for (let tries = 0; nesting === 'no_answer' && tries < MAX_TRIES; tries++) {
    nesting = await tryToNest(start, commandArgs, systemArgs, timeoutMs);
  }
  return nesting;
}

function tryToNest(
  start: readonly string[],
  commandArgs: readonly string[],
  systemArgs: readonly string[],
  timeoutMs: number,
): Promise<Nesting> {
  const program = start.at(-1) ?? '';
  const [first = '', ...args] = [
    ...[...start, ...outerArguments(systemArgs), '--'],
    ...['/bin/sh', '-c', 'stat -c %d:%i / && exec "$@"', 'sh'],
    ...[program, ...innerArguments(commandArgs), '--', '/bin/sh', '-c', 'exit 0'],
  ];
  return new Promise(resolve => {
    const options = {env: {}, cwd: '/', timeout: timeoutMs, killSignal: 'SIGKILL'} as const;
    const child = execFile(first, args, options, error => {
      if (error === null) resolve('nests');
      else resolve(error.killed === true ? 'no_answer' : 'refused');
    });
    for (const pipe of [child.stdout, child.stderr]) pipe?.on('error', () => {});
  });
}
