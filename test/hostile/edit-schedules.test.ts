import {type ChildProcess, fork} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {afterAll, expect, test} from 'vitest';
import {
  type Actor,
  FILES,
  FIRST_TREE,
  makeSchedule,
  type Operation,
  paramsOf,
  replay,
  type Tree,
} from './support/edit-schedule.ts';

/** 10,000 when a release is tried; CI takes what fits into its time. */
const SCHEDULES = Number(process.env['FORGE_SCHEDULES'] ?? 200);
const FIRST_SEED = Number(process.env['FORGE_SCHEDULES_SEED'] ?? 1);
/** What a killed process leaves here is removed by a later session, when it is old enough. */
const SCRATCH = /^patch-|\.draft$/;
/** Schedules on trees of their own at the same time. */
const LANES = 4;
const WORKER = join(import.meta.dirname, 'support/edit-worker.js');
// What is tried is the order of things, not the disk.
const PLACE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

interface Message {
  readonly ready?: boolean;
  readonly done?: boolean;
  readonly crashed?: string;
  readonly token?: string;
  readonly code?: string;
}

interface Answers {
  readonly codes: Map<string, string>;
  readonly crashes: string[];
}

interface OpenActor {
  readonly recover: () => Promise<{readonly ok: boolean; readonly error?: {readonly message: string}}>;
  readonly read: (path: string) => Promise<string>;
  readonly undo: (request: {readonly step: number}) => Promise<string>;
}

const {openActor, act} = (await import('./support/edit-actor.js' as string)) as {
  openActor: (base: string, name: string) => OpenActor;
  act: (
    actor: OpenActor,
    operations: readonly unknown[],
    answered: (token: string, code: string) => void,
  ) => Promise<unknown>;
};

const idle: ChildProcess[] = [];

afterAll(() => {
  for (const worker of idle) worker.kill('SIGKILL');
});

async function takeWorker(): Promise<ChildProcess> {
  const free = idle.pop();
  if (free !== undefined) return free;
  const worker = fork(WORKER, {stdio: ['ignore', 'ignore', 'inherit', 'ipc']});
  await new Promise(resolve => worker.once('message', resolve));
  return worker;
}

/** One actor in a process of its own; returns when it is done or dead. */
async function actElsewhere(
  base: string,
  {name, operations, killAt}: Actor,
  answers: Answers,
): Promise<void> {
  const worker = await takeWorker();
  await new Promise<void>(resolve => {
    const onMessage = ({token, code, done, crashed}: Message): void => {
      if (token !== undefined) answers.codes.set(token, code ?? '');
      if (crashed !== undefined) answers.crashes.push(crashed);
      if (done !== true && crashed === undefined) return;
      worker.removeAllListeners();
      idle.push(worker);
      resolve();
    };
    worker.on('message', onMessage);
    worker.once('exit', () => {
      worker.removeAllListeners();
      resolve();
    });
    worker.send({base, name, files: FILES, operations: operations.map(forTool), killAt});
  });
}

const forTool = (operation: Operation) => ({...operation, params: paramsOf(operation)});

async function actHere(base: string, {name, operations}: Actor, answers: Answers): Promise<void> {
  const actor = openActor(base, name);
  for (const file of FILES) await actor.read(file);
  await act(actor, operations.map(forTool), (token, code) => answers.codes.set(token, code));
}

function write(root: string, tree: Tree): void {
  for (const [path, content] of tree) {
    mkdirSync(dirname(join(root, path)), {recursive: true});
    writeFileSync(join(root, path), content);
  }
}

/** Temporary files count; directories do not. */
function read(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(root, {recursive: true, withFileTypes: true})) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isDirectory()) found[path.slice(root.length + 1)] = readFileSync(path, 'utf8');
  }
  return found;
}

/** All the orders in which a change that nobody reported may have happened among the others. */
function* ordersWith(order: readonly string[], unreported: readonly string[]): Generator<readonly string[]> {
  yield order;
  for (const token of unreported) {
    for (let at = order.length; at >= 0; at -= 1) yield order.toSpliced(at, 0, token);
  }
}

async function tryOne(seed: number, isKilled: boolean): Promise<void> {
  const base = mkdtempSync(join(PLACE, 'forge-schedule-'));
  try {
    const root = join(base, 'work');
    write(root, FIRST_TREE);
    writeFileSync(join(base, 'order'), '');
    const actors = makeSchedule(seed, isKilled);
    const answers: Answers = {codes: new Map(), crashes: []};
    await Promise.all(actors.map(actor => (actor.inProcess ? actHere : actElsewhere)(base, actor, answers)));
    expect(answers.crashes).toEqual([]);
    const undoers = new Map(actors.map(({name}) => [name, openActor(base, name)]));
    const recovered = await undoers.get('actor0')?.recover();
    expect(recovered?.error?.message ?? 'ok').toBe('ok');

    const operations = new Map(actors.flatMap(actor => actor.operations.map(one => [one.token, one])));
    const owners = new Map(actors.flatMap(({name, operations}) => operations.map(one => [one.token, name])));
    const order = readFileSync(join(base, 'order'), 'utf8').split('\n').slice(0, -1);
    const succeeded = [...answers.codes].filter(([, code]) => code === 'ok').map(([token]) => token);
    const failed = [...answers.codes].filter(([, code]) => code !== 'ok').map(([token]) => token);
    // A call that answered success has happened, and one that answered anything else has not.
    expect(succeeded.filter(token => !order.includes(token))).toEqual([]);
    expect(failed.filter(token => order.includes(token))).toEqual([]);
    const possible = [...operations.values()].flatMap(({token, undo}) =>
      undo === undefined ? [token] : [token, undo],
    );
    const unreported = possible.filter(token => !answers.codes.has(token) && !order.includes(token));
    const tree = read(root);
    const same = [...ordersWith(order, isKilled ? unreported : [])].find(candidate => {
      const expected = replay(operations, candidate);
      return expected !== undefined && isEqual(Object.fromEntries(expected), tree);
    });
    expect(
      same,
      JSON.stringify({order, unreported, tree, answers: [...answers.codes]}, null, 1),
    ).toBeDefined();

    // Undone in reverse order, they give the first tree back.
    for (const token of (same ?? []).toReversed()) {
      const operation = operations.get(token);
      if (operation === undefined || (same ?? []).includes(`${token}u`)) continue;
      const undone = await undoers.get(owners.get(token) ?? '')?.undo({step: operation.step});
      expect([token, undone], JSON.stringify({same, order, unreported})).toEqual([token, 'ok']);
    }
    expect(read(root)).toEqual(Object.fromEntries(FIRST_TREE));
    expect(readdirSync(join(base, 'state')).filter(name => !SCRATCH.test(name))).toEqual([]);
  } catch (error) {
    throw new Error(`schedule ${seed}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  } finally {
    rmSync(base, {recursive: true, force: true});
  }
}

function isEqual(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every(name => one[name] === other[name]);
}

test(`W19: after ${SCHEDULES} random schedules the tree is that of some order of the calls that answered success`, {
  timeout: Math.max(120_000, SCHEDULES * 1_000),
}, async () => {
  let number = 0;
  const lane = async (): Promise<void> => {
    while (number < SCHEDULES) {
      number += 1;
      await tryOne(FIRST_SEED + number - 1, number % 10 === 0);
    }
  };
  await Promise.all(Array.from({length: LANES}, lane));
});
