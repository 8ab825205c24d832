import {execFile} from 'node:child_process';
import {innerArguments, outerArguments} from './bubblewrap-profile.ts';

const TIMEOUT_MS = 5000;

/**
 * Whether a bubblewrap runs in another one here, and what looks at the workspace in between is there. Without the
 * workspace, so that nobody who moves things in it has a say.
 */
export function canNest(
  start: readonly string[],
  commandArgs: readonly string[],
  systemArgs: readonly string[],
): Promise<boolean> {
  const program = start.at(-1) ?? '';
  const [first = '', ...args] = [
    ...[...start, ...outerArguments(systemArgs), '--'],
    ...['/bin/sh', '-c', 'stat -c %d:%i / && exec "$@"', 'sh'],
    ...[program, ...innerArguments(commandArgs), '--', '/bin/sh', '-c', 'exit 0'],
  ];
  return new Promise(resolve => {
    const child = execFile(first, args, {env: {}, cwd: '/', timeout: TIMEOUT_MS}, error => {
      resolve(error === null);
    });
    for (const pipe of [child.stdout, child.stderr]) pipe?.on('error', () => {});
  });
}
