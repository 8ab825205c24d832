interface Named {
  /** Without a port and a final dot. */
  readonly name: string;
}

/** Whether two hosts are of one site: the domain that somebody registered, or one name. */
export async function isSameSite(one: Named, other: Named): Promise<boolean> {
  if (one.name === other.name) return true;
  // The public suffix list is large, and few need it.
  const {getDomain} = await import('tldts');
  // With private suffixes, two customers of one hoster (`a.github.io`, `b.github.io`) are two sites.
  const [site, otherSite] = [one, other].map(({name}) => getDomain(name, {allowPrivateDomains: true}));
  return site !== null && site === otherSite;
}
