// Runs the Docker client with a clean environment.
import {execFile} from 'node:child_process';
import {lstatSync, readdirSync, realpathSync} from 'node:fs';
import {delimiter, isAbsolute, join, sep} from 'node:path';
import {ifRefused} from '../../system/errors.ts';
import {STANDARD_DIRECTORIES} from '../../system/find-program.ts';
import {startChild} from '../child.ts';

const MAX_ANSWER_BYTES = 1_048_576;

interface ClientAnswer {
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

/** What tells the client which daemon to talk to. Nothing else of the host's environment reaches it. */
const TEXTS = ['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_TLS_VERIFY', 'DOCKER_API_VERSION'];
const PATHS = ['DOCKER_CERT_PATH', 'HOME', 'XDG_RUNTIME_DIR'];

/** What the client runs or obeys in its directory of settings. Each of them, and each plugin, may be a link. */
const SETTINGS = ['config.json', 'cli-plugins', 'contexts'];
/** Nobody can make a directory there. */
const NO_SETTINGS = '/proc/forge-tools-none';

/**
 * The environment of the Docker client. The client executes what lies in `cli-plugins` of its settings, and takes
 * the daemon from `config.json`, so neither comes from `untrustedTrees`: real paths of trees that commands can write to.
 */
export function dockerClientEnv(
  hostEnv: Readonly<Record<string, string | undefined>>,
  untrustedTrees: readonly string[],
): Readonly<Record<string, string>> {
  const given = [...TEXTS, ...PATHS].flatMap(name => {
    const value = hostEnv[name];
    if (value === undefined || (PATHS.includes(name) && !isOutside(value, untrustedTrees))) return [];
    return [[name, value] as const];
  });
  return {
    ...Object.fromEntries(given),
    // Named also where it is the default: without HOME the client asks the table of users for one.
    DOCKER_CONFIG: settingsDirectory(hostEnv, untrustedTrees),
    PATH: trustedPath(hostEnv['PATH'], untrustedTrees),
  };
}

function settingsDirectory(
  {DOCKER_CONFIG: named, HOME: home}: Readonly<Record<string, string | undefined>>,
  untrustedTrees: readonly string[],
): string {
  const directory = named || (home ? join(home, '.docker') : NO_SETTINGS);
  if (!isOutside(directory, untrustedTrees)) return NO_SETTINGS;
  const parts = [...SETTINGS, ...entriesOf(join(directory, 'cli-plugins'))].map(name =>
    join(directory, name),
  );
  return parts.every(path => !isThere(path) || isOutside(path, untrustedTrees)) ? directory : NO_SETTINGS;
}

function entriesOf(plugins: string): readonly string[] {
  return ifRefused(() => readdirSync(plugins).map(name => join('cli-plugins', name)), []);
}

/** A link that leads to nothing is there: a command could make what it leads to. */
function isThere(path: string): boolean {
  return ifRefused(() => lstatSync(path, {throwIfNoEntry: false}) !== undefined, true);
}

/** review R3: the client looks for helpers of its own (credentials, contexts) in it. */
function trustedPath(path: string | undefined, untrustedTrees: readonly string[]): string {
  const named = (path ?? '').split(delimiter).filter(directory => isOutside(directory, untrustedTrees));
  return [...STANDARD_DIRECTORIES, ...named].join(delimiter);
}

/** False also where nothing is there, as a command could make it. */
function isOutside(place: string, untrustedTrees: readonly string[]): boolean {
  const real = isAbsolute(place) ? realPath(place) : undefined;
  return real !== undefined && !isBelowAny(real, untrustedTrees) && !isBelowAny(place, untrustedTrees);
}

function isBelowAny(place: string, trees: readonly string[]): boolean {
  return trees.some(tree => `${place}${sep}`.startsWith(`${tree}${sep}`));
}

function realPath(place: string): string | undefined {
  return ifRefused(() => realpathSync(place));
}
