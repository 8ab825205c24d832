import {readdirSync, readFileSync, readlinkSync} from 'node:fs';

/** What a process holds of the system. */
export interface Held {
  readonly descriptors: readonly string[];
  readonly children: number;
  /** Timers, sockets, pipes, requests under way. */
  readonly resources: readonly string[];
}

/** What this process holds now. */
export function heldByThisProcess(): Held {
  return {
    descriptors: descriptorsOf('self'),
    children: childrenOf(process.pid),
    resources: process.getActiveResourcesInfo().sort(),
  };
}

/** Targets of the open descriptors, without the one that looks. */
export function descriptorsOf(pid: number | 'self'): readonly string[] {
  const directory = `/proc/${pid}/fd`;
  return readdirSync(directory)
    .flatMap(name => {
      try {
        return [readlinkSync(`${directory}/${name}`).replace(/^\/proc\/\d+\/fd$/, '')];
      } catch {
        return [];
      }
    })
    .filter(target => target !== '')
    .map(target => target.replace(/\d+\]$/, ']'))
    .sort();
}

/** Processes that this one started and that are there, dead ones nobody waited for included. */
export function childrenOf(pid: number): number {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap(task => {
      try {
        return readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').trim().split(' ');
      } catch {
        return [];
      }
    })
    .filter(child => child !== '').length;
}

/** What is held now and was not before. */
export function newlyHeld(before: Held, now: Held): readonly string[] {
  return [
    ...added(before.descriptors, now.descriptors).map(one => `descriptor ${one}`),
    ...added(before.resources, now.resources).map(one => `resource ${one}`),
    ...(now.children > before.children ? [`${now.children - before.children} child processes`] : []),
  ];
}

function added(before: readonly string[], now: readonly string[]): readonly string[] {
  const left = [...before];
  return now.filter(one => {
    const at = left.indexOf(one);
    if (at === -1) return true;
    left.splice(at, 1);
    return false;
  });
}
