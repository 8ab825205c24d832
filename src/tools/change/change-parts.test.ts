import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {callWorkspaceTools} from '../../../test/support/call-workspace-tools.ts';
import {openTestWorkspace} from '../../../test/support/open-test-workspace.ts';
import {pretendContext} from '../../../test/support/pretend-context.ts';
import {fail} from '../../core/failure/fail.ts';
import {ok, type Result} from '../../core/result.ts';
import type {ToolContext} from '../../core/tool.ts';
import {contentHash} from '../../workspace/content-hash.ts';
import type {FileChange, FileState} from '../../workspace/patch/file-change.ts';
import {ReadTracker} from '../../workspace/read/read-tracker.ts';
import type {WritablePath} from '../../workspace/workspace-path.ts';
import {hashesBefore} from './hashes-before.ts';
import {PlanOnce} from './plan-once.ts';
import {recordChange} from './record-change.ts';
import {lineMoves, refreshTracker} from './refresh-tracker.ts';
import {stepsInForce} from './steps-in-force.ts';
import {undoStep} from './undo-step.ts';

const hashOf = (text: string) => contentHash(Buffer.from(text));
const path = (name: string) => name as WritablePath;
const state = (content: string, mode: number | undefined = 0o644): FileState => ({content, mode});

const CREATED: FileChange = {kind: 'create', path: path('new'), new: {content: 'n\n', mode: undefined}};
const DELETED: FileChange = {
  kind: 'delete',
  path: path('gone'),
  old: {...state('g\n'), owner: {uid: 1, gid: 2}},
};
const MODIFIED: FileChange = {kind: 'modify', path: path('x'), old: state('a\n'), new: state('b\n', 0o755)};
const MOVED: FileChange = {
  kind: 'rename',
  path: path('to'),
  from: path('from'),
  old: state('m\n'),
  new: state('M\n'),
};
const EVERY = [CREATED, DELETED, MODIFIED, MOVED];
const NO_DEADLINE = {spent: false, failure: () => fail('timeout', 'Late.')};

test('W19: what an approval is bound to: each file as it was, or that there was none', () => {
  expect(hashesBefore(EVERY)).toEqual({
    new: 'absent',
    gone: hashOf('g\n'),
    x: hashOf('a\n'),
    from: hashOf('m\n'),
    to: 'absent',
  });
});

test('ruling W7: what is recorded of a change, and what its event says', async () => {
  const {context, files} = pretendContext();
  const recorded = await recordChange(
    context,
    {changes: EVERY, patch: 'ä', changedFiles: ['x', 'new']},
    NO_DEADLINE,
  );
  const record = files.get('diffs/step_0007.undo.json') ?? '';
  expect(recorded).toEqual(
    ok({
      patch_size_bytes: 2,
      patch_path: 'diffs/step_0007.patch',
      undo_path: 'diffs/step_0007.undo.patch',
      undo_record: 'diffs/step_0007.undo.json',
      undo_record_sha256: hashOf(record),
      changed_files: ['x', 'new'],
    }),
  );
  const at = (content: string, mode: number | null = 0o644, owner: object | null = null) => ({
    sha256: hashOf(content),
    mode,
    owner,
  });
  expect(JSON.parse(record)).toEqual({
    version: 2,
    files: [
      {path: 'new', before: null, after: at('n\n', null)},
      {path: 'gone', before: at('g\n', 0o644, {uid: 1, gid: 2}), after: null},
      {path: 'x', before: at('a\n'), after: at('b\n', 0o755)},
      {path: 'from', before: at('m\n'), after: null},
      {path: 'to', before: null, after: at('M\n')},
    ],
  });
  expect(record.endsWith('}\n')).toBe(true);
  const undo = files.get('diffs/step_0007.undo.patch');
  expect(undo).toContain('-b\n+a\n');
  expect([...files]).toEqual([
    ['diffs/step_0007.patch', 'ä'],
    ['diffs/step_0007.undo.patch', undo],
    [`old/${hashOf('g\n')}`, 'g\n'],
    [`old/${hashOf('a\n')}`, 'a\n'],
    [`old/${hashOf('m\n')}`, 'm\n'],
    ['diffs/step_0007.undo.json', record],
  ]);
});

test('ruling W7: a record that cannot be kept, or comes too late, is no record', async () => {
  const planned = {changes: [MODIFIED], patch: Buffer.from('p'), changedFiles: ['x']};
  const full = fail('io_error', 'The disk is full.');
  for (const bad of ['step_0007.patch', 'undo.patch', 'old/', 'undo.json']) {
    const saveArtifact: ToolContext['saveArtifact'] = async name => (name.includes(bad) ? full : ok(name));
    expect(await recordChange(pretendContext({saveArtifact}).context, planned, NO_DEADLINE)).toEqual(full);
  }
  const {context, files} = pretendContext();
  expect(await recordChange(context, planned, {...NO_DEADLINE, spent: true})).toEqual(NO_DEADLINE.failure());
  expect(files.size).toBe(0);
});

test('W19: what is shown is what is done, and what was shown twice is not worked out anew', async () => {
  let worked = 0;
  let outcome: Result<number> | undefined;
  const plans = new PlanOnce<object, number>(async () => {
    worked += 1;
    return outcome ?? ok(worked);
  });
  const {context} = pretendContext();
  const take = async (params: object) => {
    const taken = await plans.take(params, context);
    return taken.ok ? [taken.value.plan, await taken.value.replan?.()] : taken;
  };
  const once = {};
  expect(await plans.plan(once, context)).toEqual(ok(1));
  expect(await take(once)).toEqual([1, ok(2)]);
  // Taken, it is gone.
  expect(await take(once)).toEqual([3, ok(4)]);
  const twice = {};
  await plans.plan(twice, context);
  expect(await plans.plan(twice, context)).toEqual(ok(6));
  expect(await take(twice)).toEqual([6, undefined]);
  outcome = fail('io_error', 'No.');
  const failed = {};
  expect(await plans.plan(failed, context)).toEqual(outcome);
  expect(await take(failed)).toEqual(outcome);
});

test('ruling R1: a step that was taken back is gone, and in force again where that was taken back', () => {
  const inForce = (...undoes: readonly (number | undefined)[]) =>
    stepsInForce(undoes.map((undone, at) => ({step: at + 1, files: [], recordHash: '', undoes: undone}))).map(
      ({step}) => step,
    );
  const no = undefined;
  expect(inForce()).toEqual([]);
  expect(inForce(no, no)).toEqual([1, 2]);
  expect(inForce(no, no, 1)).toEqual([2, 3]);
  expect(inForce(no, 1, 2)).toEqual([1, 3]);
  expect(inForce(no, 1, 2, 3)).toEqual([2, 4]);
  expect(inForce(no, 1, 2, 1)).toEqual([3, 4]);
});

test('W6: after its own change, a session knows of each file as much as before', async () => {
  const tracker = new ReadTracker();
  const old = 'a\nb\nc\nd\n';
  const modified: FileChange = {
    kind: 'modify',
    path: path('x'),
    old: state(old),
    new: state('a\nn\nb\nc\nD\n'),
  };
  const renamed: FileChange = {...modified, kind: 'rename', from: path('from'), path: path('to')};
  const whole: FileChange = {...modified, path: path('whole')};
  const unknown: FileChange = {...modified, path: path('unknown')};
  const stale: FileChange = {...modified, path: path('stale')};
  tracker.record(path('x'), hashOf(old), [[2, 3]]);
  tracker.record(path('from'), hashOf(old), [[1, 1]]);
  tracker.record(path('whole'), hashOf(old));
  tracker.record(path('stale'), hashOf('else'), [[1, 1]]);
  tracker.record(path('gone'), hashOf('g\n'));
  const changes = [modified, renamed, whole, unknown, stale, CREATED, DELETED];
  const moves = await lineMoves(tracker, changes, NO_DEADLINE);
  if (!moves.ok) throw new Error(moves.error.message);
  expect([...moves.value.keys()]).toEqual([modified, renamed]);
  refreshTracker(tracker, changes, moves.value);
  const now = hashOf('a\nn\nb\nc\nD\n');
  const known = (name: string) => {
    const version = tracker.baseVersion(path(name));
    return version.ok ? [version.value, tracker.seen(path(name), version.value)] : 'unknown';
  };
  expect(known('x')).toEqual([now, [[2, 5]]]);
  expect(known('to')).toEqual([
    now,
    [
      [1, 2],
      [5, 5],
    ],
  ]);
  expect(known('from')).toBe('unknown');
  expect(known('whole')).toEqual([now, 'all']);
  expect(known('unknown')).toBe('unknown');
  expect(known('stale')).toEqual([hashOf('else'), [[1, 1]]]);
  expect(known('new')).toEqual([hashOf('n\n'), 'all']);
  expect(known('gone')).toBe('unknown');
});

test('review R6: nothing was taken back where nothing was half done', async () => {
  const place = await callWorkspaceTools({'a.txt': 'one\n'});
  await place.data('delete_file', {path: 'a.txt'});
  const events = (await place.runtime.events()).map(({event}) => event);
  expect(events).not.toContain('JOURNAL_RECOVERED');
});

test('ruling R1: which step is taken back, and what is said where none can be', async () => {
  const place = await callWorkspaceTools({'a.txt': 'one\n', 'b.txt': 'b\n', 'c.txt': 'c\n'});
  const says = async (params: {step?: number} = {}) => {
    const {error, data} = await place.call('undo', params);
    return error === null ? data : [error.error_type, error.message, error.details?.['path']];
  };
  expect(await says()).toEqual([
    'file_not_found',
    'No change of this session is left to be taken back.',
    undefined,
  ]);
  expect(await says({step: 9})).toEqual([
    'file_not_found',
    'Step 9 of this session changed no files. No step did.',
    undefined,
  ]);
  await place.data('move_file', {from: 'b.txt', to: 'd.txt'});
  await place.data('delete_file', {path: 'a.txt'});
  expect(await says({step: 9})).toEqual([
    'file_not_found',
    'Step 9 of this session changed no files. Steps that did: 3, 4.',
    undefined,
  ]);
  writeFileSync(join(place.root, 'd.txt'), 'else\n');
  expect(await says({step: 3})).toEqual([
    'stale_read',
    'Step 3 cannot be taken back: "d.txt" changed since. Something else than a tool of this session changed it: read it, and change it by hand.',
    'd.txt',
  ]);
  await place.data('read_file', {path: 'd.txt'});
  await place.data('write_file', {path: 'd.txt', content: 'more\n'});
  expect(await says({step: 3})).toEqual([
    'stale_read',
    'Step 3 cannot be taken back: "d.txt" changed since. Steps that changed it: 8. Undo these first, the last one first.',
    'd.txt',
  ]);
  expect(await says({step: 4})).toEqual({step: 4, restored_files: ['a.txt'], undo_step: 10});
  expect(await says({step: 4})).toEqual([
    'stale_read',
    'Step 4 was taken back in step 10 already. To make it again, undo step 10.',
    'a.txt',
  ]);
  expect(await says()).toMatchObject({step: 8, restored_files: ['d.txt']});
});

test('ruling W7: of a step without a record it is said that it changed nothing', async () => {
  const {session, runDirectory} = await openTestWorkspace({});
  expect(await undoStep(session, runDirectory, 9)).toEqual(
    fail('file_not_found', 'Step 9 of this run changed no files, so there is nothing to undo.', {
      path: join(runDirectory, 'diffs/step_0009.undo.json'),
    }),
  );
  mkdirSync(join(runDirectory, 'diffs/step_0009.undo.json'), {recursive: true});
  expect(await undoStep(session, runDirectory, 9)).toMatchObject({error: {code: 'not_a_file'}});
});

test('ruling H4: what is asked about taking back a step: the file, or how many', async () => {
  const place = await callWorkspaceTools({'a.txt': 'one\n', 'b.txt': 'b\n'});
  await place.data('delete_file', {path: 'a.txt'});
  await place.data('move_file', {from: 'b.txt', to: 'c.txt'});
  const changes = [1, 2].map(step => ({
    step,
    files: ['a.txt'],
    recordHash: hashOf(readFileSync(join(place.runDirectory, `diffs/step_000${step}.undo.json`), 'utf8')),
    undoes: undefined,
  }));
  const {context} = pretendContext({pastChanges: async () => ok({directory: place.runDirectory, changes})});
  const asked = async (step: number) => {
    const prepared = place.tool('undo').prepare({step});
    if (!prepared.ok) throw new Error(prepared.error.all);
    const intent = await prepared.value.intend(context);
    return intent.ok ? [intent.value.summary, intent.value.subject.values, intent.value.preview] : intent;
  };
  expect(await asked(1)).toEqual([
    'undo step 1 (a.txt)',
    ['a.txt'],
    'diff --git a/a.txt b/a.txt\nnew file mode 100644\n--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+one\n',
  ]);
  expect(await asked(2)).toMatchObject({0: 'undo step 2 (2 files)', 1: ['b.txt', 'c.txt']});
});

test('W19: a patch that comes to nothing is no change', async () => {
  const place = await callWorkspaceTools({});
  const unified_diff =
    '--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n';
  expect(await place.data('apply_patch', {unified_diff})).toMatchObject({changed_files: [], stat: []});
  expect((await place.runtime.events()).map(({event}) => event)).not.toContain('PATCH_APPLIED');
});

test('review R18: a later record that is not what the log says is damaged', async () => {
  const place = await callWorkspaceTools({'a.txt': 'one\n', 'b.txt': 'b\n'});
  await place.data('delete_file', {path: 'a.txt'});
  await place.data('delete_file', {path: 'b.txt'});
  const later = [{step: 2, recordHash: hashOf('else')}];
  const path = join(place.runDirectory, 'diffs/step_0002.undo.json');
  expect(await undoStep(place.session, place.runDirectory, 1, {later})).toEqual(
    fail('io_error', `${JSON.stringify(path)} is not what was written there. Restore it from a backup.`, {
      path,
      error: 'damaged',
      operation: 'read',
    }),
  );
  const right = [{step: 2, recordHash: hashOf(readFileSync(path, 'utf8'))}];
  expect(await undoStep(place.session, place.runDirectory, 1, {later: right})).toEqual(
    ok({step: 1, restored_files: ['a.txt']}),
  );
});
