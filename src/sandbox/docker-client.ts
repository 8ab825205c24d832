import {execFile} from 'node:child_process';
import {startChild} from './start-child.ts';

/** What tells the client which daemon to talk to. Nothing else of the host's environment reaches it. */
const CLIENT_ENV = [
  'DOCKER_HOST',
  'DOCKER_CONTEXT',
  'DOCKER_CONFIG',
  'DOCKER_CERT_PATH',
  'DOCKER_TLS_VERIFY',
  'DOCKER_API_VERSION',
  'HOME',
  'PATH',
  'XDG_RUNTIME_DIR',
];

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

  constructor(program: string, hostEnv: Readonly<Record<string, string | undefined>>) {
    this.#program = program;
    this.#env = Object.fromEntries(
      CLIENT_ENV.flatMap(name => {
        const value = hostEnv[name];
        return value === undefined ? [] : [[name, value]];
      }),
    );
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
