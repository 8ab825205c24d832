import {askDns, type HostResolver} from '../../src/web/guard/resolver.ts';

/** Asks the given servers (`address` or `address:port`) and nothing else of this machine. */
export function dnsServerResolver(servers: readonly string[]): HostResolver {
  return {resolve: (name, signal) => askDns(name, {servers, timeoutMs: 5000, attempts: 2}, signal)};
}
