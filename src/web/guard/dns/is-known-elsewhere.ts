/** Sources whose names DNS has too: `resolve` is a resolver of this machine, which serves as a DNS server as well. */
const LIKE_DNS = new Set(['files', 'dns', 'resolve']);
/** Sources that know this machine, its containers and its neighbours, by names without a dot. */
const OF_THIS_MACHINE = new Set(['myhostname', 'mymachines']);

/**
 * Whether a source beside the hosts file and DNS may know a name that neither of them has, by the text of
 * /etc/nsswitch.conf: multicast DNS (`.local`), the machine itself, or a directory service. `undefined` is a
 * system without that file: on Linux it has no such sources, on others they are not ours to read.
 */
export function isKnownElsewhere(
  name: string,
  nsswitch: string | undefined,
  platform: NodeJS.Platform,
): boolean {
  if (nsswitch === undefined) return platform !== 'linux';
  const line = /^[ \t]*hosts:(.*)$/m.exec(nsswitch)?.[1] ?? '';
  const sources = line.replace(/#.*|\[[^\]]*\]/g, ' ').split(/\s+/);
  return sources.some(source => {
    if (source === '' || LIKE_DNS.has(source)) return false;
    if (source.startsWith('mdns')) return name.endsWith('.local');
    return OF_THIS_MACHINE.has(source) ? !name.includes('.') : true;
  });
}
