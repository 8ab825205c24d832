import {ok, type Result} from '../../../core/result.ts';
import type {HeaderMap} from '../../page.ts';
import type {NetworkError} from '../network-error.ts';
import {headerTokens} from '../response/header-tokens.ts';

/** Ruling C2 */
const MAX_CODINGS = 2;

export type ContentCoding = 'gzip' | 'deflate' | 'br';

const CODINGS: ReadonlyMap<string, ContentCoding> = new Map([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'br'],
]);

/** FR-WF-10c: how the body is coded, in the order in which the codings are to be undone. */
export function contentCodings(headers: HeaderMap): Result<readonly ContentCoding[], NetworkError> {
  const names = headerTokens(headers, 'content-encoding').filter(name => name !== 'identity');
  const codings = names.map(name => CODINGS.get(name)).filter(coding => coding !== undefined);
  if (codings.length < names.length) return {ok: false, error: 'unsupported_content_encoding'};
  if (codings.length > MAX_CODINGS) return {ok: false, error: 'too_many_content_encodings'};
  return ok(codings.reverse());
}
