import type {ChildProcess} from 'node:child_process';
import {Readable} from 'node:stream';

/** Whether all of an output of a child was read. */
export function hasEnded(child: ChildProcess, descriptor: number): boolean {
  const stream = child.stdio.at(descriptor);
  return stream instanceof Readable && stream.readableEnded;
}
