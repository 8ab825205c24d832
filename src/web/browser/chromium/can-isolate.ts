import {spawn} from 'node:child_process';
import {Readable} from 'node:stream';
import type {Clock} from '../../../core/clock.ts';
import {bubblewrapArguments, INFO_FD} from './bubblewrap.ts';
import {killProcessGroup} from './process-group.ts';

const LIMIT_MS = 5000;

/**
 * Runs nothing in the very sandbox that Chromium would run in. `undefined`: there was no answer in time, which
 * says nothing about the next time.
 */
export function canIsolate(
  bubblewrap: string,
  executable: string,
  clock: Clock,
): Promise<boolean | undefined> {
  return new Promise(resolve => {
    const args = [...bubblewrapArguments(executable), '--', '/usr/bin/env', 'true'];
    const child = spawn(bubblewrap, args, {
      stdio: ['ignore', 'ignore', 'ignore', 'ignore', 'ignore', 'pipe'],
      env: {},
      detached: true,
    });
    child.once('error', () => settle(false));
    // For want of descriptors there are no pipes.
    const pipes: readonly unknown[] = child.stdio ?? [];
    const information = pipes[INFO_FD];
    if (information instanceof Readable) information.resume();
    const settle = (answer: boolean | undefined): void => {
      cancel();
      if (information instanceof Readable) information.destroy();
      resolve(answer);
    };
    const cancel = clock.after(LIMIT_MS, () => {
      void killProcessGroup(child, clock).then(() => settle(undefined));
    });
    // Not "close": something that it has left behind may hold the pipe.
    child.once('exit', (code, signal) => {
      if (signal === null) settle(code === 0);
    });
  });
}
