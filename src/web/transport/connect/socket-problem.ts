import type {NetworkError} from '../network-error.ts';
import type {NetworkProblem} from '../network-failure.ts';

const SOCKET_ERRORS: ReadonlyMap<string, NetworkError> = new Map([
  ['ECONNREFUSED', 'connection_refused'],
  ['ECONNRESET', 'connection_reset'],
  ['ECONNABORTED', 'connection_reset'],
  ['EPIPE', 'connection_reset'],
  ['ETIMEDOUT', 'connection_timed_out'],
  ['EHOSTUNREACH', 'host_unreachable'],
  ['EHOSTDOWN', 'host_unreachable'],
  ['ENETUNREACH', 'network_unreachable'],
  ['ENETDOWN', 'network_unreachable'],
  ['EADDRNOTAVAIL', 'address_unusable'],
  ['EAFNOSUPPORT', 'address_unusable'],
  ['EINVAL', 'address_unusable'],
  ['EACCES', 'connect_forbidden'],
  ['EPERM', 'connect_forbidden'],
]);

/** What an `error` event of a connected or connecting socket means. */
export function socketProblem(error: Error): NetworkProblem {
  const code = errorCode(error);
  const known = SOCKET_ERRORS.get(code);
  if (known !== undefined) return {error: known, reason: code};
  // In TLS 1.3 a server that wants a client certificate says so after the handshake, by an alert.
  if (/^ERR_SSL_.*ALERT/.test(code)) return {error: 'tls_validation_failed', reason: code};
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') return {error: 'tls_broken', reason: code};
  return {error: 'socket_error', reason: code};
}

/**
 * FR-WF-BSSR-TLS-01: what an error during the handshake means. Everything but a broken transport
 * (reset, time-out) is a refusal: expired, wrong name, unknown issuer, alert, no TLS at all.
 */
export function handshakeProblem(error: Error): NetworkProblem {
  const code = errorCode(error);
  const known = SOCKET_ERRORS.get(code);
  return known === undefined ? {error: 'tls_validation_failed', reason: code} : {error: known, reason: code};
}

function errorCode(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
