import {execFile} from 'node:child_process';
import {startChild} from '../child/start-child.ts';
import {dockerClientEnv} from './docker-client-env.ts';

const MAX_ANSWER_BYTES = 1_048_576;

export interface ClientAnswer {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command line client of one daemon. */
export class DockerClient {
  readonly #program: string;
  readonly #env: Readonly<Record<string, string>>;

  constructor(
    program: string,
    hostEnv: Readonly<Record<string, string | undefined>>,
    untrustedTrees: readonly string[],
  ) {
    this.#program = program;
    this.#env = dockerClientEnv(hostEnv, untrustedTrees);
  }

  /** Runs a short command of the client. */
  ask(args: readonly string[], timeoutMs: number): Promise<ClientAnswer> {
    const options = {env: this.#env, cwd: '/', timeout: timeoutMs, maxBuffer: MAX_ANSWER_BYTES};
    return new Promise(resolve => {
      let broken: Error | undefined;
      const child = execFile(this.#program, args, options, (error, stdout, stderr) => {
        const problem = error ?? broken;
        resolve({ok: problem === undefined, stdout, stderr: stderr || (problem?.message ?? '')});
      });
      for (const pipe of [child.stdout, child.stderr]) {
        pipe?.on('error', error => {
          broken = error;
        });
      }
    });
  }

  /** Starts one that stays; `interactive` gives it a standard input that we hold. */
  start(args: readonly string[], interactive: boolean) {
    return startChild({
      program: this.#program,
      args,
      env: this.#env,
      cwd: '/',
      pipes: interactive ? [0] : [],
    });
  }
}
