// Reads the process environment, once. It says where runs and the configuration file are.
import {realpathSync} from 'node:fs';
import {homedir, tmpdir} from 'node:os';
import {delimiter, dirname, isAbsolute, join, resolve, sep} from 'node:path';

/** What the process was started with. Everything else that needs it is handed this. */
export interface Environment {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The temporary directory of the operating system. */
  readonly tempDir: string;
  readonly homeDir: string;
  /** Whether nobody else's code runs in the process, as in that of the command line. Default: no. */
  readonly ownsProcess?: boolean;
}

/** The only place that reads the process environment: a snapshot of it. */
export function readEnvironment(): Environment {
  return Object.freeze({
    env: Object.freeze({...process.env}),
    cwd: process.cwd(),
    tempDir: tmpdir(),
    homeDir: homedir(),
  });
}

/** Where runs are kept if the user does not say: below the user's state directory (XDG). */
export function defaultRunsRoot({env, homeDir, tempDir}: Environment): string {
  const xdg = env['XDG_STATE_HOME'];
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, 'forge-tools', 'runs');
  if (isAbsolute(homeDir)) return join(homeDir, '.local', 'state', 'forge-tools', 'runs');
  return join(tempDir, ownName('forge-tools-runs'));
}

/** The directory of one run, under its `name`. Never inside the workspace (ruling W10). */
export function defaultRunDirectory(
  environment: Environment,
  workspace: string | undefined,
  name: string,
): string {
  const directory = join(defaultRunsRoot(environment), name);
  if (workspace === undefined || !isInside(directory, workspace)) return directory;
  return join(environment.tempDir, ownName(`forge-tools-run-${name}`));
}

function isInside(path: string, root: string): boolean {
  return path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);
}

/** Locks, journals and copies of workspace changes: one place for all processes of the user. */
export function defaultStateDirectory(environment: Environment, workspace: string): string {
  return stateDirectory(environment, workspace, 'journal');
}

/** Which sessions run commands: one place for all processes of the user. */
export function defaultSessionsDirectory(environment: Environment, workspace: string): string {
  return stateDirectory(environment, workspace, 'sessions');
}

function stateDirectory(environment: Environment, workspace: string, name: string): string {
  const directory = join(dirname(defaultRunsRoot(environment)), name);
  return isInside(directory, workspace)
    ? join(environment.tempDir, ownName(`forge-tools-${name}`))
    : directory;
}

/**
 * What a session on any workspace of the user believes: journals to be restored, approvals of its runs. Those of
 * other workspaces can lie in this one, such as where it is the home directory.
 */
export function believedDirectories(environment: Environment, workspace: string): readonly string[] {
  const runs = defaultRunsRoot(environment);
  return [defaultStateDirectory(environment, workspace), join(dirname(runs), 'journal'), runs];
}

/** The absolute directories of `PATH`; a relative one would depend on where the model works. */
export function programDirectories({env}: Environment): readonly string[] {
  return (env['PATH'] ?? '').split(delimiter).filter(isAbsolute);
}

/** review R6: in a directory that all users share, a name of one's own. Whoever uses it looks at its owner, too. */
export function ownName(name: string): string {
  const uid = process.getuid?.();
  return uid === undefined ? name : `${name}-${uid}`;
}

/** A configuration file, and who named it; undefined where it is the user's usual one. */
export interface ConfigPath {
  readonly file: string;
  readonly namedBy?: '--config' | 'FORGE_TOOLS_CONFIG';
}

/**
 * Ruling H5: `--config`, else FORGE_TOOLS_CONFIG, else the XDG directory, which must be absolute to count.
 * `undefined` where there is no home to look in.
 */
export function configPath(
  written: string | undefined,
  {env, cwd, homeDir}: Environment,
): ConfigPath | undefined {
  if (written !== undefined) return {file: resolve(cwd, written), namedBy: '--config'};
  const fromEnv = env['FORGE_TOOLS_CONFIG'];
  if (fromEnv !== undefined && fromEnv.trim() !== '') {
    return {file: resolve(cwd, fromEnv), namedBy: 'FORGE_TOOLS_CONFIG'};
  }
  const xdg = env['XDG_CONFIG_HOME'];
  if (xdg !== undefined && isAbsolute(xdg)) return {file: join(xdg, 'forge-tools', 'config.toml')};
  return isAbsolute(homeDir) ? {file: join(homeDir, '.config', 'forge-tools', 'config.toml')} : undefined;
}

/**
 * Review R3: where no workspace is named, the directory that we were started in is as likely a project with
 * programs of its own, and none of them is run. The home of the user and what lies above it are no project.
 */
export function startedIn({cwd, homeDir}: Pick<Environment, 'cwd' | 'homeDir'>): readonly string[] {
  const below = cwd.endsWith(sep) ? cwd : `${cwd}${sep}`;
  // The working directory has no links in its name; the home of the user may.
  const homes = [homeDir, realPath(homeDir)];
  return homes.some(home => home === cwd || home.startsWith(below)) ? [] : [cwd];
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
