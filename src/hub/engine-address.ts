// Reads the address and the credentials of the shared server from the settings.
import {readFileSync} from 'node:fs';
import {ok, type Result} from '../core/result.ts';
import {toUrl} from '../core/text/parse.ts';
import {expectedErrorCode} from '../system/errors.ts';
import type {HubSettings} from './options.ts';

/** Where the engine is, and how one proves who asks. */
export interface EngineAddress {
  readonly host: string;
  readonly port: number;
  /** Path of a socket; it stands for host and port. */
  readonly socket: string | undefined;
  readonly tls: boolean;
  readonly database: number;
  readonly authorities: string | undefined;
  readonly username: string | undefined;
  /** Behind a function, so that nothing that prints an object has it. */
  readonly password: () => string | undefined;
  /** For messages: nothing of it is secret. */
  readonly shown: string;
}

const KEY = 'tools.hub';
const PORT = 6379;

/** The error holds what stops start-up. No secret is in it. */
export function readAddress(
  {url, username_env, password_env, ca_file}: HubSettings,
  env: Readonly<Record<string, string | undefined>>,
): Result<EngineAddress, readonly string[]> {
  const problems: string[] = [];
  const parsed = toUrl(url);
  const protocol = parsed?.protocol;
  const isSocket = protocol === 'redis+unix:' || protocol === 'unix:';
  if (parsed === undefined || !(protocol === 'redis:' || protocol === 'rediss:' || isSocket)) {
    // What cannot be parsed may hold a password.
    return {
      ok: false,
      error: [`Expected ${KEY}.url to be an address such as "redis://hub.example.com:6379" or "rediss://…".`],
    };
  }
  if (parsed.username !== '' || parsed.password !== '') {
    problems.push(
      `${KEY}.url carries credentials. Put them into environment variables, and name these in ${KEY}.username_env and ${KEY}.password_env.`,
    );
  }
  const database = /^\/(\d{1,5})?$/.exec(isSocket || parsed.pathname === '' ? '/' : parsed.pathname);
  if (database === null || parsed.search !== '' || parsed.hash !== '') {
    problems.push(`Expected ${KEY}.url to end with its port or with the number of a database, such as "/0".`);
  }
  if (!isSocket && parsed.hostname === '') problems.push(`Expected ${KEY}.url to name a host.`);
  const read = (name: string, setting: string): string | undefined => {
    if (name === '') return undefined;
    const value = env[name];
    if (value === undefined || value === '') {
      problems.push(`${KEY}.${setting} names the environment variable ${name}, which is not set. Set it.`);
    }
    return value;
  };
  const username = read(username_env, 'username_env');
  const password = read(password_env, 'password_env');
  let authorities: string | undefined;
  if (ca_file !== '') {
    try {
      authorities = readFileSync(ca_file, 'utf8');
    } catch (error) {
      problems.push(`${KEY}.ca_file cannot be read (${expectedErrorCode(error)}): ${ca_file}.`);
    }
  }
  if (problems.length > 0) return {ok: false, error: problems};
  const port = parsed.port === '' ? PORT : Number(parsed.port);
  return ok({
    host: parsed.hostname.replace(/^\[|\]$/g, ''),
    port,
    socket: isSocket ? decodeURIComponent(parsed.pathname) : undefined,
    tls: protocol === 'rediss:',
    database: Number(database?.[1] ?? 0),
    authorities,
    username,
    password: () => password,
    shown: isSocket ? parsed.pathname : `${parsed.hostname}:${port}`,
  });
}
