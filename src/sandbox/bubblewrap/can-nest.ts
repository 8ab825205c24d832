import {execFile} from 'node:child_process';
import {innerArguments, outerArguments} from './bubblewrap-profile.ts';

const TIMEOUT_MS = 5000;
const MAX_TRIES = 3;

/** `no_answer`: of a machine that is too busy, which says nothing of what it can do. */
export type Nesting = 'nests' | 'refused' | 'no_answer';

/**
 * Whether a bubblewrap runs in another one here, and what looks at the workspace in between is there. Without the
 * workspace, so that nobody who moves things in it has a say. No answer in time is asked for again, three times
 * in all.
 */
export async function canNest(
  start: readonly string[],
  commandArgs: readonly string[],
  systemArgs: readonly string[],
  timeoutMs = TIMEOUT_MS,
): Promise<Nesting> {
  let nesting: Nesting = 'no_answer';
  for (let tries = 0; nesting === 'no_answer' && tries < MAX_TRIES; tries++) {
    nesting = await tryToNest(start, commandArgs, systemArgs, timeoutMs);
  }
  return nesting;
}

function tryToNest(
  start: readonly string[],
  commandArgs: readonly string[],
  systemArgs: readonly string[],
  timeoutMs: number,
): Promise<Nesting> {
  const program = start.at(-1) ?? '';
  const [first = '', ...args] = [
    ...[...start, ...outerArguments(systemArgs), '--'],
    ...['/bin/sh', '-c', 'stat -c %d:%i / && exec "$@"', 'sh'],
    ...[program, ...innerArguments(commandArgs), '--', '/bin/sh', '-c', 'exit 0'],
  ];
  return new Promise(resolve => {
    const options = {env: {}, cwd: '/', timeout: timeoutMs, killSignal: 'SIGKILL'} as const;
    const child = execFile(first, args, options, error => {
      if (error === null) resolve('nests');
      else resolve(error.killed === true ? 'no_answer' : 'refused');
    });
    for (const pipe of [child.stdout, child.stderr]) pipe?.on('error', () => {});
  });
}
