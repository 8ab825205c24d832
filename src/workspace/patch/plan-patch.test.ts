import {execFileSync, spawnSync} from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {dirname, join} from 'node:path';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {type CommittedPatch, commitForTest} from '../../../test/support/commit-for-test.ts';
import {needs} from '../../../test/support/parts.ts';
import {pretendDeadline} from '../../../test/support/pretend-deadline.ts';
import {runPatch} from '../../../test/support/run-patch.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import {type Failure, fail, type Result} from '../../core/result.ts';
import type {ChangeOptions} from '../change/change-workspace.ts';
import {openWorkspace, type Workspace} from '../jail/jail.ts';
import type {RunPatch} from './cross-check.ts';
import {type PatchPlan, planPatch} from './plan-patch.ts';

type Content = string | Uint8Array;

interface Place {
  readonly root: string;
  readonly workspace: Workspace;
  readonly journal: ChangeOptions;
  readonly plan: (patch: Content) => Promise<Result<PatchPlan>>;
  readonly apply: (patch: Content) => Promise<Result<CommittedPatch>>;
  /** Path → content, one character a byte; `+x` behind the name of what is executable. */
  readonly files: () => Record<string, string>;
}

function value<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.value;
}

function failure(result: Result<unknown>): Failure {
  if (result.ok) throw new Error('Expected a failure');
  return result.error;
}

async function place(files: Readonly<Record<string, Content>> = {}): Promise<Place> {
  const base = temporaryDirectory();
  const root = join(base, 'work');
  mkdirSync(root);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), {recursive: true});
    writeFileSync(join(root, path), content);
  }
  const workspace = value(openWorkspace(root));
  const journal = {directory: join(base, 'journal'), clock: systemClock};
  const plan = (patch: Content) =>
    planPatch(workspace, patch, {crossCheck: {run: runPatch, directory: join(base, 'stage')}});
  return {
    root,
    workspace,
    journal,
    plan,
    apply: async patch => {
      const planned = await plan(patch);
      return planned.ok ? commitForTest(workspace, planned.value, journal) : planned;
    },
    files: () => snapshot(root),
  };
}

function snapshot(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(root, {recursive: true, withFileTypes: true})) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const executable = (statSync(path).mode & 0o100) !== 0;
    found[path.slice(root.length + 1) + (executable ? '+x' : '')] = readFileSync(path, 'latin1');
  }
  return found;
}

const diff = (path: string, body: string): string => `--- a/${path}\n+++ b/${path}\n${body}`;

describe('apply_patch', () => {
  test('ruling W7: the example of the Tool API', needs('GNU patch'), async () => {
    const {apply, files} = await place({
      'src/main.py': 'def add(a, b):\n    return a - b\n\n\nprint(add(1, 2))\n',
    });
    const patch = diff(
      'src/main.py',
      '@@ -1,4 +1,4 @@\n def add(a, b):\n-    return a - b\n+    return a + b\n',
    );
    const applied = value(await apply(patch));
    expect(applied).toMatchObject({
      changed_files: ['src/main.py'],
      patch_size_bytes: Buffer.byteLength(patch),
      recounted_hunks: 1,
      offsets: [],
      cross_check: 'agrees',
    });
    expect(files()).toEqual({'src/main.py': 'def add(a, b):\n    return a + b\n\n\nprint(add(1, 2))\n'});
  });

  test('ruling W7: a plan writes nothing, and shows the diff it will make', async () => {
    const {plan, files} = await place({x: 'a\n'});
    const planned = value(await plan(diff('x', '@@ -1 +1 @@\n-a\n+b\n')));
    expect(planned.diff).toBe('diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n');
    expect(planned.stat).toEqual({
      files: [{path: 'x', added: 1, removed: 1, lines: [[1, 1]]}],
      added: 1,
      removed: 1,
    });
    expect(files()).toEqual({x: 'a\n'});
  });

  test('ruling W7: creation, deletion, rename and the executable bit, and back again', async () => {
    const before = {'gone/old.txt': 'x\ny\n', p: 'a\nb\n', tool: '#!\n', same: 's\n'};
    const {apply, files, root} = await place(before);
    const applied = value(
      await apply(`diff --git a/new/deep/run.sh b/new/deep/run.sh
new file mode 100755
--- /dev/null
+++ b/new/deep/run.sh
@@ -0,0 +1 @@
+echo
diff --git a/empty b/empty
new file mode 100644
diff --git a/gone/old.txt b/gone/old.txt
deleted file mode 100644
--- a/gone/old.txt
+++ /dev/null
@@ -1,2 +0,0 @@
-x
-y
diff --git a/p b/q r
rename from p
rename to q r
--- a/p
+++ b/q r\t
@@ -1,2 +1,2 @@
 a
-b
+c
diff --git a/tool b/tool
old mode 100644
new mode 100755
`),
    );
    expect(applied.changed_files).toEqual(['empty', 'gone/old.txt', 'new/deep/run.sh', 'p', 'q r', 'tool']);
    const after = {'new/deep/run.sh+x': 'echo\n', empty: '', 'q r': 'a\nc\n', 'tool+x': '#!\n', same: 's\n'};
    expect(files()).toEqual(after);
    // As git does: the directory went with its last file.
    expect(readdirSync(root)).not.toContain('gone');
    const again = value(await apply(applied.undo));
    expect(files()).toEqual(before);
    value(await apply(again.undo));
    expect(files()).toEqual(after);
  });

  test('policy: dependent sections see what earlier ones did', async () => {
    const {apply, files} = await place({x: '1\n2\n3\n', m: 'm\n'});
    value(
      await apply(
        [
          '--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+a\n+b\n',
          diff('new', '@@ -1,2 +1,2 @@\n a\n-b\n+c\n'),
          diff('x', '@@ -1,3 +1,4 @@\n 1\n+1a\n 2\n 3\n'),
          diff('x', '@@ -1,4 +1,4 @@\n 1\n-1a\n+1b\n 2\n 3\n'),
          'diff --git a/m b/n\nrename from m\nrename to n\n',
          `diff --git a/n b/n\n${diff('n', '@@ -1 +1 @@\n-m\n+n\n')}`,
          '--- /dev/null\n+++ b/m\n@@ -0,0 +1 @@\n+new m\n',
          '--- /dev/null\n+++ b/brief\n@@ -0,0 +1 @@\n+x\n--- a/brief\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n',
        ].join(''),
      ),
    );
    expect(files()).toEqual({new: 'a\nc\n', x: '1\n1b\n2\n3\n', n: 'n\n', m: 'new m\n'});
  });

  test('policy: untouched bytes stay: CRLF, BOM, no final newline, bytes that are not UTF-8', async () => {
    const binary = Buffer.from([0xff, 0xfe, 0, 0x0a, 0x61, 0x0a, 0x80]);
    const {apply, files} = await place({crlf: '\uFEFFa\r\nb\r\nc', mixed: 'a\r\nb\nc\n', binary});
    const applied = value(
      await apply(
        [
          diff('crlf', '@@ -1,3 +1,3 @@\n \uFEFFa\n-b\n+B\n c\n\\ No newline at end of file\n'),
          diff('mixed', '@@ -2,2 +2,2 @@\n b\n-c\n+C\n'),
          diff('binary', '@@ -2 +2 @@\n-a\n+A\n'),
        ].join(''),
      ),
    );
    expect(files()).toEqual({
      crlf: '\xEF\xBB\xBFa\r\nB\r\nc',
      mixed: 'a\r\nb\nC\n',
      binary: '\xff\xfe\0\nA\n\x80',
    });
    value(await apply(applied.undo));
    expect(files()['binary']).toBe(binary.toString('latin1'));
  });

  test('review R12: a plan that is late at any of its turns is late', async () => {
    const {workspace} = await place({x: 'x'.repeat(3_000_000)});
    const late = fail('timeout', 'Late.');
    const planned = (turns: number) => {
      let left = turns;
      const deadline = pretendDeadline({
        get spent() {
          left -= 1;
          return left < 0;
        },
        failure: () => late,
      });
      return planPatch(workspace, 'diff --git a/x b/y\nrename from x\nrename to y\n', {deadline});
    };
    let turns = 0;
    let plan = await planned(turns);
    for (; !plan.ok; plan = await planned(turns)) {
      expect(plan.error.code).toBe('timeout');
      turns += 1;
    }
    expect(turns).toBeGreaterThan(5);
    expect(plan.value).toMatchObject({changedFiles: ['x', 'y'], crossCheck: 'unavailable'});
  });

  test('policy: a hunk found once elsewhere is applied there, and that is reported', async () => {
    const {apply, files} = await place({x: 'new\nnew\na\nb\nc\nd\n'});
    const applied = value(await apply(diff('x', '@@ -1,2 +1,2 @@\n a\n-b\n+B\n@@ -4 +4 @@\n-d\n+D\n')));
    expect(applied.offsets).toEqual([
      {path: 'x', hunk: 1, line: 3, offset: 2},
      {path: 'x', hunk: 2, line: 6, offset: 2},
    ]);
    expect(files()['x']).toBe('new\nnew\na\nB\nc\nD\n');
  });

  test('policy: a number that fits, and fits as well as far off as another hunk is, is not trusted', async () => {
    const {apply} = await place({x: 'new\na\nb\nx\nx\nx\n'});
    const error = failure(await apply(diff('x', '@@ -1 +1 @@\n-a\n+A\n@@ -4 +4 @@\n-x\n+X\n')));
    expect(error.message).toContain(
      'at lines 4, 5, 6): the old lines occur more than once; another hunk is off by 1',
    );
  });

  test('policy: a deletion names the whole file', async () => {
    const {apply, files} = await place({x: 'a\nb\n'});
    const some = failure(await apply('--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n'));
    expect(some.message).toContain('leaves 1 of its lines');
    const none = failure(await apply('diff --git a/x b/x\ndeleted file mode 100644\n'));
    expect(none.message).toContain('leaves 2 of its lines');
    expect(files()).toEqual({x: 'a\nb\n'});
  });

  test('policy: a file that is deleted and created anew has the mode of the new one', async () => {
    const {apply, files, root} = await place({x: 'a\n'});
    chmodSync(join(root, 'x'), 0o755);
    value(
      await apply('--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n'),
    );
    expect(files()).toEqual({x: 'b\n'});
  });

  test('policy: a path cannot be a file and a directory', async () => {
    const {apply, files} = await place();
    const create = (path: string): string => `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;
    expect(failure(await apply(create('d/x') + create('d'))).message).toContain(
      'the patch has files below it',
    );
    expect(failure(await apply(create('d') + create('d/x'))).message).toContain('"d" is a file');
    expect(files()).toEqual({});
  });

  test('policy: a block that occurs twice is not guessed at', async () => {
    const {apply, files} = await place({x: 'z\na\nb\na\nb\n'});
    const error = failure(await apply(diff('x', '@@ -1,2 +1,2 @@\n a\n-b\n+B\n')));
    expect(error.code).toBe('patch_hunk_fail');
    expect(error.message).toContain('at lines 2, 4): the old lines occur more than once');
    // At the line it states it is not ambiguous.
    value(await apply(diff('x', '@@ -4,2 +4,2 @@\n a\n-b\n+B\n')));
    expect(files()['x']).toBe('z\na\nb\na\nB\n');
  });

  test.each(
    // biome-ignore format: a case is a line
    [
      ['an overlap', 'a\nb\nc\n', '@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -2,2 +2,2 @@\n b\n-c\n+C\n', 'before the end of an earlier hunk'],
      ['hunks in the wrong order', 'a\nb\nc\n', '@@ -3 +3 @@\n-c\n+C\n@@ -1 +1 @@\n-a\n+A\n', 'hunks go from top to bottom'],
      ['an addition without context', 'a\nb\n', '@@ -1,0 +2 @@\n+x\n', 'without context'],
      ['a file that is not empty', 'a\n', '@@ -0,0 +1 @@\n+x\n', 'without context'],
      ['an addition behind an unterminated line', 'a', '@@ -1,0 +2 @@\n+x\n', 'has no newline'],
      ['an unterminated line in the middle', 'a\nb\n', '@@ -1 +1 @@\n-a\n+x\n\\ No newline at end of file\n', 'ends at line 1): the last line should end the file'],
      ['a newline too much', 'a\nb', '@@ -1,2 +1,2 @@\n-a\n+A\n b\n', 'No newline at end of file'],
      ['white space', '\tif x:\n\t\ty\n', '@@ -1,2 +1,2 @@\n     if x:\n-        y\n+        z\n', 'differ in tabs against spaces'],
      ['mixed line endings', 'a\r\nb\nc\n', '@@ -1,2 +1,2 @@\n a\n-b\n+B\n', 'differ in line endings'],
      ['pasted line numbers', 'a\nb\n', '@@ -1,2 +1,2 @@\n 1|a\n-2|b\n+2|B\n', 'contain line numbers'],
      ['a change made before', 'a\nB\nc\n', '@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n', 'seems to be there already'],
      ['an empty file', '', '@@ -1 +1 @@\n-a\n+b\n', 'the file is empty'],
    ],
  )('policy: fuzz 0: %s', async (_, content, body, expected) => {
    const {apply, files} = await place({x: content});
    const error = failure(await apply(diff('x', body)));
    expect(error.code).toBe('patch_hunk_fail');
    expect(error.message).toContain(expected);
    expect(files()).toEqual({x: content});
  });

  test('ruling W7: all failures at once, with what was expected and found; nothing is written', async () => {
    const {apply, files} = await place({x: 'one\ntwo\nthree\nfour\n', y: 'y\n', z: 'z\n'});
    const before = files();
    const error = failure(
      await apply(
        [
          diff('y', '@@ -1 +1 @@\n-y\n+Y\n'),
          diff('x', '@@ -1,2 +1,2 @@\n one\n-2\n+TWO\n@@ -3,2 +3,2 @@\n three\n-4\n+FOUR\n'),
          '--- /dev/null\n+++ b/z\n@@ -0,0 +1 @@\n+new\n',
          '--- a/y\n+++ /dev/null\n@@ -1 +0,0 @@\n-n\n',
        ].join(''),
      ),
    );
    expect(error.code).toBe('patch_hunk_fail');
    const problems = error.details['problems'] as Record<string, unknown>[];
    expect(problems).toEqual([
      {path: 'x', hunk: 1, patch_line: 8, nearest_line: 1},
      {path: 'x', hunk: 2, patch_line: 12, nearest_line: 3},
      {path: 'z'},
      {path: 'y', hunk: 1, patch_line: 22},
    ]);
    expect(error.message).toContain('Line 2 is "two" in the file, "2" in the hunk');
    expect(error.message).toContain('"z" exists already');
    expect(error.message).toContain('expects "n"');
    expect(files()).toEqual(before);
  });

  test('Tool API: file_not_found for a target that is not there, also after an earlier section', async () => {
    const {apply} = await place({x: 'x\n'});
    const absent = failure(await apply(diff('nope', '@@ -1 +1 @@\n-a\n+b\n')));
    expect(absent).toMatchObject({code: 'file_not_found', details: {path: 'nope'}});
    const removed = `--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n${diff('x', '@@ -1 +1 @@\n-x\n+y\n')}`;
    expect(failure(await apply(removed)).message).toContain('An earlier section removed "x"');
  });

  test.each([
    '../outside',
    'sub/../../outside',
    '/etc/passwd',
    '.git/config',
    '.GIT/hooks/pre-commit',
    'sub/.git/config',
    '.git./config',
    '.g\u200cit/config',
    'git~1/config',
    '.ｇit/config',
  ])('Tool API: path_escape for %s', async path => {
    const {apply, files} = await place({x: 'x\n'});
    const error = failure(
      await apply(`--- /dev/null\n+++ ${path.startsWith('/') ? '' : 'b/'}${path}\n@@ -0,0 +1 @@\n+x\n`),
    );
    expect(error.code).toBe('path_escape');
    expect(files()).toEqual({x: 'x\n'});
  });

  test('Tool API: path_escape also for a quoted name, and for both ends of a rename', async () => {
    const {apply} = await place({x: 'x\n'});
    const quoted = '--- /dev/null\n+++ "b/.g\\151t/config"\n@@ -0,0 +1 @@\n+x\n';
    expect(failure(await apply(quoted)).code).toBe('path_escape');
    const target = 'diff --git a/x b/.git/config\nrename from x\nrename to .git/config\n';
    expect(failure(await apply(target)).code).toBe('path_escape');
    const source = 'diff --git a/.git/config b/y\nrename from .git/config\nrename to y\n';
    expect(failure(await apply(source)).code).toBe('path_escape');
  });

  test('ruling W1: links, hard links and directories are not patched', async () => {
    const {apply, root} = await place({real: 'a\n', 'dir/x': 'x\n', twice: 'a\n'});
    symlinkSync('real', join(root, 'link'));
    symlinkSync('dir', join(root, 'linked'));
    linkSync(join(root, 'twice'), join(root, 'thrice'));
    const change = (path: string): Promise<Result<unknown>> => apply(diff(path, '@@ -1 +1 @@\n-a\n+b\n'));
    expect(failure(await change('link')).code).toBe('symlink_blocked');
    expect(failure(await change('linked/x')).code).toBe('symlink_blocked');
    expect(failure(await change('twice')).code).toBe('not_a_file');
    expect(failure(await change('dir')).code).toBe('not_a_file');
    const below = '--- /dev/null\n+++ b/real/x\n@@ -0,0 +1 @@\n+x\n';
    expect(failure(await apply(below)).message).toContain('"real" is a file');
  });

  test('policy: what changed after the plan was made is not overwritten', async () => {
    const {workspace, plan, journal, root, files} = await place({x: 'x\n', y: 'y\n'});
    const patch = `${diff('x', '@@ -1 +1 @@\n-x\n+X\n')}${diff('y', '@@ -1 +1 @@\n-y\n+Y\n')}`;
    const planned = value(await plan(patch));
    writeFileSync(join(root, 'y'), 'changed\n');
    expect(failure(await commitForTest(workspace, planned, journal))).toMatchObject({
      code: 'stale_read',
      details: {path: 'y'},
    });
    expect(files()).toEqual({x: 'x\n', y: 'changed\n'});
    expect(readdirSync(journal.directory)).toEqual([]);
  });

  test('policy: the mode of a file survives a change', async () => {
    const {apply, root} = await place({x: 'x\n'});
    chmodSync(join(root, 'x'), 0o640);
    const applied = value(await apply(diff('x', '@@ -1 +1 @@\n-x\n+y\n')));
    expect(statSync(join(root, 'x')).mode & 0o777).toBe(0o640);
    value(await apply(`diff --git a/x b/x\nold mode 100644\nnew mode 100755\n`));
    expect(statSync(join(root, 'x')).mode & 0o777).toBe(0o750);
    value(await apply(applied.undo));
  });

  test('policy: one big file in very many sections is refused before it takes long', {
    tags: 'slow',
  }, async () => {
    const {plan} = await place({big: 'x\n'.repeat(1_000_000), y: 'y\n'});
    const toggle = diff('big', '@@ -1 +1 @@\n-x\n+y\n') + diff('big', '@@ -1 +1 @@\n-y\n+x\n');
    expect(failure(await plan(toggle.repeat(20))).message).toContain(
      'Put all changes of a file into one section',
    );
  });
});

describe('the second opinion of GNU patch', () => {
  const patch = diff('x', '@@ -1 +1 @@\n-x\n+y\n');

  test(
    'policy: is asked with an empty environment and without names of the workspace',
    needs('GNU patch'),
    async () => {
      const {workspace, root} = await place({'some name': 'x\n'});
      const calls: Parameters<RunPatch>[] = [];
      const spy: RunPatch = (...call) => {
        calls.push(call);
        return runPatch(...call);
      };
      const named = diff('some name', '@@ -1 +1 @@\n-x\n+y\n');
      const crossCheck = {run: spy, directory: join(root, '../stage')};
      expect(value(await planPatch(workspace, named, {crossCheck})).crossCheck).toBe('agrees');
      const [command, args, options] = calls[0] ?? [];
      expect([command, args]).toEqual([
        '/usr/bin/patch',
        expect.arrayContaining(['-p1', '-u', '--fuzz=0', '--force']),
      ]);
      expect(Object.keys(options?.env ?? {}).sort()).toEqual(['LC_ALL', 'PATH', 'TMPDIR']);
      expect(readdirSync(join(root, '..'))).toContain('stage');
      expect(readdirSync(join(root, '../stage'))).toEqual([]);
      expect(Buffer.from(options?.stdin ?? []).toString()).not.toContain('some name');
    },
  );

  test('policy: is left out where there is no GNU patch', async () => {
    const {workspace, root} = await place({x: 'x\n'});
    const directory = join(root, '../stage');
    for (const crossCheck of [
      {run: runPatch, directory, command: '/nonexistent/patch'},
      {run: async () => ({exitCode: 0, stdout: 'patch 2.0-12u11-Apple\n', stderr: ''}), directory},
    ]) {
      expect(value(await planPatch(workspace, patch, {crossCheck})).crossCheck).toBe('unavailable');
    }
  });

  test('policy: a difference refuses the patch', needs('GNU patch'), async () => {
    const {workspace, root} = await place({x: 'x\n'});
    const directory = join(root, '../stage');
    const lazy: RunPatch = async (_, args) => ({
      exitCode: 0,
      stdout: args.includes('--version') ? 'GNU patch 2.7.6\n' : '',
      stderr: '',
    });
    const meddling: RunPatch = async (command, args, options) => {
      const done = await runPatch(command, args, options);
      if (!args.includes('--version')) writeFileSync(join(options.cwd, 'more'), '');
      return done;
    };
    for (const other of [lazy, meddling]) {
      const refused = failure(await planPatch(workspace, patch, {crossCheck: {run: other, directory}}));
      expect(refused.code).toBe('patch_hunk_fail');
      const [, reason] =
        /come to the same result: (.*)\. Nothing was written\. Rebuild/.exec(refused.message) ?? [];
      expect(refused.details).toEqual({problems: [{message: reason}]});
    }
  });
});

/** Trees per run of the test suite; `PATCH_PROPERTY_RUNS` raises it for a long run by hand. */
const RUNS = Number(process.env['PATCH_PROPERTY_RUNS'] ?? 25);

/** Path → content, one character a byte. */
type Tree = Readonly<Record<string, {readonly content: string; readonly executable: boolean}>>;

const PATHS = ['a', 'b.txt', 'dir/c', 'dir/sub/d', 'two words', 'ä', 'q"uote', 'tab\t'];

const line = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('a', 'b', 'c', '', '}', '  return;', '-- x', '++ y', '@@ -1 +1 @@', '\\ No'),
  },
  {
    weight: 1,
    arbitrary: fc
      .string({maxLength: 8, unit: 'binary'})
      .map(text => Buffer.from(text).toString('latin1').replaceAll('\n', '')),
  },
);

const content = fc
  .record({
    lines: fc.array(line, {maxLength: 24}),
    ending: fc.constantFrom('\n', '\n', '\n', '\r\n'),
    last: fc.boolean(),
  })
  .map(({lines, ending, last}) => lines.join(ending) + (last && lines.length > 0 ? ending : ''));

const file = fc.record({content, executable: fc.boolean()});

const tree: fc.Arbitrary<Tree> = fc.dictionary(fc.constantFrom(...PATHS), file, {maxKeys: 5});

/** A later state of a tree: files edited line by line, moved, removed and added. */
const pair: fc.Arbitrary<readonly [Tree, Tree]> = tree.chain(before =>
  fc
    .record({
      edits: fc.array(fc.record({at: fc.nat(30), remove: fc.nat(3), add: fc.array(line, {maxLength: 3})}), {
        maxLength: 4,
      }),
      fate: fc.array(fc.constantFrom('edit', 'edit', 'keep', 'remove', 'move', 'mode'), {
        minLength: 5,
        maxLength: 5,
      }),
      added: tree,
    })
    .map(({edits, fate, added}): readonly [Tree, Tree] => {
      const after: Record<string, {content: string; executable: boolean}> = {};
      for (const [index, [path, state]] of Object.entries(before).entries()) {
        const what = fate[index];
        if (what === 'remove') continue;
        const lines = state.content.split('\n');
        if (what === 'edit')
          for (const {at, remove, add} of edits) lines.splice(at % (lines.length + 1), remove, ...add);
        const executable = what === 'mode' ? !state.executable : state.executable;
        after[what === 'move' ? `moved-${index}` : path] = {content: lines.join('\n'), executable};
      }
      for (const [path, state] of Object.entries(added)) {
        if (before[path] === undefined) after[path] = state;
      }
      return [before, after];
    }),
);

function write(root: string, files: Tree): void {
  for (const name of readdirSync(root)) if (name !== '.git') rmSync(join(root, name), {recursive: true});
  for (const [path, state] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), {recursive: true});
    writeFileSync(join(root, path), state.content, 'latin1');
    chmodSync(join(root, path), state.executable ? 0o755 : 0o644);
  }
}

function read(root: string): Tree {
  const found: Record<string, {content: string; executable: boolean}> = {};
  for (const entry of readdirSync(root, {recursive: true, withFileTypes: true})) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || path.startsWith(join(root, '.git/'))) continue;
    const executable = (statSync(path).mode & 0o100) !== 0;
    found[path.slice(root.length + 1)] = {content: readFileSync(path, 'latin1'), executable};
  }
  return found;
}

interface Bench {
  readonly git: (...args: string[]) => Buffer;
  readonly theirs: string;
  readonly ours: string;
  readonly apply: (patch: Uint8Array) => Promise<{readonly ok: boolean; readonly undo: Buffer}>;
}

async function bench(): Promise<Bench> {
  const base = temporaryDirectory();
  const theirs = join(base, 'theirs');
  const ours = join(base, 'ours');
  mkdirSync(theirs);
  mkdirSync(ours);
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: base,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
  const git = (...args: string[]): Buffer =>
    execFileSync('git', args, {cwd: theirs, env, stdio: ['ignore', 'pipe', 'pipe']});
  git('init', '-q');
  git('config', 'core.autocrlf', 'false');
  const opened = openWorkspace(ours);
  if (!opened.ok) throw new Error(opened.error.message);
  const workspace = opened.value;
  return {
    git,
    theirs,
    ours,
    apply: async patch => {
      const crossCheck = {run: runPatch, directory: join(base, 'stage')};
      const plan = await planPatch(workspace, patch, {crossCheck});
      if (!plan.ok) return {ok: false, undo: Buffer.alloc(0)};
      const done = await commitForTest(workspace, plan.value, {
        directory: join(base, 'journal'),
        clock: systemClock,
      });
      if (!done.ok) throw new Error(done.error.message);
      return {ok: true, undo: done.value.undo};
    },
  };
}

function gitDiff({git, theirs}: Bench, before: Tree, after: Tree): Buffer {
  write(theirs, before);
  git('add', '-A', '-f');
  const old = git('write-tree').toString().trim();
  write(theirs, after);
  git('add', '-A', '-f');
  const now = git('write-tree').toString().trim();
  return git('diff', '--text', '--find-renames', '--no-color', '--no-ext-diff', old, now);
}

test('property: what git diff writes is applied to the same bytes, and undone to the old ones', {
  ...needs('git'),
  tags: 'stress',
}, async () => {
  const place = await bench();
  await fc.assert(
    fc.asyncProperty(pair, async ([before, after]) => {
      const patch = gitDiff(place, before, after);
      if (patch.length === 0) return;
      write(place.ours, before);
      const done = await place.apply(patch);
      expect(done.ok).toBe(true);
      expect(read(place.ours)).toEqual(after);
      if (done.undo.length > 0) expect(await place.apply(done.undo)).toMatchObject({ok: true});
      expect(read(place.ours)).toEqual(before);
    }),
    {numRuns: RUNS},
  );
});

test('property: on another tree we succeed only with the bytes of git apply, and git apply understands our undo', {
  ...needs('git'),
  tags: 'stress',
}, async () => {
  const place = await bench();
  let applied = 0;
  await fc.assert(
    fc.asyncProperty(
      pair,
      fc.array(fc.record({at: fc.nat(20), add: fc.array(line, {maxLength: 2}), remove: fc.nat(1)}), {
        maxLength: 2,
      }),
      async ([before, after], drift) => {
        const patch = gitDiff(place, before, after);
        if (patch.length === 0) return;
        const drifted = Object.fromEntries(
          Object.entries(before).map(([path, state]) => {
            const lines = state.content.split('\n');
            for (const {at, add, remove} of drift) lines.splice(at % (lines.length + 1), remove, ...add);
            return [path, {...state, content: lines.join('\n')}];
          }),
        );
        write(place.ours, drifted);
        write(place.theirs, drifted);
        const git = (input: Uint8Array): number | null =>
          spawnSync('git', ['apply', '--whitespace=nowarn', '-p1', '-'], {cwd: place.theirs, input}).status;
        const gitApplied = git(patch) === 0;
        const done = await place.apply(patch);
        if (!done.ok) {
          expect(read(place.ours)).toEqual(drifted);
          return;
        }
        // git ties hunks with little context to the ends of a file; where we find them once, we do not.
        if (!gitApplied) return;
        // git 2.39 takes a line without newline for the beginning of another one, and glues them together.
        if (patch.includes('\\ No newline')) return;
        applied += 1;
        expect(read(place.ours)).toEqual(read(place.theirs));
        if (done.undo.length > 0) expect(git(done.undo)).toBe(0);
        expect(read(place.theirs)).toEqual(drifted);
      },
    ),
    {numRuns: RUNS},
  );
  expect(applied).toBeGreaterThan(0);
});
