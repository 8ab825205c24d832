import type {BigIntStats} from 'node:fs';

/** A part of the workspace that is mounted onto itself, so that it can be neither replaced nor moved. */
export interface GuardedMount {
  /** Relative to the workspace; '' is the workspace itself. */
  readonly path: string;
  readonly writable: boolean;
  /** `device:inode`, as `stat -c '%d:%i'` prints it: what a sandbox must report. */
  readonly place: string;
  /** Differs also where it was moved away and back, which takes its mount out of every sandbox. */
  readonly version: string;
}

/** The workspace and what is mounted over it, outer parts first. The first one is the workspace. */
export type GuardedTree = readonly GuardedMount[];

export function guardedMount(path: string, info: BigIntStats, writable: boolean): GuardedMount {
  const {dev, ino, birthtimeNs, ctimeNs} = info;
  // The workspace is where a mount comes from, not what one lies on: what is made in it changes nothing.
  const version = path === '' ? `${birthtimeNs}` : `${birthtimeNs}:${ctimeNs}`;
  return {path, writable, place: `${dev}:${ino}`, version};
}
