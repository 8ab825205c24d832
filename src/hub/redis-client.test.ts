import fc from 'fast-check';
import {afterEach, describe, expect, test} from 'vitest';
import {type LyingAnswer, startLyingEngine} from '../../test/support/lying-engine.ts';
import {hubSettings} from '../../test/support/redis-engine.ts';
import {systemClock} from '../core/clock.ts';
import {type HubConnection, openHubConnection} from './connection.ts';
import {openFrontier} from './frontier.ts';
import {openHub} from './open-hub.ts';
import {ReplyLimits} from './redis-client.ts';
import {SharedBodies} from './shared-bodies.ts';

const MAP = '%1\r\n$8\r\ntoString\r\n:1\r\n';
const SCRIPT = {name: 'any', lua: 'return 1 -- any'};
const deps = {env: {}, clock: systemClock, log: () => {}};
const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function lying(answer: LyingAnswer): Promise<string> {
  const engine = await startLyingEngine(answer);
  closers.push(engine.close);
  return engine.url;
}

async function connect(answer: LyingAnswer): Promise<HubConnection> {
  const opened = await openHubConnection(hubSettings({url: await lying(answer)}), deps);
  if (!opened.ok) throw new Error(opened.error.message);
  closers.push(() => opened.value.close());
  return opened.value;
}

/** An engine that is honest but for this one script. */
const answering =
  (lua: string, reply: string | Promise<string>): LyingAnswer =>
  words =>
    String(words[0]) === 'EVAL' && words[1]?.includes(lua) ? reply : undefined;

const refused = {ok: false, error: {code: 'hub_unavailable', details: {error: 'REPLY_REFUSED'}}};

describe('red team G3: an answer is text, bytes, safe integers, null and lists of these', () => {
  test.each([
    ['a map', MAP],
    ['a map in a list', `*1\r\n${MAP}`],
    ['no number', ',nan\r\n'],
    ['no end', '*1\r\n,inf\r\n'],
    ['a fraction', ',1.5\r\n'],
    ['an integer that is not safe', ':9007199254740993\r\n'],
    ['a big number', '(123456789012345678901234567890\r\n'],
    ['a truth value', '#t\r\n'],
    ['an error in a list', '*1\r\n-ERR no\r\n'],
  ])('red team G3: %s fails the call, and the connection stands', async (_, reply) => {
    const hub = await connect(answering('any', reply));
    expect(await hub.run(SCRIPT, [], [])).toMatchObject(refused);
    expect(await hub.runBuffers(SCRIPT, [], [])).toMatchObject(refused);
    expect(await hub.run({name: 'other', lua: 'return 1'}, [], [])).toEqual({ok: true, value: 1});
  });

  test('red team G3: lists, texts, integers and null come through', async () => {
    const hub = await connect(answering('any', '*5\r\n$2\r\nab\r\n+c\r\n:-7\r\n_\r\n*1\r\n$-1\r\n'));
    expect(await hub.run(SCRIPT, [], [])).toEqual({ok: true, value: ['ab', 'c', -7, null, [null]]});
  });

  test('red team G3: a map that comes too late for a page is no unhandled rejection', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    closers.push(async () => void process.off('unhandledRejection', note));
    let answer: (reply: string) => void = () => {};
    const late = new Promise<string>(resolve => {
      answer = resolve;
    });
    const hub = await connect(answering('HSTRLEN', late));
    const bodies = new SharedBodies(hub, hubSettings({budget_ms: 10}), 'me', systemClock);
    const terms = {signal: new AbortController().signal, waitMs: 1000};
    expect(await bodies.obtain('page', terms)).toEqual({kind: 'alone', unavailable: false});
    answer(`*4\r\n${MAP}+x\r\n+1\r\n:5\r\n`);
    // The engine answers in order: with this answer, that one was read.
    await hub.run({name: 'other', lua: 'return 1'}, [], []);
    await new Promise(setImmediate);
    expect(unhandled).toEqual([]);
  });

  test('red team G3: a status with a map fails that call', async () => {
    const hub = await connect(answering('SCARD', `*2\r\n:1\r\n*2\r\n${MAP}+x\r\n`));
    expect(await openFrontier(hub, 'job').status()).toMatchObject(refused);
  });
});

test('red team G6: "follow" with a time that is no number ends at once', async () => {
  const hub = await connect(answering('HSTRLEN', '*2\r\n+follow\r\n,nan\r\n'));
  const bodies = new SharedBodies(hub, hubSettings({budget_ms: 5000}), 'me', systemClock);
  const terms = {signal: new AbortController().signal, waitMs: 1_000_000};
  expect(await bodies.obtain('page', terms)).toEqual({kind: 'alone', unavailable: true});
});

test('red team G6: an engine that lets one follow for no time is asked a few times in a second', async () => {
  let asked = 0;
  const hub = await connect(words => {
    if (String(words[0]) !== 'EVAL' || !words[1]?.includes('HSTRLEN')) return undefined;
    asked += 1;
    return '*2\r\n+follow\r\n:0\r\n';
  });
  const bodies = new SharedBodies(hub, hubSettings({budget_ms: 5000}), 'me', systemClock);
  const terms = {signal: new AbortController().signal, waitMs: 300};
  expect(await bodies.obtain('page', terms)).toEqual({kind: 'alone', unavailable: false});
  expect(asked).toBeLessThan(10);
});

test('red team G6: addresses with a lease of no time are not taken', async () => {
  const taken =
    '*12\r\n+running\r\n:0\r\n+e\r\n:1\r\n:0\r\n:0\r\n:1\r\n:0\r\n:1\r\n+h\r\n+0 0 http://x.test/\r\n:0\r\n';
  const frontier = openFrontier(await connect(answering('ZRANGEBYSCORE', taken)), 'job');
  expect(await frontier.take(1)).toMatchObject({ok: false, error: {code: 'internal'}});
});

test.each([',nan\r\n', ',inf\r\n', ':-5\r\n'])(
  'red team G7: an engine that counts replicas as %j is not believed',
  async reply => {
    const url = await lying(answering('60000', reply));
    const hub = await openHub(hubSettings({url}), deps);
    if (!hub.ok) throw new Error(hub.error.message);
    closers.push(() => hub.value.close());
    expect(hub.value.replicas()).toBe(1);
  },
);

describe('red team G4: a reply is bounded before the client library reads it', () => {
  test.each([
    ['promises many items', '*33554431\r\n'.repeat(20)],
    ['promises a long text', '$689000000\r\n'],
    ['is too deep', '*1\r\n'.repeat(9)],
    ['has a line without an end', `+${'x'.repeat(70_000)}`],
    ['has an attribute', '|1\r\n+a\r\n+b\r\n:1\r\n'],
    ['has a length that is no number', '$a\r\n'],
    ['has a text that is longer than it says', '$1\r\nabc\r\n'],
    ['has a carriage return in a line', '+a\rb\r\n'],
  ])('red team G4: one that %s ends the connection, to a script and to HELLO', async (_, reply) => {
    const hub = await connect(answering('any', reply));
    expect(await hub.run(SCRIPT, [], [])).toMatchObject({ok: false, error: {code: 'hub_unavailable'}});
    const greeted = await connect(words => (String(words[0]) === 'HELLO' ? reply : undefined));
    expect(await greeted.run(SCRIPT, [], [])).toMatchObject({ok: false, error: {code: 'hub_unavailable'}});
  });

  const scalar = fc.oneof(
    fc.string().map(text => `$${Buffer.byteLength(text)}\r\n${text}\r\n`),
    fc.integer().map(number => `:${number}\r\n`),
    fc.constantFrom(
      '_\r\n',
      '#t\r\n',
      '$-1\r\n',
      '*-1\r\n',
      '*0\r\n',
      ',-1.5e3\r\n',
      '=6\r\ntxt:ab\r\n',
      '+OK\r\n',
    ),
  );
  const list = fc.array(scalar, {maxLength: 5}).map(items => `*${items.length}\r\n${items.join('')}`);
  const messages = fc.array(fc.oneof(scalar, list), {minLength: 1, maxLength: 5});

  test('red team G4: what is well formed passes, however it is cut', () => {
    fc.assert(
      fc.property(messages, fc.integer({min: 1, max: 7}), (parts, step) => {
        const limits = new ReplyLimits();
        const bytes = Buffer.from(parts.join(''));
        for (let at = 0; at < bytes.length; at += step) limits.read(bytes.subarray(at, at + step));
      }),
    );
  });

  test('red team G4: the limits are those of one message', () => {
    const limits = new ReplyLimits();
    const list = Buffer.from(`*3000\r\n${':1\r\n'.repeat(3000)}`);
    const text = Buffer.from(`$10000000\r\n${'x'.repeat(10_000_000)}\r\n`);
    for (const message of [list, list, text, text]) limits.read(message);
    expect(() => limits.read(Buffer.from('*2\r\n*2048\r\n'.repeat(2)))).toThrow('too many items');
  });
});
