import {chmodSync, existsSync, mkdirSync, writeFileSync} from 'node:fs';
import {dirname, isAbsolute, join, win32} from 'node:path';
import {PassThrough} from 'node:stream';
import {describe, expect, onTestFinished, test} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {has, needs} from '../../../test/support/parts.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import {Deadline} from '../../core/deadline.ts';
import {silentLog} from '../../core/log.ts';
import {Places} from '../../core/places.ts';
import {fail, ok, type Result} from '../../core/result.ts';
import {createBrowser, ReadyChromium} from './browser.ts';
import {CdpConnection, type NavigatedFrame} from './cdp.ts';
import {launch} from './launch.ts';
import {NetworkIdle} from './network-idle.ts';
import {PageLoad, watchForLeaks} from './open-page.ts';
import {readBlockedResources, requestHeaders, responseHeaders} from './requests.ts';
import {chromiumPlaces, findChromium, type Isolation, type RunningBrowser} from './start-chromium.ts';
import {RequestQueue} from './subresources.ts';

const {signal} = new AbortController();

/** A program in place of Chromium, and a clock on which nothing is set but what waits for the end of a page. */
function pretendBrowser(isolation: 'namespace' | 'flags', keep_ready = true) {
  const directory = temporaryDirectory();
  const chromium_path = join(directory, 'chromium');
  const hello = String.raw`{"id":1,"result":{"product":"HeadlessChrome/150.0"}}\0`;
  writeFileSync(chromium_path, `#!/bin/sh\nprintf '${hello}' >&4\nexec sleep 600\n`);
  chmodSync(chromium_path, 0o755);
  const clock = createManualClock();
  const browser = createBrowser({
    options: {
      chromium_path,
      isolation,
      memory_mb: 2048,
      max_processes: 1024,
      max_instances: 4,
      keep_ready,
    },
    places: {path: process.env['PATH'], untrustedTrees: []},
    tempDir: directory,
    clock,
    log: silentLog,
  });
  onTestFinished(() => browser.close());
  const open = async () => {
    const started = await browser.start(signal);
    if (!started.ok) throw new Error(started.error.message);
    return started.value;
  };
  const show = async (hasRendered: boolean): Promise<number> => {
    const {chromium} = await open();
    const ending = chromium.close();
    browser.track(ending, {hasRendered});
    await browser.settled();
    await new Promise(resolve => setImmediate(resolve));
    return clock.pending();
  };
  return {browser, clock, open, show};
}

test('policy: with keep_ready the next Chromium is made after a page that was rendered, and not beside another', {
  ...needs('bubblewrap'),
  tags: ['slow'],
}, async () => {
  const {clock, open, show} = pretendBrowser('namespace');
  expect(await show(false)).toBe(0);
  expect(await show(true)).toBe(1);
  const {chromium} = await open();
  // Another page ends meanwhile. What was made now would be handed out next, and never get its empty page.
  await show(true);
  clock.advance(100);
  await (await open()).chromium.close();
  // The look at its memory, where it has a control group.
  expect(clock.pending()).toBe(chromium.bounded ? 1 : 0);
  await chromium.close();
  expect(clock.pending()).toBe(0);
  // It is known by now that pages can be rendered.
  expect(await show(false)).toBe(1);
});

test('policy: outside of a namespace, and without keep_ready, none is made', {tags: ['slow']}, async () => {
  expect(await pretendBrowser('flags').show(true)).toBe(0);
  if (has('bubblewrap')) expect(await pretendBrowser('namespace', false).show(true)).toBe(0);
});

describe('ready chromium', () => {
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
      'Emulation.setFocusEmulationEnabled',
      'Network.enable',
      'Network.setBypassServiceWorker',
      'Target.setAutoAttach',
      'Runtime.runIfWaitingForDebugger',
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
});

function connect() {
  const input = new PassThrough();
  const output = new PassThrough();
  return {input, output, connection: new CdpConnection(input, output)};
}

const settled = () => new Promise<void>(resolve => setImmediate(resolve));

describe('DevTools protocol over pipes', () => {
  test('commands are JSON and NUL, and answers find them in any order', async () => {
    const {input, output, connection} = connect();
    const first = connection.send('Browser.getVersion', {});
    const second = connection.send('Target.closeTarget', {targetId: 't'}, 'S');
    expect(String(input.read())).toBe(
      '{"id":1,"method":"Browser.getVersion","params":{}}\0' +
        '{"id":2,"method":"Target.closeTarget","params":{"targetId":"t"},"sessionId":"S"}\0',
    );
    output.write('{"id":2,"error":{"message":"No target"}}\0{"id":1,"result":{"product":"C/1"}}\0');
    expect(await first).toEqual({ok: true, value: {product: 'C/1'}});
    expect(await second).toEqual({ok: false, error: 'No target'});
  });

  test('messages may be cut anywhere, inside a character too', async () => {
    const {output, connection} = connect();
    const seen: NavigatedFrame[] = [];
    connection.on('Page.frameNavigated', params => seen.push(params));
    const params = {frame: {id: 'é€😀', url: 'u'}};
    const bytes = Buffer.from(`${JSON.stringify({method: 'Page.frameNavigated', params})}\0`.repeat(2));
    for (const byte of bytes) output.write(Buffer.from([byte]));
    await settled();
    expect(seen).toEqual([params, params]);
  });

  test('an end of the pipe ends what waits, and later commands at once', async () => {
    const {output, connection} = connect();
    const waiting = connection.send('Page.enable', {});
    output.destroy();
    expect(await waiting).toEqual({ok: false, error: 'closed'});
    expect(await connection.send('Page.enable', {})).toEqual({ok: false, error: 'closed'});
  });

  test.each(['nonsense\0', 'null\0', '7\0'])('what is no message ends the connection: %j', async text => {
    const {output, connection} = connect();
    const waiting = connection.send('Page.enable', {});
    output.write(text);
    expect(await waiting).toEqual({ok: false, error: 'closed'});
  });

  test('nothing is heard after close, not even what came in the same piece', async () => {
    const {output, connection} = connect();
    let heard = 0;
    connection.on('Page.domContentEventFired', () => {
      heard += 1;
      connection.close();
    });
    output.write('{"method":"Page.domContentEventFired","params":{}}\0'.repeat(3));
    await settled();
    expect(heard).toBe(1);
  });

  test('review B12: what a listener throws ends the connection, not the process', async () => {
    const {output, connection} = connect();
    connection.on('Page.frameNavigated', ({frame}) => void new URL(frame.url));
    const waiting = connection.send('Page.enable', {});
    output.write('{"method":"Page.frameNavigated","params":{"frame":{"id":"f","url":":"}}}\0');
    expect(await waiting).toEqual({ok: false, error: 'closed'});
    await connection.closed;
  });

  test('review B12: a message above 256 MiB ends the connection before it is a text', async () => {
    const {output, connection} = connect();
    const waiting = connection.send('Page.enable', {});
    const part = Buffer.alloc(32 * 1024 * 1024, 0x20);
    for (let at = 0; at < 9; at += 1) {
      output.write(part);
      await settled();
    }
    expect(await waiting).toEqual({ok: false, error: 'closed'});
  });
});

test('policy: one whose standard error is closed before its end is known is not waited for', async () => {
  const directory = temporaryDirectory();
  const executable = join(directory, 'chromium');
  const hello = String.raw`{"method":"Page.domContentEventFired","params":{}}\0`;
  writeFileSync(executable, `#!/bin/sh\nexec 2>&-\nprintf '${hello}' >&4\nexec sleep 600\n`);
  chmodSync(executable, 0o755);
  const plan = {executable, bubblewrap: undefined, sandbox: true, contained: true, group: undefined};
  // Its time stands still: what waits for a moment waits for ever.
  const clock = createManualClock();
  const chromium = await launch({...plan, tempDir: directory}, clock);
  await new Promise<void>(resolve => chromium.connection.on('Page.domContentEventFired', () => resolve()));
  await chromium.close();
  expect(await chromium.gone).toBe('');
  expect(clock.pending()).toBe(0);
});

test.each([
  ['short', 'd', 'd'],
  ['too long', 'd'.repeat(40), '/tmp'],
])(
  'FR-WF-BROWSER-ISO-01 where the temporary directory is %s for the sockets of Chromium, its own has room for them',
  async (_, name, expected) => {
    // A path of its own, as short as one can be.
    const directory = temporaryDirectory('/tmp');
    const tempDir = join(directory, name);
    mkdirSync(tempDir);
    const executable = join(directory, 'chromium');
    writeFileSync(executable, '#!/bin/sh\nprintf %s "$TMPDIR" >&2\n');
    chmodSync(executable, 0o755);
    const plan = {executable, bubblewrap: undefined, sandbox: true, contained: true, group: undefined};
    const chromium = await launch({...plan, tempDir}, createManualClock());
    const home = await chromium.gone;
    expect(dirname(home)).toBe(expected === 'd' ? tempDir : expected);
    // What macOS has for the path of a socket.
    expect(`${home}/org.chromium.Chromium.XXXXXX/SingletonSocket`.length).toBeLessThan(104);
    await chromium.close();
    expect(existsSync(home)).toBe(false);
  },
);

/** What is reported of one event. */
async function seen(method: string, response?: object): Promise<readonly string[]> {
  const output = new PassThrough();
  const leaks: string[] = [];
  watchForLeaks(
    new CdpConnection(new PassThrough(), output),
    url => url === 'http://a.test/given',
    what => leaks.push(what),
  );
  output.write(`${JSON.stringify({method, params: {response}})}\0`);
  await new Promise<void>(resolve => setImmediate(resolve));
  return leaks;
}

const RECEIVED = 'Network.responseReceived';

describe('ruling G1 the tripwire', () => {
  test.each([
    ['given from here', {url: 'http://a.test/given', remoteIPAddress: '', connectionId: 0}],
    ['without an address at all', {url: 'http://a.test/given', connectionId: 0}],
    ['made in the page', {url: 'data:text/plain,x', connectionId: 0}],
    ['made by the page', {url: 'blob:http://a.test/1', connectionId: 0}],
  ])('ruling G1 a response %s is let be', async (_, response) => {
    expect(await seen(RECEIVED, response)).toEqual([]);
  });

  test.each([
    ['over a socket', {url: 'http://a.test/given', remoteIPAddress: '10.0.0.1', connectionId: 0}],
    ['over a connection', {url: 'http://a.test/given', remoteIPAddress: '', connectionId: 12}],
    ['that nobody gave', {url: 'https://b.test/x?secret', remoteIPAddress: '', connectionId: 0}],
  ])('ruling G1 a response %s trips it, and no query is named', async (_, response) => {
    const leaks = await seen(RECEIVED, response);
    expect(leaks).toHaveLength(1);
    expect(leaks.join()).not.toContain('secret');
  });

  test.each([
    'Network.webSocketWillSendHandshakeRequest',
    'Network.webSocketHandshakeResponseReceived',
    'Network.webSocketFrameReceived',
    'Network.webTransportConnectionEstablished',
  ])('ruling G1 %s trips it', async method => {
    expect(await seen(method)).toEqual([method]);
  });
});

test('review B12: an address that is none leaves the document as it is', () => {
  const nothing = async () => fail('network', 'There is nothing else.');
  const ports = {navigate: nothing, openUrl: nothing, clock: systemClock, log: silentLog};
  const idle = new NetworkIdle(systemClock);
  const budget = new Deadline(1000, systemClock);
  const first = {
    url: 'http://a.example/',
    headers: new Map(),
    contentType: 'text/html',
    bytes: new Uint8Array(),
    charsetFallback: false,
  } as const;
  const main = new PageLoad(first, ports, idle, budget);
  main.navigated(':');
  expect(main.document).toBe(first);
  idle.close();
  budget.close();
});

/** FR-WF-BLOCKRES-01 as it is printed there. */
const PRINTED =
  'Document Stylesheet Image Media Font Script TextTrack XHR Fetch Prefetch EventSource WebSocket Manifest SignedExchange Ping CSPViolationReport Preflight Other'.split(
    ' ',
  );

test('FR-WF-BLOCKRES-01 every CDP type is known, in any case', () => {
  for (const spelled of [
    PRINTED,
    PRINTED.map(type => type.toLowerCase()),
    PRINTED.map(type => type.toUpperCase()),
  ]) {
    expect(readBlockedResources(spelled)).toEqual({ok: true, value: new Set(PRINTED)});
  }
});

test.each(['', ' image', 'images', 'Imag', 'css', '*'])(
  'FR-WF-BLOCKRES-01 %j is no type: bad_args that names it',
  entry => {
    expect(readBlockedResources(['image', entry])).toMatchObject({
      error: {
        code: 'bad_args',
        details: {
          field: 'tools.webfetch.browser.block_resources',
          reason: expect.stringContaining(`"${entry}"`),
        },
      },
    });
  },
);

describe('ruling G5 response headers', () => {
  const given = (fields: Record<string, string>) =>
    Object.fromEntries(
      responseHeaders(new Map(Object.entries(fields).map(([name, value]) => [name, [value]]))).map(
        ({name, value}) => [name, value],
      ),
    );

  test('ruling G5 what stores, reports, connects or fetches is lost', () => {
    const lost = {
      'set-cookie': 'a=b',
      'report-to': '{}',
      'reporting-endpoints': 'a="https://x.test"',
      nel: '{}',
      'alt-svc': 'h3=":443"',
      link: '<https://x.test>; rel=preconnect',
      'speculation-rules': '"/r.json"',
      'content-security-policy-report-only': "default-src 'none'; report-uri /r",
      'content-encoding': 'gzip',
      'content-length': '9',
      'transfer-encoding': 'chunked',
      'content-disposition': 'attachment',
      'www-authenticate': 'Basic',
      'clear-site-data': '"*"',
      'critical-ch': 'Sec-CH-UA-Arch',
      'service-worker-allowed': '/',
      'x-dns-prefetch-control': 'on',
      'sec-session-registration': '(ES256); path="/r"',
      'something-new': 'x',
    };
    expect(given(lost)).toEqual({});
  });

  test('what scripts read and pages are ruled by is kept', () => {
    const kept = {
      'content-type': 'text/html; charset=utf-8',
      'access-control-allow-origin': '*',
      'x-total-count': '9',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    };
    expect(given(kept)).toEqual(kept);
  });

  test('ruling G5 report directives leave a policy, the others stay', () => {
    const policy = "default-src 'self'; REPORT-URI /r; img-src *; report-to main, script-src 'none'";
    expect(given({'content-security-policy': policy})).toEqual({
      'content-security-policy': "default-src 'self'; img-src *, script-src 'none'",
    });
  });

  test('bytes above ASCII in a Location are percent-encoded', () => {
    expect(given({location: '/caf\xc3\xa9'})).toEqual({location: '/caf%c3%a9'});
  });
});

describe('FR-WF-07d request headers', () => {
  test('FR-WF-07d what the page asks with is passed, what is ours or about the browser is not', () => {
    expect(
      requestHeaders({
        Accept: 'application/json',
        Authorization: 'Bearer x',
        'X-Key': 'k',
        Origin: 'https://a.test',
        'User-Agent': 'Chrome',
        Cookie: 'a=b',
        Host: 'b.test',
        'Sec-Fetch-Mode': 'cors',
        'Proxy-Authorization': 'x',
        'Accept-Encoding': 'zstd',
        'Content-Length': '5',
        Upgrade: 'h2c',
      }),
    ).toEqual({
      accept: 'application/json',
      authorization: 'Bearer x',
      'x-key': 'k',
      origin: 'https://a.test',
    });
  });

  test('a header that could begin another one is left out, and so is a huge one', () => {
    const hostile = {'x-a': 'b\r\nHost: c', 'x b': 'c', 'x-c': 'd'.repeat(9000), 'x-d': 'é', 'x-e': ''};
    expect(requestHeaders(hostile)).toEqual({});
  });
});

function program(path: string): string {
  mkdirSync(dirname(path), {recursive: true});
  writeFileSync(path, '#!/bin/sh\n');
  chmodSync(path, 0o755);
  return path;
}

const NOWHERE = {path: '', untrustedTrees: [], standard: []};

test('FR-WF-11: an application counts where no name is in PATH, and nothing that others may write to', async () => {
  const root = temporaryDirectory();
  const application = program(join(root, 'Chromium.app/Contents/MacOS/Chromium'));
  const absent = join(root, 'absent');
  expect(await findChromium('', NOWHERE, [absent, application])).toBe(application);
  expect(await findChromium('', NOWHERE, [absent])).toBeUndefined();
  expect(await findChromium('', {...NOWHERE, untrustedTrees: [root]}, [application])).toBeUndefined();
  const named = program(join(root, 'bin/chromium'));
  expect(await findChromium('', {...NOWHERE, path: join(root, 'bin')}, [application])).toBe(named);
});

test('policy: the places are absolute, and Linux has names alone', () => {
  expect(chromiumPlaces('linux')).toEqual([]);
  expect(chromiumPlaces('darwin').every(isAbsolute)).toBe(true);
  expect(chromiumPlaces('win32').every(path => win32.isAbsolute(path))).toBe(true);
  expect(chromiumPlaces('darwin').length * chromiumPlaces('win32').length).toBeGreaterThan(0);
});

/** Work that is under way until it is let go. */
function openWork() {
  const running = new Map<string, () => void>();
  const work = (name: string) => () =>
    new Promise<void>(resolve => {
      running.set(name, () => {
        running.delete(name);
        resolve();
      });
    });
  return {running, work};
}

describe('policy: requests of one page', () => {
  test('six at once towards one origin, and others pass by those that wait', async () => {
    const queue = new RequestQueue();
    const {running, work} = openWork();
    for (let n = 0; n < 9; n += 1) void queue.run('a', work(`a${n}`));
    void queue.run('b', work('b0'));
    await settled();
    expect([...running.keys()]).toEqual(['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'b0']);
    running.get('a2')?.();
    await settled();
    expect([...running.keys()]).toContain('a6');
    expect(running.size).toBe(7);
  });

  test('twenty-four at once in all; work that throws makes room too', async () => {
    const queue = new RequestQueue();
    const {running, work} = openWork();
    const failing = queue.run('x', async () => {
      await settled();
      throw new Error('broken');
    });
    for (let n = 0; n < 40; n += 1) void queue.run(`o${n}`, work(`o${n}`));
    expect(running.size).toBe(23);
    await expect(failing).rejects.toThrow('broken');
    await settled();
    expect(running.size).toBe(24);
    for (let guard = 0; running.size > 0 && guard < 100; guard += 1) {
      for (const finish of [...running.values()]) finish();
      await settled();
    }
    expect(running.size).toBe(0);
  });
});
