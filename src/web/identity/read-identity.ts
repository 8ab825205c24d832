import type {Clock} from '../../core/clock.ts';
import {ok, type Result} from '../../core/result.ts';
import {toUrl} from '../../core/text/to-url.ts';
import type {WebFetchOptions} from '../options.ts';
import type {RequestSigner} from '../page.ts';
import {readKeyFile} from './key-file.ts';
import {createRequestSigner} from './request-signer.ts';

const KEY = 'tools.webfetch.identity';

/** Reads `[tools.webfetch.identity]`: nothing where it is not set. The error is what start-up is refused with. */
export function readIdentity(
  {key_file, agent_url}: WebFetchOptions['identity'],
  {clock, untrustedTrees}: {readonly clock: Clock; readonly untrustedTrees: readonly string[]},
): Result<RequestSigner | undefined, string> {
  if (key_file === '' && agent_url === '') return ok(undefined);
  if (key_file === '' || agent_url === '') {
    const missing = key_file === '' ? 'key_file' : 'agent_url';
    return {
      ok: false,
      error: `${KEY}.${missing} is missing. Set key_file and agent_url, or neither.`,
    };
  }
  const agent = agentOrigin(agent_url);
  if (agent === undefined) {
    return {
      ok: false,
      error: `Expected ${KEY}.agent_url to be an https origin such as "https://bot.example.com", got ${JSON.stringify(agent_url)}.`,
    };
  }
  const key = readKeyFile(key_file, untrustedTrees);
  return key.ok
    ? ok(createRequestSigner(key.value, agent, clock))
    : {ok: false, error: `${KEY}.key_file: ${key.error}`};
}

function agentOrigin(text: string): string | undefined {
  const url = toUrl(text);
  if (url === undefined) return undefined;
  const {protocol, username, password, pathname, search, hash, origin} = url;
  const isBare = username + password + search + hash === '' && pathname === '/';
  return protocol === 'https:' && isBare ? origin : undefined;
}
