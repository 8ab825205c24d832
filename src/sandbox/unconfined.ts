// Runs commands without a sandbox, where the owner asked for that. A sentinel ends what a killed host leaves.
import type {ChildProcess} from 'node:child_process';
import {readdir, readFile} from 'node:fs/promises';
import {constants} from 'node:os';
import {join} from 'node:path';
import {randomHex} from '../core/clock.ts';
import {fail, ok, type Result} from '../core/result.ts';
import {holdOpen} from '../system/process.ts';
import {startChild} from './child.ts';
import {capturesOf, ProbedSandbox, type Promised, superviseCommand} from './driver.ts';
import {inheritedEnv, isHarmlessVariable} from './env.ts';
import {ownListeningPorts} from './listening-ports.ts';
import type {Execution, SandboxCommand} from './sandbox.ts';
import {sandboxFailure} from './sandbox-failure.ts';

/** The word for which a command waits. */
const GATE = 3;
/**
 * `sh -c AFTER_WORD sh COMMAND`. A host that is killed while it starts a command never says the word; one that said it
 * has a watch that sees the command. Without the word it ends by a signal: no exit code of its own could be told from
 * one of the command.
 */
const AFTER_WORD = `read -r word <&${GATE} || kill -s KILL $$; exec ${GATE}<&-; exec /bin/sh -c "$1"`;

/** Ruling W8: `none`. No sandbox: only its time and its output are limited. */
export class UnconfinedSandbox extends ProbedSandbox<undefined> {
  readonly #session = randomHex(16);
  readonly #watch = new HostWatch(this.#session);

  protected async setUp(): Promise<Result<undefined>> {
    if (!this.options.allow_insecure_none) {
      return sandboxFailure({
        problem: 'tools.run.sandbox is "none", which lets commands reach everything that this user can',
        remedy:
          'set tools.run.sandbox = "auto", or tools.run.allow_insecure_none = true if that is what you want.',
      });
    }
    return ok();
  }

  protected promise(): Promised {
    return {report: {sandbox: 'none', memoryLimit: 'none', description: 'no sandbox'}};
  }

  protected async execute(_: undefined, command: SandboxCommand): Promise<Result<Execution>> {
    const [refused] = Object.entries(command.env).find(entry => !isHarmlessVariable(...entry)) ?? [];
    if (refused !== undefined) {
      const reason = 'is not given to a process of the host';
      return fail(
        'invalid_params',
        `"env.${refused}" ${reason}: without a sandbox, only language, time zone and colours can be set. Leave it out, or use a sandbox.`,
        {field: `env.${refused}`, reason},
      );
    }
    const sentinel = `${this.#session}.${randomHex(4)}`;
    this.#watch.start();
    const child = startChild({
      program: '/bin/sh',
      args: ['-c', AFTER_WORD, 'sh', command.command],
      env: {...this.#env(), ...command.env, [SENTINEL]: sentinel},
      cwd: join(this.host.workspace, command.directory ?? ''),
      pipes: [GATE],
      detached: true,
    });
    let killing: Promise<readonly string[]> | undefined;
    const endAll = (): void => {
      killing ??= endBySentinel(child.pid, sentinel);
    };
    const captures = capturesOf(command);
    const {stdout, stderr} = captures;
    const {outcome, execution} = await superviseCommand(child, command, {
      started: {
        sandbox: 'none',
        listeningPorts: async () => ownListeningPorts([...(await sentinelProcesses(sentinel)).keys()]),
      },
      captures,
      inputs: {[GATE]: 'run\n'},
      outputs: {1: chunk => stdout.write(chunk), 2: chunk => stderr.write(chunk)},
      onExit: endAll,
      kill: endAll,
      clock: this.host.clock,
    });
    if (outcome.startError !== undefined) {
      return sandboxFailure({
        problem: 'The command could not be started',
        remedy: 'check that /bin/sh and the workspace are there.',
        error: outcome.startError.message,
      });
    }
    const left = await killing;
    const {killedFor, code, signal} = outcome;
    if (killedFor !== undefined) return ok(execution(undefined, []));
    const number = signal === null ? (code ?? 0) : 128 + constants.signals[signal];
    return ok(execution({code: number, bySignal: signal !== null, outOfMemory: false}, left ?? []));
  }

  async close(): Promise<void> {
    await this.#watch.close();
  }

  #env(): Record<string, string> {
    const {env} = this.host;
    const home = env['HOME'];
    return {
      ...inheritedEnv(this.options, env),
      PATH: env['PATH'] ?? this.options.path,
      ...(home === undefined ? {} : {HOME: home}),
    };
  }
}

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

const MAX_KILL_TRIES = 1000;
const MAX_NAMES = 16;

/** In the environment of the processes of one command, and of all that they start. */
const SENTINEL = 'FORGE_RUN';

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
