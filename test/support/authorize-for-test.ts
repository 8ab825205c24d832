import {isIP} from 'node:net';
import type {PinnedTarget, WebUrl} from '../../src/web/page.ts';

type Addresses = readonly [string, ...string[]];

/** Leave to connect without a guard: for tests of what comes after the guard, on loopback. */
export function authorizeForTest(
  href: string,
  addresses: Addresses = ['127.0.0.1'],
  pinned: readonly string[] = addresses,
): PinnedTarget {
  const url = new URL(href);
  const scheme = url.protocol.slice(0, -1);
  const name = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const webUrl = {
    canonical: `${url.origin}${url.pathname}${url.search}`,
    scheme,
    host: url.hostname,
    name,
    address: isIP(name) === 0 ? undefined : name,
    port: Number(url.port || (scheme === 'https' ? 443 : 80)),
    origin: url.origin,
    pathAndQuery: `${url.pathname}${url.search}`,
    path: url.pathname,
  };
  const target = {url: webUrl as unknown as WebUrl, addresses, pinned: new Set(pinned)};
  return target as unknown as PinnedTarget;
}
