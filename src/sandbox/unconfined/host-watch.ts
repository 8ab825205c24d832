import type {ChildProcess} from 'node:child_process';
import {holdOpen} from '../../system/hold-open.ts';
import {startChild} from '../child/start-child.ts';
import {SENTINEL} from './sentinel-processes.ts';

/**
 * `sh -c WATCH sh SENTINEL`: its standard input ends when the host does, however it ended. Then whatever carries the
 * sentinel is killed, until two looks in a row find nothing.
 */
const WATCH = `
exec >/dev/null 2>&1
while read -r line; do :; done
clean=0 tries=0
while [ "$clean" -lt 2 ] && [ "$tries" -lt 500 ]; do
  found=
  for file in $(grep -lF "$1" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -s KILL "\${pid%/environ}" && found=1
  done
  if [ -z "$found" ]; then clean=$((clean + 1)); else clean=0; fi
  tries=$((tries + 1))
done
`;

/**
 * W21: what ends the commands of a session that have no sandbox around them when the host is killed. It knows them by
 * what is in their environment, so nothing has to be said to it.
 */
export class HostWatch {
  readonly #session: string;
  #child: ChildProcess | undefined;

  /** The beginning of the sentinel of every command of the session. */
  constructor(session: string) {
    this.#session = session;
  }

  /** Runs when this returns; to be called before each command. */
  start(): void {
    if (this.#isRunning) return;
    const child = startChild({
      program: '/bin/sh',
      args: ['-c', WATCH, 'sh', `${SENTINEL}=${this.#session}`],
      env: {PATH: '/usr/bin:/bin'},
      cwd: '/',
      pipes: [0],
      // What ends us at a terminal leaves it alone.
      detached: true,
    });
    child.on('error', () => {});
    child.stdout?.destroy();
    child.stderr?.destroy();
    holdOpen(child, false);
    this.#child = child;
  }

  async close(): Promise<void> {
    const child = this.#child;
    const isRunning = this.#isRunning;
    this.#child = undefined;
    if (child === undefined || !isRunning) return;
    holdOpen(child, true);
    const ended = new Promise(resolve => child.once('close', resolve));
    child.stdin?.end();
    await ended;
  }

  get #isRunning(): boolean {
    const child = this.#child;
    return child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
  }
}
