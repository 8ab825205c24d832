import {ok, type Result} from '../../../core/result.ts';
import type {HttpRequest} from '../../page.ts';
import type {NetworkError} from '../network-error.ts';
import {headerTokens} from './header-tokens.ts';
import type {ResponseHead} from './parse-response-head.ts';
import {trimBlanks} from './trim-blanks.ts';

/** RFC 9112 §6.3: how the end of the body is found. */
export type BodyFraming =
  | {readonly kind: 'none'}
  | {readonly kind: 'length'; readonly length: number}
  | {readonly kind: 'chunked'}
  | {readonly kind: 'until-close'};

/**
 * Rulings C1 and C2. Where RFC 9112 lets a client repair an ambiguous message, it is refused: what
 * two parsers read differently is how responses are smuggled.
 */
export function bodyFraming(
  head: ResponseHead,
  method: HttpRequest['method'],
): Result<BodyFraming, NetworkError> {
  const {headers, status, minorVersion} = head;
  const chunked = headers.has('transfer-encoding');
  const lengths = headers.get('content-length')?.flatMap(value => value.split(',')) ?? [];

  if (chunked) {
    const codings = headerTokens(headers, 'transfer-encoding');
    if (minorVersion === 0 || codings.length !== 1 || codings[0] !== 'chunked') {
      return {ok: false, error: 'unsupported_transfer_encoding'};
    }
    if (lengths.length > 0) return {ok: false, error: 'conflicting_framing'};
  }

  const numbers = new Set<number>();
  for (const length of lengths) {
    const digits = trimBlanks(length);
    if (!/^[0-9]{1,15}$/.test(digits)) return {ok: false, error: 'invalid_content_length'};
    numbers.add(Number(digits));
  }
  if (numbers.size > 1) return {ok: false, error: 'conflicting_framing'};

  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return ok({kind: 'none'});
  if (chunked) return ok({kind: 'chunked'});
  for (const length of numbers) return ok({kind: 'length', length});
  return ok({kind: 'until-close'});
}
