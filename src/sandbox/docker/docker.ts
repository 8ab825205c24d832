import {constants} from 'node:os';
import {isDeepStrictEqual} from 'node:util';
import type {EgressChannel} from '../../core/egress/egress-gate.ts';
import {randomHex} from '../../core/random.ts';
import {ok, type Result} from '../../core/result.ts';
import {diedBySignal} from '../child/died-by-signal.ts';
import {exitStatusOf} from '../child/exit-status.ts';
import {portsIn} from '../child/listening-ports.ts';
import {OutputCapture} from '../child/output-capture.ts';
import {superviseChild} from '../child/supervise-child.ts';
import {
  channelMounts,
  engineElsewhere,
  UNHEARD,
  withoutProxy,
  withoutRelay,
} from '../egress/channel-of-sandbox.ts';
import {gitIdentity} from '../git-identity.ts';
import type {GuardedTree} from '../guard/guarded-tree.ts';
import {checkMounts, type MountCheck} from '../guard/mount-report.ts';
import type {WorkspaceGuard} from '../guard/workspace-guard.ts';
import type {RunOptions} from '../options.ts';
import {PROBE, unconfined} from '../probe-confinement.ts';
import type {Execution, SandboxCommand, SandboxDriver, SandboxHost, SandboxReport} from '../sandbox.ts';
import {sandboxEnv} from '../sandbox-env.ts';
import {sandboxFailure} from '../sandbox-failure.ts';
import {workspaceMoves} from '../workspace-moves.ts';
import {DockerContainer, type Leftovers} from './docker-container.ts';
import {type DockerSetup, dockerSetup} from './docker-setup.ts';
import {execArguments} from './exec-arguments.ts';
import {SentinelStream} from './sentinel-stream.ts';
import {removeStaleContainers} from './stale-containers.ts';

/** A workspace that is another one each time it is looked at is an attempt of another process. */
const MAX_LOOKS = 3;

/** Of the supervisor. */
const CAP_KILL = 1n << 5n;

/** A container between two commands. */
interface IdleContainer {
  readonly container: DockerContainer;
  /** Its way out, where there is one. */
  readonly channel: EgressChannel | undefined;
  /** What was looked at when it last said what is mounted in it. */
  readonly tree: GuardedTree;
}

interface TakenContainer extends IdleContainer {
  readonly wasIdle: boolean;
}

interface NotStarted {
  /** Of the client or the daemon. */
  readonly words: string;
  readonly wasIdle: boolean;
}

/** Ruling W8, Tool API: commands run inside Docker with no network. */
export class DockerSandbox implements SandboxDriver {
  readonly #options: RunOptions;
  readonly #host: SandboxHost;
  readonly #guard: WorkspaceGuard;
  readonly #live = new Map<DockerContainer, EgressChannel | undefined>();
  #idle: IdleContainer[] = [];
  #setup: DockerSetup | undefined;
  #cleaning: Promise<void> | undefined;

  constructor(options: RunOptions, host: SandboxHost, guard: WorkspaceGuard) {
    this.#options = options;
    this.#host = host;
    this.#guard = guard;
  }

  async probe(): Promise<Result<SandboxReport>> {
    const setup = await dockerSetup(this.#options, this.#host);
    if (!setup.ok) return setup;
    // No call waits for it.
    this.#cleaning ??= removeStaleContainers(setup.value.client);
    const probed = await this.#execute(setup.value, {...PROBE, signal: new AbortController().signal});
    if (!probed.ok) return probed;
    const {open_files} = this.#options;
    const problem = unconfined(probed.value, {
      boundingSet: CAP_KILL,
      openFiles: open_files,
      processes: undefined,
    });
    if (problem !== undefined) {
      return sandboxFailure({
        problem: `Docker does not confine as it should: ${problem}`,
        remedy:
          'start dockerd without --security-opt seccomp=unconfined, or use tools.run.sandbox = "bubblewrap".',
      });
    }
    this.#setup = setup.value;
    const {description} = setup.value;
    return ok({sandbox: 'docker', memoryLimit: 'kernel', description});
  }

  async run(command: SandboxCommand): Promise<Result<Execution>> {
    if (this.#setup === undefined) {
      const report = await this.probe();
      if (!report.ok) return report;
    }
    if (this.#setup === undefined) throw new Error('Expected a probe that succeeded to leave its setup.');
    return this.#execute(this.#setup, command);
  }

  async close(): Promise<void> {
    this.#idle = [];
    await Promise.all([...this.#live.keys()].map(container => this.#remove(container)));
    await this.#cleaning;
  }

  async #execute(setup: DockerSetup, command: SandboxCommand): Promise<Result<Execution>> {
    const first = await this.#attempt(setup, command);
    if (!first.ok) return first;
    // A container can be gone since its last command: out of memory, or removed by a user of the daemon.
    const isRetried = 'wasIdle' in first.value && first.value.wasIdle;
    const second = isRetried ? await this.#attempt(setup, command) : first;
    if (!second.ok) return second;
    if ('sandbox' in second.value) return ok(second.value);
    return sandboxFailure({
      problem: 'Docker could not start the command',
      remedy: 'read the words of Docker in details.error; docker info shows the state of the daemon.',
      error: second.value.words,
    });
  }

  async #attempt(setup: DockerSetup, command: SandboxCommand): Promise<Result<Execution | NotStarted>> {
    const found = await this.#take(setup);
    if (!found.ok) return found;
    if ('words' in found.value) return ok(found.value);
    return ok(await this.#supervise(setup, command, found.value));
  }

  async #supervise(
    setup: DockerSetup,
    command: SandboxCommand,
    taken: TakenContainer,
  ): Promise<Execution | NotStarted> {
    const {container} = taken;
    command.onStart?.({
      sandbox: 'docker',
      listeningPorts: async () => withoutProxy(portsIn(await container.networkTable()), taken.channel),
    });
    const detach = taken.channel?.attach(command.egress ?? UNHEARD);
    const stdout = new OutputCapture(command.spill?.stdout);
    const stderr = new OutputCapture(command.spill?.stderr);
    const sentinel = randomHex(16);
    const child = setup.client.start(execArguments(container.name, setup, command), true);
    // Not by killing the client: what it started would go on without it.
    let killing: Promise<Leftovers | undefined> | undefined;
    const endAll = (reporter = 0): void => {
      const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
      killing ??= container.killLeftoversUntil(isOver, reporter);
    };
    const sentinelStream = new SentinelStream(sentinel, chunk => stderr.write(chunk), endAll);
    const outcome = await superviseChild(child, {
      inputs: {0: `${sentinel}\n`},
      outputs: {1: chunk => stdout.write(chunk), 2: chunk => sentinelStream.write(chunk)},
      onExit: endAll,
      kill: endAll,
      timeoutMs: command.timeoutMs,
      signal: command.signal,
      clock: this.#host.clock,
    }).finally(() => detach?.());
    sentinelStream.finish();
    const killed = await killing;
    await this.#give(taken, killed !== undefined && outcome.gone);
    if (!sentinelStream.started && outcome.killedFor === undefined) {
      return {words: outcome.startError?.message ?? sentinelStream.words, wasIdle: taken.wasIdle};
    }
    // A command that killed the shell around it left no code but the client's.
    const code = sentinelStream.exitCode ?? outcome.code ?? 128 + constants.signals.SIGKILL;
    const hasEnded = sentinelStream.exitCode !== undefined || outcome.killedFor === undefined;
    return {
      sandbox: 'docker',
      exitStatus: hasEnded
        ? exitStatusOf({
            code,
            bySignal: diedBySignal(sentinelStream.jobs),
            outOfMemory: killed?.outOfMemory ?? false,
          })
        : {kind: outcome.killedFor ?? 'cancelled'},
      stdout: stdout.finish(),
      stderr: stderr.finish(),
      durationMs: outcome.durationMs,
      leftRunning: hasEnded ? withoutRelay(killed?.leftRunning ?? []) : [],
    };
  }

  /** review R1, R4: the daemon mounts what it finds by name, so a container is used only as long as it says that it has what was looked at. */
  async #take(setup: DockerSetup): Promise<Result<TakenContainer | NotStarted>> {
    const idle = await this.#takeIdle(setup);
    if (idle !== undefined) return ok({...idle, wasIdle: true});
    let moving = '.';
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      const tree = this.#guard.look();
      if (!tree.ok) return tree;
      const opened = await this.#host.egress?.open(Number(setup.user.split(':')[0]));
      if (opened?.ok === false) return opened;
      const channel = opened?.value;
      const container = this.#start(setup, tree.value, channel);
      const check = (await container.started()) ? await this.#check(setup, container, tree.value) : undefined;
      if (
        check !== undefined &&
        isUsable(check) &&
        !(check.kind === 'other_kernel' && channel !== undefined)
      ) {
        return ok({container, channel, tree: tree.value, wasIdle: false});
      }
      await this.#remove(container);
      if (check?.kind === 'other_kernel') return engineElsewhere();
      if (check?.kind === 'no_stat') return noStat(this.#options.docker.image);
      if (check?.kind === 'differs') moving = check.path;
      const now = this.#guard.look();
      if (!now.ok) return now;
      // What does not move and cannot be mounted is no attempt.
      if (check === undefined && isDeepStrictEqual(now.value, tree.value)) {
        return ok({words: container.words, wasIdle: false});
      }
    }
    return workspaceMoves(moving);
  }

  async #takeIdle(setup: DockerSetup): Promise<IdleContainer | undefined> {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      const {container, channel} = idle;
      container.hold(true);
      const now = this.#guard.look();
      if (now.ok && !container.ended && (await this.#hasStill(setup, idle, now.value))) {
        return {container, channel, tree: now.value};
      }
      await this.#remove(container);
    }
    return undefined;
  }

  async #hasStill(setup: DockerSetup, {container, tree}: IdleContainer, now: GuardedTree): Promise<boolean> {
    if (isDeepStrictEqual(tree, now)) return true;
    // Something was done in a guarded directory, or one was moved away and back, which takes its mount away.
    if (now.length !== tree.length || now.some(({path}, at) => path !== tree[at]?.path)) return false;
    return isUsable(await this.#check(setup, container, now));
  }

  async #check({bootId}: DockerSetup, container: DockerContainer, tree: GuardedTree): Promise<MountCheck> {
    return checkMounts(tree, await container.mounted(tree), bootId);
  }

  #start(setup: DockerSetup, tree: GuardedTree, channel: EgressChannel | undefined): DockerContainer {
    const container = new DockerContainer(setup.client, this.#host.clock, {
      image: setup.image,
      user: setup.user,
      workspace: this.#host.workspace,
      tree,
      egressMounts: channel === undefined ? [] : [...(setup.relay?.mounts ?? []), ...channelMounts(channel)],
      env: sandboxEnv(this.#options, this.#host, gitIdentity(this.#host.workspace, this.#host.env)),
      options: this.#options,
    });
    this.#live.set(container, channel);
    return container;
  }

  async #give({container, channel, tree}: IdleContainer, isClean: boolean): Promise<void> {
    // `close` may have removed it meanwhile.
    const isKept = isClean && this.#options.isolation === 'session' && this.#live.has(container);
    if (!isKept) return this.#remove(container);
    container.hold(false);
    this.#idle.push({container, channel, tree});
  }

  async #remove(container: DockerContainer): Promise<void> {
    const channel = this.#live.get(container);
    this.#live.delete(container);
    await container.remove();
    await channel?.close();
  }
}

/** The mounts of a machine that is not ours cannot be compared with what we see. */
function isUsable({kind}: MountCheck): boolean {
  return kind === 'as_planned' || kind === 'other_kernel';
}

function noStat(image: string): Result<never> {
  return sandboxFailure({
    problem: `The image ${JSON.stringify(image)} has no stat, so it cannot be seen what is mounted in it`,
    remedy: 'name an image with coreutils or busybox in tools.run.docker.image.',
  });
}
