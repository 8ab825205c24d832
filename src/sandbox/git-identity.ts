import {closeSync, constants, fstatSync, openSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {errorCode} from '../system/error-code.ts';

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
