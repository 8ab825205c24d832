// Names what went wrong on the network, in words of ours.

import {type Err, type Failure, fail} from '../../core/result.ts';

const RETRY = 'Retry later, or choose another source.';
const SERVER_FAULT = 'The server is at fault; choose another source.';
const CHECK_HOST = 'Check host and port; retry if they are right.';
const CHECK_PROXY = 'Check HTTP_PROXY and HTTPS_PROXY, or turn tools.webfetch.http.use_system_proxy off.';

interface NetworkErrorEntry {
  /** Follows the host name in a message. */
  readonly says: string;
  readonly next: string;
}

/** Every value that `details.error` of a `network` failure can have when the transport made it. */
export const NETWORK_ERRORS = {
  // Before the request.
  connection_refused: {says: 'refused the connection', next: CHECK_HOST},
  connection_timed_out: {says: 'did not answer the attempt to connect', next: RETRY},
  host_unreachable: {says: 'cannot be reached: there is no route to it', next: CHECK_HOST},
  network_unreachable: {
    says: 'cannot be reached: this machine has no route to its network',
    next: CHECK_HOST,
  },
  address_unusable: {says: 'has an address that this machine cannot connect to', next: CHECK_HOST},
  connect_forbidden: {
    says: 'cannot be reached: this machine does not permit the connection',
    next: CHECK_HOST,
  },
  tls_validation_failed: {
    says: 'did not prove who it is: the TLS handshake was not accepted',
    next: 'Do not retry over http; choose another source.',
  },
  proxy_unreachable: {says: 'cannot be reached: the proxy does not accept the connection', next: CHECK_PROXY},
  proxy_auth_required: {says: 'cannot be reached: the proxy wants other credentials', next: CHECK_PROXY},
  proxy_refused: {says: 'cannot be reached: the proxy did not connect to it', next: CHECK_PROXY},
  proxy_broken: {says: 'cannot be reached: the answer of the proxy is not HTTP', next: CHECK_PROXY},
  // At any time.
  connection_reset: {says: 'reset the connection', next: RETRY},
  connection_closed: {says: 'closed the connection before it answered', next: RETRY},
  socket_error: {says: 'could not be talked to: the socket failed', next: RETRY},
  tls_broken: {says: 'sent damaged TLS records', next: RETRY},
  // The head of the response.
  malformed_status_line: {says: 'does not speak HTTP/1.1', next: SERVER_FAULT},
  malformed_header: {says: 'sent a header that is not HTTP', next: SERVER_FAULT},
  obsolete_line_folding: {says: 'sent a header folded over several lines', next: SERVER_FAULT},
  header_block_too_large: {says: 'sent more than 65536 bytes of headers', next: SERVER_FAULT},
  too_many_header_fields: {says: 'sent more than 256 header fields', next: SERVER_FAULT},
  too_many_informational: {says: 'sent more than 8 informational responses', next: SERVER_FAULT},
  unexpected_upgrade: {says: 'switched protocols without being asked', next: SERVER_FAULT},
  // The body of the response.
  unsupported_transfer_encoding: {says: 'uses a Transfer-Encoding other than "chunked"', next: SERVER_FAULT},
  invalid_content_length: {says: 'sent no usable Content-Length', next: SERVER_FAULT},
  conflicting_framing: {says: 'gave two different lengths for its body', next: SERVER_FAULT},
  truncated_body: {says: 'closed the connection before the body was complete', next: RETRY},
  malformed_chunk: {says: 'sent a chunked body that is not well-formed', next: SERVER_FAULT},
  chunk_overhead_too_large: {
    says: 'sent more than 16384 bytes of chunk extensions or trailers',
    next: SERVER_FAULT,
  },
  unsupported_content_encoding: {
    says: 'uses a Content-Encoding other than gzip, deflate and br',
    next: SERVER_FAULT,
  },
  too_many_content_encodings: {says: 'encoded the body more than twice', next: SERVER_FAULT},
  broken_content_encoding: {says: 'sent a compressed body that is damaged or incomplete', next: RETRY},
} as const satisfies Record<string, NetworkErrorEntry>;

export type NetworkError = keyof typeof NETWORK_ERRORS;

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

// biome-ignore format: a list
const SOCKET_ERRORS: ReadonlyMap<string, NetworkError> = new Map([
  ['ECONNREFUSED', 'connection_refused'], ['ECONNRESET', 'connection_reset'],
  ['ECONNABORTED', 'connection_reset'], ['EPIPE', 'connection_reset'], ['ETIMEDOUT', 'connection_timed_out'],
  ['EHOSTUNREACH', 'host_unreachable'], ['EHOSTDOWN', 'host_unreachable'],
  ['ENETUNREACH', 'network_unreachable'], ['ENETDOWN', 'network_unreachable'],
  ['EADDRNOTAVAIL', 'address_unusable'], ['EAFNOSUPPORT', 'address_unusable'], ['EINVAL', 'address_unusable'],
  ['EACCES', 'connect_forbidden'], ['EPERM', 'connect_forbidden'],
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
