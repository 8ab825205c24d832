import {execFileSync} from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test, vi} from 'vitest';
import {type CallableWorkspace, callWorkspaceTools} from '../../../test/support/call-workspace-tools.ts';
import {openTestWorkspace, type TestWorkspace} from '../../../test/support/open-test-workspace.ts';
import {unwrap} from '../../../test/support/outcome.ts';
import {needs} from '../../../test/support/parts.ts';
import {pretendContext} from '../../../test/support/pretend-context.ts';
import {pretendDeadline} from '../../../test/support/pretend-deadline.ts';
import {readTree} from '../../../test/support/read-tree.ts';
import {stateOf} from '../../../test/support/state-of.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import {fail, ok, type Result} from '../../core/result.ts';
import type {ToolContext} from '../../core/tool.ts';
import {PendingApprovals} from '../../runtime/approvals/pending.ts';
import type {FileChange, FileState} from '../../workspace/change/file-change.ts';
import type {Owner} from '../../workspace/open-file.ts';
import {contentHash} from '../../workspace/open-file.ts';
import {ReadTracker} from '../../workspace/read-tracker.ts';
import type {WritablePath} from '../../workspace/workspace-path.ts';
import {openWorkspaceSession} from '../files/session.ts';
import {hashesBefore, PlanOnce} from './define-change-tool.ts';
import {lineMoves, refreshTracker} from './make-change.ts';
import {recordChange} from './record-change.ts';
import {stepsInForce} from './undo.ts';
import {undoStep} from './undo-step.ts';

const hashOf = (text: string) => contentHash(Buffer.from(text));
const path = (name: string) => name as WritablePath;
const state = (content: string, mode = 0o644, owner?: Owner): FileState => stateOf(content, mode, owner);

const CREATED: FileChange = {path: path('new'), old: undefined, new: stateOf('n\n')};
const DELETED: FileChange = {
  path: path('gone'),
  old: state('g\n', 0o644, {uid: 1, gid: 2}),
  new: undefined,
};
const MODIFIED: FileChange = {path: path('x'), old: state('a\n'), new: state('b\n', 0o755)};
const MOVED: FileChange = {
  path: path('to'),
  from: path('from'),
  old: state('m\n'),
  new: state('M\n'),
};
const EVERY = [CREATED, DELETED, MODIFIED, MOVED];
const LATE = {failure: () => fail('timeout', 'Late.')};
const NO_DEADLINE = pretendDeadline();

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
  expect(await recordChange(context, planned, pretendDeadline({...LATE, spent: true}))).toEqual(
    LATE.failure(),
  );
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
    path: path('x'),
    old: state(old),
    new: state('a\nn\nb\nc\nD\n'),
  };
  const renamed: FileChange = {...modified, from: path('from'), path: path('to')};
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

const TWELVE = Array.from({length: 12}, (_, at) => at);

const read = ({root}: {readonly root: string}, path: string): string =>
  readFileSync(join(root, path), 'utf8');
const lines = (mark: string): string => TWELVE.map(at => `${mark} ${at};\n`).join('');
const edit = (at: number) => ({path: 'f.txt', old_string: `old ${at};`, new_string: `new ${at};`});

/** Another session on the same tree, or on a directory in it, with a run of its own. */
async function another(place: TestWorkspace, below = '.'): Promise<CallableWorkspace> {
  const {outside} = place;
  const root = join(place.root, below);
  const session = unwrap(
    openWorkspaceSession({
      root,
      stateDirectory: join(place.root, '../state'),
      programDirectories: [],
      clock: systemClock,
    }),
  );
  const runDirectory = join(temporaryDirectory(), 'run');
  return callWorkspaceTools({}, {workspace: {session, root, outside, runDirectory}});
}

/** A patch that replaces `count` files of one line. */
function patchOf(count: number): {files: Record<string, string>; unified_diff: string} {
  const files: Record<string, string> = {};
  const sections: string[] = [];
  for (let at = 0; at < count; at += 1) {
    files[`d${at % 7}/f${at}`] = 'a\n';
    sections.push(`--- a/d${at % 7}/f${at}\n+++ b/d${at % 7}/f${at}\n@@ -1 +1 @@\n-a\n+b\n`);
  }
  return {files, unified_diff: sections.join('')};
}

describe('W19: many callers at once', () => {
  test('W19: twelve parallel str_replace of one session on one file are all in it', {
    tags: 'slow',
  }, async () => {
    const place = await callWorkspaceTools({'f.txt': lines('old')});
    await place.data('read_file', {path: 'f.txt'});
    const codes = await Promise.all(TWELVE.map(at => place.code('str_replace', edit(at))));
    expect(codes).toEqual(TWELVE.map(() => 'ok'));
    expect(read(place, 'f.txt')).toBe(lines('new'));
    const applied = (await place.runtime.events()).filter(({event}) => event === 'PATCH_APPLIED');
    expect(applied).toHaveLength(12);
  });

  test('W19: two patches and an edit of one session on one file, which it has read, are all in it', async () => {
    const place = await callWorkspaceTools({'f.txt': lines('old')});
    await place.data('read_file', {path: 'f.txt'});
    const hunk = (at: number) =>
      `--- a/f.txt\n+++ b/f.txt\n@@ -${at + 1} +${at + 1} @@\n-old ${at};\n+new ${at};\n`;
    const codes = await Promise.all([
      place.code('apply_patch', {unified_diff: hunk(0)}),
      place.code('str_replace', edit(5)),
      place.code('apply_patch', {unified_diff: hunk(9)}),
    ]);
    expect(codes).toEqual(['ok', 'ok', 'ok']);
    const expected = TWELVE.map(at => `${[0, 5, 9].includes(at) ? 'new' : 'old'} ${at};\n`);
    expect(read(place, 'f.txt')).toBe(expected.join(''));
  });

  describe('W15: a patch beside an edit that moved the lines', () => {
    const numbered = TWELVE.map(at => `old ${at};\n}\n`).join('');
    const TOP = 'old 0;\n}\nold 1;\n}\n';
    const grown = {path: 'f.txt', old_string: TOP, new_string: `a\nb\nc\nd\n${TOP}`};
    const shrunk = {path: 'f.txt', old_string: TOP, new_string: ''};

    test.each([
      ['a hunk that only adds lines', grown, '@@ -8,0 +9 @@\n+added\n'],
      ['a hunk that only adds lines, at what is the end now', shrunk, '@@ -20,0 +21 @@\n+added\n'],
      ['a hunk with old lines that are there more than once', grown, '@@ -10 +10,2 @@\n }\n+added\n'],
    ])('W15: %s is not put where the number leads now', async (_, moved, hunk) => {
      const place = await callWorkspaceTools({'f.txt': numbered});
      await place.data('read_file', {path: 'f.txt'});
      const edited = place.code('str_replace', moved);
      // Sent beside the edit, the patch is written after it: else there would be nothing that moved.
      const {run} = place.session.processes;
      vi.spyOn(place.session.processes, 'run').mockImplementation(async request => {
        await edited;
        return run(request);
      });
      const codes = await Promise.all([
        edited,
        place.code('apply_patch', {unified_diff: `--- a/f.txt\n+++ b/f.txt\n${hunk}`}),
      ]);
      expect(codes).toEqual(['ok', 'patch_hunk_fail']);
      expect(read(place, 'f.txt')).toBe(numbered.replace(TOP, moved.new_string));
    });

    test('W15: a hunk whose old lines are there once is put where they are', async () => {
      const place = await callWorkspaceTools({'f.txt': numbered});
      await place.data('read_file', {path: 'f.txt'});
      const hunk = '@@ -9,2 +9,3 @@\n old 4;\n }\n+added\n';
      const codes = await Promise.all([
        place.code('str_replace', grown),
        place.code('apply_patch', {unified_diff: `--- a/f.txt\n+++ b/f.txt\n${hunk}`}),
      ]);
      expect(codes).toEqual(['ok', 'ok']);
      expect(read(place, 'f.txt')).toBe(
        numbered.replace(TOP, grown.new_string).replace('old 4;\n}\n', 'old 4;\n}\nadded\n'),
      );
    });
  });

  test('W19: of the edits of two sessions those that answered success are in the file, the others are stale_read', {
    tags: 'slow',
  }, async () => {
    const first = await callWorkspaceTools({'f.txt': lines('old')});
    const second = await another(first);
    for (const place of [first, second]) await place.data('read_file', {path: 'f.txt'});
    const codes = await Promise.all(
      TWELVE.map(at => (at % 2 === 0 ? first : second).code('str_replace', edit(at))),
    );
    expect(new Set(codes)).toEqual(new Set(['ok', 'stale_read']));
    expect(read(first, 'f.txt')).toBe(
      TWELVE.map(at => `${codes[at] === 'ok' ? 'new' : 'old'} ${at};\n`).join(''),
    );
  });

  test('W19: of two edits in sessions on nested roots, those that answered success are in the file', {
    tags: 'slow',
  }, async () => {
    const text = `one\n${'x\n'.repeat(500_000)}two\n`;
    const outer = await callWorkspaceTools({'pkg/f.txt': text});
    const inner = await another(outer, 'pkg');
    for (let round = 0; round < 4; round += 1) {
      writeFileSync(join(outer.root, 'pkg/f.txt'), text);
      await outer.data('read_file', {path: 'pkg/f.txt', start_line: 1, end_line: 1});
      await inner.data('read_file', {path: 'f.txt', start_line: 1, end_line: 1});
      const codes = await Promise.all([
        outer.code('str_replace', {path: 'pkg/f.txt', old_string: 'one', new_string: 'ONE'}),
        inner.code('str_replace', {path: 'f.txt', old_string: 'two', new_string: 'TWO'}),
      ]);
      const now = read(inner, 'f.txt');
      expect([
        now.startsWith('ONE') ? 'ok' : 'stale_read',
        now.endsWith('TWO\n') ? 'ok' : 'stale_read',
      ]).toEqual(codes);
    }
  });

  test('W19: an edit beside a rewrite of the file is in it, or is not called a success', {
    tags: 'slow',
  }, async () => {
    for (let round = 0; round < 20; round += 1) {
      const place = await callWorkspaceTools({'f.txt': 'one\ntwo\n'});
      await place.data('read_file', {path: 'f.txt'});
      const [edited, written] = await Promise.all([
        place.code('str_replace', {path: 'f.txt', old_string: 'one', new_string: '1'}),
        place.code('write_file', {path: 'f.txt', content: 'one\ntwo\nthree\n'}),
      ]);
      const expected: Readonly<Record<string, string>> = {
        'ok,stale_read': '1\ntwo\n',
        'ok,ok': '1\ntwo\nthree\n',
        'stale_read,ok': 'one\ntwo\nthree\n',
      };
      expect(read(place, 'f.txt')).toBe(expected[`${edited},${written}`]);
    }
  });

  test('W19: what the user approved is bound to the files as they were', async () => {
    const place = await callWorkspaceTools(
      {'f.txt': lines('old')},
      {approval: {mode: 'prompt'}, approver: {ask: async () => ({answer: 'once'})}},
    );
    await place.data('read_file', {path: 'f.txt'});
    const codes = await Promise.all(TWELVE.map(at => place.code('str_replace', edit(at))));
    expect(codes).toContain('ok');
    expect(read(place, 'f.txt')).toBe(
      TWELVE.map(at => `${codes[at] === 'ok' ? 'new' : 'old'} ${at};\n`).join(''),
    );
  });

  test('W19: so are two calls that a command approved beforehand', async () => {
    const place = await callWorkspaceTools({'f.txt': lines('old')}, {approval: {mode: 'prompt'}});
    await place.data('read_file', {path: 'f.txt'});
    const pending = new PendingApprovals(place.runDirectory, systemClock);
    for (const at of [0, 1]) {
      const {error} = await place.call('str_replace', edit(at));
      unwrap(await pending.approve(String(error?.details?.['approval_id'])));
    }
    const codes = await Promise.all([0, 1].map(at => place.code('str_replace', edit(at))));
    expect(codes.toSorted()).toEqual(['ok', 'stale_read']);
    expect(read(place, 'f.txt').match(/new/g)).toHaveLength(1);
  });

  test('W19: so are two calls that the user allowed for the session', async () => {
    const before = lines('old');
    const place = await callWorkspaceTools(
      {'f.txt': before},
      {approval: {mode: 'prompt'}, approver: {ask: async () => ({answer: 'session'})}},
    );
    for (const at of [0, 1]) {
      await place.data('read_file', {path: 'f.txt'});
      expect(await place.code('str_replace', edit(at))).toBe('ok');
      writeFileSync(join(place.root, 'f.txt'), before);
    }
    await place.data('read_file', {path: 'f.txt'});
    const codes = await Promise.all([0, 1].map(at => place.code('str_replace', edit(at))));
    expect(codes.toSorted()).toEqual(['ok', 'stale_read']);
    expect(read(place, 'f.txt').match(/new/g)).toHaveLength(1);
  });

  test('W19: two new files of one name: one is made, the other is stale_read', async () => {
    const place = await callWorkspaceTools({});
    const codes = await Promise.all(
      ['a', 'b'].map(content => place.code('write_file', {path: 'd/new', content})),
    );
    expect(codes.toSorted()).toEqual(['ok', 'stale_read']);
    expect(read(place, 'd/new')).toBe(codes[0] === 'ok' ? 'a' : 'b');
  });
});

describe('W19: a call that ran out of time', () => {
  test.each(['staged d3/f45', 'staged d5/f299'])(
    'W19: takes back what it had half done (%s)',
    {tags: 'stress'},
    async stop => {
      const {files, unified_diff} = patchOf(300);
      let late = 0;
      const clock = {...systemClock, monotonic: () => systemClock.monotonic() + late};
      const workspace = await openTestWorkspace(files, {clock});
      const onStep = (step: string): void => {
        if (step === stop) late = 11_000;
      };
      const session = {...workspace.session, journal: {...workspace.session.journal, onStep}};
      const before = readTree(workspace.root);
      const place = await callWorkspaceTools({}, {workspace: {...workspace, session}});
      expect(await place.code('apply_patch', {unified_diff})).toBe('timeout');
      expect(readTree(workspace.root)).toEqual(before);
      expect(readdirSync(join(workspace.root, '../state'))).toEqual([]);
    },
  );

  test('W19: so does one that was cancelled', {tags: 'slow'}, async () => {
    const {files, unified_diff} = patchOf(100);
    const workspace = await openTestWorkspace(files);
    const controller = new AbortController();
    const onStep = (step: string): void => {
      if (step === 'staged d0/f14') controller.abort();
    };
    const session = {...workspace.session, journal: {...workspace.session.journal, onStep}};
    const before = readTree(workspace.root);
    const place = await callWorkspaceTools({}, {workspace: {...workspace, session}});
    const {error} = await place.call('apply_patch', {unified_diff}, {signal: controller.signal});
    expect(error?.error_type).toBe('cancelled');
    expect(readTree(workspace.root)).toEqual(before);
  });

  test('W19: a call that waits for the lock of another process ends with its signal', async () => {
    const place = await callWorkspaceTools({'f.txt': 'one\n'});
    await place.data('read_file', {path: 'f.txt'});
    const {changeWorkspace} = await import('../../workspace/change/change-workspace.ts');
    const {workspace, journal} = place.session;
    const controller = new AbortController();
    const params = {path: 'f.txt', old_string: 'one', new_string: '1'};
    await changeWorkspace(workspace, journal, undefined, async () => {
      const waiting = place.call('str_replace', params, {signal: controller.signal});
      controller.abort();
      expect((await waiting).error?.error_type).toBe('cancelled');
      return {ok: true, value: undefined};
    });
    expect(read(place, 'f.txt')).toBe('one\n');
  });
});

describe('whose a file is', () => {
  test('review B7: root changes a file and leaves it to its owner', needs('root'), async () => {
    const place = await callWorkspaceTools({'f.txt': 'one\n', 'g.txt': 'g\n'});
    for (const name of ['f.txt', 'g.txt']) {
      chownSync(join(place.root, name), 1000, 1001);
      chmodSync(join(place.root, name), 0o640);
    }
    await place.data('read_file', {path: 'f.txt'});
    await place.data('str_replace', {path: 'f.txt', old_string: 'one', new_string: '1'});
    await place.data('write_file', {path: 'f.txt', content: 'two\n'});
    await place.data('apply_patch', {
      unified_diff:
        '--- a/f.txt\n+++ b/f.txt\n@@ -1 +1 @@\n-two\n+2\ndiff --git a/g.txt b/h.txt\nrename from g.txt\nrename to h.txt\n',
    });
    for (const name of ['f.txt', 'h.txt']) {
      const {uid, gid, mode} = statSync(join(place.root, name));
      expect([name, uid, gid, mode & 0o777]).toEqual([name, 1000, 1001, 0o640]);
    }
  });
});

describe('review R6: the state directory', () => {
  test(
    'R6: one that belongs to another user is refused, and its journals are not followed',
    needs('root'),
    async () => {
      const place = await callWorkspaceTools({'f.txt': 'one\n'});
      const state = join(place.root, '../state');
      mkdirSync(state, {mode: 0o777});
      chownSync(state, 1001, 1001);
      const {error} = await place.call('write_file', {path: 'new', content: 'x'});
      expect(error).toMatchObject({error_type: 'io_error', details: {error: 'other_owner'}});
      expect(error?.message).toContain(state);
      expect(await place.session.recover()).toMatchObject({ok: false});
      expect(existsSync(join(place.root, 'new'))).toBe(false);
    },
  );

  test('R6: one that others may write is refused', async () => {
    const place = await callWorkspaceTools({});
    const state = join(place.root, '../state');
    mkdirSync(state);
    chmodSync(state, 0o777);
    expect(await place.code('write_file', {path: 'new', content: 'x'})).toBe('io_error');
    expect(existsSync(join(place.root, 'new'))).toBe(false);
  });

  test('R6: a link in its place is refused', async () => {
    const place = await callWorkspaceTools({});
    mkdirSync(join(place.outside, 'state'), {mode: 0o700});
    execFileSync('ln', ['-s', join(place.outside, 'state'), join(place.root, '../state')]);
    expect(await place.code('write_file', {path: 'new', content: 'x'})).toBe('io_error');
    expect(readdirSync(join(place.outside, 'state'))).toEqual([]);
  });
});

describe('ruling W13', () => {
  test('W13: write_file keeps CRLF where the file has it throughout, and says so', async () => {
    const place = await callWorkspaceTools({'f.txt': 'one\r\ntwo\r\n', 'mixed.txt': 'one\r\ntwo\n'});
    for (const path of ['f.txt', 'mixed.txt']) await place.data('read_file', {path});
    const written = await place.data('write_file', {path: 'f.txt', content: '1\n2\n3'});
    expect(written).toMatchObject({line_endings: 'crlf', bytes: 7});
    expect(place.tool('write_file').renderText(written)).toContain('CRLF kept');
    expect(read(place, 'f.txt')).toBe('1\r\n2\r\n3');
    for (const content of ['1\r\n2\n', 'no line break']) {
      expect(await place.data('write_file', {path: 'f.txt', content})).not.toHaveProperty('line_endings');
      expect(read(place, 'f.txt')).toBe(content);
    }
    await place.data('write_file', {path: 'mixed.txt', content: '1\n2\n'});
    expect(read(place, 'mixed.txt')).toBe('1\n2\n');
  });
});
