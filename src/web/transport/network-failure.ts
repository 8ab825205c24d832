import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import type {Err} from '../../core/result.ts';
import {NETWORK_ERRORS, type NetworkError} from './network-error.ts';

/** What went wrong on the wire, before it is known for which host. */
export interface NetworkProblem {
  readonly error: NetworkError;
  /** The code that Node or OpenSSL gave; never text that the server chose. */
  readonly reason?: string | undefined;
  /** Of the proxy, where it refused. */
  readonly status?: number | undefined;
  /** Addresses tried, in order. */
  readonly addresses?: readonly string[] | undefined;
}

/** FR-WF-19: the `network` failure of a request. It names the host, never path or query. */
export function networkFailure(host: string, problem: NetworkProblem): Err<Failure> {
  const {error, reason, status, addresses} = problem;
  const {says, next} = NETWORK_ERRORS[error];
  const notes = [reason, status, addresses && `tried ${addresses.join(', ')}`].filter(
    note => note !== undefined,
  );
  const aside = notes.length > 0 ? ` (${notes.join('; ')})` : '';
  return fail('network', `"${host}" ${says}${aside}. ${next}`, {error, host, reason, status, addresses});
}
