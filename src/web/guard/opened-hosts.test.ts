import {describe, expect, test} from 'vitest';
import {checked, guardOver, newBudget, policyOf, stubResolver} from '../../../test/support/guard-for-test.ts';
import {parseUrl} from '../url/parse-url.ts';
import {checkUrl} from './check-url.ts';
import {readGuardPolicy} from './guard-policy.ts';
import {HostPins} from './host-pins.ts';
import {openingOf} from './openings.ts';

const entry = (host: string, cidr: string, ports: readonly number[]) => ({host, cidr, ports: [...ports]});

const OPEN = [
  entry('wiki.test', '10.0.0.0/8', [80, 8080]),
  entry('wiki.test', '192.168.1.0/24', [80]),
  entry('10.1.2.3', '10.1.2.0/24', [9000]),
  entry('localhost', '127.0.0.0/8', [3000]),
  entry('localhost', '::1/128', [3001]),
  entry('shadow.test', 'fd00::/8', [8080]),
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

describe('FR-WF-SEC-OVR-01 openings need allow_insecure_overrides', () => {
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

  test('without it the start is refused, and each host is named', () => {
    expect(readGuardPolicy(security, two)).toEqual({
      ok: false,
      error: [
        'SSRF protection cannot be opened for a host without allow_insecure_overrides=true\n' +
          'Affected settings: allow_private for "a.test", "b.test"',
      ],
    });
    expect(readGuardPolicy(security, [])).toMatchObject({ok: true, value: {warnings: []}});
  });

  test('with it each is a warning at the start', () => {
    expect(readGuardPolicy({...security, allow_insecure_overrides: true}, two)).toMatchObject({
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
