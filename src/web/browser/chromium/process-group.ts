import type {ChildProcess} from 'node:child_process';
import type {Clock} from '../../../core/clock.ts';

const GIVE_UP_MS = 3000;

/**
 * Kills a process that leads a group, and all of the group. Resolves when the last of those who hold
 * its standard error is gone: a zombie that nobody collects still counts as a process, but holds nothing.
 */
export async function killProcessGroup(child: ChildProcess, clock: Clock): Promise<void> {
  const {pid} = child;
  if (pid === undefined) return;
  let cancel: () => void = () => {};
  const ended = new Promise<void>(resolve => {
    if (child.stderr?.closed) resolve();
    else child.stderr?.once('close', resolve);
    cancel = clock.after(GIVE_UP_MS, resolve);
  });
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // There is no such group any more.
  }
  await ended;
  cancel();
}
