import {describe, expect, onTestFinished, test} from 'vitest';
import {startDnsServer} from '../../../test/support/dns-server.ts';
import {dnsServerResolver} from '../../../test/support/dns-server-resolver.ts';
import {
  authorize,
  checked,
  guardOver,
  newBudget,
  policyOf,
  stubResolver,
} from '../../../test/support/guard-for-test.ts';
import {ok} from '../../core/result.ts';
import {createGuard} from './create-guard.ts';
import {createSystemResolver} from './dns/system-resolver.ts';
import {HostPins} from './host-pins.ts';
import {createSsrfValidator, type SsrfValidator} from './ssrf-validator.ts';

describe('blocked answers', () => {
  test('T-WF-SSRF-10 a resolver that answers a blocked address', async () => {
    const {resolver} = stubResolver(['10.0.0.7']);
    const guard = guardOver(resolver);
    const result = await guard.authorize(
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
    expect(await authorize(guardOver(stubResolver(answers).resolver), 'http://a.example/')).toMatchObject({
      code: 'ssrf_blocked',
    });
  });

  test('T-WF-SSRF-10 a validator in its place decides alone (FR-WF-06b)', async () => {
    const refuse: SsrfValidator = {
      validateIp: ip => createSsrfValidator(policyOf(), createSystemResolver()).validateIp(ip),
      resolveAndValidate: async () =>
        createSsrfValidator(policyOf(), createSystemResolver()).validateIp('10.0.0.1') as never,
    };
    expect(await authorize(createGuard(refuse, policyOf()), 'http://a.example/')).toMatchObject({
      code: 'ssrf_blocked',
      blocked_ip: '10.0.0.1',
    });
  });

  test('T-WF-SSRF-10 a name that rebinds is asked once per call, and checked again in the next', async () => {
    const server = await startDnsServer({'a.example': [{a: ['93.184.216.34']}, {a: ['127.0.0.1']}]});
    onTestFinished(server.close);
    const guard = guardOver(dnsServerResolver([server.address]));
    const pins = new HostPins();
    const first = await authorize(guard, 'http://a.example/', pins);
    expect(first).toEqual({addresses: ['93.184.216.34'], pinned: ['93.184.216.34']});
    expect(await authorize(guard, 'http://A.EXAMPLE./other', pins)).toEqual(first);
    expect(server.queries.toSorted()).toEqual(['a.example A', 'a.example AAAA']);
    expect(await authorize(guard, 'http://a.example/')).toMatchObject({
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
      expect(await authorize(guardOver(stubResolver(order).resolver, policy), 'http://a.example/')).toEqual({
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
      await authorize(guardOver(stubResolver(shuffled).resolver, policy), 'http://a.example/'),
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
    expect(await authorize(guard, 'http://a.example/')).toEqual({
      addresses: ['2001:db8::1', '2001:db8::2'],
      pinned: ['2001:db8::1', '2001:db8::2', '10.0.0.1', '10.0.0.2'],
    });
    const one = guardOver(stubResolver(answers).resolver, policyOf({...open, max_dns_attempts: 1}));
    expect(await authorize(one, 'http://a.example/')).toMatchObject({addresses: ['2001:db8::1']});
  });

  test('A5: the 71st of many answers is checked as the first is', async () => {
    const many = Array.from({length: 100}, (_, at) => (at === 70 ? '127.0.0.1' : `93.184.216.${at}`));
    const {resolver} = stubResolver(many);
    expect(await authorize(guardOver(resolver), 'http://a.example/')).toMatchObject({
      code: 'ssrf_blocked',
      blocked_ip: '127.0.0.1',
    });
  });

  test('A5: at most 64 addresses are kept, duplicates and mapped forms are one address', async () => {
    const many = Array.from({length: 100}, (_, at) => `93.184.216.${at}`);
    expect(
      (await authorize(guardOver(stubResolver(many).resolver), 'http://a.example/')).pinned,
    ).toHaveLength(64);
    const same = stubResolver([
      '8.8.8.8',
      '::ffff:8.8.8.8',
      '::FFFF:808:808',
      '2606:4700:0::1',
      '2606:4700::1',
      '8.8.8.8',
    ]);
    expect(await authorize(guardOver(same.resolver), 'http://a.example/')).toEqual({
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
  expect(await authorize(guard, 'http://a.example/')).toEqual({addresses: ['fe80::1'], pinned: ['fe80::1']});
});

describe('what the guard itself checks', () => {
  /** Passed by a policy that blocks nothing, as an override would. */
  const open = policyOf({block_private_ips: false, block_loopback: false});

  test.each(['http://10.0.0.1/', 'http://[::ffff:10.0.0.1]/', 'http://localhost/'])(
    'T-WF-SSRF-02 %s is checked again when it is authorized',
    async url => {
      const {resolver, asked} = stubResolver(['93.184.216.34']);
      const result = await guardOver(resolver).authorize(checked(url, open), new HostPins(), newBudget());
      expect(result).toMatchObject({error: {code: 'ssrf_blocked'}});
      expect(asked).toEqual([]);
    },
  );

  const answering = (addresses: readonly string[]): SsrfValidator => ({
    validateIp: () => ok(),
    resolveAndValidate: async () => ok(addresses),
  });

  test('FR-WF-06b a validator in its place that finds no address', async () => {
    const guard = createGuard(answering([]), policyOf());
    expect(await guard.authorize(checked('http://a.example/'), new HostPins(), newBudget())).toMatchObject({
      error: {
        code: 'dns_failed',
        message: '"a.example" has no address. Check the spelling of the host.',
        details: {host: 'a.example', error: 'ENODATA'},
      },
    });
  });

  test('FR-WF-06b of its answers only addresses are pinned', async () => {
    const guard = createGuard(answering(['a.example', '8.8.8.8', '']), policyOf());
    expect(await authorize(guard, 'http://a.example/')).toEqual({
      addresses: ['8.8.8.8'],
      pinned: ['8.8.8.8'],
    });
  });
});

describe('what is not asked for', () => {
  test('an address literal', async () => {
    const {resolver, asked} = stubResolver(['10.0.0.1']);
    expect(await authorize(guardOver(resolver), 'http://[2606:4700:0:0::1]/')).toEqual({
      addresses: ['2606:4700::1'],
      pinned: ['2606:4700::1'],
    });
    expect(await authorize(guardOver(resolver), 'http://[::ffff:8.8.8.8]/')).toMatchObject({
      addresses: ['8.8.8.8'],
    });
    expect(asked).toEqual([]);
  });

  test('ruling A5 localhost, where loopback is allowed at all', async () => {
    const {resolver, asked} = stubResolver(['93.184.216.34']);
    const policy = policyOf({block_loopback: false});
    const guard = guardOver(resolver, policy);
    for (const url of ['http://localhost/', 'http://a.LocalHost./']) {
      const result = await guard.authorize(checked(url, policy), new HostPins(), newBudget());
      expect(result).toMatchObject({value: {addresses: ['::1', '127.0.0.1']}});
    }
    expect(asked).toEqual([]);
  });
});

test('the system resolver knows the hosts file, and its answers are checked', async () => {
  const validator = createSsrfValidator(policyOf(), createSystemResolver());
  const result = await validator.resolveAndValidate('localhost', newBudget());
  expect(result).toMatchObject({
    ok: false,
    error: {code: 'ssrf_blocked', details: {toggle: 'block_loopback'}},
  });
});
