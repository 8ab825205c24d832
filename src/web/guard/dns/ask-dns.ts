import {Resolver} from 'node:dns/promises';

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

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
