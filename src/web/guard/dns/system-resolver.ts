import {lookup} from 'node:dns/promises';
import {readFile} from 'node:fs/promises';
import {Places} from '../../../core/async/places.ts';
import {addressesInHosts} from './addresses-in-hosts.ts';
import {askDns} from './ask-dns.ts';
import type {HostResolver} from './host-resolver.ts';
import {isKnownElsewhere} from './is-known-elsewhere.ts';
import {parseResolvConf} from './parse-resolv-conf.ts';
import {searchNames} from './search-names.ts';

export interface ResolverFiles {
  readonly hosts: string;
  readonly resolvConf: string;
  readonly nsswitch: string;
}

const SYSTEM_FILES: ResolverFiles = {
  hosts: '/etc/hosts',
  resolvConf: '/etc/resolv.conf',
  nsswitch: '/etc/nsswitch.conf',
};

/** Answers after which the next name of the search list is asked for. */
const NO_ADDRESS = new Set(['ENOTFOUND', 'ENODATA', 'ESERVFAIL', 'EREFUSED', 'EBADNAME']);
/** Node reads files with the same four threads; a look-up holds one until the system gives it up. */
const MOST_SYSTEM_LOOKUPS = 2;
const systemLookups = new Places();

/**
 * The hosts file, then DNS by the rules of the system: what `getaddrinfo` does, but it ends when the call does
 * (review B4). `getaddrinfo` itself is asked only for names that neither of them has and another source of the
 * system may have, and for two of them at a time: it cannot be cancelled.
 */
export function createSystemResolver(
  files: ResolverFiles = SYSTEM_FILES,
  servers?: readonly string[],
): HostResolver {
  return {
    resolve: async (name, signal) => {
      const known = addressesInHosts((await readOptional(files.hosts)) ?? '', name);
      if (known.length > 0) return known;
      try {
        return await search(name, (await readOptional(files.resolvConf)) ?? '', servers, signal);
      } catch (error) {
        if (signal.aborted || !NO_ADDRESS.has(codeOf(error))) throw error;
        const nsswitch = await readOptional(files.nsswitch);
        if (!isKnownElsewhere(name, nsswitch, process.platform)) throw error;
        return askSystem(name, signal);
      }
    },
  };
}

/** Rejects as the name itself does, not as one of those below the search list. */
async function search(
  name: string,
  resolvConf: string,
  servers: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const rules = parseResolvConf(resolvConf);
  let refusal: unknown;
  for (const asked of searchNames(name, rules)) {
    try {
      return await askDns(asked, {...rules, servers}, signal);
    } catch (error) {
      if (asked === name) refusal = error;
      if (signal.aborted || !NO_ADDRESS.has(codeOf(error))) throw error;
    }
  }
  throw refusal;
}

async function askSystem(name: string, signal: AbortSignal): Promise<readonly string[]> {
  const giveBack = await systemLookups.take(MOST_SYSTEM_LOOKUPS, signal);
  if (giveBack === undefined) throw new Error('The look-up was cancelled.');
  const answers = lookup(name, {all: true});
  // Whoever gave up has not ended it: its thread is busy until it ends.
  answers.then(giveBack, giveBack);
  return (await answers).map(({address}) => address);
}

function readOptional(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
