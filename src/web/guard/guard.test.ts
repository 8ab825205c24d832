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
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {Deadline} from '../../core/deadline.ts';
import {ok} from '../../core/result.ts';
import {parseUrl} from '../url.ts';
import {checkUrl} from './check-url.ts';
import {createGuard, createSsrfValidator, HostPins, type SsrfValidator} from './guard.ts';
import {openingOf, readGuardPolicy} from './policy.ts';
import {createSystemResolver, type HostResolver} from './resolver.ts';

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

describe('one resolution per call', () => {
  test('ruling A5 concurrent admits of one host share it', async () => {
    const {resolver, asked} = stubResolver(['93.184.216.34']);
    const guard = guardOver(resolver);
    const pins = new HostPins();
    const urls = ['http://a.example/', 'https://a.example/x', 'http://a.example./y', 'http://b.example/'];
    await Promise.all(urls.map(url => authorize(guard, url, pins)));
    expect(asked).toEqual(['a.example', 'b.example']);
  });

  test('a failure is remembered too', async () => {
    const {resolver, asked} = stubResolver([]);
    const pins = new HostPins();
    for (let round = 0; round < 2; round += 1) {
      expect(await authorize(guardOver(resolver), 'http://a.example/', pins)).toEqual({
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
      authorize(guard, 'http://a.example/', pins, robots),
      authorize(guard, 'http://a.example/', pins),
    ]);
    expect(first).toEqual({code: 'timeout', timeout_ms: 20, phase: 'dns'});
    expect(second).toMatchObject({addresses: ['93.184.216.34']});
    expect(asked).toBe(2);
  });

  test('ruling B2 one call that is cancelled does not spoil it either, and who waited asks once', async () => {
    const caller = new AbortController();
    let asked = 0;
    const resolver: HostResolver = {
      resolve: () => {
        asked += 1;
        return asked === 1 ? new Promise(() => {}) : Promise.resolve(['93.184.216.34']);
      },
    };
    const guard = guardOver(resolver);
    const pins = new HostPins();
    const first = authorize(guard, 'http://a.example/', pins, newBudget(60_000, caller.signal));
    const others = [1, 2, 3].map(() => authorize(guard, 'http://a.example/', pins));
    caller.abort();
    expect(await first).toMatchObject({code: 'cancelled'});
    for (const other of await Promise.all(others))
      expect(other).toMatchObject({addresses: ['93.184.216.34']});
    expect(asked).toBe(2);
  });

  test('who has no time left when the others give up does not ask again', async () => {
    // A timer may be late; the time is over all the same.
    const clock = {...createManualClock(), after: () => () => {}};
    const [one, other] = [new Deadline(1000, clock), new Deadline(1000, clock)];
    const pins = new HostPins();
    let giveUp: () => void = () => {};
    const first = pins.resolve(
      'a.example',
      one,
      () => new Promise(resolve => (giveUp = () => resolve(one.failure()))),
    );
    let asked = 0;
    const second = pins.resolve('a.example', other, async () => {
      asked += 1;
      return ok([]);
    });
    giveUp();
    clock.advance(1000);
    expect(await first).toMatchObject({error: {code: 'timeout'}});
    expect(await second).toMatchObject({error: {code: 'timeout', details: {phase: 'dns'}}});
    expect(asked).toBe(0);
  });

  test('each waits no longer than its own budget', async () => {
    const guard = guardOver({resolve: () => new Promise(() => {})});
    const pins = new HostPins();
    const long = newBudget(60_000);
    const pending = authorize(guard, 'http://a.example/', pins, long);
    expect(await authorize(guard, 'http://a.example/', pins, newBudget(10))).toMatchObject({code: 'timeout'});
    const caller = new AbortController();
    const cancelled = authorize(guard, 'http://a.example/', pins, newBudget(60_000, caller.signal));
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
      await authorize(guard, 'http://8.8.8.8/', new HostPins(), newBudget(1000, caller.signal)),
    ).toMatchObject({
      code: 'cancelled',
    });
  });

  test('and asks for nothing', async () => {
    const caller = new AbortController();
    caller.abort();
    const {resolver, asked} = stubResolver(['93.184.216.34']);
    const budget = newBudget(1000, caller.signal);
    expect(await authorize(guardOver(resolver), 'http://a.example/', new HostPins(), budget)).toMatchObject({
      code: 'cancelled',
    });
    expect(asked).toEqual([]);
  });

  test('review B4: a call has at most eight look-ups at a time', async () => {
    let running = 0;
    let most = 0;
    const guard = guardOver({
      resolve: async () => {
        running += 1;
        most = Math.max(most, running);
        await new Promise(resolve => setImmediate(resolve));
        running -= 1;
        return ['93.184.216.34'];
      },
    });
    const pins = new HostPins();
    const names = Array.from({length: 40}, (_, at) => `http://${at}.example/`);
    for (const answer of await Promise.all(names.map(name => authorize(guard, name, pins)))) {
      expect(answer).toMatchObject({addresses: ['93.184.216.34']});
    }
    expect(most).toBe(8);
  });

  test('review B4: who gives up waiting for a place does not look up, and takes none', async () => {
    let asked = 0;
    const answers: (() => void)[] = [];
    const guard = guardOver({
      resolve: () => {
        asked += 1;
        return new Promise(resolve => answers.push(() => resolve(['93.184.216.34'])));
      },
    });
    const pins = new HostPins();
    const running = Array.from({length: 8}, (_, at) => authorize(guard, `http://${at}.example/`, pins));
    await expect.poll(() => asked).toBe(8);
    const caller = new AbortController();
    const waiting = authorize(guard, 'http://9.example/', pins, newBudget(60_000, caller.signal));
    const next = authorize(guard, 'http://10.example/', pins);
    caller.abort();
    expect(await waiting).toEqual({code: 'cancelled', phase: 'dns'});
    expect(asked).toBe(8);
    answers[0]?.();
    await expect.poll(() => asked).toBe(9);
    for (const answer of answers) answer();
    for (const answer of await Promise.all([...running, next])) {
      expect(answer).toMatchObject({addresses: ['93.184.216.34']});
    }
  });
});

const entry = (host: string, cidr: string, ports: readonly number[]) => ({host, cidr, ports: [...ports]});

const OPEN = [
  entry('wiki.test', '10.0.0.0/8', [80, 8080]),
  entry('wiki.test', '192.168.1.0/24', [80]),
  entry('10.1.2.3', '10.1.2.0/24', [9000]),
  entry('localhost', '127.0.0.0/8', [3000]),
  entry('localhost', '::1/128', [3001]),
  entry('shadow.test', 'fd00::/8', [8080]),
  entry('two.test', '10.0.0.0/8', [8080]),
  entry('two.test', '192.168.1.0/24', [8080]),
];
const POLICY = policyOf({}, OPEN);

/** As it is checked without a resolver: "opened", "plain", or the refusal. */
function check(url: string, mayOpen = true) {
  const parsed = parseUrl(url);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const result = checkUrl(parsed.value, POLICY, mayOpen);
  if (result.ok) return result.value.opened ? 'opened' : 'plain';
  return result.error.code;
}

/** As it is authorized: the addresses, or the refusal. */
async function reach(url: string, answers: readonly string[], pins = new HostPins()) {
  const {resolver, asked} = stubResolver(answers);
  const result = await guardOver(resolver, POLICY).authorize(checked(url, POLICY), pins, newBudget());
  if (!result.ok) return {code: result.error.code, details: result.error.details, asked};
  return {addresses: [...result.value.pinned], asked};
}

describe('policy: what allow_private opens is one host on one port', () => {
  test.each([
    ['http://wiki.test/', 'opened'],
    ['http://wiki.test:8080/', 'opened'],
    ['http://wiki.test:8081/', 'port_blocked'],
    ['http://a.wiki.test/', 'plain'],
    ['http://a.wiki.test:8080/', 'port_blocked'],
    ['http://10.1.2.3:9000/', 'opened'],
    ['http://10.1.2.3/', 'ssrf_blocked'],
    ['http://10.1.2.4:9000/', 'port_blocked'],
    ['http://localhost:3000/', 'opened'],
    ['http://localhost/', 'ssrf_blocked'],
    ['http://127.0.0.1:3000/', 'port_blocked'],
  ])('%s is %s', (url, expected) => {
    expect(check(url)).toBe(expected);
  });

  test.each([
    ['http://wiki.test/', 'plain'],
    ['http://wiki.test:8080/', 'port_blocked'],
    ['http://10.1.2.3:9000/', 'port_blocked'],
    ['http://localhost:3000/', 'port_blocked'],
  ])('%s from an address that is not opened is %s', (url, expected) => {
    expect(check(url, false)).toBe(expected);
  });

  test('an opening is found by name and port together', () => {
    expect(openingOf({name: 'wiki.test', port: 8080}, POLICY.openings)?.ranges).toHaveLength(1);
    expect(openingOf({name: 'wiki.test', port: 80}, POLICY.openings)?.ranges).toHaveLength(2);
    expect(openingOf({name: 'wiki.test', port: 9000}, POLICY.openings)).toBeUndefined();
    expect(openingOf({name: 'other.test', port: 80}, POLICY.openings)).toBeUndefined();
  });
});

describe('policy: an opened host reaches the opened ranges and public addresses, nothing else', () => {
  test.each([
    [['10.9.9.9'], ['10.9.9.9']],
    [['192.168.1.9'], ['192.168.1.9']],
    [['93.184.216.34'], ['93.184.216.34']],
    [
      ['10.9.9.9', '93.184.216.34'],
      ['10.9.9.9', '93.184.216.34'],
    ],
    [['::ffff:10.9.9.9'], ['10.9.9.9']],
  ])('wiki.test at %j', async (answers, expected) => {
    const {addresses} = await reach('http://wiki.test/', answers);
    expect(addresses?.toSorted()).toEqual(expected.toSorted());
  });

  test.each([
    [['192.168.2.9'], '192.168.2.9'],
    [['10.9.9.9', '169.254.169.254'], '169.254.169.254'],
    [['127.0.0.1'], '127.0.0.1'],
    [['fd00::1'], 'fd00::1'],
  ])('wiki.test at %j is refused', async (answers, blocked_ip) => {
    expect(await reach('http://wiki.test/', answers)).toMatchObject({
      code: 'ssrf_blocked',
      details: {blocked_ip},
    });
  });

  test('a port that is open for a range alone is not open for a public address', async () => {
    const refused = {code: 'port_blocked', details: {port: 8080, allowed_ports: [80, 443]}};
    expect(await reach('http://wiki.test:8080/', ['10.9.9.9'])).toMatchObject({addresses: ['10.9.9.9']});
    const both = ['10.9.9.9', '192.168.1.9'];
    expect(await reach('http://two.test:8080/', both)).toMatchObject({addresses: both});
    expect(await reach('http://wiki.test:8080/', ['93.184.216.34'])).toMatchObject(refused);
    expect(await reach('http://wiki.test:8080/', ['10.9.9.9', '93.184.216.34'])).toMatchObject(refused);
    expect(await reach('http://wiki.test:8080/', ['192.168.1.9'])).toMatchObject({code: 'ssrf_blocked'});
    expect(await reach('http://shadow.test:8080/', ['::ffff:8.8.8.8'])).toMatchObject(refused);
  });

  test('an address by itself is checked by the ranges of its opening, and no name is looked up', async () => {
    expect(await reach('http://10.1.2.3:9000/', [])).toEqual({addresses: ['10.1.2.3'], asked: []});
  });

  test('a loopback name has the addresses that are opened, and is not looked up', async () => {
    expect(await reach('http://localhost:3000/', ['93.184.216.34'])).toEqual({
      addresses: ['127.0.0.1'],
      asked: [],
    });
    expect(await reach('http://localhost:3001/', ['93.184.216.34'])).toEqual({addresses: ['::1'], asked: []});
  });

  test('a loopback name whose opening holds no loopback address is refused', async () => {
    const policy = policyOf({}, [entry('localhost', '10.0.0.0/8', [3000])]);
    const {resolver, asked} = stubResolver(['10.0.0.1']);
    const guard = guardOver(resolver, policy);
    const result = await guard.authorize(
      checked('http://localhost:3000/', policy),
      new HostPins(),
      newBudget(),
    );
    expect(result).toMatchObject({ok: false, error: {code: 'ssrf_blocked'}});
    expect(asked).toEqual([]);
  });

  test('what was pinned for one port is not taken for another one', async () => {
    const pins = new HostPins();
    expect(await reach('http://wiki.test:8080/', ['10.9.9.9'], pins)).toMatchObject({
      addresses: ['10.9.9.9'],
      asked: ['wiki.test'],
    });
    expect(await reach('http://wiki.test:8080/', ['10.8.8.8'], pins)).toMatchObject({
      addresses: ['10.9.9.9'],
      asked: [],
    });
    expect(await reach('http://wiki.test/', ['10.7.7.7'], pins)).toMatchObject({
      addresses: ['10.7.7.7'],
      asked: ['wiki.test'],
    });
    expect(await reach('http://a.wiki.test/', ['10.9.9.9'], pins)).toMatchObject({code: 'ssrf_blocked'});
  });
});

describe('FR-WF-SEC-OVR-01 openings', () => {
  const security = {
    block_private_ips: true,
    block_loopback: true,
    block_link_local: true,
    block_reserved: true,
    allowed_ports: [],
    additional_blocked_cidrs: [],
    max_dns_attempts: 2,
    allow_insecure_overrides: false,
  };
  const two = [entry('a.test', '10.0.0.0/8', [80]), entry('b.test', '10.0.0.0/8', [81])];

  test('need no second switch, and each is a warning at the start', () => {
    expect(readGuardPolicy(security, two)).toMatchObject({
      ok: true,
      value: {
        warnings: [
          'SSRF protection opened for a.test:80 in 10.0.0.0/8',
          'SSRF protection opened for b.test:81 in 10.0.0.0/8',
        ],
      },
    });
  });
});
