import type {Failure} from '../core/failure/failure.ts';
import type {Result} from '../core/result.ts';
import {parseUrl} from '../web/url/parse-url.ts';
import {redactUrl} from '../web/url/redact-url.ts';

export interface ListedUrl {
  /** Two lines with the same one are the same page. */
  readonly canonical: string;
  /** Whom a request disturbs: the host name, whatever the port. */
  readonly host: string;
}

export interface NoUrl {
  readonly failure: Failure;
  /** What may be shown of the line. */
  readonly shown: string;
}

/** One address of a list. */
export function parseListedUrl(text: string): Result<ListedUrl, NoUrl> {
  const url = parseUrl(text);
  if (!url.ok) return {ok: false, error: {failure: url.error, shown: redactUrl(text)}};
  return {ok: true, value: {canonical: url.value.canonical, host: url.value.name}};
}
