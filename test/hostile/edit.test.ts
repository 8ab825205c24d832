import {existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {afterAll, describe, expect, test} from 'vitest';
import {temporaryDirectory} from '../support/temporary-directory.ts';
import {EditProcesses} from './support/edit-processes.ts';
import {
  type Change,
  type Crew,
  FILES,
  FIRST_TREE,
  makeSchedule,
  type Operation,
  paramsOf,
  replay,
  type Tree,
} from './support/edit-schedule.ts';

describe('edit kill points', () => {
  const processes = new EditProcesses();
  afterAll(() => processes.close());

  const FILES = {a: 'one\ntwo\n', b: 'three\n'};
  const TWO_FILES = [
    ...['--- a/a', '+++ b/a', '@@ -1 +1 @@', '-one', '+1'],
    ...['--- a/b', '+++ b/b', '@@ -1 +1 @@', '-three', '+3', ''],
  ].join('\n');
  const MOVE = 'diff --git a/b b/moved/b\nrename from b\nrename to moved/b\n';

  const EDITS = [
    {old_string: 'one', new_string: '1'},
    {old_string: '\n', new_string: ';\n', replace_all: true},
  ];

  const CHANGES = [
    {what: 'edit', tool: 'str_replace', params: {path: 'a', old_string: 'one', new_string: '1'}},
    {what: 'several edits', tool: 'str_replace', params: {path: 'a', edits: EDITS}},
    {what: 'rewrite', tool: 'write_file', params: {path: 'b', content: 'new\n'}},
    {what: 'new file', tool: 'write_file', params: {path: 'new/deep/c', content: 'c'}},
    {what: 'patch of two files', tool: 'apply_patch', params: {unified_diff: TWO_FILES}},
    {what: 'rename', tool: 'apply_patch', params: {unified_diff: MOVE}},
    {what: 'move', tool: 'move_file', params: {from: 'b', to: 'moved/deep/b'}},
    {
      what: 'replacement in two files',
      tool: 'replace_in_files',
      params: {query: 'e\\b', is_regex: true, replacement: 'E'},
    },
  ] as const;

  function read(root: string): Record<string, string> {
    const entries = readdirSync(root, {recursive: true, withFileTypes: true}).filter(one => one.isFile());
    return Object.fromEntries(
      entries.map(({parentPath, name}) => {
        const path = join(parentPath, name);
        return [path.slice(root.length + 1), readFileSync(path, 'utf8')];
      }),
    );
  }

  function openPlace() {
    const base = temporaryDirectory();
    const root = join(base, 'work');
    mkdirSync(root);
    for (const [path, content] of Object.entries(FILES)) writeFileSync(join(root, path), content);
    writeFileSync(join(base, 'order'), '');
    const order = () => {
      const lines = readFileSync(join(base, 'order'), 'utf8').split('\n').slice(0, -1);
      return lines.map(line => (JSON.parse(line) as {readonly token: string}).token);
    };
    const perform = (name: string, operation: object, killAt?: number) =>
      processes.run({
        work: 'perform',
        base,
        actors: [{name, operations: [{step: 1, ...operation}]}],
        files: Object.keys(FILES),
        killAt,
      });
    return {base, tree: () => read(root), order, perform};
  }

  /** Kills a process at each of its steps, until it lives to the end. */
  async function atEachStep(operation: object, look: (place: ReturnType<typeof openPlace>) => Promise<void>) {
    for (let killAt = 1; ; killAt += 1) {
      const place = openPlace();
      const last = await place.perform('killed', operation, killAt);
      await look(place);
      if (last !== undefined) return killAt - 1;
    }
  }

  describe('W19: killed at each step on disk', () => {
    test.each(CHANGES)('$what, and its undo: all or nothing, and what is there is undone', async change => {
      const {what: _, ...operation} = {...change, token: 'T'};
      const whole = openPlace();
      await whole.perform('whole', operation);
      const after = whole.tree();
      const steps = await atEachStep({...operation, undo: 'Tu'}, async ({base, tree, order}) => {
        expect(await processes.run({work: 'recover', base})).toEqual({done: true, recovered: 'ok'});
        const isThere = order().join() === 'T';
        expect(tree()).toEqual(isThere ? after : FILES);
        const undone = await processes.run({
          work: 'undo',
          base,
          steps: [{name: 'killed', step: 1, token: 'T'}],
        });
        if (isThere) expect(undone).toEqual({done: true});
        else expect(undone?.refused).toMatch(/^T: (?:stale_read|file_not_found): /);
        expect(tree()).toEqual(FILES);
      });
      expect(steps).toBeGreaterThanOrEqual(6);
    });

    test('a change whose process died before it answered counts: the next one starts from it, and is undone first', async () => {
      const {base, tree, order, perform} = openPlace();
      const edit = (old_string: string, new_string: string) => ({
        tool: 'str_replace',
        params: {path: 'a', old_string, new_string},
      });
      // Locked, intent, staged, replaced: dead before its answer, and before its event.
      expect(await perform('killed', {...edit('one', '1'), token: 'first'}, 4)).toBeUndefined();
      expect(await perform('next', {...edit('two', '2'), token: 'second'})).toEqual({done: true});
      expect(order()).toEqual(['first', 'second']);
      expect(tree()).toEqual({...FILES, a: '1\n2\n'});
      const undo = (...names: string[]) =>
        processes.run({work: 'undo', base, steps: names.map(name => ({name, step: 1, token: name}))});
      expect((await undo('killed'))?.refused).toMatch(/^killed: stale_read: .* Undo later steps first/);
      expect(await undo('next', 'killed')).toEqual({done: true});
      expect(tree()).toEqual(FILES);
    });
  });
});

describe('edit schedules', () => {
  /** 10,000 when a release is tried; CI takes what fits into its time. */
  const SCHEDULES = Number(process.env['FORGE_SCHEDULES'] ?? 2_000);
  const FIRST_SEED = Number(process.env['FORGE_SCHEDULES_SEED'] ?? 1);
  /** What a killed process leaves here is removed by a later session, when it is old enough. */
  const SCRATCH = /^patch-|\.draft$/;
  /** Schedules on trees of their own at the same time. */
  const LANES = 4;
  /** GNU patch as a second opinion is another process for each patch: not in every schedule. */
  const CROSS_CHECKED_EVERY = 16;
  // What is tried is the order of things, not the disk.
  const PLACE = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

  const processes = new EditProcesses();
  afterAll(() => processes.close());

  interface Answers {
    readonly codes: Map<string, string>;
    readonly crashes: string[];
  }

  /** Some callers in a process of their own; returns when they are done or dead. */
  async function perform(base: string, {actors, killAt}: Crew, isCrossChecked: boolean, answers: Answers) {
    const told = actors.map(({name, operations}) => ({name, operations: operations.map(forTool)}));
    const last = await processes.run(
      {work: 'perform', base, actors: told, files: FILES, killAt, isCrossChecked},
      ({token = '', code = ''}) => answers.codes.set(token, code),
    );
    if (last?.crashed !== undefined) answers.crashes.push(last.crashed);
    if (last === undefined && killAt === undefined) answers.crashes.push('It died.');
  }

  const forTool = (operation: Operation) => ({...operation, params: paramsOf(operation)});

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

  async function tryOne(seed: number, isKilled: boolean): Promise<void> {
    const base = mkdtempSync(join(PLACE, 'forge-schedule-'));
    try {
      const root = join(base, 'work');
      write(root, FIRST_TREE);
      writeFileSync(join(base, 'order'), '');
      const crews = makeSchedule(seed, isKilled);
      const answers: Answers = {codes: new Map(), crashes: []};
      const isCrossChecked = seed % CROSS_CHECKED_EVERY === 0;
      await Promise.all(crews.map(crew => perform(base, crew, isCrossChecked, answers)));
      expect(answers.crashes).toEqual([]);
      if (isKilled)
        expect(await processes.run({work: 'recover', base})).toEqual({done: true, recovered: 'ok'});

      const actors = crews.flatMap(crew => crew.actors);
      const operations = new Map(actors.flatMap(actor => actor.operations.map(one => [one.token, one])));
      const owners = new Map(
        actors.flatMap(({name, operations}) => operations.map(one => [one.token, name])),
      );
      // Also of a process that was killed: it tells of a change before it dies of it.
      const lines = readFileSync(join(base, 'order'), 'utf8').split('\n').slice(0, -1);
      const changes = lines.map(line => JSON.parse(line) as Change);
      const order = changes.map(({token}) => token);
      const succeeded = [...answers.codes].filter(([, code]) => code === 'ok').map(([token]) => token);
      const failed = [...answers.codes].filter(([, code]) => code !== 'ok').map(([token]) => token);
      // A call that answered success has happened, and one that answered anything else has not.
      expect(succeeded.filter(token => !order.includes(token))).toEqual([]);
      expect(failed.filter(token => order.includes(token))).toEqual([]);
      if (!isKilled) expect(order.length).toBe(succeeded.length);
      const expected = replay(operations, changes);
      const about = JSON.stringify({changes, answers: [...answers.codes]});
      expect(expected, about).toBeDefined();
      expect(read(root), about).toEqual(Object.fromEntries(expected ?? []));

      // Undone in reverse order, they give the first tree back.
      const steps = order.toReversed().flatMap(token => {
        const operation = operations.get(token);
        if (operation === undefined || order.includes(`${token}u`)) return [];
        return [{name: owners.get(token), step: operation.step, token}];
      });
      expect(await processes.run({work: 'undo', base, steps}), about).toEqual({done: true});
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

  test(`W19: after ${SCHEDULES} random schedules the tree is that of the calls in the order in which they answered success`, {
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
});
