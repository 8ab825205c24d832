import {formatIp, type IpAddress, parseIp, unmapIp} from './ip-address.ts';

/** A CIDR range, ready to be compared. */
export interface IpRange {
  readonly family: 4 | 6;
  /** Canonical text, host bits cleared. */
  readonly cidr: string;
  readonly bits: number;
  readonly masks: readonly number[];
  readonly network: readonly number[];
}

/**
 * `address/bits`. Host bits are cleared. A range of IPv4-mapped addresses becomes the IPv4 range
 * that it means, as addresses do when they are checked.
 */
export function parseIpRange(text: string): IpRange | undefined {
  const written = text.trim();
  const slash = written.indexOf('/');
  const address = parseIp(written.slice(0, slash));
  const length = written.slice(slash + 1);
  const bits = Number(length);
  if (address === undefined || !/^(?:0|[1-9]\d{0,2})$/.test(length) || bits > address.words.length * 32) {
    return undefined;
  }
  const unmapped = unmapIp(address);
  return unmapped !== address && bits >= 96 ? range(unmapped, bits - 96) : range(address, bits);
}

export function rangeContains({family, masks, network}: IpRange, address: IpAddress): boolean {
  if (family !== address.family) return false;
  for (let at = 0; at < network.length; at += 1) {
    if (((address.words[at] ?? 0) & (masks[at] ?? 0)) >>> 0 !== network[at]) return false;
  }
  return true;
}

function range({family, words}: IpAddress, bits: number): IpRange {
  const masks = words.map((_, at) => {
    const ones = Math.min(32, Math.max(0, bits - at * 32));
    return ones === 0 ? 0 : (0xffffffff << (32 - ones)) >>> 0;
  });
  const network = words.map((word, at) => (word & (masks[at] ?? 0)) >>> 0);
  return {family, cidr: `${formatIp({family, words: network})}/${bits}`, bits, masks, network};
}
