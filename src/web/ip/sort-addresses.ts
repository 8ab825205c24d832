import {formatIp, type IpAddress, parseIp, unmapIp} from './ip-address.ts';

/**
 * FR-WF-DNS-01: IPv6 first, then IPv4, each ascending by bytes; canonical text, no duplicates. An
 * IPv4-mapped address is connected to, and reported by the socket, as the IPv4 address it stands for.
 */
export function sortAddresses(addresses: readonly string[]): readonly string[] {
  const parsed = addresses.flatMap(text => {
    const address = parseIp(text);
    return address === undefined ? [] : [unmapIp(address)];
  });
  return [...new Set(parsed.sort(compare).map(formatIp))];
}

function compare(a: IpAddress, b: IpAddress): number {
  if (a.family !== b.family) return b.family - a.family;
  for (const [at, word] of a.words.entries()) {
    const difference = word - (b.words[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
