import {constants} from 'node:os';
import {randomHex} from '../core/random.ts';
import {ok, type Result} from '../core/result.ts';
import {DockerContainer, type Sweep} from './docker-container.ts';
import {START} from './docker-scripts.ts';
import {type DockerSetup, dockerSetup} from './docker-setup.ts';
import {exitEnding} from './exit-ending.ts';
import {inheritedEnv} from './inherited-env.ts';
import {MarkedStream} from './marked-stream.ts';
import type {RunOptions} from './options.ts';
import {OutputCapture} from './output-capture.ts';
import {PROBE, unconfined} from './probe-confinement.ts';
import type {Execution, Sandbox, SandboxCommand, SandboxHost, SandboxReport} from './sandbox.ts';
import {sandboxFailure} from './sandbox-failure.ts';
import {superviseChild} from './supervise-child.ts';
import type {GuardedParts, WorkspaceGuard} from './workspace-guard.ts';

/** Of the supervisor. */
const CAP_KILL = 1n << 5n;

/** A container between two commands. */
interface IdleContainer {
  readonly container: DockerContainer;
  /** What it was started for; another state of the workspace needs another container. */
  readonly parts: string;
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
export class DockerSandbox implements Sandbox {
  readonly #options: RunOptions;
  readonly #host: SandboxHost;
  readonly #guard: WorkspaceGuard;
  readonly #live = new Set<DockerContainer>();
  #idle: IdleContainer[] = [];
  #setup: DockerSetup | undefined;

  constructor(options: RunOptions, host: SandboxHost, guard: WorkspaceGuard) {
    this.#options = options;
    this.#host = host;
    this.#guard = guard;
  }

  async probe(): Promise<Result<SandboxReport>> {
    const setup = await dockerSetup(this.#options, this.#host);
    if (!setup.ok) return setup;
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
    await Promise.all([...this.#live].map(container => this.#remove(container)));
  }

  async #execute(setup: DockerSetup, command: SandboxCommand): Promise<Result<Execution>> {
    const guarded = await this.#guard.look();
    if (!guarded.ok) return guarded;
    try {
      const first = await this.#attempt(setup, command, guarded.value);
      if ('sandbox' in first) return ok(first);
      // A container can be gone since its last command: out of memory, or removed by somebody.
      const second = first.wasIdle ? await this.#attempt(setup, command, guarded.value) : first;
      if ('sandbox' in second) return ok(second);
      return sandboxFailure({
        problem: 'Docker could not start the command',
        remedy: 'read the words of Docker in details.error; docker info shows the state of the daemon.',
        error: second.words,
      });
    } finally {
      await this.#guard.sweep(guarded.value);
    }
  }

  async #attempt(
    setup: DockerSetup,
    command: SandboxCommand,
    parts: GuardedParts,
  ): Promise<Execution | NotStarted> {
    const taken = await this.#take(setup, parts);
    const {container} = taken;
    if (!taken.wasIdle && !(await container.started())) {
      await this.#remove(container);
      return {words: container.words, wasIdle: false};
    }
    const stdout = new OutputCapture();
    const stderr = new OutputCapture();
    const mark = randomHex(16);
    const child = setup.client.start(execArguments(container.name, setup.user, mark, command), false);
    // Not by killing the client: what it started would go on without it.
    let sweeping: Promise<Sweep | undefined> | undefined;
    const endAll = (reporter = 0): void => {
      const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
      sweeping ??= container.sweepUntil(isOver, reporter);
    };
    const marked = new MarkedStream(mark, chunk => stderr.write(chunk), endAll);
    const outcome = await superviseChild(child, {
      outputs: {1: chunk => stdout.write(chunk), 2: chunk => marked.write(chunk)},
      onExit: endAll,
      kill: endAll,
      timeoutMs: command.timeoutMs,
      signal: command.signal,
      clock: this.#host.clock,
    });
    marked.finish();
    const swept = await sweeping;
    await this.#give(taken, swept !== undefined && outcome.gone);
    if (!marked.started && outcome.killedFor === undefined) {
      return {words: outcome.startError?.message ?? marked.words, wasIdle: taken.wasIdle};
    }
    // A command that killed the shell around it left no code but the client's.
    const code = marked.exitCode ?? outcome.code ?? 128 + constants.signals.SIGKILL;
    const hasEnded = marked.exitCode !== undefined || outcome.killedFor === undefined;
    return {
      sandbox: 'docker',
      ending: hasEnded
        ? exitEnding(code, swept?.outOfMemory ?? false)
        : {kind: outcome.killedFor ?? 'cancelled'},
      stdout: stdout.finish(),
      stderr: stderr.finish(),
      durationMs: outcome.durationMs,
      leftRunning: hasEnded ? (swept?.leftRunning ?? []) : [],
    };
  }

  async #take(setup: DockerSetup, parts: GuardedParts): Promise<TakenContainer> {
    const key = JSON.stringify(parts);
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      idle.container.hold(true);
      if (idle.parts === key && !idle.container.ended) return {...idle, wasIdle: true};
      await this.#remove(idle.container);
    }
    const container = new DockerContainer(setup.client, this.#host.clock, {
      image: setup.image,
      user: setup.user,
      workspace: this.#host.workspace,
      mounts: parts.mounts,
      env: inheritedEnv(this.#options, this.#host.env),
      options: this.#options,
    });
    this.#live.add(container);
    return {container, parts: key, wasIdle: false};
  }

  async #give({container, parts}: IdleContainer, isClean: boolean): Promise<void> {
    // `close` may have removed it meanwhile.
    const isKept = isClean && this.#options.isolation === 'session' && this.#live.has(container);
    if (!isKept) return this.#remove(container);
    container.hold(false);
    this.#idle.push({container, parts});
  }

  async #remove(container: DockerContainer): Promise<void> {
    this.#live.delete(container);
    await container.remove();
  }
}

function execArguments(container: string, user: string, mark: string, command: SandboxCommand): string[] {
  const assignments = Object.entries(command.env).map(([name, value]) => `${name}=${value}`);
  return [
    ...['exec', '--user', user, container, '/bin/sh', '-c', START, 'sh', mark],
    // Set for the command only, behind everything of ours.
    ...(assignments.length === 0 ? [] : ['env', ...assignments]),
    ...['/bin/sh', '-c', command.command],
  ];
}
