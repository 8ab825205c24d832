import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {type DnsZone, startDnsServer} from '../../../../test/support/dns-server.ts';
import {temporaryDirectory} from '../../../../test/support/temporary-directory.ts';
import {addressesInHosts} from './addresses-in-hosts.ts';
import {isKnownElsewhere} from './is-known-elsewhere.ts';
import {parseResolvConf} from './parse-resolv-conf.ts';
import {searchNames} from './search-names.ts';
import {createSystemResolver} from './system-resolver.ts';

interface Texts {
  readonly hosts?: string;
  readonly resolvConf?: string;
  readonly nsswitch?: string;
}

async function resolverOver(zone: DnsZone, texts: Texts) {
  const directory = temporaryDirectory();
  const put = (name: string, text = ''): string => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  const server = await startDnsServer(zone);
  onTestFinished(server.close);
  const files = {
    hosts: put('hosts', texts.hosts),
    resolvConf: put('resolv.conf', texts.resolvConf),
    nsswitch: put('nsswitch.conf', texts.nsswitch ?? 'hosts: files dns\n'),
  };
  const {resolve} = createSystemResolver(files, [server.address]);
  const signal = new AbortController().signal;
  return {server, resolve: (name: string) => resolve(name, signal)};
}

describe('review B4: the rules of the system', () => {
  test('the hosts file comes first, and DNS is not asked', async () => {
    const {server, resolve} = await resolverOver(
      {'a.example': {a: ['93.184.216.34']}},
      {hosts: '10.1.1.1 A.Example other # a.example is ours\n::1 a.example\n'},
    );
    expect(await resolve('a.example')).toEqual(['10.1.1.1', '::1']);
    expect(server.queries).toEqual([]);
  });

  test('a name with few dots is searched for below the domains first', async () => {
    const {server, resolve} = await resolverOver(
      {'wiki.two.example': {a: ['93.184.216.34']}},
      {resolvConf: 'search one.example two.example\n'},
    );
    expect(await resolve('wiki')).toEqual(['93.184.216.34']);
    expect(server.queries.toSorted()).toEqual([
      'wiki.one.example A',
      'wiki.one.example AAAA',
      'wiki.two.example A',
      'wiki.two.example AAAA',
    ]);
  });

  test('what is said of the name itself is what is reported', async () => {
    const {resolve} = await resolverOver(
      {'a.example': 'servfail', 'a.example.corp': 'nxdomain'},
      {resolvConf: 'search corp\n'},
    );
    await expect(resolve('a.example')).rejects.toMatchObject({code: 'ESERVFAIL'});
  });

  test('what is said of the name itself is what is reported, also where it comes last', async () => {
    const {resolve} = await resolverOver({wiki: 'servfail'}, {resolvConf: 'search one two\n'});
    await expect(resolve('wiki')).rejects.toMatchObject({code: 'ESERVFAIL'});
  });

  test.each(['nxdomain', 'servfail', 'refused', {a: []}] as const)(
    'a domain of the list whose server says %j is passed over',
    async said => {
      const {resolve} = await resolverOver(
        {'wiki.one': said, 'wiki.two': {a: ['93.184.216.34']}},
        {resolvConf: 'search one two\n'},
      );
      expect(await resolve('wiki')).toEqual(['93.184.216.34']);
    },
  );

  test('a domain of the list that makes no name of DNS is passed over', async () => {
    const {resolve} = await resolverOver(
      {'wiki.two': {a: ['93.184.216.34']}},
      {resolvConf: `search ${'x'.repeat(64)} two\n`},
    );
    expect(await resolve('wiki')).toEqual(['93.184.216.34']);
  });

  test('the system is not asked where a server did not answer', {tags: 'slow'}, async () => {
    const {resolve} = await resolverOver(
      {'printer.local': 'silent'},
      {resolvConf: 'options timeout:1 attempts:1\n', nsswitch: 'hosts: files mdns4 dns\n'},
    );
    await expect(resolve('printer.local')).rejects.toMatchObject({code: 'ETIMEOUT'});
  });

  test('a server that does not answer is not asked for the rest of the list', {tags: 'slow'}, async () => {
    const {server, resolve} = await resolverOver(
      {'a.example': 'silent'},
      {resolvConf: 'search corp\noptions timeout:1 attempts:1\n'},
    );
    await expect(resolve('a.example')).rejects.toMatchObject({code: 'ETIMEOUT'});
    expect(server.queries.toSorted()).toEqual(['a.example A', 'a.example AAAA']);
  });

  test('what a server says of the question, and not of the name, ends it', async () => {
    const {server, resolve} = await resolverOver(
      {'a.example': 'notimp', 'printer.local': 'notimp'},
      {resolvConf: 'search corp\n', nsswitch: 'hosts: files mdns4 dns\n'},
    );
    await expect(resolve('a.example')).rejects.toMatchObject({code: 'ENOTIMP'});
    expect(server.queries.filter(query => query.includes('corp'))).toEqual([]);
    await expect(resolve('printer.local')).rejects.toMatchObject({
      code: 'ENOTIMP',
      syscall: expect.stringMatching(/^query/),
    });
  });

  test('all that the system itself has for a name is an answer', async () => {
    const {resolve} = await resolverOver({}, {nsswitch: 'hosts: files myhostname dns\n'});
    const found = await resolve('localhost');
    expect(found.length).toBeGreaterThan(0);
    for (const address of found) expect(['127.0.0.1', '::1']).toContain(address);
  });

  test('the system itself is asked for names that another source may have, and no others', async () => {
    // Whatever runs this knows its own "localhost" and no such names.
    const {resolve} = await resolverOver(
      {},
      {nsswitch: 'hosts: files mdns4_minimal [NOTFOUND=return] dns\n'},
    );
    await expect(resolve('printer.local')).rejects.toMatchObject({syscall: 'getaddrinfo'});
    await expect(resolve('gone.example')).rejects.toMatchObject({syscall: expect.stringMatching(/^query/)});
  });
});

describe('resolv.conf(5)', () => {
  test('of several lists the last counts, options are bounded, and a comment is none', () => {
    const text =
      'domain old.example\nsearch a.example. b.example .\n# options ndots:9\noptions ndots:99 rotate timeout:0 attempts:9\n';
    expect(parseResolvConf(text)).toEqual({
      search: ['a.example', 'b.example'],
      ndots: 15,
      timeoutMs: 1000,
      attempts: 5,
    });
    expect(parseResolvConf('')).toEqual({search: [], ndots: 1, timeoutMs: 5000, attempts: 2});
    expect(parseResolvConf('search a\ndomain b.example c')).toMatchObject({search: ['b.example']});
  });

  test.each([
    ['a', 1, ['a.x', 'a.y', 'a']],
    ['a.b', 1, ['a.b', 'a.b.x', 'a.b.y']],
    ['a.b', 2, ['a.b.x', 'a.b.y', 'a.b']],
    ['a', 0, ['a', 'a.x', 'a.y']],
  ])('%s with ndots %d', (name, ndots, names) => {
    expect(searchNames(name, {ndots, search: ['x', 'y']})).toEqual(names);
  });
});

test('hosts(5): whole names, comments, zones and lines that are none', () => {
  const text = 'fe80::1%lo0 host.example\n127.0.0.1 ahost.example #host.example\nnonsense host.example\n';
  expect(addressesInHosts(text, 'HOST.example')).toEqual(['fe80::1%lo0']);
  expect(addressesInHosts(text, 'example')).toEqual([]);
});

test.each([
  ['a.example', 'hosts: files dns', false],
  ['a.example', 'hosts: files mymachines myhostname resolve [!UNAVAIL=return] dns # ldap', false],
  ['box', 'hosts: files mymachines resolve dns', true],
  ['a.local', 'hosts: files mdns4_minimal [NOTFOUND=return] dns', true],
  ['a.example', 'hosts: files mdns4 dns', false],
  ['a.example', 'passwd: ldap\nhosts: files dns ldap', true],
  ['a.example', 'passwd: ldap', false],
])('nsswitch.conf(5): %s with "%s"', (name, text, expected) => {
  expect(isKnownElsewhere(name, text, 'linux')).toBe(expected);
});

test('without nsswitch.conf Linux has no other source, and other systems may have', () => {
  expect(isKnownElsewhere('a.example', undefined, 'linux')).toBe(false);
  expect(isKnownElsewhere('a.example', undefined, 'darwin')).toBe(true);
});
