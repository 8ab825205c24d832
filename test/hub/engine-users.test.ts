import {readFileSync} from 'node:fs';
import {describe, expect, onTestFinished, test} from 'vitest';
import {systemClock} from '../../src/core/clock.ts';
import {openHubConnection} from '../../src/hub/connection.ts';
import {openFrontier} from '../../src/hub/frontier.ts';
import {probeHub} from '../../src/hub/open-hub.ts';
import {openReplica, startOrigin} from '../support/fleet.ts';
import {codeOf, unwrap} from '../support/outcome.ts';
import {needs} from '../support/parts.ts';
import {hubSettings, startRedis} from '../support/redis-engine.ts';

/** What docs/scale.md says that a user of the engine needs. */
const RULES = /ACL SETUSER hub (.*)/
  .exec(readFileSync(new URL('../../docs/scale.md', import.meta.url), 'utf8'))?.[1]
  ?.split(' ');

const USER = {username_env: 'HUB_USER', password_env: 'HUB_PASSWORD'};
const ENV = {HUB_USER: 'hub', HUB_PASSWORD: 'sesame'};

describe('S1 a user of the engine', needs('Redis'), () => {
  test('S1 with the rules of the documentation is enough for pages, hosts, crawls and doctor, and may do no more', async () => {
    const rules = (RULES ?? []).map(rule => (rule.startsWith('>') ? '>sesame' : rule));
    const engine = await startRedis('--user', 'default', 'off', '--user', 'hub', ...rules);
    onTestFinished(() => engine.stop());
    const settings = hubSettings({url: engine.url, ...USER});
    const deps = {env: ENV, clock: systemClock, log: () => {}};
    expect(await probeHub(settings, deps)).toMatchObject({ok: true, value: {problems: []}});

    const origin = await startOrigin();
    const replica = () =>
      openReplica({url: engine.url, ...USER, env: ENV, port: origin.port, required: true});
    expect(codeOf(await replica().webFetch({url: origin.url('/page')}))).toBe('ok');
    const taken = await replica().webFetch({url: origin.url('/page')});
    expect(taken).toMatchObject({ok: true, value: {notes: ['cache_hit']}});

    const hub = unwrap(await openHubConnection(settings, deps));
    onTestFinished(() => hub.close());
    const frontier = openFrontier(hub, 'docs');
    const terms = {gapMs: 0, perHost: 1, leaseMs: 5000, maxPending: 9, depth: 0, sameSite: false, tries: 1};
    const {epoch, listed} = unwrap(await frontier.start(terms));
    unwrap(await frontier.add(epoch, [{url: 'https://a.example/', host: 'a.example', depth: 0}]));
    unwrap(await listed());
    const some = async () => unwrap(await frontier.take(1)).urls;
    await expect.poll(some, {timeout: 5000}).toHaveLength(1);
    unwrap(await frontier.setState('paused'));
    expect(unwrap(await frontier.status())).toMatchObject({added: 1});
    expect(unwrap(await frontier.cancel())).toBe('cancelled');

    for (const words of [['FLUSHALL'], ['CONFIG', 'GET', '*'], ['SET', 'other', '1'], ['KEYS', '*']]) {
      const lua = `return redis.call(${words.map(word => `'${word}'`).join()})`;
      expect(codeOf(await hub.run({name: 'forbidden', lua}, [], [])), words.join(' ')).toBe(
        'hub_unavailable',
      );
    }
  });

  test('S1 who is not let in gets nothing, and what was tried is in no line', async () => {
    const engine = await startRedis('--user', 'default', 'off', '--user', 'hub', 'on', '>sesame', '+@all');
    onTestFinished(() => engine.stop());
    const lines: unknown[] = [];
    const deps = {
      env: {...ENV, HUB_PASSWORD: 'tahini'},
      clock: systemClock,
      log: (line: unknown) => lines.push(line),
    };
    const hub = unwrap(await openHubConnection(hubSettings({url: engine.url, ...USER}), deps));
    onTestFinished(() => hub.close());
    const refused = await hub.run({name: 'ping', lua: 'return 1'}, [], []);
    expect(refused).toMatchObject({ok: false, error: {details: {error: 'WRONGPASS'}}});
    expect(JSON.stringify([refused, lines])).not.toMatch(/tahini|sesame/);
  });
});
