import type {EgressTarget} from '../../core/egress/egress-gate.ts';
import {ok, type Result} from '../../core/result.ts';
import type {EgressCredential} from './credentialed-hosts.ts';

/** What of a request was read. */
export interface ReadRequest {
  readonly method: string;
  readonly url: string;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
}

/** The request as the host gets it. */
export interface RewrittenRequest {
  readonly method: string;
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
}

export interface RefusedRequest {
  readonly status: 400 | 403 | 405 | 501;
  readonly reason: string;
}

const MOST_FIELDS = 100;
/** RFC 9110 §5.5 */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Not TRACE, which is answered with the request and the secret in it. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);
/** RFC 9110 §7.6.1: what is about one connection; `expect` was answered here. */
const FOR_US = new Set([
  'connection',
  'proxy-connection',
  'proxy-authorization',
  'keep-alive',
  'te',
  'expect',
  'host',
]);
/** What would make another protocol, or another end, of the message. */
const REFUSED = new Set(['upgrade', 'trailer', 'http2-settings']);

/**
 * A request written anew, with the secret, or why it is not sent. It is for one host by name, address and `Host`, and
 * says once how long it is; a field of the secret's name that the command sends is left out.
 */
export function rewriteRequest(
  {method, url, rawHeaders}: ReadRequest,
  {host, port}: EgressTarget,
  credential: EgressCredential,
): Result<RewrittenRequest, RefusedRequest> {
  const refuse = (status: RefusedRequest['status'], reason: string): Result<never, RefusedRequest> => ({
    ok: false,
    error: {status, reason},
  });
  if (!METHODS.has(method)) return refuse(405, `"${method}" does not go through the gate with a credential.`);
  if (!/^\/[\x21\x22\x24-\x7e]*$/.test(url)) return refuse(400, 'The request does not ask for a path.');
  const fields: {readonly name: string; readonly value: string}[] = [];
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    fields.push({name: (rawHeaders[at] ?? '').toLowerCase(), value: rawHeaders[at + 1] ?? ''});
  }
  if (fields.length > MOST_FIELDS || !fields.every(({value}) => VALUE.test(value))) {
    return refuse(400, `The header has more than ${MOST_FIELDS} fields, or characters that none has.`);
  }
  const valuesOf = (wanted: string): readonly string[] =>
    fields.filter(({name}) => name === wanted).map(({value}) => value.toLowerCase());
  const authority = port === 443 ? host : `${host}:${port}`;
  const [named, ...others] = valuesOf('host');
  if (others.length > 0 || (named !== authority && named !== `${host}:${port}`)) {
    return refuse(403, 'The Host is not that of the tunnel.');
  }
  const banned = fields.find(({name}) => REFUSED.has(name));
  if (banned !== undefined)
    return refuse(501, `A request with "${banned.name}" does not go through the gate.`);
  const lengths = valuesOf('content-length');
  const codings = valuesOf('transfer-encoding');
  if (lengths.length + codings.length > 1 || codings.some(coding => coding !== 'chunked')) {
    return refuse(400, 'The request does not say once how long it is.');
  }
  const secretName = credential.header.toLowerCase();
  const kept = fields.filter(({name}) => !FOR_US.has(name) && name !== secretName);
  const headers = ['Host', authority, ...kept.flatMap(({name, value}) => [name, value])];
  if (WITH_BODY.has(method) && lengths.length + codings.length === 0) headers.push('content-length', '0');
  return ok({method, path: url, headers: [...headers, credential.header, credential.value()]});
}
