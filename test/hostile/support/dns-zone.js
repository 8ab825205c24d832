// The names that the hostile resolver knows, and what it answers. One list for the server, the probe and the tests.

/** Every address answers in the namespace of the probe; these two are public. */
export const PUBLIC = '93.184.216.34';
export const OTHER_PUBLIC = '93.184.216.35';
export const PUBLIC_6 = '2606:2800:220:1::34';
const PRIVATE = '10.0.0.5';

/** Addresses of every kind that may not be reached. */
const BLOCKED = {
  loopback: {a: ['127.0.0.1']},
  'loopback-far': {a: ['127.255.255.254']},
  private: {a: [PRIVATE]},
  'private-172': {a: ['172.31.255.255']},
  'private-192': {a: ['192.168.1.1']},
  metadata: {a: ['169.254.169.254']},
  'azure-metadata': {a: ['168.63.129.16']},
  'this-network': {a: ['0.0.0.0']},
  'carrier-nat': {a: ['100.64.0.1']},
  broadcast: {a: ['255.255.255.255']},
  multicast: {a: ['224.0.0.1']},
  'loopback-6': {aaaa: ['::1']},
  'unspecified-6': {aaaa: ['::']},
  'link-local-6': {aaaa: ['fe80::1']},
  'unique-local-6': {aaaa: ['fd00::1']},
  'mapped-loopback': {aaaa: ['::ffff:7f00:1']},
  'mapped-private': {aaaa: ['::ffff:a00:5']},
  nat64: {aaaa: ['64:ff9b::a00:5']},
  '6to4': {aaaa: ['2002:a00:5::1']},
  'public-then-private': {a: [PUBLIC, PRIVATE]},
  'private-then-public': {a: [PRIVATE, PUBLIC]},
  'public-a-private-aaaa': {a: [PUBLIC], aaaa: ['fd00::1']},
  'private-a-public-aaaa': {a: [PRIVATE], aaaa: [PUBLIC_6]},
  'public-and-mapped': {a: [PUBLIC], aaaa: ['::ffff:a00:5']},
  'sixty-three-then-private': {a: [...addresses(63), PRIVATE]},
};

/** Public ones. */
function addresses(count) {
  return Array.from({length: count}, (_, index) => `93.184.${1 + (index >> 8)}.${index & 255}`);
}

const A = {a: [PUBLIC]};
const REBOUND = {a: [PRIVATE]};

/**
 * What a name is answered with, and what the call may come to: a text that ends in `/` is the beginning of it. A slow
 * one is ended by the deadline.
 *
 * @type {readonly {name: string, answers: object, expected: readonly string[], slow?: boolean}[]}
 */
// biome-ignore format: a case is a line
export const CASES = [
  ...Object.entries(BLOCKED).map(([name, answer]) => ({
    name,
    answers: [answer],
    expected: ['ssrf_blocked/'],
  })),
  // What is well-formed and public.
  {name: 'a-only', answers: [A], expected: ['ok']},
  {name: 'aaaa-only', answers: [{aaaa: [PUBLIC_6]}], expected: ['ok']},
  {name: 'both', answers: [{a: [PUBLIC], aaaa: [PUBLIC_6]}], expected: ['ok']},
  {name: 'ttl-zero', answers: [{...A, ttl: 0}], expected: ['ok']},
  {name: 'ttl-endless', answers: [{...A, ttl: 2_147_483_647}], expected: ['ok']},
  {name: 'same-address-twice', answers: [{a: [PUBLIC, PUBLIC]}], expected: ['ok']},
  {name: 'a-thousand-records', answers: [{a: addresses(1000)}], expected: ['ok']},
  {name: 'as-many-as-a-message-holds', answers: [{a: addresses(4000)}], expected: ['ok']},
  // 64 are read, in the order that the system gives; wherever the private one stands, nobody goes there.
  {name: 'thousands-and-a-private-one', answers: [{a: [...addresses(2000), PRIVATE, ...addresses(1500)]}], expected: ['ok', 'ssrf_blocked/']},
  {name: 'alias', answers: [{cname: ['target'], a: [PUBLIC]}], expected: ['ok']},
  {name: 'alias-to-private', answers: [{cname: ['target'], a: [PRIVATE]}], expected: ['ssrf_blocked/']},
  {name: 'alias-chain-to-private', answers: [{cname: ['one', 'two', 'three', 'four'], a: [PRIVATE]}], expected: ['ssrf_blocked/']},
  {name: 'tcp-after-truncation', answers: [{...A, truncate: 'always'}], expected: ['ok']},
  {name: 'tcp-after-truncation-private', answers: [{...REBOUND, truncate: 'always'}], expected: ['ssrf_blocked/']},
  {
    // What came in the truncated answer counts no more than what comes after it.
    name: 'truncated-public-then-private',
    answers: [{a: [PUBLIC], truncate: 'partly', tcp: {a: [PRIVATE]}}],
    expected: ['ssrf_blocked/'],
  },
  // What has no address.
  {name: 'nxdomain', answers: ['nxdomain'], expected: ['dns_failed/ENOTFOUND']},
  {name: 'no-data', answers: [{}], expected: ['dns_failed/ENOTFOUND', 'dns_failed/EAI_NODATA', 'dns_failed/ENODATA']},
  {name: 'servfail', answers: ['servfail'], expected: ['dns_failed/ESERVFAIL']},
  {name: 'refused', answers: ['refused'], expected: ['dns_failed/EREFUSED']},
  {name: 'notimp', answers: ['notimp'], expected: ['dns_failed/ENOTIMP']},
  {name: 'alias-to-itself', answers: [{cname: ['alias-to-itself']}], expected: ['dns_failed/']},
  {name: 'alias-loop', answers: [{cname: ['a', 'b', 'a', 'b']}], expected: ['dns_failed/']},
  {name: 'alias-to-nothing', answers: [{cname: ['gone']}], expected: ['dns_failed/']},
  {name: 'a-public-aaaa-servfail', answers: [{a: [PUBLIC], other: 'servfail'}], expected: ['ok', 'dns_failed/ESERVFAIL']},
  {name: 'a-private-aaaa-servfail', answers: [{a: [PRIVATE], other: 'servfail'}], expected: ['ssrf_blocked/', 'dns_failed/ESERVFAIL']},
  // What is no answer to the question. The address in it is public and would serve.
  ...[
    'another-type',
    'another-id',
    'another-question',
    'no-question',
    'three-bytes-of-address',
    'no-bytes-of-address',
    'length-beyond-the-end',
    'count-beyond-the-end',
    'name-points-to-itself',
    'name-points-ahead',
    'label-of-64',
    'name-of-300',
    'half-a-header',
    'nothing',
    'noise',
    'extra-records-only',
  ].map(spoil => ({name: spoil, answers: [{...A, spoil}], expected: ['dns_failed/', 'timeout/dns']})),
  // What resolvers read as one all the same. Then it is checked like any other.
  ...['another-class', 'a-query', 'another-name', 'five-bytes-of-address'].flatMap(spoil => [
    {name: spoil, answers: [{...A, spoil}], expected: ['ok', 'dns_failed/']},
    {name: `${spoil}-private`, answers: [{...REBOUND, spoil}], expected: ['ssrf_blocked/', 'dns_failed/']},
  ]),
  // Time.
  {name: 'silent', answers: ['silent'], expected: ['timeout/dns', 'dns_failed/ETIMEOUT'], slow: true},
  {name: 'tcp-that-says-nothing', answers: [{...A, truncate: 'always', tcp: 'silent'}], expected: ['timeout/dns', 'dns_failed/ETIMEOUT'], slow: true},
  {name: 'tcp-byte-by-byte', answers: [{...A, truncate: 'always', tcp: 'drip'}], expected: ['timeout/dns', 'dns_failed/ETIMEOUT'], slow: true},
  {name: 'tcp-that-hangs-up', answers: [{...A, truncate: 'always', tcp: 'close'}], expected: ['timeout/dns', 'dns_failed/'], slow: true},
  {name: 'tcp-of-64-kilobytes-announced', answers: [{...A, truncate: 'always', tcp: 'announce'}], expected: ['timeout/dns', 'dns_failed/'], slow: true},
];

/** A name that is answered otherwise every time: public first, private ever after. */
export const REBINDING = {
  'rebind-page': [A, REBOUND],
  'rebind-redirect': [A, REBOUND],
  'rebind-call': [A, REBOUND],
  'rebind-back': [REBOUND, A],
  'rebind-rest': [A, {a: [OTHER_PUBLIC]}, REBOUND],
  'hop-public': [A],
  'hop-private': [REBOUND],
  'hop-rebinds': [A, REBOUND],
  'from-robots': [A],
  'to-private': [A],
  'to-rebound': [A],
  'there-and-back': [A, REBOUND],
};

/** The whole zone, by name without its domain. */
export const ZONE = {
  ...Object.fromEntries(CASES.map(({name, answers}) => [name, answers])),
  ...REBINDING,
};

export const DOMAIN = 'dns.test';
