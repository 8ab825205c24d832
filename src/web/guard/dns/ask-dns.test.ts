import {getEventListeners} from 'node:events';
import {describe, expect, onTestFinished, test} from 'vitest';
import {type DnsZone, startDnsServer} from '../../../../test/support/dns-server.ts';
import {dnsServerResolver} from '../../../../test/support/dns-server-resolver.ts';
import {
  authorize,
  checked,
  guardOver,
  newBudget,
  stubResolver,
} from '../../../../test/support/guard-for-test.ts';
import {HostPins} from '../host-pins.ts';
import {askDns} from './ask-dns.ts';
import type {HostResolver} from './host-resolver.ts';

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
