import {readdirSync, readFileSync} from 'node:fs';

const PATIENCE_MS = 60_000;
/** So long does it compute nothing before it counts as one that waits. */
const QUIET_MS = 300;
const TICK_MS = 10;

/** Resolves when a Chromium below this process has a page, and nothing to do. */
export async function aChromiumWaits() {
  const deadline = performance.now() + PATIENCE_MS;
  let computed = -1;
  for (;;) {
    const processes = processesBelow(process.pid);
    const hasPage = processes.some(({command}) => command.includes('--type=renderer'));
    const ticks = processes.reduce((sum, one) => sum + one.ticks, 0);
    // What wakes up now and then is idle as well.
    if (hasPage && computed >= 0 && (ticks - computed) * TICK_MS <= 0.1 * QUIET_MS) return;
    computed = hasPage ? ticks : -1;
    if (performance.now() > deadline) throw new Error('No Chromium waits.');
    await new Promise(resolve => setTimeout(resolve, QUIET_MS));
  }
}

function processesBelow(root) {
  const found = new Map();
  for (const entry of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'latin1');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      const command = readFileSync(`/proc/${entry}/cmdline`, 'latin1');
      found.set(entry, {parent: fields[1], ticks: Number(fields[11]) + Number(fields[12]), command});
    } catch {
      // It ended while the list was read.
    }
  }
  const isBelow = pid => {
    const parent = found.get(pid)?.parent;
    return parent !== undefined && (parent === String(root) || isBelow(parent));
  };
  return [...found].filter(([pid]) => isBelow(pid)).map(([, one]) => one);
}
