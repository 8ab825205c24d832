import {constants} from 'node:os';
import {join} from 'node:path';
import {fail} from '../../core/failure/fail.ts';
import {randomHex} from '../../core/random.ts';
import {ok, type Result} from '../../core/result.ts';
import {exitStatusOf} from '../child/exit-status.ts';
import {isHarmlessVariable} from '../child/harmless-variable.ts';
import {inheritedEnv} from '../child/inherited-env.ts';
import {ownListeningPorts} from '../child/listening-ports.ts';
import {OutputCapture} from '../child/output-capture.ts';
import {startChild} from '../child/start-child.ts';
import {superviseChild} from '../child/supervise-child.ts';
import type {RunOptions} from '../options.ts';
import type {Execution, SandboxCommand, SandboxDriver, SandboxHost, SandboxReport} from '../sandbox.ts';
import {sandboxFailure} from '../sandbox-failure.ts';
import {HostWatch} from './host-watch.ts';
import {endBySentinel, SENTINEL, sentinelProcesses} from './sentinel-processes.ts';

/** The word for which a command waits. */
const GATE = 3;
/**
 * `sh -c AFTER_WORD sh COMMAND`. A host that is killed while it starts a command never says the word; one that said it
 * has a watch that sees the command. Without the word it ends by a signal: no exit code of its own could be told from
 * one of the command.
 */
const AFTER_WORD = `read -r word <&${GATE} || kill -s KILL $$; exec ${GATE}<&-; exec /bin/sh -c "$1"`;

/** Ruling W8: `none`. No sandbox: only its time and its output are limited. */
export class UnconfinedSandbox implements SandboxDriver {
  readonly #options: RunOptions;
  readonly #host: SandboxHost;
  readonly #session = randomHex(16);
  readonly #watch = new HostWatch(this.#session);

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
    const sentinel = `${this.#session}.${randomHex(4)}`;
    const stdout = new OutputCapture(command.spill?.stdout);
    const stderr = new OutputCapture(command.spill?.stderr);
    this.#watch.start();
    const child = startChild({
      program: '/bin/sh',
      args: ['-c', AFTER_WORD, 'sh', command.command],
      env: {...this.#env(), ...command.env, [SENTINEL]: sentinel},
      cwd: join(this.#host.workspace, command.directory ?? ''),
      pipes: [GATE],
      detached: true,
    });
    command.onStart?.({
      sandbox: 'none',
      listeningPorts: async () => ownListeningPorts([...(await sentinelProcesses(sentinel)).keys()]),
    });
    let killing: Promise<readonly string[]> | undefined;
    const outcome = await superviseChild(child, {
      inputs: {[GATE]: 'run\n'},
      outputs: {1: chunk => stdout.write(chunk), 2: chunk => stderr.write(chunk)},
      onExit: () => {
        killing ??= endBySentinel(child.pid, sentinel);
      },
      kill: () => {
        killing ??= endBySentinel(child.pid, sentinel);
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

  async close(): Promise<void> {
    await this.#watch.close();
  }

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
