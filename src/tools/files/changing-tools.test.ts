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
import {describe, expect, test, vi} from 'vitest';
import {type CallableWorkspace, callWorkspaceTools} from '../../../test/support/call-workspace-tools.ts';
import {ok} from '../../core/result.ts';

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
    expect(place.tool('str_replace').renderText(done)).toMatch(
      /^src\/main\.py \| \+1 -1\n(?:.|\n)*- {4}return a - b\n\+ {4}return a \+ b\n/,
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
      dry_run: false,
    });
    expect(read(place, 'a/b/c.txt')).toBe('x\n');
    expect(place.tool('write_file').renderText(done)).toBe('a/b/c.txt | +1 -0 (new file, 2 bytes)');
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

  test('ruling W7: GNU patch is started by Node for the first patch of a session, and by a small process from then on', async () => {
    const place = await callWorkspaceTools({'b.txt': 'one\n'});
    const started = vi.spyOn(place.session.processes, 'run');
    const offered = vi.spyOn(place.session.patchServer ?? fail(), 'offer');
    for (const [from, to] of [
      ['one', 'two'],
      ['two', 'three'],
      ['three', 'four'],
    ] as const)
      expect(await place.data('apply_patch', hunk(from, to))).toMatchObject({cross_check: 'agrees'});
    expect(read(place, 'b.txt')).toBe('four\n');
    expect(started).toHaveBeenCalledTimes(1);
    expect(offered.mock.results.map(({value}) => value !== undefined)).toEqual([false, true, true]);
  });

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
    const {offer} = server;
    let isHeard = false;
    vi.spyOn(server, 'offer').mockImplementation(signal => {
      const ask = offer.call(server, signal) ?? fail();
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

  test('Tool API: its own example works', async () => {
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
      '1 file\nsrc/main.py | +1 -1\n[wrong line counts were corrected in 1 hunk header]',
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
      signal: new AbortController().signal,
      sessionSignal: new AbortController().signal,
      maxOutputBytes: 100_000,
      availableCapacityBytes: 100_000,
      allowTruncation: true,
      log: () => {},
      emit: async () => {},
      saveArtifact: runtime.session.directory.saveArtifact,
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
