import fc from 'fast-check';
import {expect, test} from 'vitest';
import {formatIp, parseIp, reachedIp} from './ip-address.ts';

/** The canonical text; undefined for what is no address. */
function canonical(text: string): string | undefined {
  const address = parseIp(text);
  return address === undefined ? undefined : formatIp(address);
}

test.each([
  ['1:2:3:4:5:6:7:8', '1:2:3:4:5:6:7:8'],
  ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
  ['::2:3:4:5:6:7:8', '0:2:3:4:5:6:7:8'],
  ['1:0:0:4:5:6:7:8', '1::4:5:6:7:8'],
  ['1:0:3:4:5:6:0:0', '1:0:3:4:5:6::'],
  ['1:0:0:4:5:0:0:8', '1::4:5:0:0:8'],
  ['1:0:0:4:0:0:0:8', '1:0:0:4::8'],
  ['1:0:0:0:5:0:0:8', '1::5:0:0:8'],
  ['0:0:0:0:0:0:0:0', '::'],
  ['2001:0DB8::00FF', '2001:db8::ff'],
  ['0000:0000:0000:0000:0000:ffff:255.255.255.255', '::ffff:ffff:ffff'],
  ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:102:304'],
  ['::1.2.3.4', '::102:304'],
  ['255.255.255.255', '255.255.255.255'],
  ['0.0.0.0', '0.0.0.0'],
])('RFC 5952 %s is written %s', (text, expected) => {
  expect(canonical(text)).toBe(expected);
});

test('property: IPv6 text is what WHATWG prints', () => {
  const group = fc.oneof(fc.constant(0), fc.integer({min: 0, max: 0xffff}));
  fc.assert(
    fc.property(fc.array(group, {minLength: 8, maxLength: 8}), groups => {
      const text = groups.map(value => value.toString(16)).join(':');
      expect(`[${canonical(text)}]`).toBe(new URL(`http://[${text}]/`).hostname);
    }),
    {numRuns: 500},
  );
});

test.each([
  '256.0.0.0',
  '0.0.0.256',
  '00.0.0.0',
  '1.2.3',
  '1.2.3.4.5',
  '1.2.3.4::',
  '1.2.3.4::1',
  '::1.2.3.4:5',
  '1.2.3.4:5:6:7:8:9:a',
  '1:2:3:4:5:6:7:1.2.3.4',
  '1:2:3:4:5:6:7:8::',
  '::1::',
  '12345::',
])('%s is no address', text => {
  expect(parseIp(text)).toBeUndefined();
});

test.each([
  ['64:ff9b::a9fe:a9fe', '169.254.169.254'],
  ['64:ff9b::', '0.0.0.0'],
  ['::ffff:127.0.0.1', '127.0.0.1'],
  // One bit beside each of the words that make the prefix.
  ['64:ff9a::a9fe:a9fe', '64:ff9a::a9fe:a9fe'],
  ['64:ff9b:0:1::a9fe:a9fe', '64:ff9b:0:1::a9fe:a9fe'],
  ['64:ff9b::1:a9fe:a9fe', '64:ff9b::1:a9fe:a9fe'],
  ['::a9fe:a9fe', '::a9fe:a9fe'],
  ['169.254.169.254', '169.254.169.254'],
])('FR-WF-05a %s leads to %s', (written, expected) => {
  const address = parseIp(written);
  expect(address && formatIp(reachedIp(address))).toBe(expected);
});
