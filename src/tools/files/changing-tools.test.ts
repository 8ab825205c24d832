import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, test, vi} from 'vitest';
import {type CallableWorkspace, callWorkspaceTools} from '../../../test/support/call-workspace-tools.ts';
import {unwrap} from '../../../test/support/outcome.ts';
import {needs} from '../../../test/support/parts.ts';
import {pretendDeadline} from '../../../test/support/pretend-deadline.ts';
import {ok} from '../../core/result.ts';
import {atOnce} from '../../workspace/open-file.ts';
import {lineEdits} from '../../workspace/patch/changed-window.ts';
import {byteString} from '../../workspace/patch/patch.ts';
import {countUnseen, joinSeen, type LineRange, seenAfter} from '../../workspace/read-tracker.ts';
import {undoStep} from '../change/undo-step.ts';

const FILES = {'src/main.py': 'def add(a, b):\n    return a - b\n\n', 'b.txt': 'one\r\ntwo\r\n'};

const read = ({root}: CallableWorkspace, path: string): string => readFileSync(join(root, path), 'utf8');
const artifact = ({runDirectory}: CallableWorkspace, name: string): string =>
  readFileSync(join(runDirectory, 'diffs', name), 'utf8');
const artifacts = ({runDirectory}: CallableWorkspace): string[] =>
  existsSync(join(runDirectory, 'diffs')) ? readdirSync(join(runDirectory, 'diffs')).sort() : [];
const applied = async ({runtime}: CallableWorkspace) =>
  (await runtime.events()).filter(({event}) => event === 'PATCH_APPLIED').map(({payload}) => payload);

function fail(): never {
  throw new Error('Expected a server for GNU patch.');
}

describe('str_replace', () => {
  test('ruling W6: the file must have been read; ADR 08: the text must occur once', async () => {
    const place = await callWorkspaceTools(FILES);
    const params = {path: 'src/main.py', old_string: 'a - b', new_string: 'a + b'};
    expect(await place.code('str_replace', params)).toBe('not_read');
    await place.data('read_file', {path: 'src/main.py', start_line: 1, end_line: 1});
    expect(await place.code('str_replace', {...params, old_string: 'a * b'})).toBe('no_match');
    expect(await place.code('str_replace', {...params, old_string: 'a'})).toBe('ambiguous_match');
    expect(await place.code('str_replace', {...params, old_string: ''})).toBe('invalid_params');
    expect(await place.code('str_replace', {...params, new_string: 'a - b'})).toBe('invalid_params');
    expect(artifacts(place)).toEqual([]);
    const done = await place.data('str_replace', params);
    expect(done).toMatchObject({
      path: 'src/main.py',
      match: {lines: [2, 2], count: 1},
      added: 1,
      removed: 1,
      dry_run: false,
    });
    expect(read(place, 'src/main.py')).toBe('def add(a, b):\n    return a + b\n\n');
    expect(place.tool('str_replace').renderText(done)).toBe(
      `src/main.py: line 2 · +1 −1 · step ${done['undo_step']}`,
    );
  });

  test('ruling W6: a change by another process is stale_read; our own opens the lock', async () => {
    const place = await callWorkspaceTools(FILES);
    await place.data('read_file', {path: 'b.txt'});
    await place.data('str_replace', {path: 'b.txt', old_string: 'one', new_string: '1\n1'});
    expect(read(place, 'b.txt')).toBe('1\r\n1\r\ntwo\r\n');
    await place.data('str_replace', {path: 'b.txt', old_string: 'two', new_string: '2'});
    writeFileSync(join(place.root, 'b.txt'), 'other\n');
    expect(await place.code('str_replace', {path: 'b.txt', old_string: 'other', new_string: 'x'})).toBe(
      'stale_read',
    );
  });

  test('ruling W7: the step has its diff, its undo and its event', async () => {
    const place = await callWorkspaceTools(FILES);
    await place.data('read_file', {path: 'b.txt'});
    await place.data('str_replace', {path: 'b.txt', old_string: 'two', new_string: '2'});
    expect(artifacts(place)).toEqual(['step_0002.patch', 'step_0002.undo.json', 'step_0002.undo.patch']);
    expect(artifact(place, 'step_0002.patch')).toContain('-two\r\n+2\r\n');
    expect(artifact(place, 'step_0002.undo.patch')).toContain('-2\r\n+two\r\n');
    expect(await applied(place)).toMatchObject([
      {
        step: 2,
        changed_files: ['b.txt'],
        patch_path: 'diffs/step_0002.patch',
        undo_path: 'diffs/step_0002.undo.patch',
      },
    ]);
  });

  test('policy: a dry run changes nothing and leaves nothing', async () => {
    const place = await callWorkspaceTools(FILES);
    await place.data('read_file', {path: 'b.txt'});
    const shown = await place.data('str_replace', {
      path: 'b.txt',
      old_string: 'two',
      new_string: '2',
      dry_run: true,
    });
    expect(shown).toMatchObject({dry_run: true, diff: expect.stringContaining('-two\r\n+2\r\n')});
    expect(read(place, 'b.txt')).toBe(FILES['b.txt']);
    expect(artifacts(place)).toEqual([]);
    expect(await applied(place)).toEqual([]);
  });
});

describe('write_file', () => {
  test('ruling W11: creates a file with its directories', async () => {
    const place = await callWorkspaceTools();
    const done = await place.data('write_file', {path: 'a/b/c.txt', content: 'x\n'});
    expect(done).toEqual({
      path: 'a/b/c.txt',
      bytes: 2,
      created: true,
      changed: true,
      added: 1,
      removed: 0,
      lines: [],
      undo_step: 1,
      dry_run: false,
    });
    expect(read(place, 'a/b/c.txt')).toBe('x\n');
    expect(place.tool('write_file').renderText(done)).toBe('a/b/c.txt: +1 −0 · new file · 2 bytes · step 1');
    // Of a file of its own making, the session knows what is in it.
    expect(await place.code('write_file', {path: 'a/b/c.txt', content: 'y\n'})).toBe('ok');
  });

  test('ruling W6: replaces a file that was read, with its mode', async () => {
    const place = await callWorkspaceTools(FILES);
    chmodSync(join(place.root, 'b.txt'), 0o755);
    expect(await place.code('write_file', {path: 'b.txt', content: 'x'})).toBe('not_read');
    await place.data('read_file', {path: 'b.txt'});
    expect(await place.code('write_file', {path: 'b.txt', content: 'x'})).toBe('ok');
    expect(statSync(join(place.root, 'b.txt')).mode & 0o777).toBe(0o755);
    writeFileSync(join(place.root, 'b.txt'), 'other');
    expect(await place.code('write_file', {path: 'b.txt', content: 'y'})).toBe('stale_read');
  });

  test('what is there already is not written, and has no record', async () => {
    const place = await callWorkspaceTools(FILES);
    await place.data('read_file', {path: 'b.txt'});
    expect(await place.data('write_file', {path: 'b.txt', content: FILES['b.txt']})).toMatchObject({
      changed: false,
    });
    expect(artifacts(place)).toEqual([]);
  });

  test('policy: a dry run changes nothing and leaves nothing', async () => {
    const place = await callWorkspaceTools(FILES);
    const shown = await place.data('write_file', {path: 'd/new', content: 'x\n', dry_run: true});
    expect(shown).toMatchObject({created: true, dry_run: true, diff: expect.stringContaining('+x\n')});
    expect(existsSync(join(place.root, 'd'))).toBe(false);
    expect(artifacts(place)).toEqual([]);
  });

  test('ruling W1, W11: refuses places that are not to be written', async () => {
    const {code, root, outside} = await callWorkspaceTools(FILES);
    symlinkSync(outside, join(root, 'link'));
    for (const path of ['../x', '/etc/x', '.git/hooks/pre-commit', 'sub/.GIT/config']) {
      expect([path, await code('write_file', {path, content: ''})]).toEqual([path, 'path_escape']);
    }
    expect(await code('write_file', {path: 'link/x', content: ''})).toBe('symlink_blocked');
    expect(await code('write_file', {path: 'link', content: ''})).toBe('symlink_blocked');
    expect(await code('write_file', {path: 'src', content: ''})).toBe('not_a_file');
    expect(await code('write_file', {path: 'x', content: '\ud800'})).toBe('invalid_params');
    expect(readdirSync(outside)).toEqual([]);
  });
});

describe('apply_patch', () => {
  const hunk = (from: string, to: string) => ({
    unified_diff: `--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-${from}\n+${to}\n`,
  });

  test(
    'ruling W7: GNU patch is started by Node for the first patch of a session, and by a small process from then on',
    needs('GNU patch'),
    async () => {
      const place = await callWorkspaceTools({'b.txt': 'one\n'});
      const started = vi.spyOn(place.session.processes, 'run');
      const offered = vi.spyOn(place.session.patchServer ?? fail(), 'take');
      for (const [from, to] of [
        ['one', 'two'],
        ['two', 'three'],
        ['three', 'four'],
      ] as const)
        expect(await place.data('apply_patch', hunk(from, to))).toMatchObject({cross_check: 'agrees'});
      expect(read(place, 'b.txt')).toBe('four\n');
      expect(started).toHaveBeenCalledTimes(1);
      expect(offered.mock.results.map(({value}) => value !== undefined)).toEqual([false, true, true]);
    },
  );

  test('ruling W7: so is one of two patches at the same time, and both are in the file', async () => {
    const place = await callWorkspaceTools({'b.txt': 'one\ntwo\n'});
    const other = {unified_diff: '--- a/b.txt\n+++ b/b.txt\n@@ -2 +2 @@\n-two\n+2\n'};
    await place.data('apply_patch', hunk('one', 'o'));
    await place.data('read_file', {path: 'b.txt'});
    const codes = await Promise.all([
      place.code('apply_patch', hunk('o', '1')),
      place.code('apply_patch', other),
    ]);
    expect([codes, read(place, 'b.txt')]).toEqual([['ok', 'ok'], '1\n2\n']);
  });

  test('ruling W7: a call that is cancelled while GNU patch is asked changes nothing and leaves nothing', async () => {
    const place = await callWorkspaceTools({'b.txt': 'one\n'});
    await place.data('apply_patch', hunk('one', 'two'));
    const server = place.session.patchServer ?? fail();
    const controller = new AbortController();
    const {take} = server;
    let isHeard = false;
    vi.spyOn(server, 'take').mockImplementation(signal => {
      const ask = take.call(server, signal) ?? fail();
      return directory => {
        const asked = ask(directory);
        controller.abort();
        isHeard = signal.aborted;
        return asked;
      };
    });
    const {error} = await place.call('apply_patch', hunk('two', 'three'), {signal: controller.signal});
    expect([error?.error_type, isHeard]).toEqual(['cancelled', true]);
    expect(read(place, 'b.txt')).toBe('two\n');
    await vi.waitFor(() => expect(readdirSync(place.session.journal.directory)).toEqual([]));
  });

  const DIFF = `--- a/src/main.py
+++ b/src/main.py
@@ -1,4 +1,4 @@
 def add(a, b):
-    return a - b
+    return a + b
`;

  test('Tool API: its own example works', needs('GNU patch'), async () => {
    const place = await callWorkspaceTools(FILES);
    const done = await place.data('apply_patch', {unified_diff: DIFF});
    expect(done).toMatchObject({
      changed_files: ['src/main.py'],
      patch_size_bytes: DIFF.length,
      cross_check: 'agrees',
      recounted_hunks: 1,
    });
    expect(read(place, 'src/main.py')).toContain('a + b');
    expect(artifact(place, 'step_0001.patch')).toBe(DIFF);
    expect(await applied(place)).toMatchObject([
      {changed_files: ['src/main.py'], patch_size_bytes: DIFF.length},
    ]);
    expect(place.tool('apply_patch').renderText(done)).toBe(
      'src/main.py: line 2 · +1 −1 · step 1\n[wrong line counts were corrected in 1 hunk header]',
    );
  });

  test('ruling W7: all or nothing, and a patch that does not fit leaves no record', async () => {
    const place = await callWorkspaceTools(FILES);
    const both = `--- a/b.txt\n+++ b/b.txt\n@@ -1,2 +1,2 @@\n-one\r\n+1\r\n two\r\n${DIFF.replace('a - b', 'a * b')}`;
    expect(await place.code('apply_patch', {unified_diff: both})).toBe('patch_hunk_fail');
    expect(read(place, 'b.txt')).toBe(FILES['b.txt']);
    expect(artifacts(place)).toEqual([]);
  });

  test('Tool API: error types', async () => {
    const place = await callWorkspaceTools(FILES);
    const target = (path: string): string => DIFF.replaceAll('src/main.py', path);
    expect(await place.code('apply_patch', {unified_diff: 'nonsense'})).toBe('patch_parse_error');
    expect(await place.code('apply_patch', {unified_diff: ''})).toBe('patch_parse_error');
    expect(await place.code('apply_patch', {unified_diff: target('../x')})).toBe('path_escape');
    expect(await place.code('apply_patch', {unified_diff: target('.git/config')})).toBe('path_escape');
    const missing = await place.call('apply_patch', {unified_diff: target('src/man.py')});
    expect(missing.error).toMatchObject({error_type: 'file_not_found', details: {similar: ['src/main.py']}});
  });

  test('ruling W6: refreshes the lock of files that were read, and opens no other', async () => {
    const place = await callWorkspaceTools(FILES);
    await place.data('apply_patch', {unified_diff: DIFF});
    const edit = {path: 'src/main.py', old_string: 'a + b', new_string: 'b + a'};
    expect(await place.code('str_replace', edit)).toBe('not_read');
    await place.data('read_file', {path: 'src/main.py'});
    await place.data('apply_patch', {
      unified_diff: DIFF.replace('a - b', 'a + b').replace('+    return a + b', '+    return a * b'),
    });
    expect(await place.code('str_replace', {...edit, old_string: 'a * b'})).toBe('ok');
    await place.data('apply_patch', {unified_diff: '--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n'});
    expect(await place.code('str_replace', {path: 'new', old_string: 'x', new_string: 'y'})).toBe('ok');
  });

  test('policy: a dry run shows what would change', async () => {
    const place = await callWorkspaceTools(FILES);
    const shown = await place.data('apply_patch', {unified_diff: DIFF, dry_run: true});
    expect(shown).toMatchObject({dry_run: true, diff: expect.stringContaining('+    return a + b')});
    expect(read(place, 'src/main.py')).toBe(FILES['src/main.py']);
    expect(artifacts(place)).toEqual([]);
  });
});

describe('approvals', () => {
  const params = {path: 'b.txt', old_string: 'two', new_string: '2'};

  test('ruling H4: the question shows the diff, and nothing has happened yet', async () => {
    const asked: unknown[] = [];
    const place = await callWorkspaceTools(FILES, {
      approval: {mode: 'prompt'},
      approver: {
        ask: async question => {
          asked.push({...question, file: read(place, 'b.txt')});
          return {answer: 'once'};
        },
      },
    });
    await place.data('read_file', {path: './b.txt'});
    await place.data('str_replace', params);
    expect(asked).toMatchObject([
      {
        action: 'patch_file',
        summary: 'str_replace b.txt (line 2)',
        preview: expect.stringContaining('-two\r\n+2\r\n'),
        file: FILES['b.txt'],
      },
    ]);
    expect(read(place, 'b.txt')).toBe('one\r\n2\r\n');
  });

  test.each([
    ['str_replace', params],
    ['write_file', {path: 'b.txt', content: 'x'}],
    ['apply_patch', {unified_diff: '--- a/b.txt\n+++ b/b.txt\n@@ -2 +2 @@\n-two\r\n+2\r\n'}],
  ])(
    'ruling H3: an approval of %s does not hold for a file that changed while it was awaited',
    async (tool, given) => {
      const place = await callWorkspaceTools(FILES, {
        approval: {mode: 'prompt'},
        approver: {
          ask: async () => {
            writeFileSync(join(place.root, 'b.txt'), 'three\r\ntwo\r\n');
            return {answer: 'once'};
          },
        },
      });
      await place.data('read_file', {path: 'b.txt'});
      expect(await place.code(tool, given)).toBe('stale_read');
      expect(read(place, 'b.txt')).toBe('three\r\ntwo\r\n');
      expect(artifacts(place)).toEqual([]);
    },
  );

  test('policy: what is executed is what was planned, not what the file says by then', async () => {
    const place = await callWorkspaceTools(FILES);
    const {runtime} = place.runtime;
    const tool = place.tool('apply_patch');
    const prepared = tool.prepare({unified_diff: '--- a/b.txt\n+++ b/b.txt\n@@ -2 +2 @@\n-two\r\n+2\r\n'});
    if (!prepared.ok) throw new Error(prepared.error.all);
    const context = {
      requestId: 'r',
      step: 9,
      deadline: pretendDeadline(),
      signal: new AbortController().signal,
      sessionSignal: new AbortController().signal,
      isOwnStep: () => true,
      maxOutputBytes: 100_000,
      availableCapacityBytes: 100_000,
      allowTruncation: true,
      log: () => {},
      emit: async () => {},
      saveArtifact: runtime.session.directory.saveArtifact,
      metStranger: () => {},
      pastChanges: async () => ok({directory: '', changes: []}),
      streamArtifact: () => {
        throw new Error('A change streams nothing.');
      },
      artifacts: runtime.session.directory.artifacts,
      progress: () => {},
      mayReach: () => ({allowed: true as const}),
    };
    expect((await prepared.value.intend(context)).ok).toBe(true);
    writeFileSync(join(place.root, 'b.txt'), 'zero\r\ntwo\r\n');
    expect(await prepared.value.execute(context)).toMatchObject({ok: false, error: {code: 'stale_read'}});
    expect(read(place, 'b.txt')).toBe('zero\r\ntwo\r\n');
  });

  test('Tool API: reading needs none', async () => {
    const place = await callWorkspaceTools(FILES, {approval: {mode: 'prompt'}});
    expect(await place.code('read_file', {path: 'b.txt'})).toBe('ok');
    expect(await place.code('search', {query: 'two'})).toBe('ok');
    expect(await place.code('glob', {pattern: '*'})).toBe('ok');
    expect(await place.code('list_files')).toBe('ok');
    expect(await place.code('str_replace', params)).toBe('approval_required');
  });
});

describe('several edits', () => {
  const TEXT = 'a = old\r\nb = old + old\r\nc = 1\r\n';

  async function opened(content: string | Buffer): Promise<CallableWorkspace> {
    const place = await callWorkspaceTools({'f.txt': content});
    await place.data('read_file', {path: 'f.txt'});
    return place;
  }

  const read = ({root}: CallableWorkspace): string => readFileSync(join(root, 'f.txt'), 'utf8');

  describe('str_replace with replace_all', () => {
    test('W18: replaces each place, says how many, and is undone as one step', async () => {
      const place = await opened(TEXT);
      const params = {path: 'f.txt', old_string: 'old', new_string: 'new\nx'};
      expect(await place.code('str_replace', params)).toBe('ambiguous_match');
      expect(await place.code('str_replace', {...params, replace_all: false})).toBe('ambiguous_match');
      const done = await place.data('str_replace', {...params, replace_all: true});
      expect(done).toMatchObject({
        match: {lines: [1, 2], count: 3, line_endings: 'crlf'},
        added: 5,
        removed: 2,
      });
      expect(done).not.toHaveProperty('edits');
      expect(read(place)).toBe(TEXT.replaceAll('old', 'new\r\nx'));
      expect(place.tool('str_replace').renderText(done)).toBe(
        'f.txt: lines 1–5 · +5 −2 · 3 matches · step 4',
      );
      unwrap(await undoStep(place.session, place.runDirectory, 4));
      expect(read(place)).toBe(TEXT);
    });

    test('W18: places that overlap are taken from the beginning on, and one place is enough', async () => {
      const place = await opened('aaaaa b');
      await place.data('str_replace', {path: 'f.txt', old_string: 'aa', new_string: 'a', replace_all: true});
      expect(read(place)).toBe('aaa b');
      await place.data('str_replace', {path: 'f.txt', old_string: 'b', new_string: '$&', replace_all: true});
      expect(read(place)).toBe('aaa $&');
    });

    test('policy: a result that is too large is refused before it is built', async () => {
      const place = await opened('a'.repeat(1024 * 1024));
      const params = {path: 'f.txt', old_string: 'a', new_string: 'b'.repeat(4096), replace_all: true};
      const {error} = await place.call('str_replace', params);
      expect(error).toMatchObject({error_type: 'file_too_large', details: {size: 4096 * 1024 * 1024}});
      expect(read(place)).toBe('a'.repeat(1024 * 1024));
    });

    test('W6: any text is what JavaScript makes of it', {tags: 'slow'}, async () => {
      const place = await opened('');
      const text = fc.string({unit: fc.constantFrom('a', 'b', 'é', '\n', '😀')});
      await fc.assert(
        fc.asyncProperty(text, text, text, async (content, old, fresh) => {
          fc.pre(old !== '' && old !== fresh && content.includes(old));
          writeFileSync(join(place.root, 'f.txt'), content);
          await place.data('read_file', {path: 'f.txt'});
          const done = await place.data('str_replace', {
            path: 'f.txt',
            old_string: old,
            new_string: fresh,
            replace_all: true,
          });
          expect(read(place)).toBe(content.replaceAll(old, () => fresh));
          expect(done).toMatchObject({match: {count: content.split(old).length - 1}});
        }),
        {numRuns: 30},
      );
    });
  });

  describe('str_replace with edits', () => {
    test('W18: edits are made in order, each in the result of the one before, as one step', async () => {
      const place = await opened(TEXT);
      const done = await place.data('str_replace', {
        path: 'f.txt',
        edits: [
          {old_string: 'c = 1', new_string: 'c = old'},
          {old_string: 'old', new_string: 'new', replace_all: true},
          {old_string: 'c = new', new_string: 'c = 2\nd = 3'},
        ],
      });
      expect(done).toMatchObject({
        match: {lines: [1, 3], count: 6, line_endings: 'crlf'},
        edits: [
          {lines: [3, 3], count: 1},
          {lines: [1, 3], count: 4},
          {lines: [3, 3], count: 1, line_endings: 'crlf'},
        ],
        added: 4,
        removed: 3,
      });
      expect(read(place)).toBe('a = new\r\nb = new + new\r\nc = 2\r\nd = 3\r\n');
      const applied = (await place.runtime.events()).filter(({event}) => event === 'PATCH_APPLIED');
      expect(applied).toMatchObject([{payload: {step: 2, changed_files: ['f.txt']}}]);
      unwrap(await undoStep(place.session, place.runDirectory, 2));
      expect(read(place)).toBe(TEXT);
    });

    test.each(
      // biome-ignore format: a case is a line
      [
        ['no_match', {old_string: 'zebra', new_string: 'x'}, /^Edit 2 of 3: old_string does not occur in "f\.txt"\./],
        ['no_match', {old_string: 'c = 1', new_string: 'x'}, /It was there before edit 1: each edit works on/],
        ['ambiguous_match', {old_string: 'old', new_string: 'x'}, /^Edit 2 of 3: old_string occurs 3 times/],
        ['invalid_params', {old_string: '', new_string: 'x'}, /^Edit 2 of 3: old_string is empty\./],
        ['invalid_params', {old_string: 'b', new_string: 'b'}, /^Edit 2 of 3: old_string and new_string are equal/],
      ],
    )(
      'W18: where one edit does not fit (%s) none is made, and the message says which',
      async (code, edit, says) => {
        const place = await opened(TEXT);
        const edits = [{old_string: 'c = 1', new_string: 'd = 2'}, edit, {old_string: 'a', new_string: 'x'}];
        const {error} = await place.call('str_replace', {path: 'f.txt', edits});
        expect(error).toMatchObject({
          error_type: code,
          details: {edit: 2},
          message: expect.stringMatching(says),
        });
        expect(error?.message).toMatch(/ Nothing was written\.$/);
        expect(read(place)).toBe(TEXT);
      },
    );

    test('policy: a list of one is told like a single edit, and one that changes nothing writes nothing', async () => {
      const place = await opened('one\n');
      const {error} = await place.call('str_replace', {
        path: 'f.txt',
        edits: [{old_string: 'two', new_string: 'x'}],
      });
      expect(error?.message).toMatch(/^old_string does not occur/);
      const back = [
        {old_string: 'one', new_string: 'two'},
        {old_string: 'two', new_string: 'one'},
      ];
      expect(await place.data('str_replace', {path: 'f.txt', edits: back})).toMatchObject({
        added: 0,
        removed: 0,
      });
      expect((await place.runtime.events()).filter(({event}) => event === 'PATCH_APPLIED')).toEqual([]);
    });

    test.each([
      ['old_string', {}],
      ['new_string', {old_string: 'a'}],
      ['edits', {old_string: 'a', new_string: 'b', edits: [{old_string: 'a', new_string: 'b'}]}],
      ['edits', {replace_all: true, edits: [{old_string: 'a', new_string: 'b'}]}],
      ['edits', {edits: []}],
      ['edits.0.old_str', {edits: [{old_string: 'a', new_string: 'b', old_str: 'a'}]}],
      ['edits', {edits: Array(201).fill({old_string: 'a', new_string: 'b'})}],
    ])('policy: wrong parameters name %s', async (field, params) => {
      const {error} = await (await opened(TEXT)).call('str_replace', {path: 'f.txt', ...params});
      expect(error).toMatchObject({error_type: 'invalid_params', details: {field}});
    });

    test('W19: a list of edits sent beside a single one of the same session is worked out anew', async () => {
      const place = await opened(TEXT);
      const codes = await Promise.all([
        place.code('str_replace', {path: 'f.txt', old_string: 'c = 1', new_string: 'c = 2'}),
        place.code('str_replace', {path: 'f.txt', edits: [{old_string: 'a = old', new_string: 'a = 7'}]}),
      ]);
      expect(codes).toEqual(['ok', 'ok']);
      expect(read(place)).toBe('a = 7\r\nb = old + old\r\nc = 2\r\n');
    });
  });

  test('ruling H2: null leaves out what an edit may leave out', async () => {
    const place = await callWorkspaceTools({'a.txt': 'one\n'});
    await place.data('read_file', {path: 'a.txt'});
    const edits = [{old_string: 'one', new_string: 'two', replace_all: null}];
    expect(await place.code('str_replace', {path: 'a.txt', edits})).toBe('ok');
  });
});

const NUMBERS = Array.from({length: 62}, (_, at) => `line ${at + 1}\n`).join('');

test('W5: write_file says how many lines went that had not been read, and how to bring them back', async () => {
  const asked: string[] = [];
  const approver = {
    ask: async ({summary}: {summary: string}) => {
      asked.push(summary);
      return {answer: 'once'} as const;
    },
  };
  const place = await callWorkspaceTools({'README.md': NUMBERS}, {approval: {mode: 'prompt'}, approver});
  await place.data('read_file', {path: 'README.md', start_line: 1, end_line: 2});
  const params = {path: 'README.md', content: 'x'};
  const shown = await place.data('write_file', {...params, dry_run: true});
  expect(shown).toMatchObject({unread_lines_replaced: 60});
  expect(shown).not.toHaveProperty('undo_step');
  expect(place.tool('write_file').renderText(shown)).toContain('[60 lines that had not been read would go]');
  const done = await place.data('write_file', params);
  expect(done).toMatchObject({unread_lines_replaced: 60, undo_step: 3, removed: 62});
  expect(asked).toEqual(['write_file README.md (1 byte, replaces 60 unread lines)']);
  expect(place.tool('write_file').renderText(done)).toBe(
    'README.md: line 1 · +1 −62 · 1 byte · step 3\n[60 lines that had not been read went; undo with step=3 brings them back]',
  );
  await place.data('undo', {step: 3});
  expect(readFileSync(join(place.root, 'README.md'), 'utf8')).toBe(NUMBERS);
});

test('W5: lines that were read, in whatever parts, or written, or that stay, are none of them', async () => {
  const place = await callWorkspaceTools({
    'a.txt': NUMBERS,
    'b.txt': NUMBERS,
    'c.txt': NUMBERS,
    'd.txt': NUMBERS,
  });
  const write = async (path: string, content: string) =>
    (await place.data('write_file', {path, content}))['unread_lines_replaced'] ?? 0;
  await place.data('read_file', {path: 'a.txt'});
  expect(await write('a.txt', 'x\n')).toBe(0);
  expect(await write('a.txt', 'y\n')).toBe(0);
  await place.data('read_file', {path: 'b.txt', start_line: 31});
  await place.data('read_file', {path: 'b.txt', start_line: 1, end_line: 29});
  expect(await write('b.txt', NUMBERS.replace('line 30\n', ''))).toBe(1);
  // The lines after an edit of one's own are those that were read before it.
  await place.data('read_file', {path: 'c.txt', start_line: 10, end_line: 12});
  await place.data('str_replace', {
    path: 'c.txt',
    old_string: 'line 11\n',
    new_string: 'eleven\n11 b\n11 c\n',
  });
  expect(await write('c.txt', NUMBERS.replace('line 10\nline 11\nline 12\n', ''))).toBe(0);
  // What was written whole is known whole.
  expect(await write('c.txt', 'x\n')).toBe(0);
  await place.data('read_file', {path: 'd.txt', start_line: 1, end_line: 1});
  await place.data('move_file', {from: 'd.txt', to: 'e.txt'});
  expect(await write('e.txt', NUMBERS.replace('line 1\nline 2\n', ''))).toBe(1);
});

test('W5: seen lines follow any change, and none is seen that was not', () => {
  const line = fc.constantFrom('a\n', 'b\n', 'c\n', 'd\n', '\n');
  const text = fc.array(line, {maxLength: 12});
  fc.assert(
    fc.property(
      text,
      text,
      fc.array(fc.tuple(fc.nat(12), fc.nat(5)), {maxLength: 4}),
      (before, after, starts) => {
        const ranges = starts.map(
          ([start, length]): LineRange => [start + 1, Math.min(start + length, before.length)],
        );
        const seen = joinSeen(ranges, []);
        const isSeen = (lines: typeof seen, at: number): boolean =>
          lines === 'all' || lines.some(([first, last]) => at >= first && at <= last);
        const edits = atOnce(
          lineEdits(byteString(Buffer.from(before.join(''))), byteString(Buffer.from(after.join('')))),
        );
        const now = seenAfter(seen, edits);
        const gone = new Set(
          edits.flatMap(({oldStart, oldCount}) =>
            Array.from({length: oldCount}, (_, at) => oldStart + at + 1),
          ),
        );
        const fresh = new Set(
          edits.flatMap(({newStart, newCount}) =>
            Array.from({length: newCount}, (_, at) => newStart + at + 1),
          ),
        );
        expect(countUnseen(seen, edits)).toBe([...gone].filter(at => !isSeen(seen, at)).length);
        const stayed = before.flatMap((_, at) => (gone.has(at + 1) ? [] : [isSeen(seen, at + 1)]));
        const kept = after.flatMap((_, at) => (fresh.has(at + 1) ? [] : [isSeen(now, at + 1)]));
        expect(kept).toEqual(stayed);
        expect([...fresh].every(at => isSeen(now, at))).toBe(true);
      },
    ),
  );
});

test('W6: what was seen is carried on in one pass over ranges and edits', () => {
  let asked = 0;
  const counted = <Item>(items: Item[]): Item[] =>
    new Proxy(items, {
      get: (list, name) => {
        if (typeof name === 'string' && /^\d+$/.test(name)) asked += 1;
        return Reflect.get(list, name) as unknown;
      },
    });
  const costOf = (size: number): number => {
    asked = 0;
    // Every third line was seen, and every fourth is replaced.
    const seen = counted(Array.from({length: size}, (_, at): [number, number] => [3 * at + 1, 3 * at + 1]));
    const edits = counted(
      Array.from({length: size}, (_, at) => ({oldStart: 4 * at, oldCount: 1, newStart: 4 * at, newCount: 1})),
    );
    countUnseen(seen, edits);
    seenAfter(seen, edits);
    return asked;
  };
  const few = costOf(1_000);
  expect(few).toBeLessThan(20_000);
  expect(costOf(16_000)).toBeLessThan(17 * few);
});
