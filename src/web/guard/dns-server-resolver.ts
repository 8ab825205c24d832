import {Resolver} from 'node:dns/promises';
import type {HostResolver} from './host-resolver.ts';

/** Asks the given servers (`address` or `address:port`) for A and AAAA, and nothing else of this machine. */
export function createDnsServerResolver(servers: readonly string[]): HostResolver {
  return {
    resolve: async (name, signal) => {
      signal.throwIfAborted();
      // One resolver for each question, because `cancel` ends everything that a resolver has asked.
      const resolver = new Resolver();
      resolver.setServers(servers);
      const cancel = (): void => resolver.cancel();
      signal.addEventListener('abort', cancel);
      try {
        const answers = await Promise.allSettled([resolver.resolve6(name), resolver.resolve4(name)]);
        const addresses = answers.flatMap(answer => (answer.status === 'fulfilled' ? answer.value : []));
        if (addresses.length === 0) throw telling(answers);
        return addresses;
      } finally {
        signal.removeEventListener('abort', cancel);
      }
    },
  };
}

/** Of two refusals, the one that says more than "no address of this family". */
function telling(answers: readonly PromiseSettledResult<unknown>[]): unknown {
  const reasons: unknown[] = answers.flatMap(answer => (answer.status === 'rejected' ? [answer.reason] : []));
  return (
    reasons.find(reason => !(reason instanceof Error && 'code' in reason && reason.code === 'ENODATA')) ??
    reasons[0]
  );
}
