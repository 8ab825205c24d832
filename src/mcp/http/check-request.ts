import type {IncomingMessage} from 'node:http';
import {validateHostHeader, validateOriginHeader} from '@modelcontextprotocol/server';
import {carriesToken} from './bearer-token.ts';

export interface Refusal {
  readonly status: number;
  readonly message: string;
  /** JSON-RPC error code. Default: -32000. */
  readonly code?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface AccessRules {
  readonly path: string;
  readonly token: string;
  /** Names without port, IPv6 in brackets. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
}

/**
 * What is refused before anything of a request is read. Host and Origin come first: a page that reaches
 * us through a name of its own (DNS rebinding) learns nothing, not even that a token is needed.
 */
export function checkRequest(
  request: IncomingMessage,
  {path, token, allowedHosts, allowedOrigins}: AccessRules,
): Refusal | undefined {
  const {headers, method, url} = request;
  if (!validateHostHeader(headers.host, [...allowedHosts]).ok) {
    return {
      status: 421,
      message: 'This host name is not served here. Add it to the allowed hosts of the server.',
    };
  }
  if (!validateOriginHeader(headers.origin, [...allowedOrigins]).ok) {
    return {status: 403, message: 'This origin may not call. Add it to the allowed origins of the server.'};
  }
  if (url?.split('?', 1)[0] !== path) return {status: 404, message: `The endpoint is ${path}.`};
  if (!carriesToken(headers.authorization, token)) {
    const error = headers.authorization === undefined ? '' : ', error="invalid_token"';
    return {
      status: 401,
      message: 'Send "Authorization: Bearer …" with the token of this server.',
      headers: {'www-authenticate': `Bearer realm="forge-tools"${error}`},
    };
  }
  if (method !== 'POST' && method !== 'GET' && method !== 'DELETE') {
    return {status: 405, message: 'Use POST, GET or DELETE.', headers: {allow: 'POST, GET, DELETE'}};
  }
  return undefined;
}
