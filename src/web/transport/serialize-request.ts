import {fail} from '../../core/failure/fail.ts';
import type {Failure} from '../../core/failure/failure.ts';
import {ok, type Result} from '../../core/result.ts';
import type {HttpRequest, WebUrl} from '../page.ts';

/** Set by the transport, about the connection, or never sent (FR-WF-07d). */
const RESERVED: ReadonlySet<string> = new Set([
  'host',
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authorization',
  'content-length',
  'transfer-encoding',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'cookie',
]);

const FIELD_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const FIELD_VALUE = /^(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?$/;
const REQUEST_TARGET = /^\/[\x21-\x7e]*$/;

/**
 * The head of a request, as it is sent. A header that could start a second header or a second
 * request is `bad_args`, as is one that belongs to the transport.
 */
export function serializeRequest(url: WebUrl, request: HttpRequest): Result<string, Failure> {
  if (!REQUEST_TARGET.test(url.pathAndQuery))
    throw new Error('Expected a WebUrl with a percent-encoded path.');
  const lines = [
    `${request.method} ${url.pathAndQuery} HTTP/1.1`,
    `Host: ${hostField(url)}`,
    'Connection: keep-alive',
  ];
  for (const [name, value] of Object.entries(request.headers)) {
    const problem = headerProblem(name, value);
    if (problem !== undefined) {
      const reason = `The request header ${JSON.stringify(name)} ${problem}.`;
      return fail('bad_args', `${reason} Correct the setting it comes from.`, {field: 'headers', reason});
    }
    lines.push(`${name}: ${value}`);
  }
  return ok(`${lines.join('\r\n')}\r\n\r\n`);
}

function headerProblem(name: string, value: string): string | undefined {
  if (!FIELD_NAME.test(name)) return 'has a name that HTTP does not allow';
  if (RESERVED.has(name.toLowerCase())) return 'is set by the transport or not sent at all';
  if (!FIELD_VALUE.test(value)) return 'has a value that is not printable ASCII, such as a line break';
  return undefined;
}

/** Ruling A4: without the trailing dot; the port only where it is not the scheme's own. */
function hostField(url: WebUrl): string {
  const name = url.name.includes(':') ? `[${url.name}]` : url.name;
  const defaultPort = url.scheme === 'https' ? 443 : 80;
  return url.port === defaultPort ? name : `${name}:${url.port}`;
}
