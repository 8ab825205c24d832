import {dotted, mayReach, numeric} from './addresses-model.ts';

/** What the tool says to a URL: `ok`, or the code of its failure. */
export type Answer =
  | 'ok'
  | 'ssrf_blocked'
  | 'invalid_host'
  | 'invalid_url'
  | 'invalid_scheme'
  | 'port_blocked';

export interface UrlInput {
  /** With `{path}` where the path goes, without its first slash. */
  readonly url: string;
  readonly expected: Answer;
  /** Means something else where there is a base, or cannot be written into a header. */
  readonly only?: 'tool';
}

/** Of each kind one or two, with the ends of ranges among them. */
// biome-ignore format: a list
const SAMPLES: readonly string[] = [
  '8.8.8.8', '93.184.216.34', '172.32.0.1', '128.0.0.1', '11.0.0.0', '223.255.255.255', '127.0.0.1',
  '127.255.255.254', '10.0.0.1', '172.31.255.255', '192.168.1.1', '169.254.169.254', '0.0.0.0', '100.64.0.1',
  '198.19.255.255', '224.0.0.1', '255.255.255.255', '168.63.129.16',
];

type Write = (octets: readonly number[], value: number) => string;

const each = (octets: readonly number[], write: (octet: number) => string, dot = '.'): string =>
  octets.map(write).join(dot);
const digits = (text: string, zero: number): string =>
  text.replace(/\d/g, digit => String.fromCodePoint(zero + Number(digit)));
const percent = (text: string): string =>
  [...text].map(character => `%${character.charCodeAt(0).toString(16)}`).join('');

/** Ruling A3: what WHATWG reads as an IPv4 address and is not its own spelling. */
const ODD: Readonly<Record<string, Write>> = {
  dword: (_, value) => String(value),
  'hex dword': (_, value) => `0x${value.toString(16)}`,
  'HEX dword, zeros': (_, value) => `0X${value.toString(16).toUpperCase().padStart(12, '0')}`,
  'octal dword': (_, value) => `0${value.toString(8)}`,
  'hex octets': octets => each(octets, octet => `0x${octet.toString(16)}`),
  'octal octets': octets => each(octets, octet => `0${octet.toString(8)}`),
  'padded octal': octets => each(octets, octet => octet.toString(8).padStart(9, '0')),
  'mixed bases': ([a = 0, b = 0, c = 0, d = 0]) =>
    `0x${a.toString(16)}.0${b.toString(8)}.${c}.0x${d.toString(16)}`,
  'two parts': ([a = 0], value) => `${a}.${value % 2 ** 24}`,
  'three parts': ([a = 0, b = 0], value) => `${a}.${b}.${value % 2 ** 16}`,
  'trailing dot': octets => `${octets.join('.')}.`,
  'dword, trailing dot': (_, value) => `${value}.`,
  fullwidth: octets => digits(octets.join('.'), 0xff10),
  'mathematical bold': octets => digits(octets.join('.'), 0x1d7ce),
  'one fullwidth digit': octets => octets.join('.').replace(/\d$/, digit => digits(digit, 0xff10)),
  'ideographic full stop': octets => octets.join('。'),
  'fullwidth full stop': octets => octets.join('．'),
  'halfwidth full stop': octets => octets.join('｡'),
  'percent-encoded': octets => percent(octets.join('.')),
  'percent-encoded dots': octets => octets.join('%2e'),
  'percent-encoded fullwidth': octets => octets.join('%EF%BC%8E'),
  'soft hyphen': octets => octets.join('.\u00ad'),
  'zero width space': octets => `\u200b${octets.join('.')}`,
  'word joiner': octets => `${octets.join('.')}\u2060`,
  'odd port': octets => `${octets.join('%2E')}:0080`,
};

/** What no reading of the standard makes a host of. */
const BROKEN: Readonly<Record<string, Write>> = {
  'five parts': octets => `${octets.join('.')}.1`,
  'empty part': ([a, b, c, d]) => `${a}..${b}.${c}.${d}`,
  'dword above the top': (_, value) => String(value + 2 ** 32),
  'octet above the top': ([a = 0, b, c, d]) => `${a + 256}.${b}.${c}.${d}`,
  'no octal digit': ([a, b, c]) => `${a}.${b}.${c}.08`,
  'double percent': octets => percent(octets.join('.')).replaceAll('%', '%25'),
  'encoded NUL': octets => `${octets.join('.')}%00`,
  'encoded blank': octets => `${octets.join('.')}%20`,
  'encoded slash': octets => `${octets.join('.')}%2f`,
  'encoded colon': octets => `${octets.join('.')}%3a80`,
  'in brackets': octets => `[${octets.join('.')}]`,
  'port above the top': octets => `${octets.join('.')}:65536`,
  'words for a port': octets => `${octets.join('.')}:http`,
};

function ofSample(address: string): readonly UrlInput[] {
  const octets = address.split('.').map(Number);
  const value = Number(numeric(address).value);
  const expected: Answer = mayReach(numeric(address)) ? 'ok' : 'ssrf_blocked';
  const host = octets.join('.');
  return [
    ...[
      `http://${host}/{path}`,
      `HtTp://${host}/{path}`,
      `http://${host}:80/{path}`,
      `http://${host}:080/{path}`,
      `http://${host}:/{path}`,
      `http:\\\\${host}\\{path}`,
      `http:////${host}/{path}`,
      ` \t http://${host}/{path} `,
      `http://${host}/{path}#@10.0.0.1/`,
      `http://${host}/x/../{path}`,
      `ht\ttp://${host.slice(0, 2)}\t${host.slice(2)}/{path}`,
    ].map(url => ({url, expected})),
    {url: `http://${host.slice(0, 3)}\n${host.slice(3)}/{path}`, expected, only: 'tool'},
    {url: `http:${host}/{path}`, expected, only: 'tool'},
    {url: `http:/${host}/{path}`, expected, only: 'tool'},
    {url: `http://${host}:22/{path}`, expected: 'port_blocked'},
    {url: `http://${host}:0/{path}`, expected: 'port_blocked'},
    ...['u@', 'u:p@', '@', ':@', 'u%40v@', 'example.com@'].map(
      (user): UrlInput => ({url: `http://${user}${host}/{path}`, expected: 'invalid_url'}),
    ),
    ...['ftp', 'file', 'gopher', 'ws', 'blob:http', 'view-source:http', 'jar:http'].map(
      (scheme): UrlInput => ({url: `${scheme}://${host}/{path}`, expected: 'invalid_scheme'}),
    ),
    ...Object.values(ODD).map(
      (write): UrlInput => ({url: `http://${write(octets, value)}/{path}`, expected: 'invalid_host'}),
    ),
    ...Object.values(BROKEN).map(
      (write): UrlInput => ({url: `http://${write(octets, value)}/{path}`, expected: 'invalid_url'}),
    ),
  ];
}

const hex = (value: bigint): string => `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;

const IPV6: readonly string[] = [
  '::1',
  '::',
  '2606:4700:4700::1111',
  '2a00:1450:4001:81b::200e',
  'fe80::1',
  'fc00::1',
  'fdff::1',
  'fec0::1',
  'ff02::1',
  '2001::1',
  '2001:1ff::1',
  '2001:200::1',
  '2001:db8::1',
  '2002:808:808::1',
  '3fff::1',
  '3fff:1000::1',
  '5f00::1',
  '100::1',
  '64:ff9b:1::808:808',
  '2620:4f:8000::1',
  '1fff::1',
  '4000::1',
  '2000::1',
  ...['8.8.8.8', '10.0.0.1', '169.254.169.254'].flatMap(address => {
    const tail = hex(numeric(address).value);
    return [
      `::ffff:${tail}`,
      `64:ff9b::${tail}`,
      `::${tail}`,
      `::ffff:0:${tail}`,
      `2002:${tail}::1`,
      `fe80::5efe:${tail}`,
    ];
  }),
];

function ofIpv6(text: string): readonly UrlInput[] {
  const address = numeric(text);
  const expected: Answer = mayReach(address) ? 'ok' : 'ssrf_blocked';
  const groups = (address.value.toString(16).padStart(32, '0').match(/.{4}/g) ?? []).join(':');
  const tail = `${groups.split(':').slice(0, 6).join(':')}:${dotted(address.value & 0xffff_ffffn)}`;
  return [
    ...[text, groups, groups.toUpperCase(), tail].map(host => ({
      url: `http://[${host}]/{path}`,
      expected,
    })),
    {url: `http://[${text}]:80/{path}`, expected},
    {url: `http://[${text}]:8080/{path}`, expected: 'port_blocked'},
    ...[
      `[${text}%25eth0]`,
      `[${text}%eth0]`,
      `[${text}%25]`,
      `%5B${text}%5D`,
      `[${text}].`,
      `[[${text}]]`,
      `[${text}`,
      `${text}]`,
    ].map((host): UrlInput => ({url: `http://${host}/{path}`, expected: 'invalid_url'})),
    {url: `http://u@[${text}]/{path}`, expected: 'invalid_url'},
  ];
}

/** Which host is meant, when two are written. */
const CONFUSING: readonly UrlInput[] = [
  {url: 'http://8.8.8.8\\@10.0.0.1/{path}', expected: 'ok', only: 'tool'},
  {url: 'http://8.8.8.8/@10.0.0.1/{path}', expected: 'ok', only: 'tool'},
  {url: 'http://8.8.8.8?@10.0.0.1/{path}', expected: 'ok', only: 'tool'},
  {url: 'http://8.8.8.8#@10.0.0.1/{path}', expected: 'ok', only: 'tool'},
  {url: 'http://10.0.0.1\\@8.8.8.8/{path}', expected: 'ssrf_blocked'},
  {url: 'http://10.0.0.1/@8.8.8.8/{path}', expected: 'ssrf_blocked'},
  {url: 'http://10.0.0.1?@8.8.8.8/{path}', expected: 'ssrf_blocked'},
  {url: 'http://10.0.0.1#@8.8.8.8/{path}', expected: 'ssrf_blocked'},
  {url: 'http://8.8.8.8@10.0.0.1/{path}', expected: 'invalid_url'},
  {url: 'http://8.8.8.8:80@10.0.0.1/{path}', expected: 'invalid_url'},
  {url: 'http://8.8.8.8%2f@10.0.0.1/{path}', expected: 'invalid_url'},
  {url: 'http://8.8.8.8%23@10.0.0.1/{path}', expected: 'invalid_url'},
  {url: 'http://10.0.0.1@8.8.8.8/{path}', expected: 'invalid_url'},
  {url: 'http://10.0.0.1:80@8.8.8.8/{path}', expected: 'invalid_url'},
  {url: 'http://8.8.8.8 @10.0.0.1/{path}', expected: 'invalid_url'},
  {url: 'http://[::1]@8.8.8.8/{path}', expected: 'invalid_url'},
  {url: 'http://8.8.8.8:80:80/{path}', expected: 'invalid_url'},
  {url: 'http://8.8.8.8:80#@10.0.0.1/{path}', expected: 'ok', only: 'tool'},
  {url: 'http://[::ffff:0x7f.1]/{path}', expected: 'invalid_url'},
  {url: 'http://[::ffff:127.1]/{path}', expected: 'invalid_url'},
  {url: 'http://[::１]/{path}', expected: 'invalid_url'},
  {url: 'http://[v1.1]/{path}', expected: 'invalid_url'},
  ...[
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'x.Y.LocalHost.',
    'ｌocalhost',
    'ℓocalhost',
    'local\u00adhost',
    'localhost．',
    '%6cocalhost',
    'localhost%2e',
    '①.localhost',
    'xn--bcher-kva.localhost',
  ].map((host): UrlInput => ({url: `http://${host}/{path}`, expected: 'ssrf_blocked'})),
  // Names that only look like an address are resolved, and their addresses are checked.
  {url: 'http://127.0.0.1.public.example/{path}', expected: 'ok'},
  {url: 'http://127.0.0.1.private.example/{path}', expected: 'ssrf_blocked'},
  {url: 'http://0x7f.1.private.example/{path}', expected: 'ssrf_blocked'},
  {url: 'http://localhost.private.example./{path}', expected: 'ssrf_blocked'},
  {url: 'http://ｐrivate.example/{path}', expected: 'ssrf_blocked'},
  {url: 'http://٨.٨.٨.٨/{path}', expected: 'ok'},
  {url: 'http://१२७.०.०.१/{path}', expected: 'ok'},
  {url: 'http://127.0.0.1../{path}', expected: 'ok'},
  {url: 'http://public.example./{path}', expected: 'ok'},
];

export const URL_INPUTS: readonly UrlInput[] = [
  ...SAMPLES.flatMap(ofSample),
  ...IPV6.flatMap(ofIpv6),
  ...CONFUSING,
];
