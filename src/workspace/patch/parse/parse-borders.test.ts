import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {callWorkspaceTools} from '../../../../test/support/call-workspace-tools.ts';
import {codeOf, unwrap} from '../../../../test/support/outcome.ts';
import {planPatch} from '../plan-patch.ts';
import {parsePatch} from './parse-patch.ts';

describe('where one section ends', () => {
  test('W7: a hunk whose two counts are one too large does not swallow the names of the next file', () => {
    const patch =
      '--- a/one\n+++ b/one\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n--- a/two\n+++ b/two\n@@ -1 +1 @@\n-x\n+y\n';
    const {sections, recounted} = unwrap(parsePatch(patch));
    expect(sections.map(({path}) => path)).toEqual(['one', 'two']);
    expect(recounted).toBe(1);
  });

  test('W7: in the format of git the same lines are content, as the counts say', () => {
    const patch =
      'diff --git a/one b/one\n--- a/one\n+++ b/one\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n--- a/two\n+++ b/two\n@@ -9 +9 @@\n-x\n+y\n';
    const {sections} = unwrap(parsePatch(patch));
    expect(sections.map(({path}) => path)).toEqual(['one']);
    expect(sections[0]?.hunks[0]?.lines.map(({text}) => text)).toContain('-- a/two\n');
  });

  test.each([
    [
      'after another rename',
      'diff --git a/a b/b\nrename from a\nrename to b\nrename from c\nrename to d\n',
      4,
    ],
    ['after a change', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\nrename from c\nrename to d\n', 6],
    ['after text', 'Here it is:\nrename from c\nrename to d\n', 2],
  ])(
    'policy: a rename without its own "diff --git" line (%s) is blamed on its own line',
    (_, patch, line) => {
      const refused = parsePatch(patch);
      expect(codeOf(refused)).toBe('patch_parse_error');
      expect(refused.ok || refused.error.details).toMatchObject({line});
      expect(refused.ok || refused.error.message).toContain('"diff --git a/OLD b/NEW"');
    },
  );
});

describe('ruling W15: hunks without context', () => {
  const insertion = '--- a/f\n+++ b/f\n@@ -2,0 +3 @@\n+two and a half\n';

  test('W15: one that only adds lines is put at the line it states where the file was read and is unchanged', async () => {
    const place = await callWorkspaceTools({f: 'one\ntwo\nthree\n'});
    const refused = await place.call('apply_patch', {unified_diff: insertion});
    expect(refused.error).toMatchObject({error_type: 'patch_hunk_fail'});
    expect(refused.error?.message).toContain('read the file first');
    await place.data('read_file', {path: 'f'});
    expect(await place.data('apply_patch', {unified_diff: insertion})).toMatchObject({cross_check: 'agrees'});
    expect((await place.data('read_file', {path: 'f'}))['content']).toBe('one\ntwo\ntwo and a half\nthree\n');
  });

  test('W15: a file that is not as it was read has other line numbers, until it is read again', async () => {
    const place = await callWorkspaceTools({f: 'x\n}\ny\n}\nz\n}\n'});
    await place.data('read_file', {path: 'f'});
    writeFileSync(join(place.root, 'f'), 'new\nnew\nx\n}\ny\n}\nz\n}\n');
    const unified_diff = '--- a/f\n+++ b/f\n@@ -4 +4,2 @@\n }\n+added\n';
    const {error} = await place.call('apply_patch', {unified_diff});
    expect(error).toMatchObject({error_type: 'patch_hunk_fail'});
    expect(error?.message).toContain('changed since it was read, so its line numbers do not count');
    await place.data('read_file', {path: 'f'});
    expect(await place.code('apply_patch', {unified_diff})).toBe('ok');
  });

  test('W15: the numbers are meant for what was known when the call came, whatever the session learned since', async () => {
    const {session, ...place} = await callWorkspaceTools({f: 'one\ntwo\nthree\n'});
    await place.data('read_file', {path: 'f'});
    const sent = session.tracker.snapshot();
    await place.data('str_replace', {path: 'f', old_string: 'one', new_string: 'zero\none'});
    const plan = (tracker: typeof sent) => planPatch(session.workspace, insertion, {tracker}).then(codeOf);
    expect([await plan(sent), await plan(session.tracker)]).toEqual(['patch_hunk_fail', 'ok']);
  });

  test('W15: not where an earlier hunk or section has moved the lines', async () => {
    const place = await callWorkspaceTools({f: 'one\ntwo\nthree\nfour\n'});
    await place.data('read_file', {path: 'f'});
    const moved = '--- a/f\n+++ b/f\n@@ -9 +9 @@\n-one\n+1\n@@ -2,0 +3 @@\n+x\n';
    expect(await place.code('apply_patch', {unified_diff: moved})).toBe('patch_hunk_fail');
    const twice = `--- a/f\n+++ b/f\n@@ -1 +0,0 @@\n-one\n${insertion}`;
    expect(await place.code('apply_patch', {unified_diff: twice})).toBe('patch_hunk_fail');
    expect(await place.code('apply_patch', {unified_diff: insertion.replace('-2,0 +3', '-9,0 +10')})).toBe(
      'patch_hunk_fail',
    );
  });
});
