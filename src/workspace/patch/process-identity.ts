import {readFile} from 'node:fs/promises';
import {errorCode} from '../io-failure.ts';

/**
 * Tells a process from a later one with the same number (in containers the numbers repeat at each
 * start): on Linux the boot and the time it was started. `gone` where there is none.
 */
export async function processIdentity(pid: number): Promise<string> {
  if (process.platform !== 'linux') return isAlive(pid) ? 'alive' : 'gone';
  try {
    const [boot, stat] = await Promise.all([
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
      readFile(`/proc/${pid}/stat`, 'utf8'),
    ]);
    // The name of the program comes second, in parentheses, and may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return 'gone';
    return `${boot.trim()}:${fields[19] ?? ''}`;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return 'gone';
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it is there and belongs to somebody else.
    return errorCode(error) === 'EPERM';
  }
}
