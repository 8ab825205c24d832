import type {ChildProcess} from 'node:child_process';
import {endGroup} from '../child/end-group.ts';

/** Process 1 takes everything in its namespace along, and its end is seen only after theirs. */
export function killSandbox(child: ChildProcess, status: string): void {
  const first = Number(/"child-pid": (\d+)/.exec(status)?.[1]);
  const hasEnded = child.exitCode !== null || child.signalCode !== null;
  try {
    if (first > 1 && !hasEnded) process.kill(first, 'SIGKILL');
    else endGroup(child);
  } catch {
    // Process 1 has just ended by itself.
    endGroup(child);
  }
}
