import {toUrl} from '../../core/text/to-url.ts';
import type {WebFetchOptions} from '../options.ts';
import type {Credential} from '../page.ts';

/** `https://host[:port]` of an entry of `[[tools.webfetch.credentials]]`; `undefined` where it names no one host. */
export function credentialOrigin({
  host,
}: Pick<WebFetchOptions['credentials'][number], 'host'>): string | undefined {
  if (host === '' || /[*@/?#\\\s]/.test(host)) return undefined;
  return toUrl(`https://${host}/`)?.origin;
}

/** The credential of an origin. Nothing but https has one. */
export function credentialFor(origin: string, credentials: readonly Credential[]): Credential | undefined {
  return credentials.find(credential => credential.origin === origin);
}

/**
 * Under which address a page is cached: its own, or one apart for what a credential showed. Another credential, and
 * none, have other pages. No page's address has a fragment.
 */
export function cacheAddress(url: string, credential: Credential | undefined): string {
  return credential !== undefined && new URL(url).origin === credential.origin
    ? `${url}#credential=${credential.id}`
    : url;
}
