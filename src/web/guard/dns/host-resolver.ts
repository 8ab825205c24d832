/**
 * Asks for all addresses of a name, in any order, unchecked. Rejects with an error whose
 * `code` says why (`ENOTFOUND`, `ESERVFAIL`, …); stops when `signal` aborts, where it can.
 */
export interface HostResolver {
  /** Addresses as text, IPv4 and IPv6. */
  readonly resolve: (name: string, signal: AbortSignal) => Promise<readonly string[]>;
}
