import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {type CallableWorkspace, callWorkspaceTools} from '../../../test/support/call-workspace-tools.ts';
import {writeFiles} from '../../../test/support/open-test-workspace.ts';
import {codeOf, unwrap} from '../../../test/support/outcome.ts';
import {contentHash} from '../../workspace/open-file.ts';
import {undoStep} from './undo-step.ts';

const FILES = {'a.txt': 'one\r\ntwo', 'old/b.sh': '#!/bin/sh\n', 'c.txt': 'c\n'};

/** Path → content, and mode where it is executable. */
function snapshot(root: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const name of readdirSync(root, {recursive: true, encoding: 'utf8'}).sort()) {
    const stat = statSync(join(root, name));
    if (stat.isFile())
      files[name] = `${stat.mode & 0o100 ? 'x ' : ''}${readFileSync(join(root, name), 'latin1')}`;
  }
  return files;
}

const undo = ({session, runDirectory}: CallableWorkspace, step: number) =>
  undoStep(session, runDirectory, step);

describe('undo-step', () => {
  test('ruling W7: takes back each kind of change, byte for byte', async () => {
    const place = await callWorkspaceTools(FILES);
    chmodSync(join(place.root, 'old/b.sh'), 0o755);
    const states = [snapshot(place.root)];
    const step = async (tool: string, params: Parameters<CallableWorkspace['data']>[1]): Promise<void> => {
      await place.data(tool, params);
      states.push(snapshot(place.root));
    };
    await step('read_file', {path: 'a.txt'});
    await step('str_replace', {path: 'a.txt', old_string: 'two', new_string: 'two\r\nthree'});
    await step('write_file', {path: 'new/d/e.txt', content: 'e'});
    await step('write_file', {path: 'a.txt', content: ''});
    await step('apply_patch', {
      unified_diff:
        'diff --git a/old/b.sh b/new/b.sh\nrename from old/b.sh\nrename to new/b.sh\nold mode 100755\nnew mode 100644\n' +
        'diff --git a/c.txt b/c.txt\ndeleted file mode 100644\n--- a/c.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-c\n--- /dev/null\n+++ b/f.txt\n@@ -0,0 +1 @@\n+f\n',
    });
    for (let number = 5; number >= 2; number -= 1) {
      expect(unwrap(await undo(place, number)).step).toBe(number);
      expect(snapshot(place.root)).toEqual(states[number - 1]);
    }
    expect(existsSync(join(place.root, 'new'))).toBe(false);
    expect(existsSync(join(place.root, 'old'))).toBe(true);
  });

  test('refuses a step whose files changed since, and touches none of them', async () => {
    const place = await callWorkspaceTools(FILES);
    await place.data('apply_patch', {
      unified_diff:
        '--- a/c.txt\n+++ b/c.txt\n@@ -1 +1 @@\n-c\n+C\n--- a/old/b.sh\n+++ b/old/b.sh\n@@ -1 +1 @@\n-#!/bin/sh\n+#!/bin/bash\n',
    });
    writeFileSync(join(place.root, 'c.txt'), 'D\n');
    const before = snapshot(place.root);
    const refused = await undo(place, 1);
    expect(codeOf(refused)).toBe('stale_read');
    expect(refused.ok || refused.error.message).toContain('"c.txt"');
    expect(snapshot(place.root)).toEqual(before);
  });

  test('touches only what the step wrote', async () => {
    const place = await callWorkspaceTools(FILES);
    await place.data('write_file', {path: 'n', content: 'n'});
    await place.data('read_file', {path: 'c.txt'});
    await place.data('str_replace', {path: 'c.txt', old_string: 'c', new_string: 'C'});
    expect(unwrap(await undo(place, 1)).restored_files).toEqual(['n']);
    expect(readFileSync(join(place.root, 'c.txt'), 'utf8')).toBe('C\n');
  });

  test('refuses to undo twice, and a step that changed nothing', async () => {
    const place = await callWorkspaceTools(FILES);
    await place.data('write_file', {path: 'n', content: 'n'});
    await place.data('read_file', {path: 'c.txt'});
    expect(codeOf(await undo(place, 1))).toBe('ok');
    expect(codeOf(await undo(place, 1))).toBe('stale_read');
    expect(codeOf(await undo(place, 2))).toBe('file_not_found');
    expect(codeOf(await undo(place, 99))).toBe('file_not_found');
  });

  test('a record that was damaged undoes nothing', async () => {
    const place = await callWorkspaceTools(FILES);
    await place.data('write_file', {path: 'n', content: 'n'});
    writeFileSync(join(place.runDirectory, 'diffs/step_0001.undo.json'), '{');
    expect(codeOf(await undo(place, 1))).toBe('io_error');
    writeFileSync(
      join(place.runDirectory, 'diffs/step_0001.undo.json'),
      JSON.stringify({version: 2, files: [{path: '../x', before: null, after: null}]}),
    );
    expect(codeOf(await undo(place, 1))).toBe('path_escape');
  });

  test('ruling W1: a link in the place of a file is not followed', async () => {
    const place = await callWorkspaceTools(FILES);
    await place.data('write_file', {path: 'd/n', content: 'n'});
    mkdirSync(join(place.outside, 'd'));
    writeFileSync(join(place.outside, 'd/n'), 'n');
    rmSync(join(place.root, 'd'), {recursive: true});
    symlinkSync(join(place.outside, 'd'), join(place.root, 'd'));
    expect(codeOf(await undo(place, 1))).toBe('symlink_blocked');
    expect(existsSync(join(place.outside, 'd/n'))).toBe(true);
  });

  test('ruling W6: an undone file has to be read again', async () => {
    const place = await callWorkspaceTools(FILES);
    await place.data('read_file', {path: 'c.txt'});
    await place.data('write_file', {path: 'c.txt', content: 'C'});
    await undo(place, 2);
    expect(await place.code('str_replace', {path: 'c.txt', old_string: 'c', new_string: 'x'})).toBe(
      'not_read',
    );
  });

  test('ruling W7: undoing what write_file did gives the bytes that were there', {tags: 'slow'}, async () => {
    const text = fc.string({unit: fc.constantFrom('a', '\n', '\r\n', '\u00e9', '\u{1f600}', '\ufeff', ' ')});
    await fc.assert(
      fc.asyncProperty(text, text, async (before, after) => {
        const place = await callWorkspaceTools({});
        writeFiles(place.root, {f: before});
        await place.data('read_file', {path: 'f'});
        await place.data('write_file', {path: 'f', content: after});
        const read = () => readFileSync(join(place.root, 'f'), 'utf8');
        // W13: where the line endings are all that differs, nothing was written.
        if (read() !== before) unwrap(await undo(place, 2));
        expect(read()).toBe(before);
      }),
      {numRuns: 25},
    );
  });

  test('W19: undoing a deletion restores mode 0600, and owner where root does it', async () => {
    const place = await callWorkspaceTools({'secret.env': 'KEY=1\n'});
    const path = join(place.root, 'secret.env');
    chmodSync(path, 0o600);
    if (process.getuid?.() === 0) chownSync(path, 1000, 1001);
    const before = statSync(path);
    await place.data('apply_patch', {
      unified_diff: '--- a/secret.env\n+++ /dev/null\n@@ -1 +0,0 @@\n-KEY=1\n',
    });
    expect(existsSync(path)).toBe(false);
    unwrap(await undo(place, 1));
    const {mode, uid, gid} = statSync(path);
    expect([mode, uid, gid]).toEqual([before.mode, before.uid, before.gid]);
    expect(statSync(join(place.runDirectory, 'old', contentHash(Buffer.from('KEY=1\n')))).mode & 0o777).toBe(
      0o600,
    );
  });

  test('W19: a write of 30 MB is undone', {tags: 'stress'}, async () => {
    const old = 'an old line\n'.repeat(2_500_000);
    const place = await callWorkspaceTools({'big.txt': old});
    await place.data('read_file', {path: 'big.txt', start_line: 1, end_line: 1});
    await place.data('write_file', {path: 'big.txt', content: 'a new line!\n'.repeat(2_500_000)});
    unwrap(await undo(place, 2));
    expect(readFileSync(join(place.root, 'big.txt'), 'latin1') === old).toBe(true);
  });

  test('review R18: what is appended to the patch for people changes nothing', async () => {
    const place = await callWorkspaceTools(FILES);
    await place.data('write_file', {path: 'n', content: 'n'});
    appendFileSync(
      join(place.runDirectory, 'diffs/step_0001.undo.patch'),
      '--- a/c.txt\n+++ b/c.txt\n@@ -1 +1 @@\n-c\n+planted\n',
    );
    expect(unwrap(await undo(place, 1)).restored_files).toEqual(['n']);
    expect(snapshot(place.root)).toEqual({
      'a.txt': FILES['a.txt'],
      'c.txt': 'c\n',
      'old/b.sh': '#!/bin/sh\n',
    });
  });

  test('review R18: old bytes and a record that are not what the log vouches for are not used', async () => {
    const place = await callWorkspaceTools(FILES);
    await place.data('read_file', {path: 'c.txt'});
    await place.data('write_file', {path: 'c.txt', content: 'C\n'});
    const [applied] = (await place.runtime.events()).filter(({event}) => event === 'PATCH_APPLIED');
    const recordHash = String(applied?.payload['undo_record_sha256']);
    const record = join(place.runDirectory, 'diffs/step_0002.undo.json');
    const written = readFileSync(record, 'utf8');
    const planted = contentHash(Buffer.from('planted'));
    writeFileSync(join(place.runDirectory, 'old', planted), 'planted');
    writeFileSync(record, written.replace(/"sha256":"[0-9a-f]{64}"/, `"sha256":"${planted}"`));
    expect(codeOf(await undoStep(place.session, place.runDirectory, 2, {recordHash}))).toBe('io_error');
    writeFileSync(record, written);
    writeFileSync(join(place.runDirectory, 'old', contentHash(Buffer.from('c\n'))), 'planted');
    expect(codeOf(await undoStep(place.session, place.runDirectory, 2, {recordHash}))).toBe('io_error');
    expect(readFileSync(join(place.root, 'c.txt'), 'utf8')).toBe('C\n');
    writeFileSync(join(place.runDirectory, 'old', contentHash(Buffer.from('c\n'))), 'c\n');
    expect(codeOf(await undoStep(place.session, place.runDirectory, 2, {recordHash}))).toBe('ok');
  });

  test('W19: undo goes through the same commit: of it and an edit at the same time, no success is lost', async () => {
    const place = await callWorkspaceTools({'f.txt': 'one\ntwo\n'});
    await place.data('read_file', {path: 'f.txt'});
    await place.data('str_replace', {path: 'f.txt', old_string: 'one', new_string: '1'});
    const [undone, edited] = await Promise.all([
      undo(place, 2).then(codeOf),
      place.code('str_replace', {path: 'f.txt', old_string: 'two', new_string: '2'}),
    ]);
    const expected = {'ok,stale_read': 'one\ntwo\n', 'stale_read,ok': '1\n2\n', 'ok,not_read': 'one\ntwo\n'};
    expect(Object.keys(expected)).toContain(`${undone},${edited}`);
    expect(readFileSync(join(place.root, 'f.txt'), 'utf8')).toBe(
      expected[`${undone},${edited}` as keyof typeof expected],
    );
  });
});
