// Starts sandboxes ahead and hands them over. A start takes the kernel some 20 ms.
import type {ChildProcess} from 'node:child_process';
import {Readable, Writable} from 'node:stream';
import type {Clock} from '../../core/clock.ts';
import type {EgressChannel} from '../../core/egress-gate.ts';
import {type ControlGroup, createGroup} from '../../system/control-group.ts';
import {killGroup} from '../../system/errors.ts';
import {holdOpen, JOIN} from '../../system/process.ts';
import {startChild} from '../child.ts';
import {socketMounts} from '../egress-channel.ts';
import {RELAY_NODE, relayCommand} from '../egress-relay.ts';
import {mountPoints, REPORTED} from '../guard/guard.ts';
import type {GuardedTree} from '../guard/hold-protected.ts';
import type {RunOptions} from '../options.ts';
import {flatProfile, nestedProfile} from './profile.ts';
import {
  BECOME,
  BECOME_IF_PLACED,
  BECOME_WITH_PIPES,
  DESCRIPTORS,
  INIT,
  INNER_PROFILE,
  STAY_WITH_PIPES,
} from './scripts.ts';
import type {BubblewrapSetup} from './setup.ts';
import type {SandboxWatchdog} from './watchdog.ts';

const MIB = 1_048_576;
/** What is killed and does not end is left to the watchdog and to the kernel. */
const END_TIMEOUT_MS = 5000;
const READY_TIMEOUT_MS = 20_000;
const MAX_WORDS = 4000;

/**
 * A sandbox with its limits, namespaces and mounts, whose process 1 waits for a command. To get there takes the
 * kernel some 20 ms, so one is kept in waiting; it holds nothing of any command.
 */
export interface WarmSandbox {
  readonly child: ChildProcess;
  /** What its watchdog calls it. */
  readonly number: number;
  readonly group: ControlGroup | undefined;
  /** Its way out, where there is one. */
  readonly channel: EgressChannel | undefined;
  /** What was looked at before it was mounted. */
  readonly tree: GuardedTree;
  /** By the monotonic clock. */
  readonly startedAt: number;
  readonly report: Promise<MountReport>;
  /** What bubblewrap has said of itself so far: `child-pid`, and `exit-code` in the end. */
  readonly status: () => string;
  /** Resolves when none of its processes has a descriptor of ours any more. */
  readonly ended: Promise<void>;
}

type MountReport =
  /** What process 1 says is mounted. */
  | {readonly kind: 'mounted'; readonly lines: readonly string[]}
  /** A pipe broke on which it, or bubblewrap, says what is to be known. */
  | {readonly kind: 'broken'}
  /** It did not come so far. `words` are those on its standard error, once the sandbox has ended: a sandbox that lives does so when it is told to. */
  | {readonly kind: 'silent'; readonly words: Promise<string>};

export interface SandboxPlan {
  readonly setup: BubblewrapSetup;
  readonly options: RunOptions;
  readonly workspace: string;
  readonly tree: GuardedTree;
  /** What every command finds in its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What git finds as the configuration of the system. */
  readonly gitConfig: string;
  readonly channel: EgressChannel | undefined;
  readonly clock: Clock;
  readonly watchdog: SandboxWatchdog;
}

/** Throws if the system refuses. */
export async function startSandbox(plan: SandboxPlan): Promise<WarmSandbox> {
  const {setup, options, clock, watchdog} = plan;
  const limits = {
    memoryBytes: options.memory_mb * MIB,
    processes: options.max_processes,
    cpus: options.cpus,
  };
  let number: number | undefined;
  let group: ControlGroup | undefined;
  let child: ChildProcess | undefined;
  const announce = async (directories: readonly string[]): Promise<void> => {
    number = await watchdog.add(directories);
  };
  try {
    group = setup.groupPlace && (await createGroup(setup.groupPlace, limits, clock, announce));
    number ??= await watchdog.add([]);
    child = startChild({
      program: '/bin/sh',
      args: sandboxArguments(plan, group?.procsFiles ?? []),
      env: {},
      cwd: '/',
      pipes: [0, ...Object.values(DESCRIPTORS), ...(setup.nests ? [INNER_PROFILE] : [])],
      detached: true,
    });
    return await fillSandbox(plan, {child, number, group});
  } catch (error) {
    if (child !== undefined) killGroup(child);
    await group?.remove();
    if (number !== undefined) watchdog.remove(number);
    throw error;
  }
}

async function fillSandbox(
  {setup, options, workspace, tree, env, gitConfig, channel, clock, watchdog}: SandboxPlan,
  {child, number, group}: Pick<WarmSandbox, 'child' | 'number' | 'group'>,
): Promise<WarmSandbox> {
  // A shell that cannot be started shows when the sandbox is used.
  child.on('error', () => {});
  const ended = new Promise<void>(resolve => child.once('close', () => resolve()));
  let status = '';
  reading(child, DESCRIPTORS.status)?.on('data', chunk => {
    status += chunk;
  });
  const report = readReport(child, ended, clock);
  if (child.pid !== undefined) await watchdog.lead(number, child.pid);
  // review R14: without its profile bubblewrap makes nothing, so a host that is killed before this leaves nothing.
  const egressMounts =
    channel === undefined ? [] : [{source: process.execPath, target: RELAY_NODE}, ...socketMounts(channel)];
  const profile = {...setup, workspace, tree, env, readablePaths: options.readable_paths, egressMounts};
  give(child, DESCRIPTORS.filter, setup.filter);
  give(child, DESCRIPTORS.gitConfig, gitConfig);
  // Not in the arguments of a process, which every user of the host can read.
  if (setup.nests) {
    const {outer, inner} = nestedProfile(profile);
    give(child, INNER_PROFILE, terminated(inner));
    give(child, DESCRIPTORS.profile, terminated(outer));
  } else {
    give(child, DESCRIPTORS.profile, terminated(flatProfile(profile)));
  }
  const startedAt = clock.monotonic();
  return {child, number, group, channel, tree, startedAt, report, status: () => status, ended};
}

/**
 * Ends a sandbox that waits, or what is left of one. Without a command process 1 ends by itself, and everything is
 * reaped by its parent; what does not end is killed.
 */
export async function endSandbox(
  {child, number, group, channel, ended}: WarmSandbox,
  clock: Clock,
  watchdog: SandboxWatchdog,
) {
  holdOpen(child, true);
  child.stdin?.end();
  for (const stream of child.stdio) if (stream instanceof Readable) stream.resume();
  const kill = clock.after(END_TIMEOUT_MS, () => {
    killGroup(child);
    for (const stream of child.stdio) stream?.destroy();
  });
  await ended;
  kill();
  await channel?.close();
  const isRemoved = await group?.remove();
  watchdog.remove(number);
  return isRemoved ?? true;
}

function sandboxArguments(
  {setup, options, tree, channel}: SandboxPlan,
  procsFiles: readonly string[],
): readonly string[] {
  const {open_files, max_processes, memory_mb} = options;
  // A control group counts for all of them.
  const each = procsFiles.length === 0 ? [max_processes, (memory_mb * MIB) / 1024] : [0, 0];
  const place = tree[0]?.place ?? '';
  const relay = channel === undefined ? '' : relayCommand([RELAY_NODE]);
  const sandbox = [
    ...[setup.program, '--args', String(DESCRIPTORS.profile), '--'],
    ...(setup.nests ? ['/bin/sh', '-c', BECOME_IF_PLACED, 'sh', place] : []),
    ...(setup.nests ? [setup.program, '--args', String(INNER_PROFILE), '--'] : []),
    ...['/bin/sh', '-c', INIT, 'sh', ...[open_files, ...each].map(String), relay, ...mountPoints(tree)],
  ];
  const becomeWithPipes = process.pid === 1 ? STAY_WITH_PIPES : BECOME_WITH_PIPES;
  const join = ['sh', String(procsFiles.length), ...procsFiles];
  if (setup.becomeOwner.length === 0) return ['-c', JOIN + becomeWithPipes, ...join, ...sandbox];
  // Only root may join, and only the owner may open pipes of the owner.
  return [
    '-c',
    JOIN + BECOME,
    ...join,
    ...setup.becomeOwner,
    '/bin/sh',
    '-c',
    becomeWithPipes,
    'sh',
    ...sandbox,
  ];
}

function readReport(child: ChildProcess, ended: Promise<void>, clock: Clock): Promise<MountReport> {
  const report = reading(child, DESCRIPTORS.report);
  const told = [report, reading(child, DESCRIPTORS.status)];
  return new Promise(resolve => {
    let text = '';
    const onData = (chunk: string): void => {
      text += chunk;
      if (text.endsWith(`\n${REPORTED}\n`)) settle({kind: 'mounted', lines: text.split('\n')});
    };
    // Read from here on: what nobody reads when a process ends, Node throws away.
    const onEnd = (): void => settle({kind: 'silent', words: lastWords(child, ended)});
    // The sandbox lives, and would be waited for until its time is up.
    const onBroken = (): void => settle({kind: 'broken'});
    const settle = (outcome: MountReport): void => {
      cancel();
      report?.off('data', onData);
      for (const stream of told) stream?.off('error', onBroken);
      child.off('exit', onEnd);
      child.off('error', onEnd);
      resolve(outcome);
    };
    const cancel = clock.after(READY_TIMEOUT_MS, onEnd);
    report?.setEncoding('utf8').on('data', onData);
    for (const stream of told) stream?.once('error', onBroken);
    child.once('exit', onEnd);
    child.once('error', onEnd);
  });
}

async function lastWords(child: ChildProcess, ended: Promise<void>): Promise<string> {
  let words = '';
  child.stderr?.on('data', chunk => {
    words = `${words}${chunk}`.slice(0, MAX_WORDS);
  });
  child.stdout?.resume();
  await ended;
  return words || `It ended without a word, or was ended after ${READY_TIMEOUT_MS / 1000} s.`;
}

function reading(child: ChildProcess, descriptor: number): Readable | undefined {
  const stream = child.stdio.at(descriptor);
  return stream instanceof Readable ? stream : undefined;
}

function give(child: ChildProcess, descriptor: number, content: string | Buffer): void {
  const stream = child.stdio.at(descriptor);
  if (stream instanceof Writable) stream.end(content);
}

/** As `--args` reads them. */
function terminated(profile: readonly string[]): string {
  return profile.map(argument => `${argument}\0`).join('');
}

/** A command that follows another one at once finds a sandbox as well. */
export const WARM_SANDBOXES = 2;
/** A command that runs for longer leaves time to make the next sandboxes. */
const SHORT_COMMAND_MS = 10;

/** Undefined where it could not be made. */
export type WaitingSandbox = Promise<WarmSandbox | undefined>;

/** Sandboxes that wait for a command, or are on the way to it, the oldest first. The taker ends it. */
export class WaitingSandboxes {
  readonly #clock: Clock;
  readonly #sandboxes: WaitingSandbox[] = [];
  /** Calls that wait for their sandbox, and commands that have just begun. */
  #aboutToRun = 0;
  #closed = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  takeOldest(): WaitingSandbox | undefined {
    return this.#sandboxes.shift();
  }

  takeAll(): readonly WaitingSandbox[] {
    return this.#sandboxes.splice(0);
  }

  /** From here on none is made. */
  close(): void {
    this.#closed = true;
  }

  /** None is made meanwhile: on one core that would take the time of the sandbox that a call waits for. */
  async duringClaim<Taken>(take: () => Promise<Taken>): Promise<Taken> {
    this.#aboutToRun += 1;
    try {
      return await take();
    } finally {
      this.#aboutToRun -= 1;
    }
  }

  /** Runs a command, and then has the next sandboxes made; where it runs for longer, beside it. */
  async whileRunning<Ran>(make: () => WaitingSandbox, run: () => Promise<Ran>): Promise<Ran> {
    let isAbout = true;
    this.#aboutToRun += 1;
    const fill = (): void => {
      if (!isAbout) return;
      isAbout = false;
      this.#aboutToRun -= 1;
      if (this.#aboutToRun > 0) return;
      while (!this.#closed && this.#sandboxes.length < WARM_SANDBOXES) this.#sandboxes.push(make());
    };
    const cancel = this.#clock.after(SHORT_COMMAND_MS, fill);
    try {
      return await run();
    } finally {
      cancel();
      // The answer goes out first: to look at the workspace and to start a process keeps us from it.
      setImmediate(fill);
    }
  }
}
