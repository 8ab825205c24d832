// Parses the head of a proxy request: CONNECT, or a request with an absolute address.
import type {EgressTarget} from '../core/egress-gate.ts';
import {ok, type Result} from '../core/result.ts';
import {hostName, portNumber} from './allow-list.ts';

/** What a head may have, its end included. */
export const MOST_HEAD_BYTES = 16_384;
const MOST_FIELDS = 100;

/** A request that asks for one host. */
export interface ProxyRequest {
  readonly target: EgressTarget;
  /** What the host is sent; empty for a tunnel. */
  readonly head: string;
}

export interface RefusedRequest {
  readonly status: 400 | 403 | 405 | 501;
  readonly reason: string;
  /** As far as it could be read, for the log. */
  readonly authority: string;
}

/** RFC 9110 §5.6.2 and §5.5, without obs-text. */
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e\t]*)$/;
/** RFC 9110 §7.6.1: what is about the connection to us; and what would make a body or another protocol. */
const FOR_US = new Set(['connection', 'proxy-connection', 'proxy-authorization', 'keep-alive', 'te', 'host']);
const NO_BODY = new Set([
  'transfer-encoding',
  'trailer',
  'upgrade',
  'expect',
  'content-type',
  'content-encoding',
]);

/**
 * The head of a request to a proxy, without the blank line at its end. One spelling of each thing is accepted, so that
 * no two readers of it can differ: lines end in CR LF, no folding, one `Host` that is the target's, no body.
 */
export function parseProxyRequest(text: string): Result<ProxyRequest, RefusedRequest> {
  const [line = '', ...fieldLines] = text.split('\r\n');
  const [method = '', target = '', version = '', ...more] = line.split(' ');
  const authority = target.replace(/^http:\/\//, '').replace(/[/?#].*$/s, '');
  const refuse = (status: RefusedRequest['status'], reason: string): Result<never, RefusedRequest> => ({
    ok: false,
    error: {status, reason, authority},
  });
  if (more.length > 0 || !/^HTTP\/1\.[01]$/.test(version)) {
    return refuse(400, 'The request line is not that of HTTP/1.1.');
  }
  const fields = readFields(fieldLines);
  if (fields === undefined) return refuse(400, 'The header is not as RFC 9112 has it, or is too long.');
  const banned = fields.find(({name}) => NO_BODY.has(name));
  if (banned !== undefined)
    return refuse(501, `A request with "${banned.name}" does not go through the gate.`);
  const lengths = fields.filter(({name}) => name === 'content-length');
  if (lengths.length > 1 || lengths.some(({value}) => value !== '0')) {
    return refuse(501, 'A request with a body does not go through the gate.');
  }
  const hosts = fields.filter(({name}) => name === 'host');
  if (hosts.length > 1) return refuse(400, 'The request has more than one Host.');
  if (method === 'CONNECT') {
    const named = readAuthority(target);
    if (named === undefined) return refuse(403, 'Only HOST:PORT with a DNS name can be connected to.');
    return ok({target: {scheme: 'https', ...named}, head: ''});
  }
  if (method !== 'GET' && method !== 'HEAD') {
    return refuse(405, 'Of plain HTTP, only GET and HEAD go through the gate. Use https.');
  }
  const parsed = /^http:\/\/([^/?#@]+)((?:\/[\x21\x24-\x7e]*)?(?:\?[\x21\x24-\x7e]*)?)$/.exec(target);
  const written = parsed?.[1] ?? '';
  const named = readAuthority(written.includes(':') ? written : `${written}:80`);
  if (named === undefined)
    return refuse(403, 'Only http://HOST[:PORT]/PATH with a DNS name can be asked for.');
  const [host] = hosts;
  if (version === 'HTTP/1.1' && host === undefined) return refuse(400, 'The request has no Host.');
  if (host !== undefined && host.value.toLowerCase() !== written.toLowerCase()) {
    return refuse(403, 'The Host is not that of the address.');
  }
  const path = parsed?.[2] ?? '';
  const kept = fields.filter(({name}) => !FOR_US.has(name) && name !== 'content-length');
  const head = [
    `${method} ${path.startsWith('/') ? path : `/${path}`} HTTP/1.1`,
    `Host: ${written.toLowerCase()}`,
    ...kept.map(({name, value}) => `${name}: ${value}`),
    // One request a connection: what comes behind it is sent to nobody.
    'Connection: close',
  ];
  return ok({target: {scheme: 'http', ...named}, head: `${head.join('\r\n')}\r\n\r\n`});
}

function readFields(
  lines: readonly string[],
): readonly {readonly name: string; readonly value: string}[] | undefined {
  if (lines.length > MOST_FIELDS) return undefined;
  const fields = lines.map(line => FIELD.exec(line));
  if (fields.includes(null)) return undefined;
  return fields.map(field => ({name: (field?.[1] ?? '').toLowerCase(), value: (field?.[2] ?? '').trim()}));
}

function readAuthority(text: string): {readonly host: string; readonly port: number} | undefined {
  const [name = '', port = '', ...more] = text.split(':');
  const host = hostName(name);
  const number = portNumber(port);
  return host === undefined || number === undefined || more.length > 0 ? undefined : {host, port: number};
}
