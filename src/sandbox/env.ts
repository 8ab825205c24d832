// The environment of a command: variables, git identity, proxies and programs.
import {closeSync, constants, fstatSync, openSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {errorCode} from '../system/errors.ts';
import type {ProgramPlaces} from '../system/find-program.ts';
import {PROXY_PORT, TRUSTED_BUNDLE} from './egress-relay.ts';
import type {RunOptions} from './options.ts';
import type {SandboxHost} from './sandbox.ts';

/**
 * The environment of every command in a sandbox: who commits, and the way out where there is one. Without one, npm
 * gives up at once instead of after a minute. The configuration and the call override this.
 */
export function sandboxEnv(
  options: RunOptions,
  {env, egress}: SandboxHost,
  identity: Readonly<Record<string, string>>,
): Record<string, string> {
  const network = egress === undefined ? {npm_config_fetch_retries: '0'} : egressEnv(egress);
  return {...network, ...identity, ...inheritedEnv(options, env)};
}

interface Person {
  readonly name?: string | undefined;
  readonly email?: string | undefined;
}

const MAX_BYTES = 262_144;
const MAX_CHARS = 200;
const NOBODY = {name: 'forge-tools', email: 'forge-tools@localhost'};

/** Variables are stronger than every configuration. */
const VARIABLES = {
  GIT_AUTHOR_NAME: 'name',
  GIT_AUTHOR_EMAIL: 'email',
  GIT_COMMITTER_NAME: 'name',
  GIT_COMMITTER_EMAIL: 'email',
} as const;

type HostEnv = Readonly<Record<string, string | undefined>>;

/**
 * Who commits in a sandbox, where the configuration of the user is not: who it would be outside, by the environment,
 * the repository or the user. These are read as files, since git runs what some settings say; what they include is
 * not followed. Somebody neutral where nobody is named.
 */
export function gitIdentity(workspace: string, env: HostEnv): Readonly<Record<string, string>> {
  const person = firstOf([join(workspace, '.git/config'), ...userFiles(env)]);
  const variables = Object.entries(VARIABLES).map(([name, key]) => [name, usable(env[name]) ?? person[key]]);
  return Object.fromEntries(variables);
}

/** What of it is named by the environment of the host. */
export function gitVariables(env: HostEnv): Readonly<Record<string, string>> {
  const named = Object.keys(VARIABLES).flatMap(name => {
    const value = usable(env[name]);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(named);
}

/** The same as the configuration of a system, so that what a repository says of itself is stronger. */
export function gitSystemConfig(env: HostEnv): string {
  const {name, email} = firstOf(userFiles(env));
  return `[user]\n\tname = ${written(name)}\n\temail = ${written(email)}\n`;
}

function userFiles({HOME: home, XDG_CONFIG_HOME: configHome}: HostEnv): readonly string[] {
  return [
    ...(home ? [join(home, '.gitconfig')] : []),
    ...(configHome ? [join(configHome, 'git/config')] : home ? [join(home, '.config/git/config')] : []),
  ];
}

function firstOf(files: readonly string[]): typeof NOBODY {
  const people = files.map(readPerson);
  const first = (key: 'name' | 'email'): string => people.find(person => person[key])?.[key] ?? NOBODY[key];
  return {name: first('name'), email: first('email')};
}

function written(value: string): string {
  return `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/** Nobody, where the file is not there or is none: a pipe in its place keeps nobody waiting. */
function readPerson(path: string): Person {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const info = fstatSync(descriptor);
    return info.isFile() && info.size <= MAX_BYTES ? parsePerson(readFileSync(descriptor, 'utf8')) : {};
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
    return {};
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** git-config(1), as far as `[user]` needs it. The last value counts. */
function parsePerson(text: string): Person {
  const found: {name?: string | undefined; email?: string | undefined} = {};
  let isUser = false;
  for (const line of text.split(/\r?\n/)) {
    const section = /^\s*\[([^\]]*)\]/.exec(line);
    if (section !== null) isUser = section[1]?.toLowerCase() === 'user';
    const [, key = '', value = ''] = /^\s*(?:\[[^\]]*\]\s*)?(name|email)\s*=\s*(.*)/i.exec(line) ?? [];
    if (isUser && key !== '') found[key.toLowerCase() as 'name' | 'email'] = usable(plainValue(value));
  }
  return found;
}

/** Without quotes, escapes and a comment. */
function plainValue(written: string): string {
  const pieces = written.match(/"(?:[^"\\]|\\.)*"|\\.|[^"\\#;]+/g) ?? [];
  let value = '';
  let at = 0;
  for (const piece of pieces) {
    // A comment, or what is no value.
    if (!written.startsWith(piece, at)) break;
    at += piece.length;
    value += (piece.startsWith('"') ? piece.slice(1, -1) : piece).replace(/\\(.)/g, '$1');
  }
  return value;
}

function usable(value: string | undefined): string | undefined {
  const text = value?.trim() ?? '';
  return text === '' || text.length > MAX_CHARS || /\p{C}/u.test(text) ? undefined : text;
}

/** Where programs look for whom they are to trust: OpenSSL, Node, npm, pip and its libraries, curl, git, cargo. */
const BUNDLE_NAMES = [
  'SSL_CERT_FILE',
  'NODE_EXTRA_CA_CERTS',
  // Stronger than a `cafile` of the machine, beside which npm believes nobody else.
  'npm_config_cafile',
  'PIP_CERT',
  'REQUESTS_CA_BUNDLE',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'CARGO_HTTP_CAINFO',
];

/** What a command finds in its environment where there is a way out. */
export function egressEnv({endsTls}: {readonly endsTls: boolean}): Record<string, string> {
  const proxy = `http://127.0.0.1:${PROXY_PORT}`;
  const local = 'localhost,127.0.0.1,::1';
  return {
    // curl and apt read http_proxy in lower case only; npm, pip, git, cargo and Go read either.
    http_proxy: proxy,
    https_proxy: proxy,
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    // Servers that a command itself has started.
    no_proxy: local,
    NO_PROXY: local,
    // Node's own fetch, from 22.21 and 24.5 on.
    NODE_USE_ENV_PROXY: '1',
    ...(endsTls ? Object.fromEntries(BUNDLE_NAMES.map(name => [name, TRUSTED_BUNDLE])) : {}),
  };
}

/** What programs print with: language, time zone, colours and the size of a terminal. */
const NAME =
  /^(?:LANG|LC_[A-Z]+|TZ|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|COLUMNS|LINES|CI)$/;

/** A path: some of these name files for some programs. */
const LEADS_ELSEWHERE = /^[/:]|\.\./;

/**
 * Whether a variable can be given to a process of the host. Review R10: there is no end of names that make a
 * program load or run something else (`PATH`, `HOME`, `MAKEFLAGS`, `PAGER`, `GOFLAGS`), so the harmless ones
 * are listed and not the others.
 */
export function isHarmlessVariable(name: string, value: string): boolean {
  return NAME.test(name) && !LEADS_ELSEWHERE.test(value);
}

/** What a command gets by itself: a home to write to, and the variables of the host that are listed. */
export function inheritedEnv(
  options: RunOptions,
  hostEnv: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const env: Record<string, string> = {HOME: '/tmp', TMPDIR: '/tmp', TERM: 'dumb'};
  for (const name of options.inherit_env) {
    const value = hostEnv[name];
    if (value !== undefined && value !== '') env[name] = value;
  }
  return env;
}

/** review R3: helpers are taken from the system first, and never from where commands write. */
export function programPlaces({env, workspace, programDirectories}: SandboxHost): ProgramPlaces {
  return {path: env['PATH'], untrustedTrees: [workspace], standard: programDirectories};
}
