// Ends the sandboxes of a host that was killed.
import type {ChildProcess} from 'node:child_process';
import {holdOpen} from '../../system/process.ts';
import {startChild} from '../child.ts';

/**
 * `sh -c WATCH`: reads what sandboxes there are from its standard input, a number each: `+SANDBOX DIRECTORY...` with its
 * control groups, `=SANDBOX GROUP` with its process group, `-SANDBOX` when it has ended. The input ends when the host
 * does, however it ended: then what is on the list is killed, and its control groups are taken away.
 */
const WATCH = `
exec >/dev/null 2>&1
boxes=
while read -r line; do
  rest=\${line#?}
  box=\${rest%% *}
  case $line in
    +*) boxes="$boxes $box"; eval "directories_$box=\\\${rest#* }" ;;
    =*) eval "group_$box=\\\${rest#* }" ;;
    -*)
      kept=
      for other in $boxes; do [ "$other" = "$box" ] || kept="$kept $other"; done
      boxes=$kept
      unset "directories_$box" "group_$box" ;;
  esac
done
for box in $boxes; do
  eval "group=\\$group_$box"
  [ -z "$group" ] || kill -s KILL -- "-$group"
done
tries=0
while [ -n "$boxes" ] && [ "$tries" -lt 200 ]; do
  left=
  for box in $boxes; do
    eval "directories=\\$directories_$box"
    for directory in $directories; do
      [ -d "$directory" ] || continue
      while read -r member; do kill -s KILL "$member"; done <"$directory/cgroup.procs"
      /bin/rmdir "$directory" || left="$left $box"
    done
  done
  boxes=$left
  tries=$((tries + 1))
  [ -z "$boxes" ] || /bin/sleep 0.02
done
`;

/**
 * review R14: the owner of the sandboxes of a session, which outlives a host that is killed. Each promise resolves
 * when the watchdog can no longer miss what it was told: only then may the next step of a sandbox be taken.
 */
export class SandboxWatchdog {
  readonly #listed = new Map<number, string>();
  #child: ChildProcess | undefined;
  /** Resolves when the present one has the list. */
  #started = Promise.resolve();
  #last = 0;

  /** Before its control groups are made. The value is what the sandbox is called here. */
  async add(directories: readonly string[]): Promise<number> {
    const sandbox = ++this.#last;
    await this.#tell(sandbox, `+${sandbox} ${directories.join(' ')}\n`);
    return sandbox;
  }

  /** Before it starts what does not end by itself. */
  lead(sandbox: number, group: number): Promise<void> {
    return this.#tell(sandbox, `=${sandbox} ${group}\n`);
  }

  /** It has ended. */
  remove(sandbox: number): void {
    if (this.#listed.delete(sandbox) && isRunning(this.#child)) void send(this.#child, `-${sandbox}\n`);
  }

  /** Ends it, and what is still on its list. */
  async close(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!isRunning(child)) return;
    holdOpen(child, true);
    const ended = new Promise(resolve => child.once('close', resolve));
    child.stdin?.end();
    await ended;
  }

  async #tell(sandbox: number, line: string): Promise<void> {
    this.#listed.set(sandbox, (this.#listed.get(sandbox) ?? '') + line);
    const child = this.#child;
    if (isRunning(child) && (await send(child, line))) return;
    // It was killed, which Node may not know yet. What starts the next one tells it of all that is listed.
    if (this.#child === child) this.#started = this.#start();
    await this.#started;
  }

  async #start(): Promise<void> {
    // A group of its own: what ends us at a terminal leaves it alone.
    const child = startChild({
      program: '/bin/sh',
      args: ['-c', WATCH],
      env: {},
      cwd: '/',
      pipes: [0],
      detached: true,
    });
    child.on('error', () => {});
    child.stdout?.destroy();
    child.stderr?.destroy();
    holdOpen(child, false);
    this.#child = child;
    await send(child, [...this.#listed.values()].join(''));
  }
}

function isRunning(child: ChildProcess | undefined): child is ChildProcess {
  return child?.pid !== undefined && child.exitCode === null && child.signalCode === null;
}

/** Whether the kernel has it. */
function send(child: ChildProcess, text: string): Promise<boolean> {
  return new Promise(resolve => {
    if (child.stdin === null) resolve(false);
    else child.stdin.write(text, error => resolve(error == null));
  });
}
