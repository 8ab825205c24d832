import {describe, expect, test} from 'vitest';
import {LONGEST_ADDRESS, textsInAddress} from './texts-in-address.ts';

const textsOf = (address: string): readonly string[] => textsInAddress(new URL(address)).texts;

describe('T1 what an address may say', () => {
  test.each([
    ['all of it behind the host', '/alpha/beta1?k=gamma&l=delta#omega'],
    ['its path without slashes', 'alphabeta1'],
    ['its values', 'gammadelta'],
    ['its labels', 'firstsecond'],
    ['all of these', 'firstsecondalphabeta1gammadelta'],
    ['the same backwards', 'atledammag'],
  ])('%s', (_, text) => {
    expect(textsOf('https://first.second.collect.example/alpha/beta1?k=gamma&l=delta#omega')).toContain(text);
  });

  test.each([
    ['https://x.example/?first=1&second=2&third=3', 'firstsecondthird'],
    ['https://username:password@x.example/', 'usernamepassword'],
    ['https://x.example/?q=alpha+beta', '/?q=alpha beta'],
    ['https://x.example/?k=alpha=beta=', 'alpha=beta='],
    ['https://x.example/%61lpha%62eta', '/alphabeta'],
    ['https://x.example/?k=%61lpha&l=%62eta', 'alphabeta'],
    ['https://alpha.beta1.x.example./', 'alphabeta1'],
    ['https://alpha.beta1.x.zone7/', 'alphabeta1'],
  ])('%s says %j', (address, text) => {
    expect(textsOf(address)).toContain(text);
  });

  test('the registered domain, two names of parameters and a number for a host say nothing', () => {
    expect(textsOf('https://collect-something.example/')).toEqual([]);
    expect(textsOf('https://collect-something.example./')).toEqual([]);
    expect(textsOf('https://x.example/?firstname=1&lastname=2')).not.toContain('firstnamelastname');
    expect(textsOf('http://203.0.113.77/')).toEqual([]);
  });

  test('a longer one is not looked through', () => {
    const address = (length: number) => new URL(`https://x.example/${'a'.repeat(length - 18)}`);
    expect(textsInAddress(address(LONGEST_ADDRESS + 1))).toEqual({texts: [], isCut: true});
    expect(textsInAddress(address(LONGEST_ADDRESS)).texts).not.toEqual([]);
  });
});

describe('T1 what is encoded in an address', () => {
  const base32 = (bytes: Buffer): string => {
    const bits = [...bytes].map(byte => byte.toString(2).padStart(8, '0')).join('');
    const letters = (bits.match(/.{1,5}/g) ?? []).map(
      group => 'abcdefghijklmnopqrstuvwxyz234567'[Number.parseInt(group.padEnd(5, '0'), 2)],
    );
    return letters.join('');
  };
  const encodings: readonly (readonly [string, (bytes: Buffer) => string])[] = [
    ['hexadecimal digits', bytes => bytes.toString('hex')],
    ['base64', bytes => bytes.toString('base64url')],
    ['base32', base32],
  ];
  /** Of which no run is text, so that what is found is what stands between them. */
  const noText = (length: number) => Buffer.alloc(length, 0xff);

  test.each(encodings)('%s of sixteen characters are read wherever they begin', (_, encode) => {
    for (const before of ['', 'z', 'zz', 'zzz'])
      expect(textsOf(`https://x.example/${before}${encode(Buffer.from('sixteen of these'))}`)).toContain(
        'sixteen of these',
      );
  });

  test.each(encodings)(
    '%s that are no UTF-8 say what is readable of them, from twelve characters on',
    (_, encode) => {
      const said = (text: string) =>
        textsOf(`https://x.example/${encode(Buffer.concat([noText(8), Buffer.from(text), noText(8)]))}`);
      expect(said('twelve chars')).toContain('twelve chars');
      expect(said('eleven char')).not.toContain('eleven char');
      expect(said('tabs\tand\r\nlines~')).toContain('tabs\tand\r\nlines~');
    },
  );

  test('two layers are taken off, and no third', () => {
    const wrapped = (text: string) => Buffer.from(text).toString('base64url');
    const [one, two] = [wrapped('sixteen of these'), wrapped(wrapped('sixteen of these'))];
    expect(textsOf(`https://x.example/${two}`)).toContain('sixteen of these');
    expect(textsOf(`https://x.example/${wrapped(two)}`)).toContain(one);
    expect(textsOf(`https://x.example/${wrapped(two)}`)).not.toContain('sixteen of these');
  });
});
