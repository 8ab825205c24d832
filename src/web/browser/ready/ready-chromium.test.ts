import {PassThrough} from 'node:stream';
import {expect, test} from 'vitest';
import {createManualClock} from '../../../../test/support/manual-clock.ts';
import {Places} from '../../../core/async/places.ts';
import {fail} from '../../../core/failure/fail.ts';
import {ok, type Result} from '../../../core/result.ts';
import {CdpConnection} from '../cdp/cdp-connection.ts';
import type {Isolation, RunningBrowser} from '../chromium/start-chromium.ts';
import {ReadyChromium} from './ready-chromium.ts';

const never = new AbortController().signal;

interface Asked {
  readonly id: number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Speaks the protocol as far as an empty page needs it. */
function pretendBrowser(program: string, isolation: Isolation) {
  const asked: Asked[] = [];
  const [input, output] = [new PassThrough(), new PassThrough()];
  const say = (message: object): void => void output.write(`${JSON.stringify(message)}\0`);
  const connection = new CdpConnection(input, output);
  let isSilent = false;
  input.on('data', (bytes: Buffer) => {
    for (const text of bytes.toString().split('\0').filter(Boolean)) {
      const message: Asked = JSON.parse(text);
      asked.push(message);
      if (isSilent) continue;
      const targetInfo = {type: 'page', targetId: 'the frame'};
      const params = {sessionId: 'the session', targetInfo};
      if (message.method === 'Target.createTarget') say({method: 'Target.attachedToTarget', params});
      say({id: message.id, result: {result: {}}});
    }
  });
  let isHeld = true;
  let outOfMemory = false;
  let isClosed = false;
  let markClosed = (): void => {};
  const closed = new Promise<void>(resolve => {
    markClosed = resolve;
  });
  const chromium: RunningBrowser['chromium'] = {
    connection,
    gone: closed.then(() => ''),
    bounded: true,
    ranOutOfMemory: () => outOfMemory,
    hold: held => {
      isHeld = held;
    },
    close: async () => {
      connection.close();
      await new Promise(resolve => setImmediate(resolve));
      isClosed = true;
      markClosed();
    },
    closed,
  };
  return {
    running: {chromium, version: '150', isolation, sandbox: true, bounded: true, program},
    asked,
    say,
    fallSilent: () => {
      isSilent = true;
    },
    runOutOfMemory: () => {
      outOfMemory = true;
    },
    isHeld: () => isHeld,
    isClosed: () => isClosed,
  };
}

function readyChromium({maxInstances = 2, isolation = 'namespace' as Isolation} = {}) {
  const clock = createManualClock();
  const places = new Places();
  const browsers: ReturnType<typeof pretendBrowser>[] = [];
  let program = 'one';
  const start = async (signal: AbortSignal): Promise<Result<RunningBrowser>> => {
    if (signal.aborted) return fail('cancelled', 'It was.');
    const browser = pretendBrowser(program, isolation);
    browsers.push(browser);
    signal.addEventListener('abort', () => void browser.running.chromium.close());
    return ok(browser.running);
  };
  const ready = new ReadyChromium({start, programNow: async () => program, places, maxInstances, clock});
  const replaceProgram = (): void => {
    program = 'another';
  };
  /** Has one made, and gives it once it waits: it keeps our process no longer. */
  const makeOne = async () => {
    ready.make();
    await expect.poll(() => browsers.at(-1)?.isHeld()).toBe(false);
    const browser = browsers.at(-1);
    if (browser === undefined) throw new Error('There is none.');
    return browser;
  };
  return {ready, makeOne, clock, places, browsers, replaceProgram};
}

test('policy: a Chromium that waits is given to the first call, and to no other', async () => {
  const {ready, makeOne, browsers} = readyChromium();
  const browser = await makeOne();
  const [first, second] = [ready.take(never), ready.take(never)];
  expect(second).toBeUndefined();
  expect((await first?.browser)?.chromium).toBe(browser.running.chromium);
  expect(browser.isHeld()).toBe(true);
  expect(browsers).toHaveLength(1);
  // The next one is another one.
  expect(await makeOne()).not.toBe(browser);
  await ready.close();
  expect(browser.isClosed()).toBe(false);
});

test('policy: before its page, a Chromium that waits is asked for an empty one, and for nothing else', async () => {
  const {makeOne} = readyChromium();
  const {asked} = await makeOne();
  expect(asked.map(({method}) => method)).toEqual([
    'Target.setAutoAttach',
    'Browser.setDownloadBehavior',
    'Fetch.enable',
    'Target.createTarget',
    'Page.enable',
    'Network.enable',
    'Network.setBypassServiceWorker',
    'Target.setAutoAttach',
    'Runtime.runIfWaitingForDebugger',
    'Emulation.setFocusEmulationEnabled',
    'Runtime.evaluate',
  ]);
  expect(asked.find(({method}) => method === 'Target.createTarget')?.params).toEqual({url: 'about:blank'});
});

test('policy: a Chromium that waited for 60 s is ended, and its place is free', async () => {
  const {ready, makeOne, clock, places} = readyChromium({maxInstances: 1});
  const browser = await makeOne();
  clock.advance(59_999);
  expect(browser.isClosed()).toBe(false);
  clock.advance(1);
  expect(ready.take(never)).toBeUndefined();
  expect(await places.take(1, never)).toBeTypeOf('function');
  expect(browser.isClosed()).toBe(true);
});

test('policy: its time is over when it is taken', async () => {
  const {ready, makeOne, clock} = readyChromium();
  const browser = await makeOne();
  expect(await ready.take(never)?.browser).toBeDefined();
  expect(clock.pending()).toBe(0);
  clock.advance(60_000);
  expect(browser.isClosed()).toBe(false);
});

test.each(['ended', 'lost its empty page'] as const)(
  'policy: one that %s while it waits is not given out',
  async kind => {
    const {ready, makeOne, places} = readyChromium({maxInstances: 1});
    const browser = await makeOne();
    if (kind === 'ended') browser.running.chromium.connection.close();
    else browser.say({method: 'Inspector.targetCrashed', params: {}, sessionId: 'the session'});
    await browser.running.chromium.closed;
    expect(ready.take(never)).toBeUndefined();
    expect(await places.take(1, never)).toBeTypeOf('function');
  },
);

test('policy: one that has ended when it is taken is not used, and the call keeps its place', async () => {
  const {ready, makeOne, places} = readyChromium({maxInstances: 1});
  const browser = await makeOne();
  browser.fallSilent();
  const taken = ready.take(never);
  await expect.poll(() => browser.asked.at(-1)?.params['expression']).toBe('0');
  browser.running.chromium.connection.close();
  expect(await taken?.browser).toBeUndefined();
  expect(browser.isClosed()).toBe(true);
  expect(places.tryTake(1)).toBeUndefined();
  taken?.giveBack();
  expect(places.tryTake(1)).toBeTypeOf('function');
});

test('policy: one that ran out of memory is not used', async () => {
  const {ready, makeOne} = readyChromium();
  const browser = await makeOne();
  browser.runOutOfMemory();
  expect(await ready.take(never)?.browser).toBeUndefined();
  expect(browser.isClosed()).toBe(true);
});

test('policy: where another program is at its path by now, it is not used', async () => {
  const {ready, makeOne, replaceProgram} = readyChromium();
  const browser = await makeOne();
  replaceProgram();
  expect(await ready.take(never)?.browser).toBeUndefined();
  expect(browser.isClosed()).toBe(true);
});

test('policy: a call that is cancelled ends the one that it has taken', async () => {
  const {ready, makeOne} = readyChromium();
  const browser = await makeOne();
  const controller = new AbortController();
  expect(await ready.take(controller.signal)?.browser).toBeDefined();
  controller.abort();
  await browser.running.chromium.closed;
  const next = await makeOne();
  expect(await ready.take(controller.signal)?.browser).toBeUndefined();
  expect(next.isClosed()).toBe(true);
});

test('policy: it gives its place to a call that waits for one, after its end', async () => {
  const {ready, makeOne, places} = readyChromium({maxInstances: 1});
  const browser = await makeOne();
  expect(await places.take(1, never)).toBeTypeOf('function');
  expect(browser.isClosed()).toBe(true);
  expect(ready.take(never)).toBeUndefined();
  // There is no place for another one now.
  ready.make();
  expect(ready.take(never)).toBeUndefined();
});

test('policy: one that was taken gives way to nobody', async () => {
  const {ready, makeOne, places} = readyChromium({maxInstances: 1});
  const browser = await makeOne();
  const taken = ready.take(never);
  const waiting = places.take(1, never);
  expect(await taken?.browser).toBeDefined();
  expect(browser.isClosed()).toBe(false);
  taken?.giveBack();
  expect(await waiting).toBeTypeOf('function');
});

test('policy: one that is being made gives way too, and is given to a call', async () => {
  const {ready, places, browsers, clock} = readyChromium();
  ready.make();
  const giveBack = await places.take(1, never);
  expect(browsers[0]?.isClosed()).toBe(true);
  giveBack?.();
  ready.make();
  ready.make();
  expect((await ready.take(never)?.browser)?.chromium).toBe(browsers[1]?.running.chromium);
  expect(browsers).toHaveLength(2);
  expect(browsers[1]?.isHeld()).toBe(true);
  expect(clock.pending()).toBe(0);
});

test('ruling G6 close ends the one that waits and the one that is being made, and none is made after it', async () => {
  const waits = readyChromium();
  const browser = await waits.makeOne();
  await waits.ready.close();
  expect(browser.isClosed()).toBe(true);
  expect(waits.clock.pending()).toBe(0);
  const made = readyChromium({maxInstances: 1});
  made.ready.make();
  await made.ready.close();
  expect(made.browsers[0]?.isClosed()).toBe(true);
  made.ready.make();
  expect(made.browsers).toHaveLength(1);
  expect(made.places.tryTake(1)).toBeTypeOf('function');
});

test('policy: outside of a namespace none is kept', async () => {
  const {ready, places, browsers} = readyChromium({maxInstances: 1, isolation: 'flags'});
  ready.make();
  expect(await ready.take(never)?.browser).toBeUndefined();
  expect(browsers[0]?.isClosed()).toBe(true);
  const other = readyChromium({maxInstances: 1, isolation: 'flags'});
  other.ready.make();
  await expect.poll(() => other.places.tryTake(1)).toBeTypeOf('function');
  expect(places.tryTake(1)).toBeUndefined();
});

test('policy: one that does not start leaves its place, and the call starts its own', async () => {
  const places = new Places();
  const clock = createManualClock();
  const start = () => Promise.reject(new Error('no descriptors'));
  const ports = {start, programNow: async () => 'one', places, maxInstances: 1, clock};
  const ready = new ReadyChromium(ports);
  ready.make();
  expect(await ready.take(never)?.browser).toBeUndefined();
  const other = new ReadyChromium({...ports, places: new Places()});
  other.make();
  await other.close();
  expect(other.take(never)).toBeUndefined();
});
