import {lookup} from 'node:dns/promises';

/**
 * Asks for all addresses of a name, in any order, judged by nobody. Rejects with an error whose
 * `code` says why (`ENOTFOUND`, `ESERVFAIL`, …); stops when `signal` aborts, where it can.
 */
export interface HostResolver {
  readonly resolve: (name: string, signal: AbortSignal) => Promise<readonly string[]>;
}

/** The resolver of the operating system, its hosts file included. */
export const systemResolver: HostResolver = {
  resolve: async name => {
    // `getaddrinfo` cannot be cancelled; the caller races it against the deadline.
    const answers = await lookup(name, {all: true});
    return answers.map(({address}) => address);
  },
};
