import type {WebFetchOptions} from '../options.ts';
import type {WebUrl} from '../page.ts';
import {isSameSite} from './is-same-site.ts';

type Policy = WebFetchOptions['robots']['cross_origin_redirects'];

/** FR-WF-ROBOTS-REDIR-02, ruling B1: whether the rules of `asked` may be read from `target`. */
export async function mayRedirectTo(target: WebUrl, asked: WebUrl, policy: Policy): Promise<boolean> {
  if (target.origin === asked.origin || isUpgrade(asked, target)) return true;
  if (policy === 'deny') return false;
  return policy === 'follow' || isSameSite(asked, target);
}

/** FR-WF-ROBOTS-FETCH-01: from http on port 80 to https on port 443 of one host. */
function isUpgrade(from: WebUrl, to: WebUrl): boolean {
  return (
    from.host === to.host &&
    from.scheme === 'http' &&
    from.port === 80 &&
    to.scheme === 'https' &&
    to.port === 443
  );
}
