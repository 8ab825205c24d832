import {type ChildProcess, spawn} from 'node:child_process';
import {getEventListeners, once} from 'node:events';
import fs, {mkdirSync, readdirSync, symlinkSync, writeFileSync} from 'node:fs';
import {syncBuiltinESMExports} from 'node:module';
import {join} from 'node:path';
import {PassThrough, type Readable, Writable} from 'node:stream';
import {text} from 'node:stream/consumers';
import {describe, expect, test, vi} from 'vitest';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {type Clock, systemClock} from '../core/clock.ts';
import {killGroup} from '../system/errors.ts';
import {
  type ChildPlan,
  diedBySignal,
  exitStatusOf,
  hasEnded,
  isBroken,
  leakedDescriptors,
  type Supervision,
  startChild,
  superviseChild,
} from './child.ts';

function start(script: string, plan: Partial<ChildPlan> = {}) {
  return startChild({program: '/bin/sh', args: ['-c', script], env: {A: 'b'}, cwd: '/', ...plan});
}

const said = (stream: unknown): Promise<string> => text(stream as Readable);

test('policy: a child has nothing to read, two pipes to write to, and no more than was planned', async () => {
  const child = start(`cat; pwd; echo "$A [$PATH]"; /bin/ls -l /proc/self/fd; echo err >&2`);
  const [out, err] = await Promise.all([child.stdout, child.stderr].map(stream => said(stream)));
  expect([child.stdin, err]).toEqual([null, 'err\n']);
  const [place, variables, , ...links] = (out ?? '').trim().split('\n');
  expect([place, variables?.split(' ')[0]]).toEqual(['/', 'b']);
  const open = links.map(link => link.split(' ').slice(-3)).map(([descriptor, , what]) => [descriptor, what]);
  const others = open.filter(([descriptor]) => !['1', '2'].includes(descriptor ?? ''));
  // What this process has inherited itself leads to nothing in the child. One more is the directory that is listed.
  expect(others.filter(([, what]) => what !== '/dev/null')).toEqual([['3', expect.stringMatching(/fd$/)]]);
  expect(open).toContainEqual(['0', '/dev/null']);
});

test('policy: a descriptor that was planned is a pipe, whatever lies below it is closed or nothing', async () => {
  const child = start('cat <&6; echo nine >&9', {pipes: [6, 9]});
  const [, , , three, four, , six, , eight, nine]: readonly unknown[] = child.stdio;
  expect([three, four, eight]).toEqual([null, null, null]);
  // Both from the start on: what nobody reads when the child ends, Node throws away.
  const heard = Promise.all([said(child.stdout), said(nine)]);
  (six as Writable).end('six\n');
  expect(await heard).toEqual(['six\n', 'nine\n']);
});

test('policy: one that leads a group is not ended with ours', async () => {
  const group = async (detached: boolean) => {
    const child = start('read -r x y z state group rest </proc/self/stat; echo "$group"; cat', {
      ...{pipes: [0], ...(detached && {detached})},
    });
    const [said] = await once(child.stdout ?? child, 'data');
    const isOwn = Number(String(said)) === child.pid;
    if (isOwn) killGroup(child);
    else child.kill('SIGKILL');
    return isOwn;
  };
  expect(await group(true)).toBe(true);
  expect(await group(false)).toBe(false);
});

test('policy: a pipe that breaks is an end and no exception', async () => {
  const child = start('exec sleep 600', {pipes: [0]});
  for (const stream of child.stdio) {
    stream?.emit('error', new Error('read ECONNRESET'));
    stream?.destroy();
  }
  child.kill('SIGKILL');
  await once(child, 'close');
  expect(child.signalCode).toBe('SIGKILL');
});

test('policy: what the system refuses is thrown, and nothing stays open', () => {
  const open = () => readdirSync('/proc/self/fd').length;
  const before = open();
  expect(() => start('true', {env: {A: 'x'.repeat(3_000_000)}})).toThrow('E2BIG');
  expect(open()).toBe(before);
});

test('policy: a system that complains when we close what the child has takes nothing back', async () => {
  const complain = (error: Error) => {
    const {closeSync} = fs;
    const spy = vi.spyOn(fs, 'closeSync').mockImplementation(descriptor => {
      closeSync(descriptor);
      throw error;
    });
    syncBuiltinESMExports();
    return () => {
      spy.mockRestore();
      syncBuiltinESMExports();
    };
  };
  let restore = complain(Object.assign(new Error('close EIO'), {syscall: 'close'}));
  const child = start('echo runs');
  restore();
  expect(await said(child.stdout)).toBe('runs\n');
  restore = complain(new Error('A bug.'));
  expect(() => start('true')).toThrow('A bug.');
  restore();
});

describe('supervise child', () => {
  function start(script: string, pipes: readonly number[] = []) {
    const plan = {program: '/bin/sh', args: ['-c', script], env: {PATH: '/usr/bin:/bin'}, cwd: '/', pipes};
    return startChild({...plan, detached: true});
  }

  /** A supervision of a child for a minute, which is killed with its group. */
  function over(child: ReturnType<typeof start>, changes: Partial<Supervision> = {}) {
    const plan: Supervision = {
      ...{outputs: {}, kill: () => killGroup(child), timeoutMs: 60_000, clock: systemClock},
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
        killGroup(child);
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
      killGroup(child);
    });

    test('policy: the end of an output can be the last word', async () => {
      const child = start('exec >&- 2>&-; sleep 600');
      const outcome = await over(child, {
        outputs: {1: () => {}},
        isOver: () => child.stdout?.readableEnded === true,
      });
      expect(outcome).toMatchObject({killedFor: undefined, gone: true});
      killGroup(child);
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
        killGroup(child);
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
    expect(() => killGroup(child)).toThrow('No number.');
    killGroup(child);
    expect(await over(child)).toMatchObject({signal: 'SIGKILL'});
  });

  test('policy: who was not started, or has ended, has no group to end', async () => {
    killGroup(spawn('/nonexistent/program').on('error', () => {}));
    const child = start('true');
    await over(child);
    killGroup(child);
  });
});

test.each([
  [['[1] + Done(137)'], false],
  [['[1]   Done'], false],
  [['[1]+  Exit 137                sh'], false],
  [['[1] + Killed'], true],
  [['[1] + Killed', 'left sleep', ''], true],
  [['[1]+  Killed                  Running, then Done'], true],
  [['[1]-  Segmentation fault'], true],
  [['[1]Donexx'], true],
  [['[1] + Running', '[1] + Killed'], true],
  [['[1] + Killed', '[1] + Running'], true],
  [['[1] + Stopped'], undefined],
  [['[1] + Done', '[1] + Killed'], true],
  [['[2] + Killed'], undefined],
  [['x [1] + Killed'], undefined],
  [[''], undefined],
  [[], undefined],
])('W20 of the jobs %j a shell says that a signal ended its command: %j', (lines, expected) => {
  expect(diedBySignal(lines)).toBe(expected);
});

const outOfMemory = false;

test('W20: only a death by signal is abnormal, whatever the code', () => {
  for (const code of [0, 1, 124, 127, 129, 137, 139, 143, 255]) {
    expect(exitStatusOf({code, bySignal: false, outOfMemory})).toEqual({kind: 'exited', code});
  }
  expect(exitStatusOf({code: 137, bySignal: true, outOfMemory})).toEqual({
    kind: 'killed',
    code: 137,
    signal: 'SIGKILL',
    outOfMemory: false,
  });
  expect(exitStatusOf({code: 134, bySignal: true, outOfMemory})).toMatchObject({signal: 'SIGABRT'});
});

test('W20: where the shell cannot tell, 128 + N counts as a signal', () => {
  expect(exitStatusOf({code: 139, bySignal: undefined, outOfMemory})).toMatchObject({signal: 'SIGSEGV'});
  expect(exitStatusOf({code: 128, bySignal: undefined, outOfMemory})).toEqual({kind: 'exited', code: 128});
});

test('ruling W8 out of memory counts where the command failed for it', () => {
  expect(exitStatusOf({code: 2, bySignal: false, outOfMemory: true})).toEqual({
    kind: 'killed',
    code: 2,
    signal: 'SIGKILL',
    outOfMemory: true,
  });
  expect(exitStatusOf({code: 0, bySignal: false, outOfMemory: true})).toEqual({kind: 'exited', code: 0});
});

const childWith = (...stdio: readonly unknown[]) => ({stdio}) as unknown as ChildProcess;

test('policy: a pipe that failed is broken, and none that ended, goes on or was never there', async () => {
  const [failed, ended] = [new PassThrough().on('error', () => {}), new PassThrough()];
  failed.destroy(new Error('read ECONNRESET'));
  ended.resume().end();
  await once(ended, 'end');
  const child = childWith(null, failed, ended, new PassThrough(), undefined);
  expect([0, 1, 2, 3, 4, 5].map(descriptor => isBroken(child, descriptor))).toEqual([
    ...[false, true, false, false, false, false],
  ]);
});

test('policy: an output has ended when all of it was read', async () => {
  const [read, unread] = [new PassThrough(), new PassThrough()];
  read.resume().end('x');
  unread.end('x');
  await once(read, 'end');
  const child = childWith(new Writable(), read, unread, null);
  expect([0, 1, 2, 3, 4].map(descriptor => hasEnded(child, descriptor))).toEqual([
    ...[false, true, false, false, false],
  ]);
});

/** proc(5): what a process has open, with the flags of each; none of one that is closed by now. */
function processWith(descriptors: Readonly<Record<number, string | undefined>>): string {
  const place = temporaryDirectory();
  for (const part of ['fd', 'fdinfo']) mkdirSync(join(place, part));
  for (const [descriptor, flags] of Object.entries(descriptors)) {
    writeFileSync(join(place, 'fd', descriptor), '');
    const info = `pos:\t7\n${flags}mnt_id:\t15\nino:\t9\n`;
    if (flags !== undefined) writeFileSync(join(place, 'fdinfo', descriptor), info);
  }
  return place;
}

test('policy: a child inherits what is not closed on exec, beside the standard streams', () => {
  const [open, closed] = ['flags:\t0100002\n', 'flags:\t02100002\n'];
  const place = processWith({0: open, 1: open, 2: open, 3: open, 4: closed, 5: undefined, 17: open, 18: ''});
  expect(leakedDescriptors(place).toSorted((a, b) => a - b)).toEqual([3, 17, 18]);
});

test('review B6: where the system does not list them there are none', () => {
  expect(leakedDescriptors(join(temporaryDirectory(), 'missing'))).toEqual([]);
  const file = join(temporaryDirectory(), 'file');
  writeFileSync(file, '');
  expect(leakedDescriptors(file)).toEqual([]);
});

test('policy: what else keeps them from being listed is thrown', () => {
  const place = temporaryDirectory();
  symlinkSync('fd', join(place, 'fd'));
  expect(() => leakedDescriptors(place)).toThrow('ELOOP');
});
