import {readdirSync, readFileSync} from 'node:fs';

/** Processes below this one that are no zombies, by number and command. */
export function descendants(root = process.pid): readonly string[] {
  const parents = new Map<number, {readonly parent: number; readonly name: string}>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'latin1');
      const [state, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state === 'Z' || state === 'X') continue;
      const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
      parents.set(Number(entry), {parent: Number(parent), name});
    } catch {
      // It ended while the list was read.
    }
  }
  const isBelow = (pid: number): boolean => {
    const {parent} = parents.get(pid) ?? {parent: 0};
    return parent === root || (parent > 1 && isBelow(parent));
  };
  return [...parents].filter(([pid]) => isBelow(pid)).map(([pid, {name}]) => `${pid} ${name}`);
}

/** Chromium and bubblewrap among them; what the test runner itself started is not our business. */
export function browserProcesses(): readonly string[] {
  return descendants().filter(process => /\b(?:bwrap|chrom)/.test(process));
}

/** The Chromiums, by number and parent: the processes that were started, not the ones they start. */
export function chromiums(): readonly string[] {
  const found = browserProcesses().flatMap(line => {
    const pid = Number.parseInt(line, 10);
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1');
      if (!command.includes('--remote-debugging-pipe') || /bwrap|--type=/.test(command)) return [];
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      return [{pid, parent: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])}];
    } catch {
      return [];
    }
  });
  // A child has the command of its parent until it starts a program of its own.
  const isChild = (parent: number): boolean => found.some(({pid}) => pid === parent);
  return found.filter(({parent}) => !isChild(parent)).map(({pid, parent}) => `${pid} of ${parent}`);
}

export function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}
