import {lstatSync, readdirSync, realpathSync} from 'node:fs';
import {delimiter, isAbsolute, join, sep} from 'node:path';
import {errorCode} from '../../system/error-code.ts';
import {STANDARD_DIRECTORIES} from '../../system/find-program.ts';

/** What tells the client which daemon to talk to. Nothing else of the host's environment reaches it. */
const TEXTS = ['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_TLS_VERIFY', 'DOCKER_API_VERSION'];
const PATHS = ['DOCKER_CERT_PATH', 'HOME', 'XDG_RUNTIME_DIR'];

/** What the client runs or obeys in its directory of settings. Each of them, and each plugin, may be a link. */
const SETTINGS = ['config.json', 'cli-plugins', 'contexts'];
const NO_SETTINGS = '/nonexistent';

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
  try {
    return readdirSync(plugins).map(name => join('cli-plugins', name));
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return [];
  }
}

/** A link that leads to nothing is there: a command could make what it leads to. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, {throwIfNoEntry: false}) !== undefined;
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return true;
  }
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
  try {
    return realpathSync(place);
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return undefined;
  }
}
