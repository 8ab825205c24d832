import type {ChildProcess} from 'node:child_process';
import {once} from 'node:events';
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {Readable} from 'node:stream';
import {setImmediate} from 'node:timers/promises';
import {expect, onTestFinished, test, vi} from 'vitest';
import {createManualClock} from '../../../test/support/manual-clock.ts';
import {runOptions} from '../../../test/support/open-sandbox.ts';
import {breakPipes, startedChildren} from '../../../test/support/started-children.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {type Clock, systemClock} from '../../core/clock.ts';
import type {EgressChannel} from '../../core/egress-gate.ts';
import {killGroup} from '../../system/errors.ts';
import {JOIN} from '../../system/process.ts';
import {relayCommand} from '../egress-relay.ts';
import {flatProfile, nestedProfile} from './profile.ts';
import {BECOME, BECOME_IF_PLACED, BECOME_WITH_PIPES, DESCRIPTORS, INIT, STAY_WITH_PIPES} from './scripts.ts';
import {endSandbox, type SandboxPlan, startSandbox, WaitingSandboxes, type WarmSandbox} from './warm.ts';
import type {SandboxWatchdog} from './watchdog.ts';

const TREE = [
  {path: '', writable: true, place: '7:8', version: '1'},
  {path: '.git', writable: false, place: '7:9', version: '1'},
];

/** A watchdog that writes down what it is told, and may fail. */
function pretendWatchdog(failing?: 'add' | 'lead') {
  const calls: unknown[][] = [];
  const told = async <Value>(name: string, rest: readonly unknown[], value: Value): Promise<Value> => {
    calls.push([name, ...rest]);
    if (name === failing) throw new Error(`It cannot ${name}.`);
    return value;
  };
  const watchdog = {
    add: (directories: readonly string[]) => told('add', [directories], 5),
    lead: (sandbox: number, group: number) => told('lead', [sandbox, group], undefined),
    remove: (sandbox: number) => void calls.push(['remove', sandbox]),
  };
  return {watchdog: watchdog as unknown as SandboxWatchdog, calls};
}

/** A "bubblewrap" that is a shell of bash with this script, and may redirect every descriptor. */
function program(script: string): string {
  const path = join(temporaryDirectory(), 'bwrap');
  writeFileSync(path, `#!/bin/bash\n${script}\n`, {mode: 0o755});
  return path;
}

const WAITS = "printf 'kernel x\\nready\\n' >&9; exec cat >/dev/null";

function planOf(script: string, changes: Partial<SandboxPlan & SandboxPlan['setup']> = {}) {
  const {watchdog, calls} = pretendWatchdog();
  const children = startedChildren();
  onTestFinished(() => {
    for (const child of children) if (child.exitCode === null && child.signalCode === null) killGroup(child);
  });
  const plan: SandboxPlan = {
    setup: {
      ...{program: program(script), becomeOwner: [], commandArgs: ['COMMAND'], systemArgs: ['SYSTEM']},
      ...{nests: true, filter: Buffer.from('FILTER'), groupPlace: undefined, version: 'x', bootId: 'x'},
      ...changes,
    },
    options: runOptions({memory_mb: 100, max_processes: 20, open_files: 64, readable_paths: []}),
    ...{workspace: '/w', tree: TREE, env: {A: 'b'}, gitConfig: 'GIT', channel: undefined},
    ...{clock: systemClock, watchdog, ...changes},
  };
  return {plan, calls, children};
}

/** What waits for a moment does so for no time. */
const hasty: Clock = {...systemClock, after: (ms, work) => systemClock.after(ms > 10 ? ms : 0, work)};

/** What was started, without the shell of ours around it. */
async function argumentsOf(changes: Partial<SandboxPlan & SandboxPlan['setup']> = {}) {
  const {plan, calls} = planOf(WAITS, changes);
  const sandbox = await startSandbox(plan);
  await endSandbox(sandbox, systemClock, plan.watchdog);
  return {args: sandbox.child.spawnargs.slice(1), program: plan.setup.program, calls, sandbox};
}

const POINTS = ['/workspace', '/workspace/.git'];

test('W8: a sandbox in another one, with the limits of each process where no control group counts', async () => {
  const {args, program, calls, sandbox} = await argumentsOf();
  expect(args).toEqual([
    ...['-c', JOIN + BECOME_WITH_PIPES, 'sh', '0', program, '--args', '7', '--'],
    ...['/bin/sh', '-c', BECOME_IF_PLACED, 'sh', '7:8', program, '--args', '10', '--'],
    ...['/bin/sh', '-c', INIT, 'sh', '64', '20', '102400', '', ...POINTS],
  ]);
  expect(calls).toEqual([
    ['add', []],
    ['lead', 5, sandbox.child.pid],
    ['remove', 5],
  ]);
  expect(sandbox).toMatchObject({number: 5, group: undefined, channel: undefined, tree: TREE});
});

test('W8: one alone has one profile, and the relay of its way out', async () => {
  const closed = vi.fn(async () => {});
  const channel: EgressChannel = {socketPath: '/s', attach: () => () => {}, close: closed};
  const {args, program} = await argumentsOf({nests: false, channel});
  expect(args).toEqual([
    ...['-c', JOIN + BECOME_WITH_PIPES, 'sh', '0', program, '--args', '7', '--'],
    ...['/bin/sh', '-c', INIT, 'sh', '64', '20', '102400', relayCommand(['/run/forge-egress/node'])],
    ...POINTS,
  ]);
  expect(closed).toHaveBeenCalledOnce();
});

test('W8: root joins the control groups, and opens the pipes as the owner', async () => {
  const {args, program} = await argumentsOf({becomeOwner: ['/usr/bin/env']});
  expect(args.slice(0, 9)).toEqual([
    ...['-c', JOIN + BECOME, 'sh', '0', '/usr/bin/env', '/bin/sh', '-c', BECOME_WITH_PIPES, 'sh'],
  ]);
  expect(args[9]).toBe(program);
});

test('review R17: as process 1 of a container a shell stays', async () => {
  vi.spyOn(process, 'pid', 'get').mockReturnValue(1);
  expect((await argumentsOf()).args[1]).toBe(JOIN + STAY_WITH_PIPES);
});

test('W8: a control group has the limits, and is announced before it is made', async () => {
  const place = temporaryDirectory();
  const groupPlace = {version: 2, parents: [{path: place, controllers: ['memory', 'pids', 'cpu']}]} as const;
  const {plan, calls} = planOf(WAITS, {groupPlace, clock: hasty});
  const sandbox = await startSandbox(plan);
  // proc(5): the fifth field is the process group.
  expect(readFileSync(`/proc/${sandbox.child.pid}/stat`, 'utf8').split(' ')[4]).toBe(
    String(sandbox.child.pid),
  );
  const [name = ''] = readdirSync(place);
  const directory = join(place, name);
  expect(calls[0]).toEqual(['add', [directory]]);
  expect(calls).toHaveLength(2);
  const limit = (file: string) => readFileSync(join(directory, file), 'utf8');
  expect([limit('memory.max'), limit('pids.max'), limit('cpu.max')]).toEqual([
    ...[String(100 * 1024 * 1024), '20', '200000 100000'],
  ]);
  expect(sandbox.child.spawnargs.slice(4, 6)).toEqual(['1', join(directory, 'cgroup.procs')]);
  expect(sandbox.child.spawnargs.slice(-6)).toEqual(['64', '0', '0', '', ...POINTS]);
  // What is no control group of the kernel cannot be taken away.
  expect(await endSandbox(sandbox, hasty, plan.watchdog)).toBe(false);
});

/** What comes through each of these descriptors, and what is in the environment, in files beside the program. */
const WRITE_DOWN = [
  ...[7, 10, 11, 12].map(descriptor => `cat <&${descriptor} >"$0.${descriptor}"`),
  'env >"$0.env"; pwd >"$0.place"',
].join('\n');

test.each([true, false])(
  'W8: profile, filter and who commits come through pipes; nested: %s',
  async nests => {
    const script = nests ? WRITE_DOWN : WRITE_DOWN.replace(/cat <&10.*/, ':');
    const way: EgressChannel = {socketPath: '/s', attach: () => () => {}, close: async () => {}};
    const channel = nests ? way : undefined;
    const {plan} = planOf(`${script}\n${WAITS}`, {nests, channel});
    const sandbox = await startSandbox(plan);
    expect(await sandbox.report).toEqual({kind: 'mounted', lines: ['kernel x', 'ready', '']});
    const of = (what: string | number) => readFileSync(`${plan.setup.program}.${what}`, 'utf8');
    const mounts = [
      {source: process.execPath, target: '/run/forge-egress/node'},
      {source: '/s', target: '/run/forge-egress/socket'},
    ];
    const egressMounts = nests ? mounts : [];
    const profile = {
      ...plan.setup,
      workspace: '/w',
      tree: TREE,
      env: {A: 'b'},
      readablePaths: [],
      egressMounts,
    };
    const written = (args: readonly string[]) => args.map(arg => `${arg}\0`).join('');
    const {outer, inner} = nestedProfile(profile);
    expect(of(7)).toBe(written(nests ? outer : flatProfile(profile)));
    if (nests) expect(of(10)).toBe(written(inner));
    expect([of(11), of(12), of('place')]).toEqual(['FILTER', 'GIT', '/\n']);
    expect(of('env')).not.toContain('HOME');
    await endSandbox(sandbox, systemClock, plan.watchdog);
  },
);

test('W8: what process 1 says is mounted is known when its last line is there, however it arrives', async () => {
  const {plan, children} = planOf(
    `printf 'kernel x\\nrea' >&9; echo '{"child-pid": 7}' >&8; read -r line; echo 'dy' >&9; exec cat >/dev/null`,
  );
  const clock = createManualClock();
  const sandbox = await startSandbox({...plan, clock});
  expect(sandbox.startedAt).toBe(clock.monotonic());
  await vi.waitFor(() => expect(sandbox.status()).toBe('{"child-pid": 7}\n'));
  const [child] = children as [ChildProcess];
  (child.stdio[0] as unknown as NodeJS.WritableStream).write('go\n');
  expect(await sandbox.report).toEqual({kind: 'mounted', lines: ['kernel x', 'ready', '']});
  expect(child.stdio.at(DESCRIPTORS.report)?.listenerCount('data')).toBe(0);
  // Nobody waits for it any more, and a pipe that breaks later is no exception.
  expect(clock.pending()).toBe(0);
  breakPipes(child);
  child.emit('error', new Error('spawn'));
  expect(await endSandbox(sandbox, clock, plan.watchdog)).toBe(true);
  expect(clock.pending()).toBe(0);
});

test('W8: a sandbox that ends before it says so is silent, and its last words are known', async () => {
  const {plan} = planOf('echo some output; printf "no namespaces\\n" >&2; exit 1');
  const report = await (await startSandbox(plan)).report;
  expect(report.kind === 'silent' && (await report.words)).toBe('no namespaces\n');
});

test('W8: of its last words 4000 characters are kept', async () => {
  const {plan} = planOf(
    'head -c 100000 /dev/zero; for i in 1 2 3 4 5 6; do printf "%1000s" x >&2; done; exit 1',
  );
  const report = await (await startSandbox(plan)).report;
  expect(report.kind === 'silent' && (await report.words)).toHaveLength(4000);
});

test('W8: so is one that says nothing for 20 s, and it is said which', async () => {
  const {plan} = planOf('exec cat >/dev/null');
  const clock = createManualClock();
  const sandbox = await startSandbox({...plan, clock});
  clock.advance(19_999);
  expect(clock.pending()).toBe(1);
  clock.advance(1);
  const report = await sandbox.report;
  await endSandbox(sandbox, clock, plan.watchdog);
  expect(report.kind === 'silent' && (await report.words)).toBe(
    'It ended without a word, or was ended after 20 s.',
  );
});

test.each(['report', 'status'] as const)('policy: one whose %s breaks is broken', async name => {
  const {plan} = planOf('exec cat >/dev/null');
  const sandbox = await startSandbox(plan);
  sandbox.child.stdio.at(DESCRIPTORS[name])?.emit('error', new Error('read ECONNRESET'));
  expect(await sandbox.report).toEqual({kind: 'broken'});
  expect(sandbox.child.listenerCount('exit')).toBe(0);
  await endSandbox(sandbox, systemClock, plan.watchdog);
});

test('policy: a sandbox that does not end by itself in 5 s is killed with its group', async () => {
  const {plan} = planOf('printf "\\nready\\n" >&9; sleep 600 & exec sleep 600');
  const clock = createManualClock();
  const sandbox = await startSandbox({...plan, clock});
  await sandbox.report;
  const ended = endSandbox(sandbox, clock, plan.watchdog);
  clock.advance(4999);
  expect(clock.pending()).toBe(1);
  expect(sandbox.child.stdio.some(stream => stream instanceof Readable && stream.destroyed)).toBe(false);
  clock.advance(1);
  expect(await ended).toBe(true);
  expect(sandbox.child.signalCode).toBe('SIGKILL');
});

test('policy: where its watchdog cannot be told of it, a sandbox is killed and nothing of it stays', async () => {
  const place = temporaryDirectory();
  const groupPlace = {version: 2, parents: [{path: place, controllers: []}]} as const;
  const failing = pretendWatchdog('lead');
  const {plan, children} = planOf(WAITS, {groupPlace, clock: hasty, watchdog: failing.watchdog});
  const started = startSandbox({...plan, setup: {...plan.setup, becomeOwner: []}});
  await expect(started).rejects.toThrow('It cannot lead.');
  const [child] = children as [ChildProcess];
  if (child.signalCode === null) await once(child, 'exit');
  expect(child.signalCode).toBe('SIGKILL');
  expect(failing.calls.map(([name]) => name)).toEqual(['add', 'lead', 'remove']);
  expect(failing.calls.at(-1)).toEqual(['remove', 5]);
});

test('policy: without a watchdog nothing is started', async () => {
  const failing = pretendWatchdog('add');
  const {plan, children} = planOf(WAITS, {watchdog: failing.watchdog});
  await expect(startSandbox(plan)).rejects.toThrow('It cannot add.');
  expect(children).toEqual([]);
  expect(failing.calls).toEqual([['add', []]]);
});

test('policy: a shell that the system does not start leaves no control group', async () => {
  const place = temporaryDirectory();
  const groupPlace = {version: 2, parents: [{path: place, controllers: []}]} as const;
  const {plan, calls} = planOf(WAITS, {groupPlace});
  const tree = [{...TREE[0], path: 'x'.repeat(200_000)} as never];
  await expect(startSandbox({...plan, tree})).rejects.toThrow('E2BIG');
  expect(readdirSync(place)).toEqual([]);
  expect(calls.map(([name]) => name)).toEqual(['add', 'remove']);
});

/** A promise that is kept when it is told to. */
function work<Value>(value: Value) {
  let end = (): void => {};
  const ended = new Promise<Value>(resolve => {
    end = () => resolve(value);
  });
  return {run: () => ended, end};
}

function open() {
  const clock = createManualClock();
  const waiting = new WaitingSandboxes(clock);
  let made = 0;
  const make = () => {
    made += 1;
    return Promise.resolve({number: made} as WarmSandbox);
  };
  return {clock, waiting, make, made: () => made};
}

const numbersOf = async (sandboxes: readonly Promise<WarmSandbox | undefined>[]) =>
  (await Promise.all(sandboxes)).map(sandbox => sandbox?.number);

test('policy: after a short command two are made, once its answer is out, and taken in that order', async () => {
  const {waiting, make, made} = open();
  expect(waiting.takeOldest()).toBeUndefined();
  expect(await waiting.whileRunning(make, async () => 'ran')).toBe('ran');
  expect(made()).toBe(0);
  await setImmediate();
  expect(made()).toBe(2);
  const first = waiting.takeOldest();
  expect((await first)?.number).toBe(1);
  // Only what lacks is made.
  await waiting.whileRunning(make, async () => 'ran');
  await setImmediate();
  expect(made()).toBe(3);
  expect(await numbersOf(waiting.takeAll())).toEqual([2, 3]);
  expect(waiting.takeAll()).toEqual([]);
});

test('policy: beside a command that runs for longer they are made once, after 10 ms', async () => {
  const {clock, waiting, make, made} = open();
  const {run, end} = work('ran');
  const ran = waiting.whileRunning(make, run);
  clock.advance(9);
  expect(made()).toBe(0);
  clock.advance(1);
  expect(made()).toBe(2);
  waiting.takeAll();
  end();
  await ran;
  await setImmediate();
  expect(made()).toBe(2);
  // And a command that has ended leaves nothing to be made later.
  clock.advance(1000);
  expect(made()).toBe(2);
});

test('policy: none is made while a call waits for its sandbox, or a command has just begun', async () => {
  const {clock, waiting, make, made} = open();
  const [taking, running] = [work('taken'), work('ran')];
  const taken = waiting.duringClaim(taking.run);
  await waiting.whileRunning(make, async () => 'ran');
  await setImmediate();
  expect(made()).toBe(0);
  const ran = waiting.whileRunning(make, running.run);
  taking.end();
  expect(await taken).toBe('taken');
  await waiting.whileRunning(make, async () => 'ran');
  await setImmediate();
  expect(made()).toBe(0);
  clock.advance(10);
  expect(made()).toBe(2);
  running.end();
  await ran;
});

test('policy: what a call or a command throws is thrown on, and counts no longer', async () => {
  const {clock, waiting, make, made} = open();
  const fails = () => Promise.reject(new Error('It failed.'));
  await expect(waiting.duringClaim(fails)).rejects.toThrow('It failed.');
  await expect(waiting.whileRunning(make, fails)).rejects.toThrow('It failed.');
  await setImmediate();
  expect(made()).toBe(2);
  clock.advance(10);
  expect(made()).toBe(2);
});

test('policy: once it is closed none is made', async () => {
  const {waiting, make, made} = open();
  waiting.close();
  await waiting.whileRunning(make, async () => 'ran');
  await setImmediate();
  expect(made()).toBe(0);
});
