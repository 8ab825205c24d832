import type {ChildProcess} from 'node:child_process';
import {isDeepStrictEqual} from 'node:util';
import {ok, type Result} from '../core/result.ts';
import {commandScript, DESCRIPTORS, STARTED} from './bubblewrap-scripts.ts';
import {type BubblewrapSetup, bubblewrapSetup} from './bubblewrap-setup.ts';
import {exitEnding} from './exit-ending.ts';
import {holdOpen} from './hold-open.ts';
import {inheritedEnv} from './inherited-env.ts';
import type {RunOptions} from './options.ts';
import {OutputCapture} from './output-capture.ts';
import {PROBE, unconfined} from './probe-confinement.ts';
import type {Execution, Sandbox, SandboxCommand, SandboxHost, SandboxReport} from './sandbox.ts';
import {sandboxFailure} from './sandbox-failure.ts';
import {superviseChild} from './supervise-child.ts';
import {startBox, type WaitingBox} from './waiting-box.ts';
import type {GuardedParts, WorkspaceGuard} from './workspace-guard.ts';

/** The system's files are mounted in a waiting box as they were: it does not wait for long. */
const SPARE_LIFETIME_MS = 60_000;

/** Ruling W8: every command in namespaces of its own, without a daemon. */
export class BubblewrapSandbox implements Sandbox {
  readonly #options: RunOptions;
  readonly #host: SandboxHost;
  readonly #guard: WorkspaceGuard;
  readonly #removals = new Set<Promise<void>>();
  #setup: BubblewrapSetup | undefined;
  #spare: Promise<WaitingBox | undefined> | undefined;
  #closed = false;

  constructor(options: RunOptions, host: SandboxHost, guard: WorkspaceGuard) {
    this.#options = options;
    this.#host = host;
    this.#guard = guard;
  }

  async probe(): Promise<Result<SandboxReport>> {
    const setup = await bubblewrapSetup(this.#options, this.#host);
    if (!setup.ok) return setup;
    const {groupPlace, version} = setup.value;
    const probed = await this.#execute(setup.value, {...PROBE, signal: new AbortController().signal});
    if (!probed.ok) return probed;
    const problem = unconfined(probed.value, {
      boundingSet: 0n,
      openFiles: this.#options.open_files,
      processes: groupPlace === undefined ? this.#options.max_processes : undefined,
    });
    if (problem !== undefined) {
      return sandboxFailure({
        problem: `bubblewrap does not confine as it should: ${problem}`,
        remedy: 'use Docker (tools.run.sandbox = "docker"), or a newer kernel and bubblewrap.',
      });
    }
    this.#setup = setup.value;
    const memoryLimit = groupPlace === undefined ? 'process' : 'kernel';
    return ok({sandbox: 'bubblewrap', memoryLimit, description: version});
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
    this.#closed = true;
    const spare = await this.#spare;
    this.#spare = undefined;
    if (spare !== undefined) this.#discard(spare);
    await Promise.all(this.#removals);
  }

  async #execute(setup: BubblewrapSetup, command: SandboxCommand): Promise<Result<Execution>> {
    const guarded = await this.#guard.look();
    if (!guarded.ok) return guarded;
    const box = await this.#takeBox(setup, guarded.value);
    if (!box.ok) return box;
    try {
      return await this.#supervise(box.value, command);
    } finally {
      await this.#guard.sweep(guarded.value);
      this.#removeGroup(box.value);
      this.#spare ??= this.#closed ? undefined : this.#makeSpare(setup);
    }
  }

  async #takeBox(setup: BubblewrapSetup, parts: GuardedParts): Promise<Result<WaitingBox>> {
    const waiting = this.#spare;
    this.#spare = undefined;
    const spare = await waiting;
    if (spare !== undefined) {
      if (this.#isOfUse(spare, parts)) {
        holdOpen(spare.child, true);
        return ok(spare);
      }
      this.#discard(spare);
    }
    try {
      return ok(await this.#startBox(setup, parts));
    } catch (error) {
      return sandboxFailure({
        problem: 'The control group of the command could not be made',
        remedy: 'remove unused control groups below /sys/fs/cgroup, or make it writable.',
        error: error instanceof Error ? error.message : String(error),
      });
    }
  }

  /** Not if what was mounted in it has been replaced since: a mount over a removed file is gone. */
  #isOfUse({child, parts, startedAt}: WaitingBox, now: GuardedParts): boolean {
    const isAlive = child.exitCode === null && child.signalCode === null;
    const isYoung = this.#host.clock.monotonic() - startedAt < SPARE_LIFETIME_MS;
    return isAlive && isYoung && isDeepStrictEqual(parts, now);
  }

  async #makeSpare(setup: BubblewrapSetup): Promise<WaitingBox | undefined> {
    try {
      const parts = await this.#guard.look();
      if (!parts.ok) return undefined;
      const box = await this.#startBox(setup, parts.value);
      holdOpen(box.child, false);
      return box;
    } catch {
      // The next call tries again and says why.
      return undefined;
    }
  }

  #startBox(setup: BubblewrapSetup, parts: GuardedParts): Promise<WaitingBox> {
    const {workspace, clock} = this.#host;
    const env = {...inheritedEnv(this.#options, this.#host.env), PATH: this.#options.path};
    return startBox({setup, options: this.#options, workspace, parts, env, clock});
  }

  #discard(spare: WaitingBox): void {
    spare.child.kill('SIGKILL');
    // Nobody reads them, and they would stay open until somebody did.
    for (const stream of spare.child.stdio) stream?.destroy();
    this.#removeGroup(spare);
  }

  /** Takes the kernel some milliseconds, for which no call waits. */
  #removeGroup({group}: WaitingBox): void {
    if (group === undefined) return;
    const removal = group.remove().then(removed => {
      this.#removals.delete(removal);
      if (!removed) this.#host.log({level: 'warn', event: 'sandbox_group_left'});
    });
    this.#removals.add(removal);
  }

  async #supervise({child, group}: WaitingBox, command: SandboxCommand): Promise<Result<Execution>> {
    const stdout = new OutputCapture();
    const stderr = new OutputCapture();
    let status = '';
    let report = '';
    const outcome = await superviseChild(child, {
      inputs: {0: commandScript(command)},
      outputs: {
        1: chunk => stdout.write(chunk),
        2: chunk => stderr.write(chunk),
        [DESCRIPTORS.status]: chunk => {
          status += chunk;
        },
        [DESCRIPTORS.report]: chunk => {
          report += chunk;
        },
      },
      kill: () => killBox(child, status),
      timeoutMs: command.timeoutMs,
      signal: command.signal,
      clock: this.#host.clock,
    });
    const captured = {stdout: stdout.finish(), stderr: stderr.finish()};
    const code = /"exit-code": (\d+)/.exec(status)?.[1];
    const outOfMemory = group?.ranOutOfMemory() ?? false;
    // Out of memory can take the outer bubblewrap along, and with it all that is inside.
    const isKilled = outOfMemory || outcome.signal === 'SIGKILL';
    if (outcome.killedFor === undefined && code === undefined && !isKilled) {
      return sandboxFailure({
        problem: 'bubblewrap could not make its namespaces',
        remedy:
          'allow user namespaces (sysctl kernel.unprivileged_userns_clone=1; on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0; inside a container, run that with --privileged), or use Docker.',
        error: outcome.startError?.message ?? Buffer.from(captured.stderr.bytes).toString(),
      });
    }
    const [started, ...leftRunning] = report.split('\n').filter(line => line !== '');
    if (outcome.killedFor === undefined && started !== STARTED && !isKilled) {
      return sandboxFailure({
        problem: 'The command did not reach the box that waited for it',
        remedy: 'call it again; nothing of it was run.',
        error: outcome.startError?.message ?? `exit code ${code}`,
      });
    }
    if (!outcome.gone) this.#host.log({level: 'error', event: 'sandbox_not_gone', sandbox: 'bubblewrap'});
    return ok({
      sandbox: 'bubblewrap',
      ending:
        outcome.killedFor === undefined
          ? exitEnding(Number(code ?? 137), outOfMemory)
          : {kind: outcome.killedFor},
      ...captured,
      durationMs: outcome.durationMs,
      leftRunning,
    });
  }
}

/** Process 1 takes everything in its namespace along, and its end is seen only after theirs. */
function killBox(child: ChildProcess, status: string): void {
  const first = Number(/"child-pid": (\d+)/.exec(status)?.[1]);
  const hasEnded = child.exitCode !== null || child.signalCode !== null;
  try {
    if (first > 1 && !hasEnded) process.kill(first, 'SIGKILL');
    else child.kill('SIGKILL');
  } catch {
    // Process 1 has just ended by itself.
    child.kill('SIGKILL');
  }
}
