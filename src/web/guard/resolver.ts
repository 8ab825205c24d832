// Resolves names as the system does, but so that it can be cancelled.

import {lookup, Resolver} from 'node:dns/promises';
import {readFile} from 'node:fs/promises';
import {Places} from '../../core/places.ts';
import {parseIp} from './ip.ts';

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

export interface DnsQuestion {
  /** `address` or `address:port`. Default: those of the system. */
  readonly servers?: readonly string[] | undefined;
  readonly timeoutMs: number;
  /** Of each server. */
  readonly attempts: number;
}

/** A server that will not answer says nothing about the name, and another one may answer. */
const UNWILLING = new Set(['ESERVFAIL', 'EREFUSED', 'ENOTIMP']);

/** Asks DNS for A and AAAA, and nothing else of this machine. Ends at once when `signal` aborts. */
export async function askDns(
  name: string,
  {servers, timeoutMs, attempts}: DnsQuestion,
  signal: AbortSignal,
): Promise<readonly string[]> {
  signal.throwIfAborted();
  // One resolver for each question, because `cancel` ends everything that a resolver has asked.
  const resolver = new Resolver({timeout: timeoutMs, tries: attempts});
  if (servers) resolver.setServers(servers);
  const cancel = (): void => resolver.cancel();
  signal.addEventListener('abort', cancel);
  try {
    for (;;) {
      const answers = await Promise.allSettled([resolver.resolve6(name), resolver.resolve4(name)]);
      const addresses = answers.flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []));
      if (addresses.length > 0) return addresses;
      const reason = telling(answers);
      const others = resolver.getServers().slice(1);
      if (signal.aborted || others.length === 0 || !UNWILLING.has(codeOf(reason))) throw reason;
      resolver.setServers(others);
    }
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** Of two refusals, the one that says more than "no address of this family". */
function telling(answers: readonly PromiseSettledResult<unknown>[]): unknown {
  const reasons: unknown[] = answers.flatMap(answer => (answer.status === 'rejected' ? [answer.reason] : []));
  return reasons.find(reason => codeOf(reason) !== 'ENODATA') ?? reasons[0];
}

/** What hosts(5) says of a name, in any case; the empty list where it says nothing. */
export function addressesInHosts(text: string, name: string): readonly string[] {
  const wanted = name.toLowerCase();
  // A file that blocks advertisers has a hundred thousand lines, and few look-ups are for one of them.
  if (!text.toLowerCase().includes(wanted)) return [];
  const found: string[] = [];
  for (const line of text.split('\n')) {
    const [address = '', ...names] = (line.split('#', 1)[0] ?? '').trim().split(/\s+/);
    if (!names.some(known => known.toLowerCase().replace(/\.$/, '') === wanted)) continue;
    if (parseIp(address.split('%', 1)[0] ?? '') !== undefined) found.push(address);
  }
  return found;
}

/** Sources whose names DNS has too: `resolve` is a resolver of this machine, which serves as a DNS server as well. */
const LIKE_DNS = new Set(['files', 'dns', 'resolve']);
/** Sources that know this machine, its containers and its neighbours, by names without a dot. */
const OF_THIS_MACHINE = new Set(['myhostname', 'mymachines']);

/**
 * Whether a source beside the hosts file and DNS may know a name that neither of them has, by the text of
 * /etc/nsswitch.conf: multicast DNS (`.local`), the machine itself, or a directory service. `undefined` is a
 * system without that file: on Linux it has no such sources, on others they are not ours to read.
 */
export function isKnownElsewhere(
  name: string,
  nsswitch: string | undefined,
  platform: NodeJS.Platform,
): boolean {
  if (nsswitch === undefined) return platform !== 'linux';
  const line = /^[ \t]*hosts:(.*)$/m.exec(nsswitch)?.[1] ?? '';
  const sources = line.replace(/#.*|\[[^\]]*\]/g, ' ').split(/\s+/);
  return sources.some(source => {
    if (source === '' || LIKE_DNS.has(source)) return false;
    if (source.startsWith('mdns')) return name.endsWith('.local');
    return OF_THIS_MACHINE.has(source) ? !name.includes('.') : true;
  });
}

/** What resolv.conf(5) says beside the servers, which c-ares reads itself. */
export interface ResolverRules {
  /** Domains that are tried below, in order. */
  readonly search: readonly string[];
  /** A name with so many dots is asked for as it is before it is searched for. */
  readonly ndots: number;
  readonly timeoutMs: number;
  readonly attempts: number;
}

const DEFAULTS = {ndots: 1, timeout: 5, attempts: 2};
/** The bounds that the resolver of the C library puts on its options. */
const MOST = {ndots: 15, timeout: 30, attempts: 5};

/** Reads the text of /etc/resolv.conf; the empty text gives the defaults. Of several lists the last counts. */
export function parseResolvConf(text: string): ResolverRules {
  let search: readonly string[] = [];
  const options = {...DEFAULTS};
  for (const line of text.split('\n')) {
    const [keyword, ...values] = line.split(/[ \t\r]+/);
    if (keyword === 'search') search = values;
    else if (keyword === 'domain') search = values.slice(0, 1);
    else if (keyword === 'options') for (const value of values) readOption(value, options);
  }
  return {
    // A root domain as an entry means "as it is", which is asked anyway.
    search: search.map(domain => domain.replace(/^\.+|\.+$/g, '')).filter(domain => domain !== ''),
    ndots: options.ndots,
    timeoutMs: Math.max(1, options.timeout) * 1000,
    attempts: Math.max(1, options.attempts),
  };
}

function readOption(text: string, options: typeof DEFAULTS): void {
  const [, name, value] = /^(ndots|timeout|attempts):(\d+)$/.exec(text) ?? [];
  if (name === 'ndots' || name === 'timeout' || name === 'attempts') {
    options[name] = Math.min(Number(value), MOST[name]);
  }
}

/** The names to ask for, in order: resolv.conf(5), `search` and `ndots`. */
export function searchNames(
  name: string,
  {search, ndots}: Pick<ResolverRules, 'search' | 'ndots'>,
): readonly string[] {
  const dots = name.split('.').length - 1;
  const below = search.map(domain => `${name}.${domain}`);
  return dots >= ndots ? [name, ...below] : [...below, name];
}

/** Looks up the addresses of a host name. The guard checks what it answers. */
export interface HostResolver {
  /** Resolves with IPv4 and IPv6 addresses, or rejects with an error whose `code` says why, such as `ENOTFOUND`. */
  readonly resolve: (name: string, signal: AbortSignal) => Promise<readonly string[]>;
}
