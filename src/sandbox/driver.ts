// The loop that every sandbox shares: set up, probe, run, capture the output, tell how it ended.
import type {ChildProcess} from 'node:child_process';
import {isDeepStrictEqual} from 'node:util';
import type {EgressChannel} from '../core/egress-gate.ts';
import {ok, type Result} from '../core/result.ts';
import {type ChildOutcome, type Exit, exitStatusOf, type Supervision, superviseChild} from './child.ts';
import {NO_ANSWER_YET} from './egress-channel.ts';
import type {WorkspaceGuard} from './guard/guard.ts';
import type {GuardedTree} from './guard/hold-protected.ts';
import type {RunOptions} from './options.ts';
import {OutputCapture} from './output-capture.ts';
import {type ConfinementCheck, PROBE, unconfined} from './probe.ts';
import type {
  Execution,
  SandboxCommand,
  SandboxDriver,
  SandboxHost,
  SandboxReport,
  StartedCommand,
} from './sandbox.ts';
import {sandboxFailure, workspaceMoves} from './sandbox-failure.ts';

/** What one kind of sandbox promises once it is set up. */
export interface Promised {
  readonly report: SandboxReport;
  /** What is checked from inside. Undefined where nothing confines. */
  readonly confines?: ConfinementCheck & {readonly by: string; readonly remedy: string};
}

interface Ready<Setup> {
  readonly setup: Setup;
  readonly report: SandboxReport;
}

/** A sandbox that is set up and probed once, before its first command. */
export abstract class ProbedSandbox<Setup> implements SandboxDriver {
  protected readonly options: RunOptions;
  protected readonly host: SandboxHost;
  protected readonly guard: WorkspaceGuard;
  #ready: Ready<Setup> | undefined;

  constructor(options: RunOptions, host: SandboxHost, guard: WorkspaceGuard) {
    this.options = options;
    this.host = host;
    this.guard = guard;
  }

  protected abstract setUp(): Promise<Result<Setup>>;
  protected abstract promise(setup: Setup): Promised;
  protected abstract execute(setup: Setup, command: SandboxCommand): Promise<Result<Execution>>;
  abstract close(): Promise<void>;

  async probe(): Promise<Result<SandboxReport>> {
    const ready = await this.#getReady();
    return ready.ok ? ok(ready.value.report) : ready;
  }

  async run(command: SandboxCommand): Promise<Result<Execution>> {
    const ready = this.#ready === undefined ? await this.#getReady() : ok(this.#ready);
    return ready.ok ? this.execute(ready.value.setup, command) : ready;
  }

  async #getReady(): Promise<Result<Ready<Setup>>> {
    const setup = await this.setUp();
    if (!setup.ok) return setup;
    const {report, confines} = this.promise(setup.value);
    if (confines !== undefined) {
      const {by, remedy} = confines;
      const probed = await this.execute(setup.value, {...PROBE, signal: new AbortController().signal});
      if (!probed.ok) return probed;
      const wrong = unconfined(probed.value, confines);
      if (wrong !== undefined)
        return sandboxFailure({problem: `${by} does not confine as it should: ${wrong}`, remedy});
    }
    this.#ready = {setup: setup.value, report};
    return ok(this.#ready);
  }

  /**
   * review R1, R4: what mounts does so by name, so something is of use only if it has what was looked at. The value
   * is the last `words` of the program where that cannot be mounted.
   */
  protected async openAsLooked<Opened>(
    first: GuardedTree,
    maxLooks: number,
    open: (tree: GuardedTree) => Promise<Result<Opened> | NotAsLooked>,
  ): Promise<Result<Opened | {readonly words: string}>> {
    let tree = first;
    let moving = '.';
    let words: string | undefined;
    for (let looks = 0; looks < maxLooks; looks++) {
      const opened = await open(tree);
      if ('ok' in opened) return opened;
      moving = opened.moved ?? moving;
      words = opened.words;
      const now = this.guard.look();
      if (!now.ok) return now;
      // What does not move and cannot be mounted is no attempt.
      if (opened.moved === undefined && isDeepStrictEqual(now.value, tree)) break;
      tree = now.value;
    }
    return words === undefined ? workspaceMoves(moving) : ok({words});
  }
}

/** Another path was mounted, or nothing was, and these are the words of the program that refused. */
interface NotAsLooked {
  readonly moved?: string | undefined;
  readonly words?: string | undefined;
}

/** The outputs of a command. */
interface Captures {
  readonly stdout: OutputCapture;
  readonly stderr: OutputCapture;
}

export function capturesOf({spill}: SandboxCommand): Captures {
  return {stdout: new OutputCapture(spill?.stdout), stderr: new OutputCapture(spill?.stderr)};
}

interface CommandPlan extends Omit<Supervision, 'timeoutMs' | 'signal'> {
  readonly started: StartedCommand;
  readonly captures: Captures;
  /** The way out of the sandbox, where there is one. */
  readonly channel?: EgressChannel | undefined;
}

/** A command that was supervised to its end. */
interface Supervised {
  readonly outcome: ChildOutcome;
  /** Without `exit`, it ended because it was killed for its time or its caller. */
  readonly execution: (exit: Exit | undefined, leftRunning: readonly string[]) => Execution;
}

/** Supervises the child that runs a command, and captures its outputs. */
export async function superviseCommand(
  child: ChildProcess,
  command: SandboxCommand,
  {started, captures, channel, ...plan}: CommandPlan,
): Promise<Supervised> {
  const {timeoutMs, signal} = command;
  const detach = channel?.attach(command.egress ?? NO_ANSWER_YET);
  command.onStart?.(started);
  const outcome = await superviseChild(child, {...plan, timeoutMs, signal}).finally(() => detach?.());
  return {
    outcome,
    execution: (exit, leftRunning) => ({
      sandbox: started.sandbox,
      exitStatus: exit === undefined ? {kind: outcome.killedFor ?? 'cancelled'} : exitStatusOf(exit),
      stdout: captures.stdout.finish(),
      stderr: captures.stderr.finish(),
      durationMs: outcome.durationMs,
      leftRunning,
    }),
  };
}
