import {getEventListeners} from 'node:events';
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {type DnsZone, startDnsServer} from '../../../test/support/dns-server.ts';
import {dnsServerResolver} from '../../../test/support/dns-server-resolver.ts';
import {
  authorize,
  checked,
  guardOver,
  newBudget,
  stubResolver,
} from '../../../test/support/guard-for-test.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {HostPins} from './guard.ts';
import {
  addressesInHosts,
  askDns,
  createSystemResolver,
  type HostResolver,
  isKnownElsewhere,
  parseResolvConf,
  searchNames,
} from './resolver.ts';

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

  test('the system is not asked where a server did not answer', {tags: 'stress'}, async () => {
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

async function dnsGuard(zone: DnsZone) {
  const server = await startDnsServer(zone);
  onTestFinished(server.close);
  return {guard: guardOver(dnsServerResolver([server.address])), server};
}

describe('FR-WF-06c the reason of a failed resolution', () => {
  test.each([
    ['the code of the error', Object.assign(new Error('x'), {code: 'EAI_AGAIN'}), 'EAI_AGAIN'],
    ['an error without a code', new Error('x'), 'EUNKNOWN'],
    ['what is no error', {code: 'ENOTFOUND'}, 'EUNKNOWN'],
  ])('%s', async (_, thrown, error) => {
    const resolver: HostResolver = {resolve: () => Promise.reject(thrown)};
    const result = await guardOver(resolver).authorize(
      checked('http://a.example/'),
      new HostPins(),
      newBudget(),
    );
    expect(result).toMatchObject({
      error: {
        code: 'dns_failed',
        message: `"a.example" could not be resolved (${error}). Check the spelling; retry if it is right.`,
        details: {host: 'a.example', error},
      },
    });
  });

  test('an empty answer', async () => {
    const {resolver} = stubResolver([]);
    const result = await guardOver(resolver).authorize(
      checked('http://a.example/'),
      new HostPins(),
      newBudget(),
    );
    expect(result).toMatchObject({
      error: {message: expect.stringMatching(/^"a\.example" could not be resolved \(ENODATA\)\./)},
    });
  });

  test.each([
    [{a: 'servfail', aaaa: []} as const, 'ESERVFAIL'],
    [{a: [], aaaa: 'servfail'} as const, 'ESERVFAIL'],
    [{}, 'ENODATA'],
  ])('of two questions, the one that says more: %j', async (reply, error) => {
    const {guard} = await dnsGuard({'a.example': reply});
    expect(await authorize(guard, 'http://a.example/')).toMatchObject({code: 'dns_failed', error});
  });
});

describe('given DNS servers', () => {
  test('A and AAAA of a name are one set', async () => {
    const {guard} = await dnsGuard({
      'a.example': {a: ['93.184.216.34'], aaaa: ['2606:4700::1', '2606:4700::']},
    });
    expect(await authorize(guard, 'http://a.example/')).toMatchObject({
      pinned: ['2606:4700::', '2606:4700::1', '93.184.216.34'],
    });
  });

  test.each([
    ['four.example', {a: ['93.184.216.34']}, '93.184.216.34'],
    ['six.example', {aaaa: ['2606:4700::1']}, '2606:4700::1'],
  ])('one family without an answer does not matter: %s', async (name, reply, address) => {
    const {guard} = await dnsGuard({[name]: reply});
    expect(await authorize(guard, `http://${name}/`)).toMatchObject({addresses: [address]});
  });

  test('FR-WF-06c a name that does not exist, has no address, or whose server fails is dns_failed', async () => {
    const {guard} = await dnsGuard({'empty.example': {}, 'broken.example': 'servfail'});
    const failed = (host: string, error: string) => ({code: 'dns_failed', host, error});
    expect(await authorize(guard, 'http://gone.example/')).toEqual(failed('gone.example', 'ENOTFOUND'));
    expect(await authorize(guard, 'http://empty.example/')).toEqual(failed('empty.example', 'ENODATA'));
    expect(await authorize(guard, 'http://broken.example/')).toEqual(failed('broken.example', 'ESERVFAIL'));
  });

  test('dns_failed is retryable and says what to do', async () => {
    const {guard} = await dnsGuard({});
    const result = await guard.authorize(checked('http://gone.example/?secret'), new HostPins(), newBudget());
    expect(result).toMatchObject({
      error: {
        retryable: true,
        message:
          '"gone.example" could not be resolved (ENOTFOUND). Check the spelling; retry if it is right.',
      },
    });
  });

  test('ruling C3 a server that never answers is a timeout in phase dns, and the question is cancelled', async () => {
    const {guard} = await dnsGuard({'slow.example': 'silent'});
    expect(await authorize(guard, 'http://slow.example/', new HostPins(), newBudget(80))).toEqual({
      code: 'timeout',
      timeout_ms: 80,
      phase: 'dns',
    });
  });

  test('a question is given up when its signal aborts, and leaves no listener behind', async () => {
    const server = await startDnsServer({'slow.example': 'silent', 'a.example': {a: ['93.184.216.34']}});
    onTestFinished(server.close);
    const resolver = dnsServerResolver([server.address]);
    const controller = new AbortController();
    const {signal} = controller;
    expect(await resolver.resolve('a.example', signal)).toEqual(['93.184.216.34']);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    const slow = resolver.resolve('slow.example', signal);
    await expect.poll(() => server.queries.filter(query => query.startsWith('slow'))).toHaveLength(2);
    controller.abort();
    await expect(slow).rejects.toMatchObject({code: 'ECANCELLED'});
    const queries = server.queries.length;
    await expect(resolver.resolve('a.example', signal)).rejects.toMatchObject({name: 'AbortError'});
    expect(server.queries).toHaveLength(queries);
  });

  test('A5: of a hundred answers 64 are kept to connect to', async () => {
    const a = Array.from({length: 100}, (_, at) => `93.184.216.${at}`);
    const {guard} = await dnsGuard({'many.example': {a}});
    expect((await authorize(guard, 'http://many.example/')).pinned).toHaveLength(64);
  });

  test.each([64, 70, 99])('A5: every answer is checked, however many: answer %d is private', async at => {
    const a = Array.from({length: 100}, (_, index) => (index === at ? '10.0.0.7' : `93.184.216.${index}`));
    const {guard} = await dnsGuard({'many.example': {a}});
    expect(await authorize(guard, 'http://many.example/')).toMatchObject({
      code: 'ssrf_blocked',
      blocked_ip: '10.0.0.7',
    });
  });

  test.each(['servfail', 'refused', 'notimp'] as const)(
    'a server that says %s says nothing about the name: the next one is asked',
    async said => {
      const refusing = await startDnsServer({'a.example': said});
      const answering = await startDnsServer({'a.example': {a: ['93.184.216.34']}});
      onTestFinished(refusing.close);
      onTestFinished(answering.close);
      const resolver = dnsServerResolver([refusing.address, answering.address]);
      expect(await resolver.resolve('a.example', new AbortController().signal)).toEqual(['93.184.216.34']);
    },
  );

  test('localhost behind another name is loopback all the same', async () => {
    const {guard} = await dnsGuard({'me.example': {aaaa: ['::1']}});
    expect(await authorize(guard, 'http://me.example/')).toMatchObject({cidr: '::1/128', host: 'me.example'});
  });
});

describe('review B4: how long and how often a server is asked', () => {
  test.each([1, 2])('a server that never answers is asked %d times', {tags: 'slow'}, async attempts => {
    const server = await startDnsServer({'slow.example': 'silent'});
    onTestFinished(server.close);
    const {signal} = new AbortController();
    const question = {servers: [server.address], timeoutMs: 50, attempts};
    await expect(askDns('slow.example', question, signal)).rejects.toMatchObject({code: 'ETIMEOUT'});
    const asked = (type: string) => server.queries.filter(query => query === `slow.example ${type}`);
    expect([asked('A').length, asked('AAAA').length]).toEqual([attempts, attempts]);
  });

  test('without servers those of the system are asked', async () => {
    const controller = new AbortController();
    const answer = askDns('a.invalid', {timeoutMs: 1000, attempts: 1}, controller.signal);
    controller.abort();
    await expect(answer).rejects.toMatchObject({
      code: 'ECANCELLED',
      syscall: expect.stringMatching(/^query/),
    });
  });
});

test.each([
  ['10.0.0.1 a.test', ['10.0.0.1']],
  ['  10.0.0.1 \t a.test', ['10.0.0.1']],
  ['10.0.0.1 b.test  \ta.test # c.test', ['10.0.0.1']],
  ['10.0.0.1\tA.Test.', ['10.0.0.1']],
  ['::1 a.test\r\n10.0.0.1 a.test b.test', ['::1', '10.0.0.1']],
  ['fe80::1%eth0 a.test', ['fe80::1%eth0']],
  ['10.0.0.1 a.test.b', []],
  ['10.0.0.1 xa.test', []],
  ['10.0.0.1 b.test # a.test', []],
  ['#10.0.0.1 a.test', []],
  ['a.test', []],
  ['nowhere a.test', []],
  ['%eth0 a.test', []],
  ['', []],
])('ruling A5 the hosts file %j says of a.test: %j', (text, expected) => {
  expect(addressesInHosts(text, 'a.TEST')).toEqual(expected);
});

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

const DEFAULTS = {search: [], ndots: 1, timeoutMs: 5000, attempts: 2};

test.each([
  ['', {}],
  ['search a.test b.test', {search: ['a.test', 'b.test']}],
  ['search \t a.test \t b.test\r', {search: ['a.test', 'b.test']}],
  ['search ..a.test.. . b.test.', {search: ['a.test', 'b.test']}],
  ['domain a.test b.test', {search: ['a.test']}],
  ['domain  a.test', {search: ['a.test']}],
  ['domain', {}],
  ['search a.test\nsearch b.test', {search: ['b.test']}],
  ['search a.test\ndomain b.test', {search: ['b.test']}],
  ['nosearch a.test', {}],
  ['options ndots:3 timeout:7 attempts:4', {ndots: 3, timeoutMs: 7000, attempts: 4}],
  ['options ndots:0 timeout:0 attempts:0', {ndots: 0, timeoutMs: 1000, attempts: 1}],
  ['options ndots:16 timeout:31 attempts:6', {ndots: 15, timeoutMs: 30_000, attempts: 5}],
  ['options xndots:3 ndots:3x ndots: ndots:-1 rotate', {}],
  ['# options ndots:3', {}],
  ['nameserver ndots:3', {}],
])('review B4 resolv.conf(5) %j', (text, expected) => {
  expect(parseResolvConf(text)).toEqual({...DEFAULTS, ...expected});
});
