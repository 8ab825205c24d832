/** The settings that can switch rows off, in the order in which they are reported. */
export const BLOCK_TOGGLES = [
  'block_private_ips',
  'block_loopback',
  'block_link_local',
  'block_reserved',
] as const;

export type BlockToggle = (typeof BLOCK_TOGGLES)[number];

export interface SpecialRange {
  readonly cidr: string;
  readonly toggle: BlockToggle;
  /** Completes "10.0.0.7 is …". */
  readonly description: string;
}

/**
 * FR-WF-05 and ruling A6. Where rows overlap, the most specific one speaks for the address, so
 * that a toggle switches off exactly its own rows.
 *
 * `::ffff:0:0/96` and `64:ff9b::/96` have no row: the IPv4 address inside is checked.
 */
export const SPECIAL_RANGES: readonly SpecialRange[] = [
  // FR-WF-05, IPv4
  {cidr: '127.0.0.0/8', toggle: 'block_loopback', description: 'a loopback address'},
  {cidr: '10.0.0.0/8', toggle: 'block_private_ips', description: 'a private address'},
  {cidr: '172.16.0.0/12', toggle: 'block_private_ips', description: 'a private address'},
  {cidr: '192.168.0.0/16', toggle: 'block_private_ips', description: 'a private address'},
  {cidr: '169.254.0.0/16', toggle: 'block_link_local', description: 'a link-local address'},
  {cidr: '0.0.0.0/8', toggle: 'block_reserved', description: 'an address of "this network"'},
  {cidr: '100.64.0.0/10', toggle: 'block_reserved', description: 'a carrier-grade NAT address'},
  {cidr: '192.0.0.0/24', toggle: 'block_reserved', description: 'an IETF protocol address'},
  {cidr: '192.0.2.0/24', toggle: 'block_reserved', description: 'a documentation address'},
  {cidr: '198.51.100.0/24', toggle: 'block_reserved', description: 'a documentation address'},
  {cidr: '203.0.113.0/24', toggle: 'block_reserved', description: 'a documentation address'},
  {cidr: '224.0.0.0/4', toggle: 'block_reserved', description: 'a multicast address'},
  {cidr: '240.0.0.0/4', toggle: 'block_reserved', description: 'a reserved address'},
  {cidr: '255.255.255.255/32', toggle: 'block_reserved', description: 'the broadcast address'},
  // FR-WF-05, IPv6
  {cidr: '::1/128', toggle: 'block_loopback', description: 'the loopback address'},
  {cidr: '::/128', toggle: 'block_reserved', description: 'the unspecified address'},
  {cidr: 'fc00::/7', toggle: 'block_private_ips', description: 'a unique local address'},
  {cidr: 'fe80::/10', toggle: 'block_link_local', description: 'a link-local address'},
  {cidr: 'ff00::/8', toggle: 'block_reserved', description: 'a multicast address'},
  {cidr: '2001:db8::/32', toggle: 'block_reserved', description: 'a documentation address'},
  // Ruling A6, IPv4
  {cidr: '192.88.99.0/24', toggle: 'block_reserved', description: 'a 6to4 relay address'},
  {cidr: '198.18.0.0/15', toggle: 'block_reserved', description: 'a benchmarking address'},
  {cidr: '192.31.196.0/24', toggle: 'block_reserved', description: 'an AS112 address'},
  {cidr: '192.52.193.0/24', toggle: 'block_reserved', description: 'an AMT address'},
  {cidr: '192.175.48.0/24', toggle: 'block_reserved', description: 'an AS112 address'},
  {cidr: '168.63.129.16/32', toggle: 'block_reserved', description: 'the Azure platform address'},
  // Ruling A6, IPv6: nothing outside 2000::/3 …
  {cidr: '::/3', toggle: 'block_reserved', description: 'outside global unicast'},
  {cidr: '4000::/2', toggle: 'block_reserved', description: 'outside global unicast'},
  {cidr: '8000::/1', toggle: 'block_reserved', description: 'outside global unicast'},
  {cidr: '::/96', toggle: 'block_reserved', description: 'an IPv4-compatible address'},
  {cidr: '::ffff:0:0:0/96', toggle: 'block_reserved', description: 'an IPv4-translated address'},
  {cidr: '64:ff9b:1::/48', toggle: 'block_reserved', description: 'a local NAT64 address'},
  // … and inside it not these.
  {cidr: '2001::/23', toggle: 'block_reserved', description: 'an IETF protocol address'},
  {cidr: '2002::/16', toggle: 'block_reserved', description: 'a 6to4 address'},
  {cidr: '2620:4f:8000::/48', toggle: 'block_reserved', description: 'an AS112 address'},
  {cidr: '3fff::/20', toggle: 'block_reserved', description: 'a documentation address'},
];
