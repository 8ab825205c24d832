import {type IpAddress, parseIp, parseIpRange, rangeContains, unmapIp} from '../../ip/ip-address.ts';
import type {WebUrl} from '../../page.ts';
import {canonicalAddress} from './canonical-address.ts';

/** One entry of NO_PROXY, read once. */
export interface NoProxyRule {
  readonly matches: (url: WebUrl) => boolean;
}

/**
 * `*`, `example.com` (and its subdomains), `.example.com` (subdomains only), `10.0.0.1`, `10.0.0.0/8`,
 * `[::1]`, each but `*` and ranges also with `:port`. Addresses and ranges are compared with literal
 * hosts only, as curl and Go do. An entry that is none of these matches nothing.
 */
export function parseNoProxy(list: string): readonly NoProxyRule[] {
  return list
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(entry => ({matches: matcher(entry.toLowerCase())}));
}

function matcher(entry: string): (url: WebUrl) => boolean {
  if (entry === '*') return () => true;
  const range = parseIpRange(entry);
  if (range !== undefined) {
    return url => {
      const address = literalAddress(url);
      return address !== undefined && rangeContains(range, address);
    };
  }
  const {host, port} = splitPort(entry);
  const onPort = (url: WebUrl): boolean => port === undefined || url.port === port;
  if (parseIp(host) !== undefined) {
    const wanted = canonicalAddress(host);
    return url => onPort(url) && url.address !== undefined && canonicalAddress(url.address) === wanted;
  }
  const name = host.replace(/^\*(?=\.)/, '').replace(/\.$/, '');
  const suffix = name.startsWith('.') ? name : `.${name}`;
  return url => onPort(url) && url.address === undefined && (url.name === name || url.name.endsWith(suffix));
}

function literalAddress({address}: WebUrl): IpAddress | undefined {
  const parsed = address === undefined ? undefined : parseIp(address);
  return parsed && unmapIp(parsed);
}

function splitPort(entry: string): {readonly host: string; readonly port: number | undefined} {
  const match = /^(?:\[([^\]]*)\]|([^:]*))(?::([0-9]{1,5}))?$/.exec(entry);
  const host = match?.[1] ?? match?.[2];
  // An IPv6 address without brackets has colons of its own and no port.
  if (host === undefined) return {host: entry, port: undefined};
  return {host, port: match?.[3] === undefined ? undefined : Number(match[3])};
}
