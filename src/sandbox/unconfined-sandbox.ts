import type {ChildProcess} from 'node:child_process';
import {readdir, readFile} from 'node:fs/promises';
import {constants} from 'node:os';
import {join} from 'node:path';
import {fail} from '../core/failure/fail.ts';
import {randomHex} from '../core/random.ts';
import {ok, type Result} from '../core/result.ts';
import {exitStatusOf} from './child/exit-status.ts';
import {isHarmlessVariable} from './child/harmless-variable.ts';
import {inheritedEnv} from './child/inherited-env.ts';
import {OutputCapture} from './child/output-capture.ts';
import {startChild} from './child/start-child.ts';
import {superviseChild} from './child/supervise-child.ts';
import type {RunOptions} from './options.ts';
import type {Execution, SandboxCommand, SandboxDriver, SandboxHost, SandboxReport} from './sandbox.ts';
import {sandboxFailure} from './sandbox-failure.ts';

/** Marks the processes of one command. */
const SENTINEL = 'FORGE_RUN';

const MAX_KILL_TRIES = 1000;
const MAX_NAMES = 16;

/** Ruling W8: `none`. No sandbox: only its time and its output are limited. */
export class UnconfinedSandbox implements SandboxDriver {
  readonly #options: RunOptions;
  readonly #host: SandboxHost;

  constructor(options: RunOptions, host: SandboxHost) {
    this.#options = options;
    this.#host = host;
  }

  async probe(): Promise<Result<SandboxReport>> {
    if (!this.#options.allow_insecure_none) {
      return sandboxFailure({
        problem: 'tools.run.sandbox is "none", which lets commands reach everything that this user can',
        remedy:
          'set tools.run.sandbox = "auto", or tools.run.allow_insecure_none = true if that is what you want.',
      });
    }
    return ok({sandbox: 'none', memoryLimit: 'none', description: 'no sandbox'});
  }

  async run(command: SandboxCommand): Promise<Result<Execution>> {
    const allowed = await this.probe();
    if (!allowed.ok) return allowed;
    const [refused] = Object.entries(command.env).find(entry => !isHarmlessVariable(...entry)) ?? [];
    if (refused !== undefined) {
      const reason = 'is not given to a process of the host';
      return fail(
        'invalid_params',
        `"env.${refused}" ${reason}: without a sandbox, only language, time zone and colours can be set. Leave it out, or use a sandbox.`,
        {field: `env.${refused}`, reason},
      );
    }
    const sentinel = randomHex(16);
    const stdout = new OutputCapture(command.spill?.stdout);
    const stderr = new OutputCapture(command.spill?.stderr);
    const child = startChild({
      program: '/bin/sh',
      args: ['-c', command.command],
      env: {...this.#env(), ...command.env, [SENTINEL]: sentinel},
      cwd: join(this.#host.workspace, command.directory ?? ''),
      detached: true,
    });
    let killing: Promise<readonly string[]> | undefined;
    const outcome = await superviseChild(child, {
      outputs: {1: chunk => stdout.write(chunk), 2: chunk => stderr.write(chunk)},
      onExit: () => {
        killing ??= killAll(child, sentinel);
      },
      kill: () => {
        killing ??= killAll(child, sentinel);
      },
      timeoutMs: command.timeoutMs,
      signal: command.signal,
      clock: this.#host.clock,
    });
    if (outcome.startError !== undefined) {
      return sandboxFailure({
        problem: 'The command could not be started',
        remedy: 'check that /bin/sh and the workspace are there.',
        error: outcome.startError.message,
      });
    }
    const left = await killing;
    return ok({
      sandbox: 'none',
      exitStatus: outcome.killedFor === undefined ? exitStatusFrom(outcome) : {kind: outcome.killedFor},
      stdout: stdout.finish(),
      stderr: stderr.finish(),
      durationMs: outcome.durationMs,
      leftRunning: outcome.killedFor === undefined ? (left ?? []) : [],
    });
  }

  async close(): Promise<void> {}

  #env(): Record<string, string> {
    const {env} = this.#host;
    const home = env['HOME'];
    return {
      ...inheritedEnv(this.#options, env),
      PATH: env['PATH'] ?? this.#options.path,
      ...(home === undefined ? {} : {HOME: home}),
    };
  }
}

function exitStatusFrom({
  code,
  signal,
}: {
  code: number | null;
  signal: NodeJS.Signals | null;
}): Execution['exitStatus'] {
  const bySignal = signal !== null;
  return exitStatusOf({
    code: bySignal ? 128 + constants.signals[signal] : (code ?? 0),
    bySignal,
    outOfMemory: false,
  });
}

/**
 * Kills the process group and whatever else carries the mark, until nothing of it is left. A process
 * that has cleared its environment gets away: that is what "none" means.
 */
async function killAll(child: ChildProcess, sentinel: string): Promise<readonly string[]> {
  const names = new Map<number, string>();
  for (let tries = 0; tries < MAX_KILL_TRIES; tries++) {
    const found = await findBySentinel(sentinel);
    if (child.pid !== undefined) kill(-child.pid);
    if (found.size === 0) break;
    for (const [pid, name] of found) {
      names.set(pid, name);
      kill(pid);
    }
  }
  if (child.pid !== undefined) names.delete(child.pid);
  return [...names.values()].slice(0, MAX_NAMES);
}

async function findBySentinel(sentinel: string): Promise<ReadonlyMap<number, string>> {
  const found = new Map<number, string>();
  for (const entry of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(entry)) continue;
    const environment = await readFile(`/proc/${entry}/environ`, 'latin1').catch(() => '');
    if (!environment.split('\0').includes(`${SENTINEL}=${sentinel}`)) continue;
    found.set(Number(entry), (await readFile(`/proc/${entry}/comm`, 'utf8').catch(() => '')).trim());
  }
  return found;
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone by itself.
  }
}
