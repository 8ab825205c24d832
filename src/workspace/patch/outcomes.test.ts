import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {callWorkspaceTools} from '../../../test/support/call-workspace-tools.ts';
import {describeParsed} from '../../../test/support/describe-parsed.ts';
import {codeOf, unwrap} from '../../../test/support/outcome.ts';
import {needs} from '../../../test/support/parts.ts';
import {atOnce, LINES_A_TURN} from '../open-file.ts';
import {beginPatchAt, parseBeginPatch} from './begin-patch.ts';
import {parsePatch} from './parse-patch.ts';
import {planPatch} from './plan-patch.ts';

type Case = readonly [name: string, patch: string, outcome: readonly string[]];

test.each<Case>(
  // biome-ignore format: a case is a line
  [
    ['everything', '*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@ def g():\n x\n-y\n+z\n*** Add File: c\n+one\n+\n*** Delete File: d\n*** Update File: e\n-two\n+TWO\n*** End of File\n*** End Patch\n', ['2 rename a => b', '4 @*  x\n|-y\n|+z\n', '8 create c -x', '8 @0 +one\n|+\n', '11 delete d whole', '12 modify e', '13 @* -two\n|+TWO\n']],
    ['blanks behind its lines', '*** Begin Patch \t\n*** Delete File: x \t\n*** End Patch  \n', ['2 delete x whole']],
    ['CR behind its lines', '*** Begin Patch\r\n*** Delete File: x\r\n*** End Patch\r\n', ['2 delete x whole']],
    ['CR behind some lines', '*** Begin Patch\n*** Delete File: x\r\n*** End Patch\n', ['2 delete x whole']],
    ['blanks before a name', '*** Begin Patch\n*** Delete File: \t x\n*** End Patch\n', ['2 delete x whole']],
    ['words around', 'Here:\n\n*** Begin Patch\n*** Delete File: x\n*** End Patch\nwords\n', ['4 delete x whole']],
    ['behind a diff', '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n*** Begin Patch\n*** Delete File: x\n*** End Patch\n', ['6: this form needs a "*** Begin Patch" line before it and an "*** End Patch" line behind it; only unified diffs are applied']],
    ['behind a git line', 'diff --git a/x b/x\n*** Begin Patch\n*** Delete File: x\n*** End Patch\n', ['1: the section has no hunks, so it changes nothing', '2: this form needs a "*** Begin Patch" line before it and an "*** End Patch" line behind it; only unified diffs are applied']],
    ['cut off', '*** Begin Patch\n*** Delete File: x\n', ['2: the "*** End Patch" line is missing, so something may be cut off']],
    ['cut off in a hunk', '*** Begin Patch\n*** Update File: x\n@@\n-a\n+b', ['5: the "*** End Patch" line is missing, so something may be cut off']],
    ['only its beginning', '*** Begin Patch', ['1: the "*** End Patch" line is missing, so something may be cut off']],
    ['behind its end *** Delete File: y', '*** Begin Patch\n*** Delete File: x\n*** End Patch\n\n*** Delete File: y\n*** Delete File: y\n', ['5: it stands behind the "*** End Patch" line; put everything before it']],
    ['behind its end --- a/x', '*** Begin Patch\n*** Delete File: x\n*** End Patch\n\n--- a/x\n--- a/x\n', ['5: it stands behind the "*** End Patch" line; put everything before it']],
    ['behind its end diff --git a/x b/x', '*** Begin Patch\n*** Delete File: x\n*** End Patch\n\ndiff --git a/x b/x\ndiff --git a/x b/x\n', ['5: it stands behind the "*** End Patch" line; put everything before it']],
    ['behind its end words', '*** Begin Patch\n*** Delete File: x\n*** End Patch\n\nwords\nwords\n', ['2 delete x whole']],
    ['behind its end ***', '*** Begin Patch\n*** Delete File: x\n*** End Patch\n\n***\n***\n', ['2 delete x whole']],
    ['behind its end ---x', '*** Begin Patch\n*** Delete File: x\n*** End Patch\n\n---x\n---x\n', ['2 delete x whole']],
    ['empty', '*** Begin Patch\n*** End Patch\n', ['1: the text is not a unified diff']],
    ['blank lines alone', '*** Begin Patch\n\n  \n*** End Patch\n', ['1: the text is not a unified diff']],
    ['an unknown header', '*** Begin Patch\n*** Rename File: a\n*** Delete File: x\n*** End Patch\n', ['2: "*** Rename File: a" is not one of "*** Add File: PATH", "*** Update File: PATH" and "*** Delete File: PATH"']],
    ['words between', '*** Begin Patch\nwords\n*** Delete File: x\n*** End Patch\n', ['2: "words" is not one of "*** Add File: PATH", "*** Update File: PATH" and "*** Delete File: PATH"']],
    ['no path', '*** Begin Patch\n*** Delete File: \n*** End Patch\n', ['2: the file name is missing']],
    ['a NUL in a path', '*** Begin Patch\n*** Delete File: a\u0000\n*** End Patch\n', ['2: the file name contains a NUL character']],
    ['a quoted path', '*** Begin Patch\n*** Delete File: "a\\tb"\n*** End Patch\n', ['2 delete a\tb whole']],
    ['a line of nothing', '*** Begin Patch\n*** Update File: x\ndef f():\n-a\n*** End Patch\n', ['3: "def f():" begins with none of " ", "-" and "+"; a context line begins with a blank']],
    ['stars in a section', '*** Begin Patch\n*** Update File: x\n*** what\n-a\n*** End Patch\n', ['3: "*** what" begins with none of " ", "-" and "+"; a context line begins with a blank']],
    ['a section without hunks', '*** Begin Patch\n*** Update File: x\n*** End Patch\n', ['2: the section has no hunks, so it changes nothing']],
    ['a section with blank lines alone', '*** Begin Patch\n*** Update File: x\n\n\n*** Delete File: y\n*** End Patch\n', ['2: the section has no hunks, so it changes nothing']],
    ['a hunk that changes nothing', '*** Begin Patch\n*** Update File: x\n@@\n a\n@@\n-b\n*** End Patch\n', ['3: the hunk has no "-" and no "+" line, so it changes nothing; leave it out']],
    ['an anchor without lines', '*** Begin Patch\n*** Update File: x\n@@ class A\n@@ def f\n-a\n@@\n*** End Patch\n', ['2 modify x', '4 @* -a\n']],
    ['a blank line in a hunk', '*** Begin Patch\n*** Update File: x\n@@\n a\n\n-b\n+c\n\n@@\n-d\n*** End Patch\n', ['2 modify x', '3 @*  a\n| \n|-b\n|+c\n', '9 @* -d\n']],
    ['blank lines before a hunk', '*** Begin Patch\n*** Update File: x\n\n@@\n-b\n*** End Patch\n', ['2 modify x', '4 @* -b\n']],
    ['blank lines behind a hunk', '*** Begin Patch\n*** Update File: x\n-b\n\n\n*** Delete File: y\n*** End Patch\n', ['2 modify x', '3 @* -b\n', '6 delete y whole']],
    ['End of File with blanks', '*** Begin Patch\n*** Update File: x\n-b\n*** End of File  \n*** End Patch\n', ['2 modify x', '3 @* -b\n']],
    ['End of File in the middle', '*** Begin Patch\n*** Update File: x\n-b\n*** End of File\n@@\n-c\n*** End Patch\n', ['2 modify x', '3 @* -b\n', '5 @* -c\n']],
    ['a move without a change', '*** Begin Patch\n*** Update File: x\n*** Move to: y\n*** End Patch\n', ['2 rename x => y']],
    ['a move to itself', '*** Begin Patch\n*** Update File: x\n*** Move to: x\n-a\n*** End Patch\n', ['2 modify x', '4 @* -a\n']],
    ['a move to itself without a change', '*** Begin Patch\n*** Update File: x\n*** Move to: x\n*** End Patch\n', ['2: the section has no hunks, so it changes nothing']],
    ['a move to nothing', '*** Begin Patch\n*** Update File: x\n*** Move to: \n-a\n*** End Patch\n', ['3: the file name is missing']],
    ['a move behind lines', '*** Begin Patch\n*** Update File: x\n-a\n*** Move to: y\n*** End Patch\n', ['4: "*** Move to: y" begins with none of " ", "-" and "+"; a context line begins with a blank']],
    ['blanks before the name of a move', '*** Begin Patch\n*** Update File: x\n*** Move to: \t y \t\n*** End Patch\n', ['2 rename x => y']],
    ['a new file', '*** Begin Patch\n*** Add File: x\n+a\n\n\n*** Delete File: y\n*** End Patch\n', ['2 create x -x', '2 @0 +a\n', '6 delete y whole']],
    ['an empty new file', '*** Begin Patch\n*** Add File: x\n*** End Patch\n', ['2 create x -x']],
    ['a new file without +', '*** Begin Patch\n*** Add File: x\n+a\nb\n+c\n*** End Patch\n', ['4: each line of a new file begins with "+"']],
    ['a blank line of a new file without +', '*** Begin Patch\n*** Add File: x\n+a\n\n+c\n*** End Patch\n', ['4: each line of a new file begins with "+"']],
    ['a deletion with lines', '*** Begin Patch\n*** Delete File: x\n-a\n*** End Patch\n', ['3: a deletion has no lines']],
    ['a deletion with blank lines', '*** Begin Patch\n*** Delete File: x\n\n\n*** Delete File: y\n*** End Patch\n', ['2 delete x whole', '5 delete y whole']],
    ['what looks like its end in content', '*** Begin Patch\n*** Update File: x\n-*** End Patch\n+*** Add File: y\n*** End Patch\n', ['2 modify x', '3 @* -*** End Patch\n|+*** Add File: y\n']],
    ['its end with words', '*** Begin Patch\n*** Delete File: x\n*** End Patch now\n', ['3: a deletion has no lines', '3: the "*** End Patch" line is missing, so something may be cut off']],
    ['bytes that are no blanks at the end of a name', '*** Begin Patch\n*** Delete File: voilà\n*** End Patch\n', ['2 delete voilà whole']],
    ['a CR within a name', '*** Begin Patch\n*** Delete File: x\ry\n*** Update File: x\n*** Move to: y\rz\n-a\n+b\n*** End Patch\n', ['2: "*** Delete File: x\\ry" is not one of "*** Add File: PATH", "*** Update File: PATH" and "*** Delete File: PATH"', '4: "*** Move to: y\\rz" begins with none of " ", "-" and "+"; a context line begins with a blank']],
    ['what looks like a move in a line that stays', '*** Begin Patch\n*** Update File: x\n *** Move to: y\n-a\n+b\n*** End Patch\n', ['2 modify x', '3 @*  *** Move to: y\n|-a\n|+b\n']],
  ],
)('W7: the whole outcome of a Begin Patch: %s', (_, patch, outcome) => {
  expect(describeParsed(patch)).toEqual(outcome);
});

test('policy: a section that cannot be read is none', () => {
  const problems: number[] = [];
  const lines = ['*** Begin Patch', '*** Update File: x', 'word', '*** Delete File: y', '*** End Patch'];
  const sections = atOnce(parseBeginPatch(lines, 0, line => problems.push(line)));
  expect([sections.map(({path}) => path), problems]).toEqual([['y'], [3]]);
});

test('review R12: others have their turns while the beginning of a Begin Patch is looked for', () => {
  const search = (lines: number) => beginPatchAt(Array.from({length: lines}, () => 'x'));
  expect(search(LINES_A_TURN).next()).toEqual({done: false, value: undefined});
  expect(search(LINES_A_TURN - 1).next()).toEqual({done: true, value: undefined});
});

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

  test(
    'W15: one that only adds lines is put at the line it states where the file was read and is unchanged',
    needs('GNU patch'),
    async () => {
      const place = await callWorkspaceTools({f: 'one\ntwo\nthree\n'});
      const refused = await place.call('apply_patch', {unified_diff: insertion});
      expect(refused.error).toMatchObject({error_type: 'patch_hunk_fail'});
      expect(refused.error?.message).toContain('read the file first');
      await place.data('read_file', {path: 'f'});
      expect(await place.data('apply_patch', {unified_diff: insertion})).toMatchObject({
        cross_check: 'agrees',
      });
      expect((await place.data('read_file', {path: 'f'}))['content']).toBe(
        'one\ntwo\ntwo and a half\nthree\n',
      );
    },
  );

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
