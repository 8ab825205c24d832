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
  ])('%s says %j', (address, text) => {
    expect(textsOf(address)).toContain(text);
  });

  test('the registered domain, two names of parameters and a number for a host say nothing', () => {
    expect(textsOf('https://collect-something.example/')).toEqual([]);
    expect(textsOf('https://x.example/?firstname=1&lastname=2')).not.toContain('firstnamelastname');
    expect(textsOf('http://203.0.113.77/')).toEqual([]);
  });

  test('a longer one is not looked through', () => {
    const address = (length: number) => new URL(`https://x.example/${'a'.repeat(length - 18)}`);
    expect(textsInAddress(address(LONGEST_ADDRESS + 1))).toEqual({texts: [], isCut: true});
    expect(textsInAddress(address(LONGEST_ADDRESS)).texts).not.toEqual([]);
  });
});
