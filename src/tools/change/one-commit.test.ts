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
import {readTree} from '../../../test/support/read-tree.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import {PendingApprovals} from '../../runtime/approvals/pending-approvals.ts';
import {openWorkspaceSession} from '../files/workspace-session.ts';

const TWELVE = Array.from({length: 12}, (_, at) => at);
const isRoot = process.getuid?.() === 0;

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
    {tags: 'slow'},
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
    const {changeWorkspace} = await import('../../workspace/edit/change-workspace.ts');
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
  test.runIf(isRoot)('review B7: root changes a file and leaves it to its owner', async () => {
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
  test.runIf(isRoot)(
    'R6: one that belongs to another user is refused, and its journals are not followed',
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
