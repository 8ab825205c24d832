/** One row of a registry: may the range be reached over the public internet? */
export interface RegistryRow {
  readonly cidr: string;
  /** `n/a` is what IANA writes where the question has no answer; nothing of it may be reached. */
  readonly global: boolean | 'n/a';
  readonly name: string;
}

/** Where the guard is stricter than the registry, and the ruling that says so. */
export interface StricterRow {
  readonly cidr: string;
  readonly ruling: string;
}

/**
 * IANA IPv4 Special-Purpose Address Registry (RFC 6890 and its updates) and, for multicast, the IANA IPv4
 * Address Space Registry; state of 2025-10. Written down from the registries, not from the guard's table.
 * What no row covers is ordinary unicast.
 */
export const IPV4_REGISTRY: readonly RegistryRow[] = [
  {cidr: '0.0.0.0/8', global: false, name: 'This network (RFC 791)'},
  {cidr: '0.0.0.0/32', global: false, name: 'This host on this network (RFC 1122)'},
  {cidr: '10.0.0.0/8', global: false, name: 'Private-Use (RFC 1918)'},
  {cidr: '100.64.0.0/10', global: false, name: 'Shared Address Space (RFC 6598)'},
  {cidr: '127.0.0.0/8', global: false, name: 'Loopback (RFC 1122)'},
  {cidr: '169.254.0.0/16', global: false, name: 'Link Local (RFC 3927)'},
  {cidr: '172.16.0.0/12', global: false, name: 'Private-Use (RFC 1918)'},
  {cidr: '192.0.0.0/24', global: false, name: 'IETF Protocol Assignments (RFC 6890)'},
  {cidr: '192.0.0.0/29', global: false, name: 'IPv4 Service Continuity Prefix (RFC 7335)'},
  {cidr: '192.0.0.8/32', global: false, name: 'IPv4 dummy address (RFC 7600)'},
  {cidr: '192.0.0.9/32', global: true, name: 'Port Control Protocol Anycast (RFC 7723)'},
  {cidr: '192.0.0.10/32', global: true, name: 'TURN Anycast (RFC 8155)'},
  {cidr: '192.0.0.170/32', global: false, name: 'NAT64/DNS64 Discovery (RFC 8880)'},
  {cidr: '192.0.0.171/32', global: false, name: 'NAT64/DNS64 Discovery (RFC 8880)'},
  {cidr: '192.0.2.0/24', global: false, name: 'Documentation TEST-NET-1 (RFC 5737)'},
  {cidr: '192.31.196.0/24', global: true, name: 'AS112-v4 (RFC 7535)'},
  {cidr: '192.52.193.0/24', global: true, name: 'AMT (RFC 7450)'},
  {cidr: '192.88.99.0/24', global: 'n/a', name: 'Deprecated 6to4 Relay Anycast (RFC 7526)'},
  {cidr: '192.88.99.2/32', global: false, name: '6a44-relay anycast (RFC 6751)'},
  {cidr: '192.168.0.0/16', global: false, name: 'Private-Use (RFC 1918)'},
  {cidr: '192.175.48.0/24', global: true, name: 'Direct Delegation AS112 Service (RFC 7534)'},
  {cidr: '198.18.0.0/15', global: false, name: 'Benchmarking (RFC 2544)'},
  {cidr: '198.51.100.0/24', global: false, name: 'Documentation TEST-NET-2 (RFC 5737)'},
  {cidr: '203.0.113.0/24', global: false, name: 'Documentation TEST-NET-3 (RFC 5737)'},
  {cidr: '224.0.0.0/4', global: false, name: 'Multicast (RFC 5771)'},
  {cidr: '240.0.0.0/4', global: false, name: 'Reserved (RFC 1112)'},
  {cidr: '255.255.255.255/32', global: false, name: 'Limited Broadcast (RFC 8190)'},
];

/**
 * IANA IPv6 Special-Purpose Address Registry and IANA IPv6 Address Space Registry (of which only 2000::/3 is
 * global unicast: whatever no row covers is reserved by the IETF); state of 2025-10.
 */
export const IPV6_REGISTRY: readonly RegistryRow[] = [
  {cidr: '::/0', global: false, name: 'Reserved by the IETF (RFC 4291)'},
  {cidr: '2000::/3', global: true, name: 'Global Unicast (RFC 4291)'},
  {cidr: '::1/128', global: false, name: 'Loopback (RFC 4291)'},
  {cidr: '::/128', global: false, name: 'Unspecified (RFC 4291)'},
  {cidr: '100::/64', global: false, name: 'Discard-Only (RFC 6666)'},
  {cidr: '100:0:0:1::/64', global: false, name: 'Dummy IPv6 Prefix (RFC 9780)'},
  {cidr: '64:ff9b:1::/48', global: false, name: 'IPv4-IPv6 Translation, local (RFC 8215)'},
  {cidr: '2001::/23', global: false, name: 'IETF Protocol Assignments (RFC 2928)'},
  {cidr: '2001::/32', global: 'n/a', name: 'TEREDO (RFC 4380)'},
  {cidr: '2001:1::1/128', global: true, name: 'Port Control Protocol Anycast (RFC 7723)'},
  {cidr: '2001:1::2/128', global: true, name: 'TURN Anycast (RFC 8155)'},
  {cidr: '2001:1::3/128', global: true, name: 'DNS-SD SRP Anycast (RFC 9665)'},
  {cidr: '2001:2::/48', global: false, name: 'Benchmarking (RFC 5180)'},
  {cidr: '2001:3::/32', global: true, name: 'AMT (RFC 7450)'},
  {cidr: '2001:4:112::/48', global: true, name: 'AS112-v6 (RFC 7535)'},
  {cidr: '2001:10::/28', global: false, name: 'Deprecated ORCHID (RFC 4843)'},
  {cidr: '2001:20::/28', global: true, name: 'ORCHIDv2 (RFC 7343)'},
  {cidr: '2001:30::/28', global: true, name: 'Drone Remote ID (RFC 9374)'},
  {cidr: '2001:db8::/32', global: false, name: 'Documentation (RFC 3849)'},
  {cidr: '2002::/16', global: 'n/a', name: '6to4 (RFC 3056)'},
  {cidr: '2620:4f:8000::/48', global: true, name: 'Direct Delegation AS112 Service (RFC 7534)'},
  {cidr: '3fff::/20', global: false, name: 'Documentation (RFC 9637)'},
  {cidr: '5f00::/16', global: false, name: 'Segment Routing SIDs (RFC 9602)'},
  {cidr: 'fc00::/7', global: false, name: 'Unique-Local (RFC 4193)'},
  {cidr: 'fe80::/10', global: false, name: 'Link-Local Unicast (RFC 4291)'},
  {cidr: 'fec0::/10', global: false, name: 'Site-Local, deprecated (RFC 3879)'},
  {cidr: 'ff00::/8', global: false, name: 'Multicast (RFC 4291)'},
  // RFC 2765, RFC 4291: forms that hold an IPv4 address and that nobody routes.
  {cidr: '::/96', global: false, name: 'IPv4-compatible, deprecated (RFC 4291)'},
  {cidr: '::ffff:0:0:0/96', global: false, name: 'IPv4-translated (RFC 2765)'},
];

/** What the registry calls global and we refuse all the same. */
export const STRICTER: readonly StricterRow[] = [
  {cidr: '192.0.0.9/32', ruling: 'FR-WF-05: 192.0.0.0/24 as a whole'},
  {cidr: '192.0.0.10/32', ruling: 'FR-WF-05: 192.0.0.0/24 as a whole'},
  {cidr: '192.31.196.0/24', ruling: 'A6'},
  {cidr: '192.52.193.0/24', ruling: 'A6'},
  {cidr: '192.175.48.0/24', ruling: 'A6'},
  {cidr: '168.63.129.16/32', ruling: 'A6: the platform address of a cloud, reachable from its machines only'},
  {cidr: '2001:1::1/128', ruling: 'A6: 2001::/23 as a whole'},
  {cidr: '2001:1::2/128', ruling: 'A6: 2001::/23 as a whole'},
  {cidr: '2001:1::3/128', ruling: 'A6: 2001::/23 as a whole'},
  {cidr: '2001:3::/32', ruling: 'A6: 2001::/23 as a whole'},
  {cidr: '2001:4:112::/48', ruling: 'A6: 2001::/23 as a whole'},
  {cidr: '2001:20::/28', ruling: 'A6: 2001::/23 as a whole'},
  {cidr: '2001:30::/28', ruling: 'A6: 2001::/23 as a whole'},
  {cidr: '2620:4f:8000::/48', ruling: 'A6'},
];
