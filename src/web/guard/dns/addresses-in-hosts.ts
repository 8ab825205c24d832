import {parseIp} from '../../ip/ip-address.ts';

/** What hosts(5) says of a name, in any case; the empty list where it says nothing. */
export function addressesInHosts(text: string, name: string): readonly string[] {
  const wanted = name.toLowerCase();
  // A file that blocks advertisers has a hundred thousand lines, and few look-ups are for one of them.
  if (!text.toLowerCase().includes(wanted)) return [];
  const found: string[] = [];
  for (const line of text.split('\n')) {
    const [address = '', ...names] = (line.split('#', 1)[0] ?? '').trim().split(/\s+/);
    if (!names.some(known => known.toLowerCase().replace(/\.$/, '') === wanted)) continue;
    if (parseIp(address.split('%', 1)[0] ?? '') !== undefined) found.push(address);
  }
  return found;
}
