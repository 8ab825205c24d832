// Starts, supervises and ends a child process, and tells how it ended.
import {type ChildProcess, spawn} from 'node:child_process';
import {closeSync, openSync, readdirSync, readFileSync} from 'node:fs';
import {constants} from 'node:os';
import {Readable, Writable} from 'node:stream';
import type {Clock} from '../core/clock.ts';
import {errorCode, requireStarted} from '../system/errors.ts';
import type {ExitStatus} from './sandbox.ts';

export interface ChildPlan {
  readonly program: string;
  readonly args: readonly string[];
  /** All of it: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Descriptors beside 1 and 2 that become pipes. */
  readonly pipes?: readonly number[];
  /** Makes it the leader of a process group. */
  readonly detached?: boolean;
}

/**
 * Starts a program with nothing on its standard input, and with no descriptor that was not planned. Throws what
 * the system refuses.
 */
export function startChild({program, args, env, cwd, pipes = [], detached = false}: ChildPlan): ChildProcess {
  const nothing = openSync('/dev/null', 'r');
  try {
    const table: ('ignore' | 'pipe' | number)[] = ['ignore', 'pipe', 'pipe'];
    const put = (descriptor: number, what: 'pipe' | number): void => {
      while (table.length < descriptor) table.push('ignore');
      table[descriptor] = what;
    };
    for (const descriptor of leakedDescriptors()) put(descriptor, nothing);
    for (const descriptor of pipes) put(descriptor, 'pipe');
    const child = spawn(program, args, {env, cwd, stdio: table, detached});
    requireStarted(child);
    // A reset while we read or write is an end, and the exit tells why.
    for (const stream of child.stdio) stream?.on('error', () => {});
    return child;
  } finally {
    letGo(nothing);
  }
}

/** The child runs by now; a system that complains at this takes nothing back. */
function letGo(descriptor: number): void {
  try {
    closeSync(descriptor);
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error;
  }
}

/** How long a killed command may take to be gone before the call is answered without it. */
const KILL_GRACE_MS = 5000;

export interface Supervision {
  /** What the child reads from a descriptor. */
  readonly inputs?: Readonly<Record<number, string>>;
  /** Who gets what the child writes to a descriptor. */
  readonly outputs: Readonly<Record<number, (chunk: Buffer) => void>>;
  /**
   * Asked whenever an output says something or ends: true when all that can be known of the program is known, although
   * it has not ended yet. Never asked of one that was killed.
   */
  readonly isOver?: () => boolean;
  /** Called when the program has ended while something of it may still be there. */
  readonly onExit?: () => void;
  /** Ends it with everything that it started. */
  readonly kill: () => void;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
}

export interface ChildOutcome {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why we killed it. */
  readonly killedFor: 'timeout' | 'cancelled' | undefined;
  readonly durationMs: number;
  /** The program could not be started. */
  readonly startError: Error | undefined;
  /** False if it did not end although it was killed. */
  readonly gone: boolean;
}

/** Waits until a child has ended and its output is read, or until that is sure to come; kills it when its time is up or the caller cancels. */
export function superviseChild(child: ChildProcess, plan: Supervision): Promise<ChildOutcome> {
  const {clock, signal} = plan;
  const startedAt = clock.monotonic();
  return new Promise(resolve => {
    let killedFor: 'timeout' | 'cancelled' | undefined;
    let cancelGrace = (): void => {};
    const settle = (end: Partial<ChildOutcome>): void => {
      cancelTimer();
      cancelGrace();
      signal.removeEventListener('abort', onAbort);
      const durationMs = clock.monotonic() - startedAt;
      resolve({code: null, signal: null, startError: undefined, gone: true, ...end, killedFor, durationMs});
    };
    const end = (cause: 'timeout' | 'cancelled'): void => {
      if (killedFor !== undefined) return;
      killedFor = cause;
      plan.kill();
      cancelGrace = clock.after(KILL_GRACE_MS, () => {
        child.kill('SIGKILL');
        for (const stream of child.stdio) stream?.destroy();
        settle({gone: false});
      });
    };
    const onAbort = (): void => end('cancelled');
    const cancelTimer = clock.after(plan.timeoutMs, () => end('timeout'));
    signal.addEventListener('abort', onAbort);
    child.once('error', startError => {
      if (child.pid === undefined) settle({startError});
    });
    child.once('exit', () => plan.onExit?.());
    child.once('close', (code, killSignal) => settle({code, signal: killSignal}));
    connect(child, plan, () => {
      if (killedFor === undefined && plan.isOver?.()) settle({});
    });
    if (signal.aborted) onAbort();
  });
}

function connect(child: ChildProcess, {inputs = {}, outputs}: Supervision, onNews: () => void): void {
  const streams: readonly unknown[] = child.stdio;
  for (const [descriptor, content] of Object.entries(inputs)) {
    const stream = streams[Number(descriptor)];
    if (stream instanceof Writable) stream.end(content);
  }
  for (const [descriptor, sink] of Object.entries(outputs)) {
    const stream = streams[Number(descriptor)];
    if (!(stream instanceof Readable)) continue;
    stream.on('data', chunk => {
      sink(chunk);
      onNews();
    });
    stream.once('end', onNews);
  }
}

/**
 * Ruling W20: what the `jobs` of a shell says of its one command: `[1] + Done(137)` in dash, `[1]+  Exit 137` in
 * bash, and the name of the signal (`[1] + Killed`) in both. Undefined where it says nothing.
 */
export function diedBySignal(lines: readonly string[]): boolean | undefined {
  const state = lines
    .map(line => /^\[1\]\s*[+-]?\s*(\S.*)/.exec(line)?.[1])
    .findLast(found => found !== undefined && !/^(?:Running|Stopped)\b/.test(found));
  return state === undefined ? undefined : !/^(?:Done|Exit)\b/.test(state);
}

const SIGNAL_NAMES: ReadonlyMap<number, string> = new Map(
  // Where a number has two names (SIGABRT, SIGIOT), the first one is the usual one.
  Object.entries(constants.signals)
    .reverse()
    .map(([name, number]) => [number, name]),
);

export interface Exit {
  /** Of a shell: 128 + N for signal N, or what the command gave itself. */
  readonly code: number;
  /** Ruling W20: which of the two; undefined where the shell cannot tell, and then such a code counts as a signal. */
  readonly bySignal: boolean | undefined;
  readonly outOfMemory: boolean;
}

/** Rulings W8, W20: only a death by signal is abnormal. */
export function exitStatusOf({code, bySignal, outOfMemory}: Exit): ExitStatus {
  const signal = bySignal === false ? undefined : SIGNAL_NAMES.get(code - 128);
  if (outOfMemory && code !== 0) return {kind: 'killed', code, signal: signal ?? 'SIGKILL', outOfMemory};
  return signal === undefined ? {kind: 'exited', code} : {kind: 'killed', code, signal, outOfMemory: false};
}

/** Whether all of an output of a child was read. */
export function hasEnded(child: ChildProcess, descriptor: number): boolean {
  const stream = child.stdio.at(descriptor);
  return stream instanceof Readable && stream.readableEnded;
}

/** Whether a pipe to a child failed, rather than ended: what it would have said is not known. */
export function isBroken(child: ChildProcess, descriptor: number): boolean {
  const stream = child.stdio.at(descriptor);
  return stream !== null && stream !== undefined && stream.errored !== null;
}

const O_CLOEXEC = 0o2000000;

/**
 * Descriptors that a child would inherit although nobody gave them to it: those that this process
 * itself inherited. Node's own are closed on exec. `place` is where the system says of a process what it has open.
 */
export function leakedDescriptors(place = '/proc/self'): readonly number[] {
  return openDescriptors(place)
    .map(Number)
    .filter(descriptor => descriptor > 2 && !isClosedOnExec(place, descriptor));
}

/** review B6: without /proc (macOS) nobody can say; libuv closes what Node has opened. */
function openDescriptors(place: string): readonly string[] {
  try {
    return readdirSync(`${place}/fd`);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' && errorCode(error) !== 'ENOTDIR') throw error;
    return [];
  }
}

function isClosedOnExec(place: string, descriptor: number): boolean {
  try {
    const flags = /flags:\t([0-7]+)/.exec(readFileSync(`${place}/fdinfo/${descriptor}`, 'utf8'))?.[1];
    return (Number.parseInt(String(flags), 8) & O_CLOEXEC) !== 0;
  } catch {
    // The one that listed the directory is gone again.
    return true;
  }
}
