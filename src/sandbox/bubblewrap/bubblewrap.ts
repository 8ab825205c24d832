import {statSync} from 'node:fs';
import {isDeepStrictEqual} from 'node:util';
import {ok, type Result} from '../../core/result.ts';
import {holdOpen} from '../../system/hold-open.ts';
import {diedBySignal} from '../child/died-by-signal.ts';
import {endGroup} from '../child/end-group.ts';
import {exitStatusOf} from '../child/exit-status.ts';
import {hasEnded} from '../child/has-ended.ts';
import {isBroken} from '../child/is-broken.ts';
import {listeningPortsOf} from '../child/listening-ports.ts';
import {OutputCapture} from '../child/output-capture.ts';
import {superviseChild} from '../child/supervise-child.ts';
import {noRelay, UNHEARD, withoutProxy, withoutRelay} from '../egress/channel-of-sandbox.ts';
import {gitSystemConfig, gitVariables} from '../git-identity.ts';
import type {GuardedTree} from '../guard/guarded-tree.ts';
import {checkMounts} from '../guard/mount-report.ts';
import type {WorkspaceGuard} from '../guard/workspace-guard.ts';
import type {RunOptions} from '../options.ts';
import {PROBE, unconfined} from '../probe-confinement.ts';
import type {Execution, SandboxCommand, SandboxDriver, SandboxHost, SandboxReport} from '../sandbox.ts';
import {sandboxEnv} from '../sandbox-env.ts';
import {sandboxFailure} from '../sandbox-failure.ts';
import {workspaceMoves} from '../workspace-moves.ts';
import {commandScript, DESCRIPTORS, ENDED, LEFT, NO_RELAY, OVER, STARTED} from './bubblewrap-scripts.ts';
import {type BubblewrapSetup, bubblewrapSetup} from './bubblewrap-setup.ts';
import {killSandbox} from './kill-sandbox.ts';
import {noNamespaces} from './no-namespaces.ts';
import {SandboxWatchdog} from './sandbox-watchdog.ts';
import {type WaitingSandbox, WaitingSandboxes} from './waiting-sandboxes.ts';
import {endSandbox, startSandbox, type WarmSandbox} from './warm-sandbox.ts';

/** The system's files are mounted in a warm sandbox as they were: it does not wait for long. */
const WARM_LIFETIME_MS = 60_000;
/** A workspace that is another one each time it is looked at is an attempt of another process. */
const MAX_LOOKS = 5;

/** Of a command. */
const OUTPUTS = [1, DESCRIPTORS.errors];
/** In the status of bubblewrap, once process 1 and with it all the others have ended. */
const EXIT_CODE = /"exit-code": (\d+)/;

/** Ruling W8: every command in namespaces of its own, without a daemon. */
export class BubblewrapSandbox implements SandboxDriver {
  readonly #options: RunOptions;
  readonly #host: SandboxHost;
  readonly #guard: WorkspaceGuard;
  readonly #watchdog = new SandboxWatchdog();
  readonly #endings = new Set<Promise<void>>();
  #setup: BubblewrapSetup | undefined;
  readonly #waiting: WaitingSandboxes;

  constructor(options: RunOptions, host: SandboxHost, guard: WorkspaceGuard) {
    this.#options = options;
    this.#host = host;
    this.#guard = guard;
    this.#waiting = new WaitingSandboxes(host.clock);
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
    this.#waiting.close();
    this.#endWaiting();
    // What is still on its way may fail, and leaves one more to be ended.
    while (this.#endings.size > 0) await Promise.all(this.#endings);
    await this.#watchdog.close();
  }

  async #execute(setup: BubblewrapSetup, command: SandboxCommand): Promise<Result<Execution>> {
    const sandbox = await this.#waiting.whileTaking(() => this.#takeSandbox(setup));
    if (!sandbox.ok) return sandbox;
    return this.#waiting.whileRunning(
      () => this.#makeWarm(setup),
      () => this.#supervise(sandbox.value, command).finally(() => this.#end(sandbox.value)),
    );
  }

  async #takeSandbox(setup: BubblewrapSetup): Promise<Result<WarmSandbox>> {
    for (let next = this.#waiting.takeOldest(); next !== undefined; next = this.#waiting.takeOldest()) {
      const warm = await next;
      if (warm === undefined) continue;
      const taken = this.#isTaken(warm);
      if (!taken.ok) return taken;
      if (taken.value) return ok(warm);
    }
    const tree = this.#guard.look();
    return tree.ok ? this.#openSandbox(setup, tree.value) : tree;
  }

  /** Whether a command may have it. If not, it is ended; where the workspace cannot be looked at, all of them are. */
  #isTaken(warm: WarmSandbox): Result<boolean> {
    let tree: Result<GuardedTree> | undefined;
    let isOfUse = false;
    try {
      tree = this.#guard.look();
      isOfUse = tree.ok && this.#isOfUse(warm, tree.value);
      if (isOfUse) holdOpen(warm.child, true);
      return tree.ok ? ok(isOfUse) : tree;
    } finally {
      if (!isOfUse) this.#end(warm);
      if (!tree?.ok) this.#endWaiting();
    }
  }

  #endWaiting(): void {
    for (const sandbox of this.#waiting.takeAll()) this.#end(sandbox);
  }

  /** Not if what was mounted in it has been moved or replaced since, which takes the mount away. */
  #isOfUse({child, tree, startedAt}: WarmSandbox, now: GuardedTree): boolean {
    const isAlive = child.exitCode === null && child.signalCode === null;
    const isHeard = ![DESCRIPTORS.status, DESCRIPTORS.report].some(pipe => isBroken(child, pipe));
    const isYoung = this.#host.clock.monotonic() - startedAt < WARM_LIFETIME_MS;
    return isAlive && isHeard && isYoung && isDeepStrictEqual(tree, now);
  }

  /** Without a word where it fails: the next call tries again and says why. */
  async #makeWarm(setup: BubblewrapSetup): Promise<WarmSandbox | undefined> {
    try {
      const tree = this.#guard.look();
      const sandbox = tree.ok ? await this.#openSandbox(setup, tree.value) : tree;
      if (!sandbox.ok) return undefined;
      holdOpen(sandbox.value.child, false);
      return sandbox.value;
    } catch {
      return undefined;
    }
  }

  /**
   * review R1, R4: bubblewrap mounts what it finds by name, so a sandbox is of use only when its process 1 has said
   * that it has what was looked at.
   */
  async #openSandbox(setup: BubblewrapSetup, first: GuardedTree): Promise<Result<WarmSandbox>> {
    let tree = first;
    let moving = '.';
    let words = '';
    for (let looks = 0; looks < MAX_LOOKS; looks++) {
      const sandbox = await this.#startSandbox(setup, tree);
      if (!sandbox.ok) return sandbox;
      const report = await sandbox.value.report;
      if (report.kind === 'mounted' && report.lines.includes(NO_RELAY)) {
        this.#end(sandbox.value);
        return noRelay();
      }
      const check = report.kind === 'mounted' ? checkMounts(tree, report.lines, setup.bootId) : undefined;
      if (check?.kind === 'as_planned') return sandbox;
      if (check?.kind === 'differs') moving = check.path;
      // Bubblewrap dies of a pipe that broke, and what it had made half waits for it.
      if (report.kind === 'broken') endGroup(sandbox.value.child);
      // First of all: a sandbox that has said nothing may live, and its words are whole when it has ended.
      this.#end(sandbox.value);
      if (report.kind === 'broken') {
        return sandboxFailure({
          problem: 'A pipe to the sandbox process broke before the command was sent',
          remedy: 'call it again; nothing of it was run.',
        });
      }
      words = report.kind === 'silent' ? await report.words : '';
      const now = this.#guard.look();
      if (!now.ok) return now;
      // What does not move and cannot be mounted is no attempt.
      if (check?.kind !== 'differs' && isDeepStrictEqual(now.value, tree)) break;
      tree = now.value;
    }
    return words === '' ? workspaceMoves(moving) : noNamespaces(words);
  }

  async #startSandbox(setup: BubblewrapSetup, tree: GuardedTree): Promise<Result<WarmSandbox>> {
    const {workspace, clock} = this.#host;
    const options = this.#options;
    const env = {...sandboxEnv(options, this.#host, gitVariables(this.#host.env)), PATH: options.path};
    const gitConfig = gitSystemConfig(this.#host.env);
    const watchdog = this.#watchdog;
    const opened = await this.#host.egress?.open(statSync(workspace).uid);
    if (opened?.ok === false) return opened;
    const channel = opened?.value;
    try {
      return ok(
        await startSandbox({setup, options, workspace, tree, env, gitConfig, channel, clock, watchdog}),
      );
    } catch (error) {
      await channel?.close();
      return sandboxFailure({
        problem: 'The control group of the command could not be made',
        remedy: 'remove unused control groups below /sys/fs/cgroup, or make it writable.',
        error: error instanceof Error ? error.message : String(error),
      });
    }
  }

  /** Takes the kernel some milliseconds, for which no call waits. */
  #end(sandbox: WarmSandbox | WaitingSandbox): void {
    const closing = Promise.resolve(sandbox)
      .then(made => made === undefined || endSandbox(made, this.#host.clock, this.#watchdog))
      .then(isRemoved => {
        this.#endings.delete(closing);
        if (!isRemoved) this.#host.log({level: 'warn', event: 'sandbox_group_left'});
      });
    this.#endings.add(closing);
  }

  async #supervise(sandbox: WarmSandbox, command: SandboxCommand): Promise<Result<Execution>> {
    const {child, group, channel} = sandbox;
    const detach = channel?.attach(command.egress ?? UNHEARD);
    const first = /"child-pid": (\d+)/.exec(sandbox.status())?.[1];
    command.onStart?.({
      sandbox: 'bubblewrap',
      listeningPorts: async () => withoutProxy(await listeningPortsOf(first), channel),
    });
    const stdout = new OutputCapture(command.spill?.stdout);
    const stderr = new OutputCapture(command.spill?.stderr);
    let report = '';
    const outcome = await superviseChild(child, {
      inputs: {0: commandScript(command)},
      outputs: {
        1: chunk => stdout.write(chunk),
        [DESCRIPTORS.errors]: chunk => stderr.write(chunk),
        [DESCRIPTORS.report]: chunk => {
          report += chunk;
        },
        [DESCRIPTORS.status]: () => {},
      },
      // The kernel takes some milliseconds to take the namespaces down, for which no call waits.
      isOver: () =>
        report.endsWith(`\n${OVER}\n`) &&
        EXIT_CODE.test(sandbox.status()) &&
        OUTPUTS.every(descriptor => hasEnded(child, descriptor)),
      kill: () => killSandbox(child, sandbox.status()),
      timeoutMs: command.timeoutMs,
      signal: command.signal,
      clock: this.#host.clock,
    }).finally(() => detach?.());
    const captured = {stdout: stdout.finish(), stderr: stderr.finish()};
    const lines = report.split('\n');
    // Bubblewrap dies of writing to a pipe that broke.
    const lastCode = isBroken(child, DESCRIPTORS.status) ? codeOf(lines) : undefined;
    const code = EXIT_CODE.exec(sandbox.status())?.[1] ?? lastCode;
    const outOfMemory = group?.ranOutOfMemory() ?? false;
    // A report that is lost is no word that nothing was run.
    const isStarted = lines.includes(STARTED) || isBroken(child, DESCRIPTORS.report);
    // Out of memory can take the outer bubblewrap along, and with it all that is inside.
    const isKilled = outOfMemory || outcome.signal === 'SIGKILL';
    if (outcome.killedFor === undefined && !isStarted && !isKilled) {
      return sandboxFailure({
        problem: 'The command did not reach the sandbox process that waited for it',
        remedy: 'call it again; nothing of it was run.',
        error: outcome.startError?.message ?? `exit code ${code}`,
      });
    }
    if (!outcome.gone) this.#host.log({level: 'error', event: 'sandbox_not_gone', sandbox: 'bubblewrap'});
    const bySignal = code === undefined || diedBySignal(lines);
    return ok({
      sandbox: 'bubblewrap',
      exitStatus:
        outcome.killedFor === undefined
          ? exitStatusOf({code: Number(code ?? 137), bySignal, outOfMemory})
          : {kind: outcome.killedFor},
      ...captured,
      durationMs: outcome.durationMs,
      leftRunning: withoutRelay(
        lines.filter(line => line.startsWith(LEFT)).map(line => line.slice(LEFT.length)),
      ),
    });
  }
}

/** What process 1 says of the command. */
function codeOf(lines: readonly string[]): string | undefined {
  return lines.find(line => line.startsWith(ENDED))?.slice(ENDED.length);
}
