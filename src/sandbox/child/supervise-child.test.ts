import {spawn} from 'node:child_process';
import {getEventListeners} from 'node:events';
import {describe, expect, test, vi} from 'vitest';
import {type Clock, systemClock} from '../../core/clock.ts';
import {endGroup} from './end-group.ts';
import {startChild} from './start-child.ts';
import {type Supervision, superviseChild} from './supervise-child.ts';

function start(script: string, pipes: readonly number[] = []) {
  const plan = {program: '/bin/sh', args: ['-c', script], env: {PATH: '/usr/bin:/bin'}, cwd: '/', pipes};
  return startChild({...plan, detached: true});
}

/** A supervision of a child for a minute, which is killed with its group. */
function over(child: ReturnType<typeof start>, changes: Partial<Supervision> = {}) {
  const plan: Supervision = {
    ...{outputs: {}, kill: () => endGroup(child), timeoutMs: 60_000, clock: systemClock},
    signal: new AbortController().signal,
    ...changes,
  };
  return superviseChild(child, plan);
}

function collect() {
  const chunks: Buffer[] = [];
  return {take: (chunk: Buffer) => void chunks.push(chunk), text: () => Buffer.concat(chunks).toString()};
}

/** Times of this length are over at once; the others never are. */
function clockAt(lengthMs: number): Clock & {readonly cancelled: readonly number[]} {
  const cancelled: number[] = [];
  const after: Clock['after'] = (ms, work) => {
    const cancel = ms === lengthMs ? systemClock.after(1, work) : () => {};
    return () => {
      cancelled.push(ms);
      cancel();
    };
  };
  let now = 0;
  return {...systemClock, after, monotonic: () => (now += 7), cancelled};
}

describe('superviseChild', () => {
  test('W8: what a child reads and writes, by descriptor, and how it ended', async () => {
    const sinks = {1: collect(), 2: collect(), 5: collect()};
    const outputs = {1: sinks[1].take, 2: sinks[2].take, 5: sinks[5].take};
    const clock = clockAt(-1);
    const child = start('cat; cat <&4 >&2; echo five >&5; exit 3', [0, 4, 5]);
    const outcome = await over(child, {
      inputs: {0: 'in\n', 4: 'four\n', 9: 'nobody'},
      outputs: {...outputs, 8: () => {}},
      clock,
    });
    expect([sinks[1].text(), sinks[2].text(), sinks[5].text()]).toEqual(['in\n', 'four\n', 'five\n']);
    expect(outcome).toEqual({
      ...{code: 3, signal: null, killedFor: undefined, startError: undefined, gone: true, durationMs: 7},
    });
    expect(clock.cancelled).toEqual([60_000]);
  });

  test('W8: without an input it reads nothing', async () => {
    const {take, text} = collect();
    await over(start('cat; echo end'), {outputs: {1: take}});
    expect(text()).toBe('end\n');
  });

  test('W8: a death by signal is told', async () => {
    expect(await over(start('kill -s USR1 $$'))).toMatchObject({code: null, signal: 'SIGUSR1'});
  });

  test('W8: when its time is up it is killed once, whatever comes then', async () => {
    const child = start('sleep 600');
    const abort = new AbortController();
    let kills = 0;
    const kill = () => {
      kills += 1;
      abort.abort();
      endGroup(child);
    };
    const clock = clockAt(500);
    const outcome = await over(child, {kill, timeoutMs: 500, signal: abort.signal, clock});
    expect(outcome).toMatchObject({killedFor: 'timeout', gone: true, signal: 'SIGKILL'});
    expect(kills).toBe(1);
    expect(clock.cancelled).toEqual([500, 5000]);
  });

  test.each([true, false])('W8: a caller who cancels ends it, also before it began: %s', async isEarly => {
    const abort = new AbortController();
    if (isEarly) abort.abort();
    else setImmediate(() => abort.abort());
    expect(await over(start('sleep 600'), {signal: abort.signal})).toMatchObject({killedFor: 'cancelled'});
  });

  test('policy: what is killed and does not go is not waited for', async () => {
    const child = start('exec sleep 600');
    const abort = new AbortController();
    abort.abort();
    const outcome = await over(child, {kill: () => {}, signal: abort.signal, clock: clockAt(5000)});
    expect(outcome).toMatchObject({killedFor: 'cancelled', gone: false, code: null});
    expect(child.killed).toBe(true);
    expect(child.stdout?.destroyed).toBe(true);
  });

  test('policy: an answer that is whole is not waited for either', async () => {
    const {take, text} = collect();
    const child = start('echo over; sleep 600');
    const outcome = await over(child, {
      outputs: {1: take},
      isOver: () => text() === 'over\n',
    });
    expect(outcome).toMatchObject({code: null, signal: null, killedFor: undefined, gone: true});
    endGroup(child);
  });

  test('policy: the end of an output can be the last word', async () => {
    const child = start('exec >&- 2>&-; sleep 600');
    const outcome = await over(child, {
      outputs: {1: () => {}},
      isOver: () => child.stdout?.readableEnded === true,
    });
    expect(outcome).toMatchObject({killedFor: undefined, gone: true});
    endGroup(child);
  });

  test('policy: a command that was killed is not asked whether it ended', async () => {
    const child = start('trap "" TERM; echo a; sleep 600');
    const abort = new AbortController();
    abort.abort();
    const outcome = await over(child, {outputs: {1: () => {}}, isOver: () => true, signal: abort.signal});
    expect(outcome).toMatchObject({killedFor: 'cancelled', signal: 'SIGKILL'});
  });

  test('W8: when the program has ended and its output has not, that is told', async () => {
    const child = start('sleep 600 & exit 5');
    let exits = 0;
    const onExit = () => {
      exits += 1;
      endGroup(child);
    };
    expect(await over(child, {outputs: {1: () => {}}, onExit})).toMatchObject({
      code: 5,
      killedFor: undefined,
    });
    expect(exits).toBe(1);
  });

  test('policy: a program that is not there is a start that failed', async () => {
    const child = spawn('/nonexistent/program');
    const outcome = await over(child, {kill: () => {}});
    expect(outcome).toMatchObject({code: null, gone: true, killedFor: undefined});
    expect(outcome.startError?.message).toContain('ENOENT');
  });
});

test('policy: an end leaves nobody who hears of the caller, and what went wrong with a child that runs is none', async () => {
  const abort = new AbortController();
  const child = start('read -r line; exit 3', [0]);
  const ended = over(child, {signal: abort.signal});
  expect(getEventListeners(abort.signal, 'abort')).toHaveLength(1);
  child.emit('error', new Error('kill EPERM'));
  child.stdin?.end('go\n');
  expect(await ended).toMatchObject({code: 3, startError: undefined});
  expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
});

test('policy: that nobody is left in a group is no exception, and what is no word of the system is one', async () => {
  const child = start('exec sleep 600');
  vi.spyOn(process, 'kill').mockImplementationOnce(() => {
    throw new TypeError('No number.');
  });
  expect(() => endGroup(child)).toThrow('No number.');
  endGroup(child);
  expect(await over(child)).toMatchObject({signal: 'SIGKILL'});
});

test('policy: who was not started, or has ended, has no group to end', async () => {
  endGroup(spawn('/nonexistent/program').on('error', () => {}));
  const child = start('true');
  await over(child);
  endGroup(child);
});
