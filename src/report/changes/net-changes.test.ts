import {readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import type {Json} from '../../core/json.ts';
import {createToolbox} from '../../index.ts';
import {RunReader} from '../run-reader.ts';
import {type NetChanges, netChanges} from './net-changes.ts';
import {renderChangesLine} from './render-changes.ts';

type Call = readonly [tool: string, params: {readonly [name: string]: Json}];

/** Calls in a workspace with these files, each of which has to succeed. */
async function changed(files: Readonly<Record<string, string | Uint8Array>>, calls: readonly Call[]) {
  const workspace = temporaryDirectory();
  const run = join(temporaryDirectory(), 'run');
  for (const [name, content] of Object.entries(files)) writeFileSync(join(workspace, name), content);
  const toolbox = createToolbox({
    workspace,
    runDirectory: run,
    config: {tools: {mode: 'enabled', approval: {mode: 'auto'}}},
  });
  onTestFinished(() => toolbox.close());
  for (const [tool, params] of calls) {
    expect(await toolbox.call({tool, params, request_id: 'x'}), tool).toMatchObject({error: null});
  }
  await toolbox.close();
  return {run, workspace, net: await netOf(run)};
}

async function netOf(run: string): Promise<NetChanges> {
  const reader = new RunReader(run);
  await reader.readOn();
  return netChanges(run, reader.history.calls.values());
}

const read = (path: string): Call => ['read_file', {path}];
const replace = (path: string, old_string: string, new_string: string): Call => [
  'str_replace',
  {path, old_string, new_string},
];

test('report: changes of several calls are one diff a file, from the first state to the last', async () => {
  const before = 'one\ntwo\nthree\n';
  const {net, workspace} = await changed({a: before}, [
    read('a'),
    replace('a', 'two', '2'),
    ['write_file', {path: 'new/b', content: 'b\n'}],
    replace('a', 'three', 'drei\nvier'),
    replace('new/b', 'b', 'bee'),
  ]);
  expect(net.more).toBe(0);
  expect(net.files.map(({path, kind, steps}) => [path, kind, steps])).toEqual([
    ['a', 'changed', [2, 4]],
    ['new/b', 'created', [3, 5]],
  ]);
  expect(net.files[0]?.diff).toMatchObject({added: 3, removed: 2});
  expect(net.files[0]?.diff?.text).toContain('@@ -1,3 +1,4 @@\n one\n-two\n-three\n+2\n+drei\n+vier\n');
  expect(net.files[1]?.diff?.text).toContain('+++ b/new/b\n@@ -0,0 +1 @@\n+bee\n');
  expect(readFileSync(join(workspace, 'a'), 'utf8')).toBe('one\n2\ndrei\nvier\n');
});

test('report: what was taken back, moved and deleted is what is left of it', async () => {
  const {net} = await changed({a: 'a\n', b: 'b', c: 'c\n'}, [
    read('a'),
    replace('a', 'a', 'x'),
    ['undo', {step: 2}],
    ['move_file', {from: 'b', to: 'd'}],
    ['read_file', {path: 'c'}],
    ['delete_file', {path: 'c'}],
  ]);
  expect(net.files.map(({path, kind, diff}) => [path, kind, diff?.added, diff?.removed])).toEqual([
    ['b', 'deleted', 0, 1],
    ['d', 'created', 1, 0],
    ['c', 'deleted', 0, 1],
  ]);
  expect(net.files[1]?.diff?.text).toContain('+b\n\\ No newline at end of file\n');
});

test('policy: where the run does not hold what it says, there is no diff, and the file is named', async () => {
  const {run, net} = await changed({a: 'a\n'}, [read('a'), replace('a', 'a', 'x')]);
  expect(net.files).toMatchObject([{path: 'a', diff: {added: 1}}]);
  const undo = join(run, 'diffs/step_0002.undo.patch');
  writeFileSync(undo, readFileSync(undo, 'utf8').replace('-x', '-lie'));
  expect((await netOf(run)).files).toMatchObject([{path: 'a', kind: 'changed', diff: undefined}]);
  rmSync(join(run, 'old'), {recursive: true});
  expect((await netOf(run)).files).toMatchObject([{path: 'a', diff: undefined}]);
  expect(renderChangesLine(await netOf(run))).toContain('does not hold both contents as text');
});

test('policy: a file that is no text is named, without a diff', async () => {
  const {net} = await changed({a: new Uint8Array([0xff, 0xfe, 0x41, 0x0a])}, [['delete_file', {path: 'a'}]]);
  expect(net.files).toMatchObject([{path: 'a', kind: 'deleted', diff: undefined}]);
});
