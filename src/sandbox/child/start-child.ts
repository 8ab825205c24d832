import {type ChildProcess, spawn} from 'node:child_process';
import {closeSync, openSync} from 'node:fs';
import {requireStarted} from '../../system/require-started.ts';
import {leakedDescriptors} from './leaked-descriptors.ts';

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
