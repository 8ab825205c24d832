import {expect, test} from 'vitest';
import {isKnownElsewhere} from './is-known-elsewhere.ts';

test.each([
  ['hosts: files dns', 'printer.local', false],
  ['hosts: files mdns4_minimal [NOTFOUND=return] dns', 'printer.local', true],
  ['hosts: files mdns4_minimal [NOTFOUND=return] dns', 'a.test', false],
  [' \thosts:files[NOTFOUND=return]dns', 'printer.local', false],
  ['hosts: files resolve', 'printer', false],
  ['hosts: files myhostname', 'printer', true],
  ['hosts: files mymachines', 'printer', true],
  ['hosts: files myhostname', 'a.test', false],
  ['hosts: files ldap', 'a.test', true],
  ['hosts: files # ldap', 'a.test', false],
  ['passwd: ldap\nhosts: files dns\ngroup: ldap', 'a.test', false],
  ['#hosts: ldap\nhosts: files', 'a.test', false],
  ['nohosts: ldap\nhosts: files', 'a.test', false],
  ['passwd: ldap', 'a.test', false],
])('review B4 with %j another source may know %s: %s', (nsswitch, name, expected) => {
  expect(isKnownElsewhere(name, nsswitch, 'linux')).toBe(expected);
});
