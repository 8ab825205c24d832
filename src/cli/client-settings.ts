// Reads, merges and writes the settings of MCP clients for `setup`. It finds their files, keeps what others wrote
// there, and makes the command that starts the server.
import {lstat, mkdir, readFile, realpath, stat} from 'node:fs/promises';
import {dirname, join, relative, resolve, sep} from 'node:path';
import {configSchema} from '../config/config-schema.ts';
import {mergeTomlTable} from '../config/edit-config.ts';
import {type Environment, startedIn} from '../config/environment.ts';
import {isTable} from '../config/raw-values.ts';
import {renderConfigFile} from '../config/render-reference.ts';
import type {Result} from '../core/result.ts';
import {errorCode, errorReason} from '../system/errors.ts';
import {replaceFile} from '../system/replace-file.ts';
import {CLIENT_ENTRIES, type Client, type ClientEntry, SERVER_NAME} from './clients.data.ts';
import {UsageError} from './flags.ts';

/** The content as it is on the disk; `undefined` where there is no file. The error is a sentence. */
export async function readSettingsFile(
  file: string,
  isOfProject: boolean,
): Promise<Result<string | undefined, string>> {
  try {
    // A repository can hold a link to a device, or to a file whose text is nobody's business.
    const info = await lstat(file);
    if (info.isSymbolicLink() && isOfProject) return {ok: false, error: 'is a symbolic link'};
    const target = await stat(file).catch(() => undefined);
    if (target === undefined) return {ok: false, error: 'is a link that leads nowhere'};
    if (!target.isFile()) return {ok: false, error: 'is not a file'};
    return {
      ok: true,
      value: new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(await readFile(file)),
    };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return {ok: true, value: undefined};
    const code = errorReason(error);
    return {
      ok: false,
      error: code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'is not UTF-8' : `cannot be read (${code})`,
    };
  }
}

interface SettingsChange {
  readonly file: string;
  readonly before: string | undefined;
  readonly after: string;
  /** Of settings that lie in a project: the project, which they must not leave by a link. */
  readonly project: string | undefined;
}

/** There is the old file or the new one, whole. A linked file of the user stays linked. The error is a sentence. */
export async function writeSettings({
  file,
  before,
  after,
  project,
}: SettingsChange): Promise<Result<undefined, string>> {
  try {
    await mkdir(dirname(file), {recursive: true, mode: project === undefined ? 0o700 : 0o777});
    const path = await realpath(file).catch(() => file);
    if (project !== undefined && (await leaves(project, file))) {
      return {ok: false, error: 'leaves the project by a symbolic link'};
    }
    const old = await stat(path).catch(() => undefined);
    const mode = project === undefined ? 0o600 : 0o666;
    // The client may have written since we looked.
    const now = await readSettingsFile(path, project !== undefined);
    if (!now.ok || now.value !== before) return {ok: false, error: 'was changed meanwhile; start again'};
    await replaceFile(path, after, {mode, like: old, durable: true});
    return {ok: true, value: undefined};
  } catch (error) {
    return {ok: false, error: `cannot be written (${errorReason(error)})`};
  }
}

/** A repository that somebody else made may hold links to files of the user. */
async function leaves(project: string, file: string): Promise<boolean> {
  const isLink = await lstat(file).then(
    info => info.isSymbolicLink(),
    () => false,
  );
  const inside = relative(await realpath(project), await realpath(dirname(file)));
  return isLink || inside === '..' || inside.startsWith(`..${sep}`);
}

type Entry = Readonly<Record<string, string | number | readonly string[]>>;
type Table = Readonly<Record<string, unknown>>;

/** The settings of a client with our server among the others; of an empty file, what to paste. */
export function mergeSettings(
  client: Client,
  before: string,
  start: readonly [string, ...string[]],
): Result<string, string> {
  const {key, format} = CLIENT_ENTRIES[client];
  const entry = serverEntry(client, start);
  const keep: MakeEntry = own => {
    const lost = flagsOf(own['args']).filter(flag => !flagsOf(entry['args']).includes(flag));
    if (lost.length === 0) return {ok: true, value: {...own, ...entry}};
    return {ok: false, error: `has an entry with ${lost.join(' and ')}, which the new one lacks`};
  };
  const table = {key, name: SERVER_NAME, entry: keep};
  return inItsForm(before, text =>
    format === 'json' ? mergeJson(text, table) : mergeTomlTable(text, table),
  );
}

/** A byte order mark, and line ends of Windows where the file has no others, stay as they are. */
function inItsForm(before: string, merge: (text: string) => Result<string, string>): Result<string, string> {
  const mark = before.startsWith('\uFEFF') ? '\uFEFF' : '';
  const text = before.slice(mark.length);
  const isWindows = text.includes('\r\n') && !/(?<!\r)\n/.test(text);
  const merged = merge(isWindows ? text.replaceAll('\r\n', '\n') : text);
  if (!merged.ok) return merged;
  return {ok: true, value: mark + (isWindows ? merged.value.replaceAll('\n', '\r\n') : merged.value)};
}

/** Each with its value. What a user wrote into an entry must not go unseen: another directory, a stricter profile. */
function flagsOf(args: unknown): readonly string[] {
  if (!Array.isArray(args)) return [];
  const words = args.map(String);
  return words.flatMap((word, at) => {
    if (!word.startsWith('--')) return [];
    const value = words[at + 1];
    const hasValue = value !== undefined && !word.includes('=') && !value.startsWith('--');
    return [hasValue ? `${word} ${value}` : word.replace('=', ' ')];
  });
}

/** What stands under the name of the server in the settings of a client. */
function serverEntry(client: Client, [command, ...args]: readonly [string, ...string[]]): Entry {
  const {before, after}: ClientEntry = CLIENT_ENTRIES[client];
  return {...before, command, args, ...after};
}

/** From what is there. The error is a sentence. */
type MakeEntry = (own: Table) => Result<Table, string>;

/** The text of a JSON file with what `entry` makes of what is under `key` and `name`; everything else is as it was. The error is a sentence. */
function mergeJson(
  text: string,
  {key, name, entry}: {readonly key: string; readonly name: string; readonly entry: MakeEntry},
): Result<string, string> {
  if (text.trim() === '') {
    const made = entry({});
    return made.ok ? {ok: true, value: write({[key]: {[name]: made.value}}, '  ')} : made;
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return refuse('is not plain JSON; it has comments, or is damaged');
  }
  if (!isTable(parsed)) return refuse('is not a JSON object');
  // Written anew, 1.0 would be 1, a long number another one, and a name that is there twice there once.
  if (shape(text) !== shape(JSON.stringify(parsed)))
    return refuse('has numbers or names that writing it anew would change');
  const servers = Object.hasOwn(parsed, key) ? parsed[key] : {};
  if (!isTable(servers)) return refuse(`has a ${JSON.stringify(key)} that is not an object`);
  const indent = /\n([ \t]+)"/.exec(text)?.[1] ?? '  ';
  const own = Object.hasOwn(servers, name) ? servers[name] : {};
  const made = entry(isTable(own) ? own : {});
  if (!made.ok) return made;
  const value = write({...parsed, [key]: {...servers, [name]: made.value}}, indent);
  return {ok: true, value: text.endsWith('\n') ? value : value.slice(0, -1)};
}

function write(value: object, indent: string): string {
  return `${JSON.stringify(value, null, indent)}\n`;
}

/** All but the strings, whose escapes may differ. Their number is kept. */
function shape(text: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\s+/g, '');
}

function refuse(error: string): Result<never, string> {
  return {ok: false, error};
}

/** Where a client looks for its servers on this system: for all projects of the user, or for the project here. */
export function settingsFile(
  client: Client,
  scope: 'user' | 'project',
  {env, homeDir, cwd}: Environment,
  platform: string,
): string | undefined {
  const {user, project}: ClientEntry = CLIENT_ENTRIES[client];
  if (scope === 'project') return project === undefined ? undefined : join(cwd, project);
  if (user === undefined) return undefined;
  const own = OWN_DIRECTORY[client];
  const moved = own === undefined ? undefined : env[own.variable];
  if (own !== undefined && moved !== undefined && moved !== '') return join(resolve(cwd, moved), own.file);
  const place = platform === 'darwin' || platform === 'win32' ? user[platform] : user.linux;
  const appData = env['APPDATA'] ?? join(homeDir, 'AppData', 'Roaming');
  const config = env['XDG_CONFIG_HOME'];
  if (config?.startsWith('/') && place.startsWith('~/.config/')) {
    return join(config, place.slice('~/.config/'.length));
  }
  return join(place.replace(/^~(?=\/)/, () => homeDir).replace(/^%APPDATA%/, () => appData));
}

/** Clients whose directory a variable moves. */
const OWN_DIRECTORY: Partial<Record<Client, {readonly variable: string; readonly file: string}>> = {
  codex: {variable: 'CODEX_HOME', file: 'config.toml'},
  copilot: {variable: 'COPILOT_HOME', file: 'mcp-config.json'},
};

/** An entry that nobody gave a directory must not open the home of the user, and all that is above it, to a model. */
export function requireProject(environment: Environment): void {
  if (startedIn(environment).length > 0) return;
  throw new UsageError(
    'This is your home directory, or one above it. Name the directory that the tools see with --workspace DIR.',
  );
}

/** A command as a person pastes it into a POSIX shell. */
export function shellWords(words: readonly string[]): string {
  return words
    .map(word => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}

/**
 * A command as a person pastes it into cmd.exe or PowerShell. There is none where a word means different things to
 * the two: both expand names (`%A%`, `$A`), and write a double quote in another way.
 */
export function windowsShellWords(words: readonly string[]): string | undefined {
  if (words.some(word => /["%$`!^]/.test(word))) return undefined;
  // A script of PowerShell, such as npm installs, is not handed a bare "--".
  return words.map(word => (/^[\w@+=:./\\-]+$/.test(word) && word !== '--' ? word : `"${word}"`)).join(' ');
}

interface Launcher {
  readonly program: readonly [string, ...string[]];
  readonly version: string;
  readonly platform: string;
}

/**
 * What starts this installation: its path, or where npx started it, npx with this version. A path into the cache of
 * npx would die with the next version.
 */
export function launcherOf({program, version, platform}: Launcher): readonly [string, ...string[]] {
  // Node itself can come by npx, too.
  if (!/[\\/]_npx[\\/]/.test(program.at(-1) ?? '')) return program;
  const npx = ['npx', '-y', `forge-tools@${version}`] as const;
  // npx is a script there, which clients cannot start by themselves.
  return platform === 'win32' ? ['cmd', '/c', ...npx] : [...npx];
}

const INTRO = [
  '# Configuration of forge-tools. Every tool is on, and calls with side effects are asked about. Every setting stands',
  '# here with its default; take the "#" off to change it.',
  '# "forge-tools config" prints what is in force, "forge-tools doctor" what this machine lacks.',
  '',
].join('\n');

/**
 * The file that `config --init` writes offers the tools that are offered without one. Everything stands as a comment, so
 * that a later version's defaults reach whoever did not choose otherwise. (ruling H7)
 */
export function starterConfig(): string {
  return `${INTRO}\n${renderConfigFile(configSchema).replace(/^(?=\w+ = )/gm, '#')}`;
}
