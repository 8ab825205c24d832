// Starts a container, runs commands in it and removes stale ones.
import type {ChildProcess} from 'node:child_process';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';
import {type Clock, randomHex} from '../../core/clock.ts';
import {packageFile} from '../../core/package-file.ts';
import {WORKSPACE_MOUNT} from '../../core/tool.ts';
import {holdOpen, livenessOf, ownIdentity, type ProcessIdentity} from '../../system/process.ts';
import {mountPoints, REPORT_MOUNTS} from '../guard/guard.ts';
import type {GuardedTree} from '../guard/hold-protected.ts';
import type {RunOptions} from '../options.ts';
import type {DockerClient} from './client.ts';
import {SUPERVISE} from './scripts.ts';

/** review R16: made of our rules by `scripts/docker-profile.ts`. The client reads it. */
const SECCOMP_PROFILE = fileURLToPath(packageFile('assets/docker-seccomp.json'));

const START_TIMEOUT_MS = 30_000;
const REPORT_TIMEOUT_MS = 10_000;
const KILL_TIMEOUT_MS = 3000;
const KILL_PAUSE_MS = 5;
const REMOVE_TIMEOUT_MS = 20_000;

interface ContainerPlan {
  readonly image: string;
  /** `UID:GID` of the commands. */
  readonly user: string;
  readonly workspace: string;
  readonly tree: GuardedTree;
  /** What of the host belongs to the way out, and where it is mounted. */
  readonly egressMounts: readonly {readonly source: string; readonly target: string}[];
  readonly env: Readonly<Record<string, string>>;
  readonly options: RunOptions;
}

export interface Leftovers {
  /** Names of the processes that were there. */
  readonly leftRunning: readonly string[];
  readonly outOfMemory: boolean;
}

/**
 * A container that lives as long as the client that holds its standard input: ours, and when we are
 * killed its input ends, and so does everything in it.
 */
export class DockerContainer {
  readonly name = `forge-tools-${randomHex(8)}`;
  readonly #client: DockerClient;
  readonly #user: string;
  readonly #clock: Clock;
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  #stderr = '';
  #wake: () => void = () => {};
  #ended = false;
  #killedBefore = 0;

  constructor(client: DockerClient, clock: Clock, plan: ContainerPlan) {
    this.#client = client;
    this.#user = plan.user;
    this.#clock = clock;
    this.#child = client.start(runArguments(this.name, plan), true);
    this.#child.stderr?.on('data', chunk => {
      this.#stderr = `${this.#stderr}${chunk}`.slice(-4000);
    });
    if (this.#child.stdout !== null) {
      createInterface({input: this.#child.stdout}).on('line', line => {
        this.#lines.push(line);
        this.#wake();
      });
    }
    const end = (): void => {
      this.#ended = true;
      this.#wake();
    };
    this.#child.once('error', end);
    this.#child.once('close', end);
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** What the client said on its standard error: warnings of the daemon, or why it failed. */
  get words(): string {
    return this.#stderr;
  }

  /** True once the supervisor answers. */
  async started(): Promise<boolean> {
    const lines = await this.#linesUntil('ready', START_TIMEOUT_MS);
    this.#killedBefore = killedOf(lines ?? []);
    return lines !== undefined;
  }

  /**
   * What is mounted where the guarded parts should be, as the user of commands sees it: the supervisor, a root
   * without capabilities, may not look into a private workspace. To be asked while no command runs.
   */
  async mounted(tree: GuardedTree): Promise<readonly string[]> {
    const report = `${REPORT_MOUNTS}report_mounts "$@"`;
    const args = ['/bin/sh', '-c', report, 'sh', ...mountPoints(tree)];
    const answer = await this.#client.ask(
      ['exec', '--user', this.#user, this.name, ...args],
      REPORT_TIMEOUT_MS,
    );
    return answer.stdout.split('\n');
  }

  /** The TCP sockets in its network, as the kernel lists them. */
  async networkTable(): Promise<string> {
    const files = ['/proc/net/tcp', '/proc/net/tcp6'];
    const args = ['exec', '--user', this.#user, this.name, 'cat', ...files];
    return (await this.#client.ask(args, REPORT_TIMEOUT_MS)).stdout;
  }

  /**
   * Ends every process of commands, again until `isOver`: what the daemon is about to start comes
   * after one round and before the next. The reporter is not counted as left running. `undefined` if
   * the end of all could not be made sure.
   */
  async killLeftoversUntil(isOver: () => boolean, reporter: number): Promise<Leftovers | undefined> {
    const all: Leftovers[] = [];
    do {
      if (all.length > 0) await new Promise<void>(resolve => this.#clock.after(KILL_PAUSE_MS, resolve));
      const left = await this.#killLeftovers(reporter);
      if (left === undefined) return undefined;
      all.push(left);
    } while (!isOver());
    return {
      // Those of the first one: later ones meet what was on its way out.
      leftRunning: all[0]?.leftRunning ?? [],
      outOfMemory: all.some(({outOfMemory}) => outOfMemory),
    };
  }

  async #killLeftovers(reporter: number): Promise<Leftovers | undefined> {
    this.#child.stdin?.write(`${reporter}\n`);
    const lines = await this.#linesUntil('swept', KILL_TIMEOUT_MS);
    if (lines === undefined) return undefined;
    const killed = killedOf(lines);
    const outOfMemory = killed > this.#killedBefore;
    this.#killedBefore = killed;
    const left = lines.filter(line => line.startsWith('left ')).map(line => line.slice('left '.length));
    return {leftRunning: left, outOfMemory};
  }

  /** Whether our process stays for it. An idle container ends with us. */
  hold(isHeld: boolean): void {
    holdOpen(this.#child, isHeld);
  }

  /** Kills it from outside, whatever it does. */
  async remove(): Promise<void> {
    await this.#client.ask(['rm', '--force', this.name], REMOVE_TIMEOUT_MS);
    this.#child.kill('SIGKILL');
  }

  async #linesUntil(last: string, timeoutMs: number): Promise<readonly string[] | undefined> {
    let isLate = false;
    const cancel = this.#clock.after(timeoutMs, () => {
      isLate = true;
      this.#wake();
    });
    try {
      for (;;) {
        const at = this.#lines.indexOf(last);
        if (at >= 0) return this.#lines.splice(0, at + 1);
        if (isLate || this.#ended) return undefined;
        await new Promise<void>(resolve => {
          this.#wake = resolve;
        });
      }
    } finally {
      cancel();
    }
  }
}

function killedOf(lines: readonly string[]): number {
  return Number(lines.findLast(line => line.startsWith('oom '))?.slice('oom '.length) ?? 0);
}

function runArguments(name: string, plan: ContainerPlan): string[] {
  const {image, user, workspace, tree, egressMounts, env, options} = plan;
  const {memory_mb, tmp_mb, max_processes, cpus, open_files} = options;
  // As another user, the supervisor needs a capability to end commands.
  const points = mountPoints(tree);
  const isRoot = user.split(':')[0] === '0';
  return [
    ...['run', '--rm', '--interactive', '--init=false', '--name', name, ...ownerLabels(), '--pull=never'],
    ...['--network=none', '--read-only', '--cap-drop=ALL', ...(isRoot ? [] : ['--cap-add=KILL'])],
    ...[
      '--user',
      '0:0',
      '--security-opt=no-new-privileges:true',
      `--security-opt=seccomp=${SECCOMP_PROFILE}`,
      '--ipc=private',
      '--log-driver=none',
    ],
    ...['--memory', `${memory_mb}m`, '--memory-swap', `${memory_mb}m`, '--pids-limit', String(max_processes)],
    ...['--cpus', String(cpus), '--ulimit', `nofile=${open_files}:${open_files}`, '--ulimit', 'core=0:0'],
    ...['--hostname', 'sandbox', '--workdir', WORKSPACE_MOUNT, '--shm-size', `${tmp_mb}m`],
    // Not noexec: compilers build and run programs there.
    ...['--tmpfs', `/tmp:rw,exec,nosuid,nodev,mode=1777,size=${tmp_mb}m`],
    ...tree.flatMap(({path, writable}, at) =>
      mountArguments(join(workspace, path), points[at] ?? '', writable),
    ),
    ...egressMounts.flatMap(({source, target}) => mountArguments(source, target, false)),
    ...Object.entries(env).flatMap(([variable, value]) => ['--env', `${variable}=${value}`]),
    ...['--entrypoint', '/bin/sh', image, '-c', SUPERVISE],
  ];
}

/** The client reads the value as a line of CSV. */
function mountArguments(source: string, target: string, writable: boolean): string[] {
  const fields = ['type=bind', `source=${source}`, `target=${target}`, ...(writable ? [] : ['readonly'])];
  return ['--mount', fields.map(field => `"${field.replaceAll('"', '""')}"`).join(',')];
}

/** On every container of ours. */
const OURS = 'forge-tools=run';
const OWNER = 'forge-tools.owner';
const LIST_TIMEOUT_MS = 10_000;
const REMOVE_STALE_TIMEOUT_MS = 60_000;

/** Says of a container that it is ours, and of which process. */
function ownerLabels(): readonly string[] {
  return ['--label', OURS, '--label', `${OWNER}=${JSON.stringify(ownIdentity())}`];
}

/**
 * review R14: a container ends when nobody holds its standard input. One whose client was killed together with its
 * host, before it was started, has no process that could see that: it is removed here, with whatever else is left of
 * hosts that are gone. Resolves when that is done or the daemon does not answer; the next session tries again.
 */
export async function removeStaleContainers(client: DockerClient): Promise<void> {
  const format = `{{.ID}} {{.Label "${OWNER}"}}`;
  const args = ['ps', '--all', '--no-trunc', '--filter', `label=${OURS}`, '--format', format];
  const listed = await client.ask(args, LIST_TIMEOUT_MS);
  if (!listed.ok) return;
  const stale = listed.stdout.split('\n').flatMap(line => {
    const [id = '', ...owner] = line.split(' ');
    return isGone(owner.join(' ')) ? [id] : [];
  });
  if (stale.length > 0) await client.ask(['rm', '--force', ...stale], REMOVE_STALE_TIMEOUT_MS);
}

/** Of another machine, or of another namespace of processes: whoever counts there knows. */
function isGone(label: string): boolean {
  const owner = parseOwner(label);
  return owner !== undefined && livenessOf(owner) === 'gone';
}

function parseOwner(label: string): ProcessIdentity | undefined {
  try {
    const {pid, started, host, namespace} = JSON.parse(label);
    if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
    return {pid, started: String(started), host: String(host), namespace: String(namespace)};
  } catch {
    return undefined;
  }
}
