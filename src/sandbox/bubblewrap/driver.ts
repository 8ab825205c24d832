// Runs commands in bubblewrap. A warm sandbox is used where one waits.
import type {ChildProcess} from 'node:child_process';
import {statSync} from 'node:fs';
import {isDeepStrictEqual} from 'node:util';
import {ok, type Result} from '../../core/result.ts';
import {killGroup} from '../../system/errors.ts';
import {holdOpen} from '../../system/process.ts';
import {diedBySignal, hasEnded, isBroken} from '../child.ts';
import {capturesOf, ProbedSandbox, type Promised, superviseCommand} from '../driver.ts';
import {noRelay, withoutProxy, withoutRelay} from '../egress-channel.ts';
import {gitSystemConfig, gitVariables, sandboxEnv} from '../env.ts';
import {checkMounts} from '../guard/guard.ts';
import type {GuardedTree} from '../guard/hold-protected.ts';
import {listeningPortsOf} from '../listening-ports.ts';
import type {Execution, SandboxCommand} from '../sandbox.ts';
import {sandboxFailure} from '../sandbox-failure.ts';
import {commandScript, DESCRIPTORS, ENDED, LEFT, NO_RELAY, OVER, STARTED} from './scripts.ts';
import {type BubblewrapSetup, bubblewrapSetup} from './setup.ts';
import {endSandbox, startSandbox, type WaitingSandbox, WaitingSandboxes, type WarmSandbox} from './warm.ts';
import {SandboxWatchdog} from './watchdog.ts';

/** The system's files are mounted in a warm sandbox as they were: it does not wait for long. */
const WARM_LIFETIME_MS = 60_000;
/** A workspace that is another one each time it is looked at is an attempt of another process. */
const MAX_LOOKS = 5;

/** Of a command. */
const OUTPUTS = [1, DESCRIPTORS.errors];
/** In the status of bubblewrap, once process 1 and with it all the others have ended. */
const EXIT_CODE = /"exit-code": (\d+)/;

/** Ruling W8: every command in namespaces of its own, without a daemon. */
export class BubblewrapSandbox extends ProbedSandbox<BubblewrapSetup> {
  readonly #watchdog = new SandboxWatchdog();
  readonly #endings = new Set<Promise<void>>();
  readonly #waiting = new WaitingSandboxes(this.host.clock);

  protected setUp(): Promise<Result<BubblewrapSetup>> {
    return bubblewrapSetup(this.options, this.host);
  }

  protected promise({groupPlace, version}: BubblewrapSetup): Promised {
    const {open_files, max_processes} = this.options;
    const isCounted = groupPlace !== undefined;
    return {
      report: {sandbox: 'bubblewrap', memoryLimit: isCounted ? 'kernel' : 'process', description: version},
      confines: {
        by: 'bubblewrap',
        remedy: 'use Docker (tools.run.sandbox = "docker"), or a newer kernel and bubblewrap.',
        boundingSet: 0n,
        openFiles: open_files,
        processes: isCounted ? undefined : max_processes,
      },
    };
  }

  async close(): Promise<void> {
    this.#waiting.close();
    this.#endWaiting();
    // What is still on its way may fail, and leaves one more to be ended.
    while (this.#endings.size > 0) await Promise.all(this.#endings);
    await this.#watchdog.close();
  }

  protected async execute(setup: BubblewrapSetup, command: SandboxCommand): Promise<Result<Execution>> {
    const sandbox = await this.#waiting.duringClaim(() => this.#takeSandbox(setup));
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
      const taken = this.#isClaimed(warm);
      if (!taken.ok) return taken;
      if (taken.value) return ok(warm);
    }
    const tree = this.guard.look();
    return tree.ok ? this.#openSandbox(setup, tree.value) : tree;
  }

  /** Whether a command may have it. If not, it is ended; where the workspace cannot be looked at, all of them are. */
  #isClaimed(warm: WarmSandbox): Result<boolean> {
    let tree: Result<GuardedTree> | undefined;
    let isUsable = false;
    try {
      tree = this.guard.look();
      isUsable = tree.ok && this.#isUsable(warm, tree.value);
      if (isUsable) holdOpen(warm.child, true);
      return tree.ok ? ok(isUsable) : tree;
    } finally {
      if (!isUsable) this.#end(warm);
      if (!tree?.ok) this.#endWaiting();
    }
  }

  #endWaiting(): void {
    for (const sandbox of this.#waiting.takeAll()) this.#end(sandbox);
  }

  /** Not if what was mounted in it has been moved or replaced since, which takes the mount away. */
  #isUsable({child, tree, startedAt}: WarmSandbox, now: GuardedTree): boolean {
    const isAlive = child.exitCode === null && child.signalCode === null;
    const isHeard = ![DESCRIPTORS.status, DESCRIPTORS.report].some(pipe => isBroken(child, pipe));
    const isYoung = this.host.clock.monotonic() - startedAt < WARM_LIFETIME_MS;
    return isAlive && isHeard && isYoung && isDeepStrictEqual(tree, now);
  }

  /** Without a word where it fails: the next call tries again and says why. */
  async #makeWarm(setup: BubblewrapSetup): Promise<WarmSandbox | undefined> {
    try {
      const tree = this.guard.look();
      const sandbox = tree.ok ? await this.#openSandbox(setup, tree.value) : tree;
      if (!sandbox.ok) return undefined;
      holdOpen(sandbox.value.child, false);
      return sandbox.value;
    } catch {
      return undefined;
    }
  }

  /** A sandbox whose process 1 has said that it has what was looked at. */
  async #openSandbox(setup: BubblewrapSetup, tree: GuardedTree): Promise<Result<WarmSandbox>> {
    const opened = await this.openAsLooked(tree, MAX_LOOKS, looked => this.#tryToOpen(setup, looked));
    if (!opened.ok || !('words' in opened.value)) return opened as Result<WarmSandbox>;
    return noNamespaces(opened.value.words);
  }

  async #tryToOpen(setup: BubblewrapSetup, tree: GuardedTree) {
    const sandbox = await this.#startSandbox(setup, tree);
    if (!sandbox.ok) return sandbox;
    const report = await sandbox.value.report;
    if (report.kind === 'mounted' && !report.lines.includes(NO_RELAY)) {
      const check = checkMounts(tree, report.lines, setup.bootId);
      if (check.kind === 'as_planned') return sandbox;
      this.#end(sandbox.value);
      return check.kind === 'differs' ? {moved: check.path} : {};
    }
    // Bubblewrap dies of a pipe that broke, and what it had made half waits for it.
    if (report.kind === 'broken') killGroup(sandbox.value.child);
    // First of all: a sandbox that has said nothing may live, and its words are whole when it has ended.
    this.#end(sandbox.value);
    if (report.kind === 'mounted') return noRelay();
    if (report.kind === 'silent') return {words: await report.words};
    return sandboxFailure({
      problem: 'A pipe to the sandbox process broke before the command was sent',
      remedy: 'call it again; nothing of it was run.',
    });
  }

  async #startSandbox(setup: BubblewrapSetup, tree: GuardedTree): Promise<Result<WarmSandbox>> {
    const {workspace, clock} = this.host;
    const options = this.options;
    const env = {...sandboxEnv(options, this.host, gitVariables(this.host.env)), PATH: options.path};
    const gitConfig = gitSystemConfig(this.host.env);
    const watchdog = this.#watchdog;
    const opened = await this.host.egress?.open(statSync(workspace).uid);
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
      .then(made => made === undefined || endSandbox(made, this.host.clock, this.#watchdog))
      .then(isRemoved => {
        this.#endings.delete(closing);
        if (!isRemoved) this.host.log({level: 'warn', event: 'sandbox_group_left'});
      });
    this.#endings.add(closing);
  }

  async #supervise(sandbox: WarmSandbox, command: SandboxCommand): Promise<Result<Execution>> {
    const {child, group, channel} = sandbox;
    const first = /"child-pid": (\d+)/.exec(sandbox.status())?.[1];
    let report = '';
    const captures = capturesOf(command);
    const {outcome, execution} = await superviseCommand(child, command, {
      started: {
        sandbox: 'bubblewrap',
        listeningPorts: async () => withoutProxy(await listeningPortsOf(first), channel),
      },
      channel,
      inputs: {0: commandScript(command)},
      captures,
      outputs: {
        1: chunk => captures.stdout.write(chunk),
        [DESCRIPTORS.errors]: chunk => captures.stderr.write(chunk),
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
      clock: this.host.clock,
    });
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
    if (!outcome.gone) this.host.log({level: 'error', event: 'sandbox_not_gone', sandbox: 'bubblewrap'});
    const bySignal = code === undefined || diedBySignal(lines);
    const left = lines.filter(line => line.startsWith(LEFT)).map(line => line.slice(LEFT.length));
    const exit = {code: Number(code ?? 137), bySignal, outOfMemory};
    return ok(execution(outcome.killedFor === undefined ? exit : undefined, withoutRelay(left)));
  }
}

/** What process 1 says of the command. */
function codeOf(lines: readonly string[]): string | undefined {
  return lines.find(line => line.startsWith(ENDED))?.slice(ENDED.length);
}

/** Process 1 takes everything in its namespace along, and its end is seen only after theirs. */
export function killSandbox(child: ChildProcess, status: string): void {
  const first = Number(/"child-pid": (\d+)/.exec(status)?.[1]);
  const hasEnded = child.exitCode !== null || child.signalCode !== null;
  try {
    if (first > 1 && !hasEnded) process.kill(first, 'SIGKILL');
    else killGroup(child);
  } catch {
    // Process 1 has just ended by itself.
    killGroup(child);
  }
}

/** `words` are those of bubblewrap. */
function noNamespaces(words: string): Result<never> {
  return sandboxFailure({
    problem: 'bubblewrap could not make its namespaces',
    remedy:
      'allow user namespaces (sysctl kernel.unprivileged_userns_clone=1; on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0; inside a container, run that with --privileged), or use Docker.',
    error: words,
  });
}
