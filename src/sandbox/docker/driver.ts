// Runs commands in Docker. One container serves a session.
import {constants} from 'node:os';
import {isDeepStrictEqual} from 'node:util';
import {randomHex} from '../../core/clock.ts';
import type {EgressChannel} from '../../core/egress-gate.ts';
import {ok, type Result} from '../../core/result.ts';
import {WORKSPACE_MOUNT} from '../../core/tool.ts';
import {diedBySignal} from '../child.ts';
import {capturesOf, ProbedSandbox, type Promised, superviseCommand} from '../driver.ts';
import {engineElsewhere, socketMounts, withoutProxy, withoutRelay} from '../egress-channel.ts';
import {relayCommand} from '../egress-relay.ts';
import {gitIdentity, sandboxEnv} from '../env.ts';
import {checkMounts, type MountCheck} from '../guard/guard.ts';
import type {GuardedTree} from '../guard/hold-protected.ts';
import {portsIn} from '../listening-ports.ts';
import type {Execution, SandboxCommand} from '../sandbox.ts';
import {sandboxFailure} from '../sandbox-failure.ts';
import {DockerContainer, type Leftovers, removeStaleContainers} from './container.ts';
import {START} from './scripts.ts';
import {SentinelStream} from './sentinel-stream.ts';
import {type DockerSetup, dockerSetup} from './setup.ts';

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
export class DockerSandbox extends ProbedSandbox<DockerSetup> {
  readonly #live = new Map<DockerContainer, EgressChannel | undefined>();
  #idle: IdleContainer[] = [];
  #cleaning: Promise<void> | undefined;

  protected async setUp(): Promise<Result<DockerSetup>> {
    const setup = await dockerSetup(this.options, this.host);
    // No call waits for it.
    if (setup.ok) this.#cleaning ??= removeStaleContainers(setup.value.client);
    return setup;
  }

  protected promise({description}: DockerSetup): Promised {
    return {
      report: {sandbox: 'docker', memoryLimit: 'kernel', description},
      confines: {
        by: 'Docker',
        remedy:
          'start dockerd without --security-opt seccomp=unconfined, or use tools.run.sandbox = "bubblewrap".',
        boundingSet: CAP_KILL,
        openFiles: this.options.open_files,
        processes: undefined,
      },
    };
  }

  async close(): Promise<void> {
    this.#idle = [];
    await Promise.all([...this.#live.keys()].map(container => this.#remove(container)));
    await this.#cleaning;
  }

  protected async execute(setup: DockerSetup, command: SandboxCommand): Promise<Result<Execution>> {
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
    const sentinel = randomHex(16);
    const child = setup.client.start(execArguments(container.name, setup, command), true);
    // Not by killing the client: what it started would go on without it.
    let killing: Promise<Leftovers | undefined> | undefined;
    const endAll = (reporter = 0): void => {
      const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
      killing ??= container.killLeftoversUntil(isOver, reporter);
    };
    const captures = capturesOf(command);
    const {stdout, stderr} = captures;
    const stream = new SentinelStream(sentinel, chunk => stderr.write(chunk), endAll);
    const {outcome, execution} = await superviseCommand(child, command, {
      started: {
        sandbox: 'docker',
        listeningPorts: async () => withoutProxy(portsIn(await container.networkTable()), taken.channel),
      },
      channel: taken.channel,
      inputs: {0: `${sentinel}\n`},
      captures,
      outputs: {1: chunk => stdout.write(chunk), 2: chunk => stream.write(chunk)},
      onExit: endAll,
      kill: endAll,
      clock: this.host.clock,
    });
    stream.finish();
    const killed = await killing;
    await this.#give(taken, killed !== undefined && outcome.gone);
    if (!stream.started && outcome.killedFor === undefined) {
      return {words: outcome.startError?.message ?? stream.words, wasIdle: taken.wasIdle};
    }
    if (stream.exitCode === undefined && outcome.killedFor !== undefined) return execution(undefined, []);
    // A command that killed the shell around it left no code but the client's.
    const code = stream.exitCode ?? outcome.code ?? 128 + constants.signals.SIGKILL;
    const outOfMemory = killed?.outOfMemory ?? false;
    const exit = {code, bySignal: diedBySignal(stream.jobs), outOfMemory};
    return execution(exit, withoutRelay(killed?.leftRunning ?? []));
  }

  /** A container is used only as long as it says that it has what was looked at. */
  async #take(setup: DockerSetup): Promise<Result<TakenContainer | NotStarted>> {
    const idle = await this.#takeIdle(setup);
    if (idle !== undefined) return ok({...idle, wasIdle: true});
    const tree = this.guard.look();
    if (!tree.ok) return tree;
    const opened = await this.openAsLooked(tree.value, MAX_LOOKS, looked => this.#tryToStart(setup, looked));
    return opened.ok ? ok({...opened.value, wasIdle: false}) : opened;
  }

  async #tryToStart(setup: DockerSetup, tree: GuardedTree) {
    const opened = await this.host.egress?.open(Number(setup.user.split(':')[0]));
    if (opened?.ok === false) return opened;
    const channel = opened?.value;
    const container = this.#start(setup, tree, channel);
    const check = (await container.started()) ? await this.#check(setup, container, tree) : undefined;
    const isElsewhere = check?.kind === 'other_kernel' && channel !== undefined;
    if (check !== undefined && isUsable(check) && !isElsewhere) return ok({container, channel, tree});
    await this.#remove(container);
    if (isElsewhere) return engineElsewhere();
    if (check?.kind === 'no_stat') return noStat(this.options.docker.image);
    if (check === undefined) return {words: container.words};
    return {moved: check.kind === 'differs' ? check.path : '.'};
  }

  async #takeIdle(setup: DockerSetup): Promise<IdleContainer | undefined> {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      const {container, channel} = idle;
      container.hold(true);
      const now = this.guard.look();
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
    const container = new DockerContainer(setup.client, this.host.clock, {
      image: setup.image,
      user: setup.user,
      workspace: this.host.workspace,
      tree,
      egressMounts: channel === undefined ? [] : [...(setup.relay?.mounts ?? []), ...socketMounts(channel)],
      env: sandboxEnv(this.options, this.host, gitIdentity(this.host.workspace, this.host.env)),
      options: this.options,
    });
    this.#live.set(container, channel);
    return container;
  }

  async #give({container, channel, tree}: IdleContainer, isClean: boolean): Promise<void> {
    // `close` may have removed it meanwhile.
    const isKept = isClean && this.options.isolation === 'session' && this.#live.has(container);
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

/** Of the client, for a command in a container that runs. */
export function execArguments(
  container: string,
  {user, relay}: DockerSetup,
  command: SandboxCommand,
): string[] {
  const assignments = Object.entries(command.env).map(([name, value]) => `${name}=${value}`);
  return [
    ...['exec', '--interactive', '--user', user],
    ...(command.directory === undefined ? [] : ['--workdir', `${WORKSPACE_MOUNT}/${command.directory}`]),
    ...[container, '/bin/sh', '-c', START, 'sh', relay === undefined ? '' : relayCommand(relay.program)],
    // Set for the command only, behind everything of ours.
    ...(assignments.length === 0 ? [] : ['env', ...assignments]),
    ...['/bin/sh', '-c', command.command],
  ];
}
