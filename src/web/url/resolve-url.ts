import {isUtf8} from 'node:buffer';
import type {Result} from '../../core/result.ts';
import type {WebUrl} from '../page.ts';
import {parseUrl} from './parse-url.ts';

/**
 * FR-WF-07b: a `Location` header against the URL it came from. A host that the reference names is
 * checked as it was written there; a reference without one inherits a host that has been checked.
 */
export function resolveUrl(reference: string, base: WebUrl): Result<WebUrl> {
  const written = textOf(reference);
  return parseUrl(written, base);
}

/** A field value comes a byte a character. Browsers read the bytes of a `Location` as UTF-8 where they are that. */
function textOf(value: string): string {
  if (!/[\x80-\xff]/.test(value) || /[^\0-\xff]/.test(value)) return value;
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : value;
}
