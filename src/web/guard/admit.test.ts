import {afterEach, describe, expect, test} from 'vitest';
import {type DnsZone, startDnsServer} from '../../../test/support/dns-server.ts';
import {Budget} from '../../core/budget.ts';
import {systemClock} from '../../core/clock.ts';
import type {CheckedUrl} from '../page.ts';
import {parseUrl} from '../url/parse-url.ts';
import {createGuard, type Guard} from './admit.ts';
import {checkUrl} from './check-url.ts';
import {createDnsServerResolver} from './dns-server-resolver.ts';
import {type GuardPolicy, readGuardPolicy} from './guard-policy.ts';
import {HostPins} from './host-pins.ts';
import {type HostResolver, systemResolver} from './host-resolver.ts';
import {createSsrfValidator, type SsrfValidator} from './ssrf-validator.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

function policyOf(changes: Partial<Parameters<typeof readGuardPolicy>[0]> = {}): GuardPolicy {
  const read = readGuardPolicy({
    block_private_ips: true,
    block_loopback: true,
    block_link_local: true,
    block_reserved: true,
    allowed_ports: [],
    additional_blocked_cidrs: [],
    max_dns_attempts: 2,
    allow_insecure_overrides: true,
    ...changes,
  });
  if (!read.ok) throw new Error(read.error.join('\n'));
  return read.value.policy;
}

function checked(url: string, policy = policyOf()): CheckedUrl {
  const parsed = parseUrl(url);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const result = checkUrl(parsed.value, policy);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

function newBudget(ms = 20_000, caller?: AbortSignal): Budget {
  const budget = new Budget(ms, systemClock, caller);
  closers.push(() => budget.close());
  return budget;
}

/** Answers every name with these addresses, and counts how often it is asked. */
function stubResolver(addresses: readonly string[]) {
  const asked: string[] = [];
  const resolver: HostResolver = {
    resolve: async name => {
      asked.push(name);
      return addresses;
    },
  };
  return {resolver, asked};
}

function guardOver(resolver: HostResolver, policy = policyOf()): Guard {
  return createGuard(createSsrfValidator(policy, resolver), policy);
}

async function admit(guard: Guard, url: string, pins = new HostPins(), budget = newBudget()) {
  const result = await guard.admit(checked(url), pins, budget);
  if (!result.ok) return {code: result.error.code, ...result.error.details};
  return {addresses: result.value.addresses, pinned: [...result.value.pinned]};
}

async function dnsGuard(zone: DnsZone) {
  const server = await startDnsServer(zone);
  closers.push(server.close);
  return {guard: guardOver(createDnsServerResolver([server.address])), server};
}

describe('blocked answers', () => {
  test('T-WF-SSRF-10 a resolver that answers a blocked address', async () => {
    const {resolver} = stubResolver(['10.0.0.7']);
    const guard = guardOver(resolver);
    const result = await guard.admit(
      checked('https://example.internal/?secret'),
      new HostPins(),
      newBudget(),
    );
    expect(result).toEqual({
      ok: false,
      error: {
        code: 'ssrf_blocked',
        message:
          '"example.internal" resolves to 10.0.0.7, a private address (10.0.0.0/8). Use a public address.',
        retryable: false,
        details: {
          blocked_ip: '10.0.0.7',
          cidr: '10.0.0.0/8',
          toggle: 'block_private_ips',
          host: 'example.internal',
        },
      },
    });
  });

  test.each([
    [['93.184.216.34', '127.0.0.1']],
    [['2606:4700::1', 'fe80::1%eth0']],
    [['93.184.216.34', '::ffff:10.0.0.1']],
    [['93.184.216.34', '64:ff9b::a00:1']],
    [['93.184.216.34', 'not an address']],
    [['93.184.216.34', '127.1']],
    [[...Array.from({length: 63}, (_, at) => `93.184.216.${at}`), '10.0.0.1']],
  ])('T-WF-SSRF-10 one blocked answer blocks the request: %j', async answers => {
    expect(await admit(guardOver(stubResolver(answers).resolver), 'http://a.example/')).toMatchObject({
      code: 'ssrf_blocked',
    });
  });

  test('T-WF-SSRF-10 a validator in its place decides alone (FR-WF-06b)', async () => {
    const refuse: SsrfValidator = {
      validateIp: ip => createSsrfValidator(policyOf(), systemResolver).validateIp(ip),
      resolveAndValidate: async () =>
        createSsrfValidator(policyOf(), systemResolver).validateIp('10.0.0.1') as never,
    };
    expect(await admit(createGuard(refuse, policyOf()), 'http://a.example/')).toMatchObject({
      code: 'ssrf_blocked',
      blocked_ip: '10.0.0.1',
    });
  });

  test('T-WF-SSRF-10 a name that rebinds is asked once per call, and judged anew in the next', async () => {
    const {guard, server} = await dnsGuard({'a.example': [{a: ['93.184.216.34']}, {a: ['127.0.0.1']}]});
    const pins = new HostPins();
    const first = await admit(guard, 'http://a.example/', pins);
    expect(first).toEqual({addresses: ['93.184.216.34'], pinned: ['93.184.216.34']});
    expect(await admit(guard, 'http://A.EXAMPLE./other', pins)).toEqual(first);
    expect(server.queries.toSorted()).toEqual(['a.example A', 'a.example AAAA']);
    expect(await admit(guard, 'http://a.example/')).toMatchObject({
      code: 'ssrf_blocked',
      blocked_ip: '127.0.0.1',
    });
  });
});

describe('order and number', () => {
  const answers = ['10.0.0.2', '2001:db8::2', '2001:db8::1', '10.0.0.1'];
  const open = {block_private_ips: false, block_reserved: false};

  test('T-WF-SSRF-12 IPv6 before IPv4, each by bytes, whatever the resolver says', async () => {
    const expected = ['2001:db8::1', '2001:db8::2', '10.0.0.1', '10.0.0.2'];
    for (const order of [answers, answers.toReversed(), answers.toSorted()]) {
      const policy = policyOf({...open, max_dns_attempts: 10});
      expect(await admit(guardOver(stubResolver(order).resolver, policy), 'http://a.example/')).toEqual({
        addresses: expected,
        pinned: expected,
      });
    }
  });

  test('T-WF-SSRF-12 bytes, not text: 9 before 10, 2a00 before 2606:…:a only by value', async () => {
    const policy = policyOf({...open, max_dns_attempts: 10});
    const shuffled = [
      '100.0.0.1',
      '9.0.0.1',
      '255.0.0.1',
      '2a00::1',
      '2606:4700::a',
      '2606:4700::10',
      '128.0.0.1',
    ];
    expect(
      await admit(guardOver(stubResolver(shuffled).resolver, policy), 'http://a.example/'),
    ).toMatchObject({
      addresses: [
        '2606:4700::a',
        '2606:4700::10',
        '2a00::1',
        '9.0.0.1',
        '100.0.0.1',
        '128.0.0.1',
        '255.0.0.1',
      ],
    });
  });

  test('T-WF-SSRF-13 max_dns_attempts = 2: the first two are given to the transport, all are pinned', async () => {
    const guard = guardOver(stubResolver(answers).resolver, policyOf(open));
    expect(await admit(guard, 'http://a.example/')).toEqual({
      addresses: ['2001:db8::1', '2001:db8::2'],
      pinned: ['2001:db8::1', '2001:db8::2', '10.0.0.1', '10.0.0.2'],
    });
    const one = guardOver(stubResolver(answers).resolver, policyOf({...open, max_dns_attempts: 1}));
    expect(await admit(one, 'http://a.example/')).toMatchObject({addresses: ['2001:db8::1']});
  });

  test('ruling A5 at most 64 answers are read, duplicates and mapped forms are one address', async () => {
    const many = Array.from({length: 100}, (_, at) => `93.184.216.${at}`);
    const {resolver} = stubResolver([...many, '127.0.0.1']);
    expect((await admit(guardOver(resolver), 'http://a.example/')).pinned).toHaveLength(64);
    const same = stubResolver([
      '8.8.8.8',
      '::ffff:8.8.8.8',
      '::FFFF:808:808',
      '2606:4700:0::1',
      '2606:4700::1',
      '8.8.8.8',
    ]);
    expect(await admit(guardOver(same.resolver), 'http://a.example/')).toEqual({
      addresses: ['2606:4700::1', '8.8.8.8'],
      pinned: ['2606:4700::1', '8.8.8.8'],
    });
  });
});

test('the zone of a scoped answer is dropped, so that what is pinned is an address', async () => {
  const guard = guardOver(
    stubResolver(['fe80::1%eth0', 'fe80::1%lo']).resolver,
    policyOf({block_link_local: false}),
  );
  expect(await admit(guard, 'http://a.example/')).toEqual({addresses: ['fe80::1'], pinned: ['fe80::1']});
});

describe('what is not asked for', () => {
  test('an address literal', async () => {
    const {resolver, asked} = stubResolver(['10.0.0.1']);
    expect(await admit(guardOver(resolver), 'http://[2606:4700:0:0::1]/')).toEqual({
      addresses: ['2606:4700::1'],
      pinned: ['2606:4700::1'],
    });
    expect(await admit(guardOver(resolver), 'http://[::ffff:8.8.8.8]/')).toMatchObject({
      addresses: ['8.8.8.8'],
    });
    expect(asked).toEqual([]);
  });

  test('ruling A5 localhost, where loopback is allowed at all', async () => {
    const {resolver, asked} = stubResolver(['93.184.216.34']);
    const policy = policyOf({block_loopback: false});
    const guard = guardOver(resolver, policy);
    for (const url of ['http://localhost/', 'http://a.LocalHost./']) {
      const result = await guard.admit(checked(url, policy), new HostPins(), newBudget());
      expect(result).toMatchObject({value: {addresses: ['::1', '127.0.0.1']}});
    }
    expect(asked).toEqual([]);
  });
});

describe('one resolution per call', () => {
  test('ruling A5 concurrent admits of one host share it', async () => {
    const {resolver, asked} = stubResolver(['93.184.216.34']);
    const guard = guardOver(resolver);
    const pins = new HostPins();
    const urls = ['http://a.example/', 'https://a.example/x', 'http://a.example./y', 'http://b.example/'];
    await Promise.all(urls.map(url => admit(guard, url, pins)));
    expect(asked).toEqual(['a.example', 'b.example']);
  });

  test('a failure is remembered too', async () => {
    const {resolver, asked} = stubResolver([]);
    const pins = new HostPins();
    for (let round = 0; round < 2; round += 1) {
      expect(await admit(guardOver(resolver), 'http://a.example/', pins)).toEqual({
        code: 'dns_failed',
        host: 'a.example',
        error: 'ENODATA',
      });
    }
    expect(asked).toHaveLength(1);
  });

  test('ruling B2 one budget that runs out does not spoil the name for another', async () => {
    let asked = 0;
    const resolver: HostResolver = {
      resolve: () => {
        asked += 1;
        return asked === 1 ? new Promise(() => {}) : Promise.resolve(['93.184.216.34']);
      },
    };
    const guard = guardOver(resolver);
    const pins = new HostPins();
    const robots = newBudget(20);
    const [first, second] = await Promise.all([
      admit(guard, 'http://a.example/', pins, robots),
      admit(guard, 'http://a.example/', pins),
    ]);
    expect(first).toEqual({code: 'timeout', timeout_ms: 20, phase: 'dns'});
    expect(second).toMatchObject({addresses: ['93.184.216.34']});
    expect(asked).toBe(2);
  });

  test('each waits no longer than its own budget', async () => {
    const guard = guardOver({resolve: () => new Promise(() => {})});
    const pins = new HostPins();
    const long = newBudget(60_000);
    const pending = admit(guard, 'http://a.example/', pins, long);
    expect(await admit(guard, 'http://a.example/', pins, newBudget(10))).toMatchObject({code: 'timeout'});
    const caller = new AbortController();
    const cancelled = admit(guard, 'http://a.example/', pins, newBudget(60_000, caller.signal));
    caller.abort();
    expect(await cancelled).toEqual({code: 'cancelled', phase: 'dns'});
    long.close();
    pending.catch(() => {});
  });

  test('a call that is over is not admitted', async () => {
    const caller = new AbortController();
    caller.abort();
    const guard = guardOver(stubResolver(['93.184.216.34']).resolver);
    expect(
      await admit(guard, 'http://8.8.8.8/', new HostPins(), newBudget(1000, caller.signal)),
    ).toMatchObject({
      code: 'cancelled',
    });
  });
});

describe('given DNS servers', () => {
  test('A and AAAA of a name are one set', async () => {
    const {guard} = await dnsGuard({
      'a.example': {a: ['93.184.216.34'], aaaa: ['2606:4700::1', '2606:4700::']},
    });
    expect(await admit(guard, 'http://a.example/')).toMatchObject({
      pinned: ['2606:4700::', '2606:4700::1', '93.184.216.34'],
    });
  });

  test.each([
    ['four.example', {a: ['93.184.216.34']}, '93.184.216.34'],
    ['six.example', {aaaa: ['2606:4700::1']}, '2606:4700::1'],
  ])('one family without an answer does not matter: %s', async (name, reply, address) => {
    const {guard} = await dnsGuard({[name]: reply});
    expect(await admit(guard, `http://${name}/`)).toMatchObject({addresses: [address]});
  });

  test('FR-WF-06c a name that does not exist, has no address, or whose server fails is dns_failed', async () => {
    const {guard} = await dnsGuard({'empty.example': {}, 'broken.example': 'servfail'});
    const failed = (host: string, error: string) => ({code: 'dns_failed', host, error});
    expect(await admit(guard, 'http://gone.example/')).toEqual(failed('gone.example', 'ENOTFOUND'));
    expect(await admit(guard, 'http://empty.example/')).toEqual(failed('empty.example', 'ENODATA'));
    expect(await admit(guard, 'http://broken.example/')).toEqual(failed('broken.example', 'ESERVFAIL'));
  });

  test('dns_failed is retryable and says what to do', async () => {
    const {guard} = await dnsGuard({});
    const result = await guard.admit(checked('http://gone.example/?secret'), new HostPins(), newBudget());
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
    expect(await admit(guard, 'http://slow.example/', new HostPins(), newBudget(80))).toEqual({
      code: 'timeout',
      timeout_ms: 80,
      phase: 'dns',
    });
  });

  test('ruling A5 of a hundred answers 64 are read', async () => {
    const a = Array.from({length: 100}, (_, at) => `93.184.216.${at}`);
    const {guard} = await dnsGuard({'many.example': {a}});
    expect((await admit(guard, 'http://many.example/')).pinned).toHaveLength(64);
  });

  test('localhost behind another name is loopback all the same', async () => {
    const {guard} = await dnsGuard({'me.example': {aaaa: ['::1']}});
    expect(await admit(guard, 'http://me.example/')).toMatchObject({cidr: '::1/128', host: 'me.example'});
  });
});

test('the system resolver knows the hosts file, and its answers are judged', async () => {
  const validator = createSsrfValidator(policyOf(), systemResolver);
  const result = await validator.resolveAndValidate('localhost', newBudget());
  expect(result).toMatchObject({
    ok: false,
    error: {code: 'ssrf_blocked', details: {toggle: 'block_loopback'}},
  });
});
