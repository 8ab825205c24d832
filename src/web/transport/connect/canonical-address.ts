import {formatIp, parseIp, unmapIp} from '../../ip/ip-address.ts';

/** One text for one address: `::ffff:10.0.0.1` is `10.0.0.1`, `2001:DB8:0::1` is `2001:db8::1`. */
export function canonicalAddress(address: string): string {
  const parsed = parseIp(address);
  return parsed === undefined ? address : formatIp(unmapIp(parsed));
}
