import type {Result} from '../../core/result.ts';
import type {WebUrl} from '../page.ts';
import {parseUrl} from './parse-url.ts';

/**
 * FR-WF-07b: a `Location` header against the URL it came from. A host that the reference names is
 * checked as it was written there; a reference without one inherits a host that has been checked.
 */
export function resolveUrl(reference: string, base: WebUrl): Result<WebUrl> {
  return parseUrl(reference, base);
}
