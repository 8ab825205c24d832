import {writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, afterEach, beforeAll, describe, expect, test} from 'vitest';
import {createCertificateAuthority} from '../../test/support/certificates.ts';
import {startFaultProxy} from '../../test/support/fault-proxy.ts';
import {codeOf} from '../../test/support/outcome.ts';
import {needs} from '../../test/support/parts.ts';
import {hubSettings, type RedisEngine, redisCommand, startRedis} from '../../test/support/redis-engine.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {systemClock} from '../core/clock.ts';
import type {LogEvent} from '../core/log.ts';
import {type HubConnection, openHubConnection, readIdentity} from './connection.ts';
import {probeHub} from './open-hub.ts';
import type {HubSettings} from './options.ts';

describe('connection', () => {
  const ECHO = {name: 'echo', lua: 'return {KEYS[1], ARGV[1], 7}'};
  const logged: LogEvent[] = [];
  const closers: (() => Promise<void>)[] = [];

  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
    logged.length = 0;
  });

  async function connect(
    given: Partial<HubSettings>,
    env: Readonly<Record<string, string>> = {},
  ): Promise<HubConnection> {
    const opened = await openHubConnection(hubSettings(given), {
      env,
      clock: systemClock,
      log: event => logged.push(event),
    });
    if (!opened.ok) throw new Error(opened.error.message);
    closers.push(() => opened.value.close());
    return opened.value;
  }

  /** Until the hub answers again. */
  async function answered(hub: HubConnection): Promise<void> {
    await expect
      .poll(async () => (await hub.run(ECHO, ['k'], [''])).ok, {timeout: 10_000, interval: 20})
      .toBe(true);
  }

  test('S1 a hub address with credentials, or one that is none, stops start-up and is not repeated', async () => {
    const deps = {env: {}, clock: systemClock, log: () => {}};
    for (const url of [
      'redis://me:sesame@127.0.0.1:6379',
      'http://sesame:1',
      'redis://h:1/0?password=sesame',
      '::',
    ]) {
      const opened = await openHubConnection(hubSettings({url}), deps);
      expect(opened).toMatchObject({ok: false, error: {code: 'hub_unavailable', retryable: false}});
      expect(JSON.stringify(opened)).not.toContain('sesame');
    }
  });

  describe('S1 a connection to the engine', needs('Redis'), () => {
    let engine: RedisEngine;
    beforeAll(async () => {
      engine = await startRedis();
    });
    afterAll(() => engine.stop());

    test('S1 runs a script with its keys, known to the engine or not', async () => {
      const hub = await connect({url: engine.url});
      expect(hub.key('g', 'h', 'example.com')).toBe('fw1:{g}:h:example.com');
      const fresh = {name: 'fresh', lua: `${ECHO.lua} -- ${process.pid}`};
      for (const script of [fresh, fresh, ECHO]) {
        expect(await hub.run(script, ['k'], ['a'])).toEqual({ok: true, value: ['k', 'a', 7]});
      }
    });

    test('S1 carries bytes that are no text', async () => {
      const hub = await connect({url: engine.url});
      const bytes = Buffer.from([0, 255, 13, 10, 128]);
      const echoed = await hub.runBuffers(ECHO, ['k'], [bytes]);
      expect(echoed).toEqual({ok: true, value: [Buffer.from('k'), bytes, 7]});
    });

    test('S1 hears what another replica publishes, and no more after it has left', async () => {
      const [one, other] = [await connect({url: engine.url}), await connect({url: engine.url})];
      const heard: string[] = [];
      const leave = await one.subscribe('fw1:test', message => heard.push(message));
      const publish = {name: 'publish', lua: "return redis.call('PUBLISH', 'fw1:test', ARGV[1])"};
      await other.run(publish, [], ['first']);
      await expect.poll(() => heard).toEqual(['first']);
      await leave();
      expect(await other.run(publish, [], ['second'])).toEqual({ok: true, value: 0});
    });

    test('S1 says hub_unavailable when the engine is killed, and is there again with it, subscriptions too', async () => {
      const own = await startRedis();
      closers.push(own.stop);
      const hub = await connect({url: own.url});
      const heard: string[] = [];
      await hub.subscribe('fw1:test', message => heard.push(message));
      await own.kill();
      const failed = await hub.run(ECHO, ['k'], ['a']);
      expect(failed).toMatchObject({ok: false, error: {code: 'hub_unavailable', retryable: true}});
      await own.start();
      await answered(hub);
      await hub.run({name: 'publish', lua: "return redis.call('PUBLISH', 'fw1:test', 'again')"}, [], []);
      await expect.poll(() => heard).toEqual(['again']);
      expect(logged.map(({event}) => event)).toEqual(['hub_unavailable', 'hub_connected']);
    });

    test('S1 an engine that is not there keeps nobody from starting', async () => {
      const hub = await connect({url: 'redis://127.0.0.1:1'});
      expect(await hub.run(ECHO, ['k'], [])).toMatchObject({
        ok: false,
        error: {details: {error: 'ECONNREFUSED'}},
      });
    });

    test('S1 an engine that stands still costs a command its time and no more', async () => {
      const own = await startRedis();
      closers.push(own.stop);
      const hub = await connect({url: own.url});
      own.pause();
      const failed = await hub.run(ECHO, ['k'], ['a'], {timeoutMs: 50});
      expect(failed).toMatchObject({
        ok: false,
        error: {code: 'hub_unavailable', details: {error: 'timeout'}},
      });
      own.goOn();
      await answered(hub);
    });

    test('S1 a password comes from the environment and is in no line', async () => {
      const own = await startRedis('--requirepass', 'sesame');
      closers.push(own.stop);
      const settings = {url: own.url, password_env: 'HUB_PASSWORD'};
      await answered(await connect(settings, {HUB_PASSWORD: 'sesame'}));
      const wrong = await connect(settings, {HUB_PASSWORD: 'tahini'});
      const failed = await wrong.run(ECHO, ['k'], ['a']);
      expect(failed).toMatchObject({ok: false, error: {details: {error: 'WRONGPASS'}}});
      expect(JSON.stringify([logged, failed, wrong])).not.toMatch(/tahini|sesame/);
      const unset = await openHubConnection(hubSettings(settings), {
        env: {},
        clock: systemClock,
        log: () => {},
      });
      expect(unset).toMatchObject({ok: false, error: {message: expect.stringContaining('HUB_PASSWORD')}});
    });

    test('S1 over TLS the certificate leads to the authority that is named, or nothing is said', {
      tags: 'slow',
    }, async () => {
      const authority = createCertificateAuthority();
      const {chain, key} = authority.issue({names: ['127.0.0.1']});
      const directory = temporaryDirectory();
      const file = async (name: string, text: string): Promise<string> => {
        await writeFile(join(directory, name), text, {mode: 0o600});
        return join(directory, name);
      };
      const [cert, keyFile, ca] = [
        await file('cert', chain),
        await file('key', key),
        await file('ca', authority.pem),
      ];
      const other = await file('other', createCertificateAuthority('Other').pem);
      const own = await startRedis(
        ...['--tls-port', 'PORT', '--tls-cert-file', cert, '--tls-key-file', keyFile],
        ...['--tls-ca-cert-file', ca, '--tls-auth-clients', 'no', '--requirepass', 'sesame'],
      );
      closers.push(own.stop);
      const settings = {url: own.url.replace('redis:', 'rediss:'), password_env: 'HUB_PASSWORD'};
      const env = {HUB_PASSWORD: 'sesame'};
      await answered(await connect({...settings, ca_file: ca}, env));
      for (const ca_file of [other, '']) {
        const distrusting = await connect({...settings, ca_file}, env);
        expect(codeOf(await distrusting.run(ECHO, ['k'], ['']))).toBe('hub_unavailable');
      }
      const missing = await openHubConnection(hubSettings({...settings, ca_file: `${ca}-not-there`}), {
        env,
        clock: systemClock,
        log: () => {},
      });
      expect(missing).toMatchObject({ok: false, error: {message: expect.stringContaining('ENOENT')}});
    });

    test('S1 after a failover the old primary is left, and it is noted that another engine answers', {
      tags: 'slow',
    }, async () => {
      const primary = await startRedis('--repl-diskless-sync-delay', '0');
      const replica = await startRedis('--replicaof', '127.0.0.1', String(primary.port));
      closers.push(primary.stop, replica.stop);
      const proxy = await startFaultProxy(primary.port);
      const hub = await connect({url: proxy.url});
      const write = {name: 'write', lua: "return redis.call('INCR', KEYS[1])"};
      const epoch = {name: 'epoch', lua: "return redis.call('HGET', KEYS[1], 'id')"};
      const before = await hub.run(epoch, [hub.key('g', 'epoch')], []);
      expect(before).toMatchObject({ok: true, value: expect.any(String)});
      await expect
        .poll(() => redisCommand(replica.port, 'EXISTS', hub.key('g', 'epoch')), {timeout: 10_000})
        .toContain(':1');
      // REPLICAOF is refused in scripts. The connection that stands still leads to the old primary.
      await redisCommand(replica.port, 'REPLICAOF', 'NO', 'ONE');
      proxy.retarget(replica.port);
      await redisCommand(primary.port, 'REPLICAOF', '127.0.0.1', String(replica.port));
      expect(await hub.run(write, ['n'], [])).toMatchObject({
        ok: false,
        error: {details: {error: 'READONLY'}},
      });
      await expect.poll(async () => (await hub.run(write, ['n'], [])).ok, {timeout: 5000}).toBe(true);
      const after = await hub.run(epoch, [hub.key('g', 'epoch')], []);
      expect(after.ok && before.ok && after.value !== before.value).toBe(true);
    });

    test('S1 a connection that stands and is silent is given up, and the next one is taken', {
      tags: 'stress',
    }, async () => {
      const proxy = await startFaultProxy(engine.port);
      const hub = await connect({url: proxy.url});
      proxy.silence();
      expect(await hub.run(ECHO, ['k'], ['a'])).toMatchObject({
        ok: false,
        error: {details: {error: 'timeout'}},
      });
      proxy.heal();
      await answered(hub);
    });

    test('S1 doctor says what is wrong with an engine', async () => {
      const own = await startRedis('--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru');
      closers.push(own.stop);
      const deps = {env: {}, clock: systemClock, log: () => {}};
      const probed = await probeHub(hubSettings({url: own.url}), deps);
      if (!probed.ok) throw new Error(probed.error.message);
      expect(probed.value.version).toMatch(/^\d+\.\d+/);
      expect(probed.value.problems.join()).toMatch(/allkeys-lru.*maxmemory is 104857600/s);
      const found = await probeHub(hubSettings({url: engine.url}), deps);
      // A busy machine makes the round trip long.
      expect(found.ok && found.value.problems.filter(problem => !problem.includes('round trip'))).toEqual([]);
      expect(codeOf(await probeHub(hubSettings({url: 'redis://127.0.0.1:1'}), deps))).toBe('hub_unavailable');
    });
  });
});

test.each([
  ['Redis', '# Server\r\nredis_version:7.0.15\r\nrun_id:12ab\r\n', {version: '7.0.15', runId: '12ab'}],
  [
    'Valkey, which says first whose clients it serves',
    'redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1\r\nrun_id:12ab\r\n',
    {version: '8.0.1', runId: '12ab'},
  ],
  ['a version that is none', 'redis_version:<b>\r\nrun_id:12 ab\r\n', {version: 'unknown', runId: 'unknown'}],
  ['no text', 7, {version: 'unknown', runId: 'unknown'}],
])('S1 who answers is read from INFO: %s', (_, info, identity) => {
  expect(readIdentity(info)).toEqual(identity);
});
