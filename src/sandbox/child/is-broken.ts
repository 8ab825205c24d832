import type {ChildProcess} from 'node:child_process';

/** Whether a pipe to a child failed, rather than ended: what it would have said is not known. */
export function isBroken(child: ChildProcess, descriptor: number): boolean {
  const stream = child.stdio.at(descriptor);
  return stream !== null && stream !== undefined && stream.errored !== null;
}
