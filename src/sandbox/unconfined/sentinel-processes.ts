import {readdir, readFile} from 'node:fs/promises';

const MAX_KILL_TRIES = 1000;
const MAX_NAMES = 16;

/** In the environment of the processes of one command, and of all that they start. */
export const SENTINEL = 'FORGE_RUN';

/** Process numbers with the names of the programs. */
export async function sentinelProcesses(sentinel: string): Promise<ReadonlyMap<number, string>> {
  const found = new Map<number, string>();
  for (const entry of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(entry)) continue;
    const environment = await readFile(`/proc/${entry}/environ`, 'latin1').catch(() => '');
    if (!environment.split('\0').includes(`${SENTINEL}=${sentinel}`)) continue;
    found.set(Number(entry), (await readFile(`/proc/${entry}/comm`, 'utf8').catch(() => '')).trim());
  }
  return found;
}

/**
 * Kills the process group that a child leads and whatever else carries its sentinel, until nothing of it is left. A
 * process that has cleared its environment gets away: that is what "none" means.
 */
export async function endBySentinel(
  leader: number | undefined,
  sentinel: string,
): Promise<readonly string[]> {
  const names = new Map<number, string>();
  for (let tries = 0; tries < MAX_KILL_TRIES; tries++) {
    const found = await sentinelProcesses(sentinel);
    if (leader !== undefined) endProcess(-leader);
    if (found.size === 0) break;
    for (const [pid, name] of found) {
      names.set(pid, name);
      endProcess(pid);
    }
  }
  if (leader !== undefined) names.delete(leader);
  return [...names.values()].slice(0, MAX_NAMES);
}

/** A process, or a group where the number is negative. */
function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone by itself.
  }
}
