import {IPV4_REGISTRY, IPV6_REGISTRY, type RegistryRow, STRICTER} from './addresses-registry.ts';

/** An address as one number; shares no code with the guard, which works on words. */
export interface NumericAddress {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

interface NumericRange {
  readonly bits: 32 | 128;
  readonly first: bigint;
  readonly last: bigint;
  readonly length: number;
}

/** Dotted decimal, or IPv6 text without a dotted tail. */
export function numeric(text: string): NumericAddress {
  if (!text.includes(':')) {
    return {bits: 32, value: text.split('.').reduce((sum, octet) => sum * 256n + BigInt(octet), 0n)};
  }
  const [head = '', tail] = text.split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const before = groups(head);
  const after = groups(tail ?? '');
  const zeros = new Array<string>(8 - before.length - after.length).fill('0');
  const hex = [...before, ...zeros, ...after].map(group => group.padStart(4, '0')).join('');
  return {bits: 128, value: BigInt(`0x${hex}`)};
}

export function dotted(value: bigint): string {
  return [24n, 16n, 8n, 0n].map(shift => String((value >> shift) & 255n)).join('.');
}

/** All eight groups, none left out. */
export function grouped(value: bigint): string {
  const hex = value.toString(16).padStart(32, '0');
  return (hex.match(/.{4}/g) ?? []).map(group => group.replace(/^0{1,3}/, '')).join(':');
}

function rangeOf(cidr: string): NumericRange {
  const [text = '', length = ''] = cidr.split('/');
  const {bits, value} = numeric(text);
  const size = 1n << BigInt(bits - Number(length));
  if (value % size !== 0n) throw new TypeError(`Expected a network address, got "${cidr}"`);
  return {bits, first: value, last: value + size - 1n, length: Number(length)};
}

const compile = <Row extends {readonly cidr: string}>(rows: readonly Row[]) =>
  rows.map(row => ({...row, range: rangeOf(row.cidr)})).sort((a, b) => b.range.length - a.range.length);

const REGISTRY = compile<RegistryRow>([...IPV4_REGISTRY, ...IPV6_REGISTRY]);
const EXCEPTIONS = compile(STRICTER);

const contains = ({bits, first, last}: NumericRange, address: NumericAddress): boolean =>
  bits === address.bits && first <= address.value && address.value <= last;

/** The two prefixes whose low 32 bits are the address that is reached in the end (RFC 4291, RFC 6052). */
const MAPPED = rangeOf('::ffff:0:0/96');
const NAT64 = rangeOf('64:ff9b::/96');

/** Whether a fetch may reach the address: the registry, and where we are stricter, the ruling. */
export function mayReach(address: NumericAddress): boolean {
  if (contains(MAPPED, address) || contains(NAT64, address)) {
    return mayReach({bits: 32, value: address.value & 0xffff_ffffn});
  }
  if (EXCEPTIONS.some(({range}) => contains(range, address))) return false;
  // The longest prefix speaks; of IPv4, what no row covers is ordinary unicast.
  const row = REGISTRY.find(({range}) => contains(range, address));
  return row === undefined || row.global === true;
}

/** Every address at which the answer could change, its neighbours on both sides, and a few inside. */
export function boundaries(cidrs: readonly string[], bits: 32 | 128): readonly bigint[] {
  const top = (1n << BigInt(bits)) - 1n;
  const found = new Set<bigint>([0n, 1n, top - 1n, top]);
  for (const cidr of cidrs) {
    const range = rangeOf(cidr);
    if (range.bits !== bits) continue;
    const {first, last} = range;
    const middle = (first + last) / 2n;
    for (const value of [first - 1n, first, first + 1n, middle, last - 1n, last, last + 1n]) {
      if (value >= 0n && value <= top) found.add(value);
    }
  }
  return [...found].sort((a, b) => (a < b ? -1 : 1));
}

export const REGISTRY_CIDRS: readonly string[] = [
  ...[...IPV4_REGISTRY, ...IPV6_REGISTRY, ...STRICTER].map(({cidr}) => cidr),
  '::ffff:0:0/96',
  '64:ff9b::/96',
];
