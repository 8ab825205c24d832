import {mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterAll, describe, expect, test} from 'vitest';
import {temporaryDirectory} from '../support/temporary-directory.ts';
import {EditProcesses} from './support/edit-processes.ts';

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
