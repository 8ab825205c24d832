import {getEventListeners} from 'node:events';
import {existsSync, mkdirSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {describe, expect, test} from 'vitest';
import {createManualClock} from '../../test/support/manual-clock.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {Deadline} from './deadline.ts';
import {FAILURE_CODES} from './failure-codes.ts';
import {findRoot, packageFile} from './package-file.ts';
import {freeMemory, freeMemoryWhenIdle, Places} from './places.ts';
import {fail, ok} from './result.ts';
import {defineTool, type Schema, type ToolContext} from './tool.ts';

describe('Deadline', () => {
  test('FR-WF-TIMEOUT-02 the deadline is one for all phases and names the one it struck in', () => {
    const clock = createManualClock();
    const budget = new Deadline(1000, clock);
    budget.enter('connect');
    clock.advance(600);
    expect(budget.remainingMs()).toBe(400);
    budget.enter('body');
    clock.advance(400);
    expect(budget.spent).toBe(true);
    expect(budget.signal.aborted).toBe(true);
    expect(budget.failure().error).toMatchObject({
      code: 'timeout',
      retryable: true,
      details: {timeout_ms: 1000, phase: 'body'},
    });
  });

  test('ruling C3 race gives up waiting at the deadline and drops the late result', async () => {
    const clock = createManualClock();
    const budget = new Deadline(1000, clock);
    const raced = budget.race(new Promise(() => {}));
    clock.advance(1000);
    expect(await raced).toMatchObject({ok: false, error: {code: 'timeout'}});
    expect(await budget.race(Promise.reject(new Error('too late')))).toMatchObject({ok: false});
  });

  test('race passes on a value and an exception that come in time', async () => {
    const budget = new Deadline(1000, createManualClock());
    expect(await budget.race(Promise.resolve(7))).toEqual({ok: true, value: 7});
    await expect(budget.race(Promise.reject(new Error('bug')))).rejects.toThrow('bug');
  });

  test('a caller who cancels gets "cancelled", before and during the call', () => {
    const caller = new AbortController();
    const budget = new Deadline(1000, createManualClock(), caller.signal);
    expect(budget.spent).toBe(false);
    caller.abort();
    expect(budget.failure().error.code).toBe('cancelled');
    expect(new Deadline(1000, createManualClock(), caller.signal).spent).toBe(true);
  });

  test.each(['the deadline', 'the caller'])('%s is heard of once, by all who listen still', by => {
    const clock = createManualClock();
    const caller = new AbortController();
    const budget = new Deadline(1000, clock, caller.signal);
    const heard: string[] = [];
    const early = budget.signal;
    early.addEventListener('abort', () => heard.push('signal'));
    budget.whenAborted(() => heard.push('callback'));
    budget.whenAborted(() => heard.push('taken back'))();
    expect(heard).toEqual([]);
    if (by === 'the caller') caller.abort();
    clock.advance(1000);
    caller.abort();
    expect(heard).toEqual(['signal', 'callback']);
    budget.whenAborted(() => heard.push('late'));
    expect(heard).toEqual(['signal', 'callback', 'late']);
    expect(budget.aborted).toBe(true);
  });

  test('a signal that is asked for after the deadline has aborted', () => {
    const clock = createManualClock();
    const budget = new Deadline(1000, clock);
    clock.advance(1000);
    expect(budget.signal.aborted).toBe(true);
  });

  test('ruling B2 time spent in pausedFor does not count', async () => {
    const clock = createManualClock();
    const budget = new Deadline(1000, clock);
    clock.advance(300);
    await budget.pausedFor(async () => {
      clock.advance(5000);
      expect(budget.spent).toBe(false);
      expect(budget.remainingMs()).toBe(700);
    });
    expect(budget.remainingMs()).toBe(700);
    clock.advance(700);
    expect(budget.signal.aborted).toBe(true);
  });

  test('ruling C3 the rest of a budget names the whole of it', () => {
    const clock = createManualClock();
    const rest = new Deadline(200, clock, undefined, {total: 1000});
    clock.advance(200);
    expect(rest.failure().error.details).toEqual({timeout_ms: 1000, phase: 'dns'});
  });

  test('Tool API: a tool that ran out of time is named, also where a loop keeps the timer from firing', () => {
    const clock = createManualClock();
    const late = new Deadline(100, {...clock, after: () => () => {}}, undefined, {tool: 'glob'});
    clock.advance(99);
    expect(late.spent).toBe(false);
    clock.advance(1);
    expect([late.spent, late.cancelled]).toEqual([true, false]);
    expect(late.failure().error).toMatchObject({
      code: 'timeout',
      message: 'glob did not finish within 100 ms. Give it less to do, or retry.',
      details: {timeout_ms: 100},
    });
  });

  test('whichever came first is the cause: time, or a caller who cancelled', () => {
    for (const [isFirst, code] of [
      [true, 'cancelled'],
      [false, 'timeout'],
    ] as const) {
      const clock = createManualClock();
      const caller = new AbortController();
      const deadline = new Deadline(100, clock, caller.signal, {tool: 'glob'});
      if (isFirst) caller.abort();
      clock.advance(100);
      caller.abort();
      expect([deadline.spent, deadline.cancelled, deadline.failure().error.code]).toEqual([
        true,
        isFirst,
        code,
      ]);
    }
  });

  test('close leaves no timer and no listener', async () => {
    const clock = createManualClock();
    const budget = new Deadline(1000, clock);
    await budget.pausedFor(async () => expect(clock.pending()).toBe(0));
    expect(clock.pending()).toBe(1);
    budget.close();
    expect(clock.pending()).toBe(0);
  });
});

test('review B13: pauses that overlap are one pause', async () => {
  const clock = createManualClock();
  const budget = new Deadline(1000, clock);
  const ends: (() => void)[] = [];
  const pause = () => budget.pausedFor(() => new Promise<void>(resolve => ends.push(resolve)));
  clock.advance(400);
  const first = pause();
  clock.advance(5000);
  const second = pause();
  clock.advance(5000);
  expect(budget.remainingMs()).toBe(600);
  ends[0]?.();
  await first;
  clock.advance(5000);
  expect(budget.remainingMs()).toBe(600);
  expect(budget.aborted).toBe(false);
  ends[1]?.();
  await second;
  clock.advance(599);
  expect(budget.aborted).toBe(false);
  expect(budget.remainingMs()).toBe(1);
  clock.advance(1);
  expect(budget.aborted).toBe(true);
});

test('review B13: a budget that is closed in a pause leaves no timer', async () => {
  const clock = createManualClock();
  const budget = new Deadline(1000, clock);
  await budget.pausedFor(async () => budget.close());
  expect(clock.pending()).toBe(0);
});

/** SRD 3.7.2 as it is printed there. 408, 429 and `tool_output_limit` are exceptions of single failures. */
const PRINTED = {
  bad_args: [false, 'field', 'reason'],
  invalid_url: [false, 'url'],
  invalid_scheme: [false, 'scheme'],
  invalid_host: [false, 'host'],
  port_blocked: [false, 'port', 'allowed_ports'],
  ssrf_blocked: [false, 'blocked_ip', 'cidr', 'toggle'],
  dns_failed: [true, 'host', 'error'],
  robots_disallowed: [false, 'path', 'origin'],
  robots_unavailable: [true, 'origin', 'error'],
  redirect_limit: [false, 'count', 'max'],
  timeout: [true, 'timeout_ms', 'phase'],
  network: [true, 'error'],
  response_too_large: [false, 'size', 'max_bytes'],
  unsupported_content_type: [false, 'content_type'],
  http_4xx: [false, 'status', 'status_text'],
  http_5xx: [true, 'status', 'status_text'],
  browser_unavailable: [false, 'chromium_path', 'error'],
  browser_crashed: [true, 'error'],
  extraction_failed: [false, 'error'],
  cache_read_failed: [true, 'path', 'error'],
  internal: [true, 'error'],
} as const satisfies Partial<Record<keyof typeof FAILURE_CODES, readonly [boolean, ...string[]]>>;

test.each(Object.entries(PRINTED))('FR-WF-18 FR-WF-18a %s is in the registry as printed: %j', (code, row) => {
  const [retryable, ...details] = row;
  const known = code as keyof typeof PRINTED;
  expect(FAILURE_CODES[known].retryable).toBe(retryable);
  expect(FAILURE_CODES[known].details).toEqual(expect.arrayContaining([...details]));
  expect(fail(known, 'what happened').error).toMatchObject({code, message: 'what happened', retryable});
});

test.each([
  ['EACCES', false],
  ['ENOSPC', false],
  [undefined, false],
  ['EBUSY', true],
  ['EMFILE', true],
])('ruling H1 an io_error with %s is retryable: %s', (error, retryable) => {
  expect(fail('io_error', 'No.', {error}).error.retryable).toBe(retryable);
});

test.each(['package.json', 'vocabulary/cl100k_base.bin', 'dist/bin/worker.js', 'demo/site/robots.txt'])(
  'packageFile finds %s, whatever the working directory is',
  path => {
    expect(packageFile(path).pathname.endsWith(`/${path}`)).toBe(true);
    expect(existsSync(packageFile(path))).toBe(true);
  },
);

function write(file: string, text: string): string {
  mkdirSync(dirname(file), {recursive: true});
  writeFileSync(file, text);
  return file;
}

test.each([
  ['a package that Node finds from there', 'node_modules/forge-tools', 'out/server/app.js'],
  ['a folder beside it', 'out/server/forge-tools', 'out/server/app.js'],
])('policy: the files of a package whose code was bundled are in %s', (_, folder, bundle) => {
  const place = temporaryDirectory();
  // Not ours: what only lies where a module of ours would have it.
  write(join(place, 'package.json'), '{"name": "application"}');
  write(join(place, folder, 'package.json'), '{"name": "forge-tools"}');
  const root = findRoot(pathToFileURL(join(place, bundle)).href);
  expect(root.href).toBe(`${pathToFileURL(join(place, folder)).href}/`);
});

test('policy: where they are not found the message says what to do, and the working directory is not looked at', () => {
  const place = temporaryDirectory();
  expect(() => findRoot(pathToFileURL(join(place, 'out/app.js')).href)).toThrow(
    /not found from file:.*Leave forge-tools out of the bundle \("external"\), or copy node_modules\/forge-tools beside it\./,
  );
  expect(() => findRoot(undefined)).toThrow(/a bundle that does not know where it is/);
});

const never = new AbortController().signal;

test('policy: the others wait, and come in their order', async () => {
  const places = new Places();
  const [first, second] = [await places.take(2, never), await places.take(2, never)];
  const came: string[] = [];
  const waiting = ['a', 'b'].map(async name => {
    const giveBack = await places.take(2, never);
    came.push(name);
    return giveBack;
  });
  expect(came).toEqual([]);
  first?.();
  await waiting[0];
  expect(came).toEqual(['a']);
  // Given back twice is given back once.
  first?.();
  second?.();
  await waiting[1];
  expect(came).toEqual(['a', 'b']);
});

test('policy: who leaves before there is a place takes none, and leaves no listener', async () => {
  const places = new Places();
  const first = await places.take(1, never);
  const controller = new AbortController();
  const left = places.take(1, controller.signal);
  const next = places.take(1, never);
  controller.abort();
  expect(await left).toBeUndefined();
  expect(await places.take(1, controller.signal)).toBeUndefined();
  first?.();
  expect(await next).toBeTypeOf('function');
  expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
});

test('policy: a waiter that has left holds up no other', async () => {
  const places = new Places();
  await places.take(2, never);
  const controller = new AbortController();
  const strict = places.take(1, controller.signal);
  const lax = places.take(2, never);
  controller.abort();
  expect(await strict).toBeUndefined();
  expect(await lax).toBeTypeOf('function');
});

test('policy: a preemptible place is taken while one is free, and given up as soon as another one waits', async () => {
  const places = new Places();
  let asked = 0;
  const giveBack = places.tryTakePreemptible(2, () => {
    asked += 1;
    giveBack?.();
  });
  expect(giveBack).toBeDefined();
  const first = await places.take(2, never);
  expect(asked).toBe(0);
  expect(places.tryTakePreemptible(2, () => {})).toBeUndefined();
  expect(await places.take(2, never)).toBeTypeOf('function');
  expect(asked).toBe(1);
  first?.();
  expect(places.tryTake(2)).toBeTypeOf('function');
});

test('policy: who gives a preemptible place up in its own time is asked once, and the next one waits for that', async () => {
  const places = new Places();
  const asked: string[] = [];
  const holding = ['a', 'b'].map(name => places.tryTakePreemptible(2, () => asked.push(name)));
  const waiting = [1, 2].map(() => places.take(1, never));
  expect(asked).toEqual(['a', 'b']);
  for (const giveBack of holding) giveBack?.();
  (await waiting[0])?.();
  expect(await waiting[1]).toBeTypeOf('function');
  expect(asked).toEqual(['a', 'b']);
});

test('policy: memory that is given back is gone, also where two arrays share it', () => {
  const numbers = new Int32Array(8);
  freeMemory(numbers);
  const bytes = new Uint8Array(8);
  freeMemoryWhenIdle([bytes, bytes.subarray(4)]);
  expect([numbers.length, bytes.length]).toEqual([0, 0]);
});

const number: Schema<number> = {
  jsonSchema: {type: 'number'},
  parse: input =>
    typeof input === 'number'
      ? {ok: true, value: input}
      : {
          ok: false,
          error: {
            field: 'params',
            reason: 'no number',
            all: 'params: no number',
            problems: [{field: 'params', kind: 'invalid', reason: 'no number'}],
          },
        },
};

const double = defineTool({
  name: 'double',
  title: 'Double',
  description: 'Doubles a number.',
  annotations: {readOnly: true, destructive: false, idempotent: true, openWorld: false},
  params: number,
  data: {...number, jsonSchema: {type: 'integer'}},
  badParams: 'invalid_params',
  action: undefined,
  timeoutMs: value => value * 1000,
  intend: async value =>
    ok({subject: {kind: 'command', values: [String(value)]}, summary: 's', preview: 'p', fileHashes: {}}),
  execute: async value => (value < 0 ? fail('invalid_params', 'Negative.') : ok(value * 2)),
  renderText: data => `= ${data.toFixed(1)}`,
  resultFields: data => ({exit_code: data}),
});

// Tools of these tests look at no context.
const context = {} as ToolContext;

test('policy: a tool closes over the types of its definition', async () => {
  expect(double).toMatchObject({
    name: 'double',
    paramsSchema: {type: 'number'},
    dataSchema: {type: 'integer'},
  });
  expect(double).not.toHaveProperty('params');
  const prepared = double.prepare(4);
  if (!prepared.ok) throw new Error(prepared.error.reason);
  expect(prepared.value.timeoutMs).toBe(4000);
  expect(await prepared.value.intend(context)).toMatchObject({ok: true, value: {subject: {values: ['4']}}});
  expect(await prepared.value.execute(context)).toEqual({ok: true, value: {data: 8, fields: {exit_code: 8}}});
  expect(double.renderText(8)).toBe('= 8.0');
});

test('policy: what does not validate is not a call', () => {
  expect(double.prepare('4')).toMatchObject({
    ok: false,
    error: {field: 'params', reason: 'no number', all: 'params: no number'},
  });
});

test('policy: a failure has no fields of a result', async () => {
  const prepared = double.prepare(-1);
  expect(prepared.ok && (await prepared.value.execute(context))).toEqual(fail('invalid_params', 'Negative.'));
});
