import type {ChildProcess} from 'node:child_process';
import {Readable, Writable} from 'node:stream';
import type {Clock} from '../../core/clock.ts';

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
