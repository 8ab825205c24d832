import {spawnSync} from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {dirname, join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {describe, expect, test} from 'vitest';
import {commitForTest} from '../../../test/support/commit-for-test.ts';
import {compileSources} from '../../../test/support/compile-sources.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import type {Result} from '../../core/result.ts';
import {ownIdentity} from '../../system/process.ts';
import {openWorkspace, type Workspace} from '../jail/jail.ts';
import {planPatch} from '../patch/plan-patch.ts';
import {type ChangeOptions, recoverWorkspace} from './change-workspace.ts';
import {workspaceKey} from './journal.ts';

const BEFORE = {'a.txt': 'a\n', 'dir/b.txt': 'b\n', 'dir/gone.txt': 'g\n', move: 'm\n', tool: 't\n'};
const AFTER = {'a.txt': 'A\n', 'dir/b.txt': 'B\n', moved: 'm\n', 'new/deep/c.txt': 'c\n', 'tool+x': 't\n'};

const PATCH = `--- a/a.txt
+++ b/a.txt
@@ -1 +1 @@
-a
+A
--- a/dir/b.txt
+++ b/dir/b.txt
@@ -1 +1 @@
-b
+B
--- /dev/null
+++ b/new/deep/c.txt
@@ -0,0 +1 @@
+c
--- a/dir/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-g
diff --git a/move b/moved
rename from move
rename to moved
diff --git a/tool b/tool
old mode 100644
new mode 100755
`;

function value<Value>(result: Result<Value>): Value {
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.message}`);
  return result.value;
}

function fill(root: string): void {
  mkdirSync(root, {recursive: true});
  // The root itself stays: an open workspace holds it.
  for (const name of readdirSync(root)) rmSync(join(root, name), {recursive: true});
  for (const [path, content] of Object.entries(BEFORE)) {
    mkdirSync(dirname(join(root, path)), {recursive: true});
    writeFileSync(join(root, path), content);
  }
}

/** Everything in the tree: empty directories and temporary files, too. */
function snapshot(root: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(root, {recursive: true, withFileTypes: true})) {
    const path = join(entry.parentPath, entry.name);
    const name = path.slice(root.length + 1);
    if (entry.isDirectory()) {
      if (readdirSync(path).length === 0) found[`${name}/`] = '';
      continue;
    }
    found[name + ((statSync(path).mode & 0o100) !== 0 ? '+x' : '')] = readFileSync(path, 'utf8');
  }
  return found;
}

interface Place {
  readonly root: string;
  readonly workspace: Workspace;
  readonly options: ChangeOptions;
}

async function place(): Promise<Place> {
  const base = temporaryDirectory();
  const root = join(base, 'work');
  fill(root);
  const workspace = value(openWorkspace(root));
  return {root, workspace, options: {directory: join(base, 'journal'), clock: systemClock}};
}

async function apply(
  {workspace, options}: Place,
  onStep: (step: string) => void = () => {},
): Promise<Result<unknown>> {
  const plan = value(await planPatch(workspace, PATCH));
  return commitForTest(workspace, plan, {...options, onStep});
}

describe('an interrupted commit', () => {
  test('policy: SIGKILL at any step leaves, after recovery, the old tree or the new one', {
    tags: 'stress',
  }, async () => {
    const compiled = compileSources(
      'src/core/clock.ts',
      'src/workspace/jail/jail.ts',
      'src/workspace/change/change-workspace.ts',
      'src/workspace/change/commit.ts',
      'src/tools/change/make-change.ts',
      'src/workspace/patch/plan-patch.ts',
    );
    const from = (path: string): string => JSON.stringify(pathToFileURL(join(compiled, 'src', path)).href);
    const child = join(compiled, 'child.js');
    writeFileSync(
      child,
      `import {systemClock} from ${from('core/clock.js')};
import {openWorkspace} from ${from('workspace/jail/jail.js')};
import {changeWorkspace} from ${from('workspace/change/change-workspace.js')};
import {removeEmptyDirectories} from ${from('workspace/change/commit.js')};
import {fileWrites} from ${from('workspace/change/file-change.js')};
import {planPatch} from ${from('workspace/patch/plan-patch.js')};
const [root, directory, patch, last] = process.argv.slice(2);
const {value: workspace} = openWorkspace(root);
const {value: plan} = await planPatch(workspace, patch);
let left = Number(last);
const onStep = () => { left -= 1; if (left < 0) process.kill(process.pid, 'SIGKILL'); };
const options = {directory, clock: systemClock, onStep};
const done = await changeWorkspace(workspace, options, undefined, held => held.commit(fileWrites(plan.changes)));
removeEmptyDirectories(workspace, 'dir/gone.txt');
process.exitCode = done.ok ? 0 : 1;
`,
    );
    const {root, workspace, options} = await place();
    const outcomes: string[] = [];
    for (let step = 0; ; step += 1) {
      fill(root);
      const ended = spawnSync(process.execPath, [child, root, options.directory, PATCH, String(step)], {
        encoding: 'utf8',
      });
      if (ended.signal === null) {
        expect([ended.status, ended.stderr]).toEqual([0, '']);
        break;
      }
      expect(ended.signal).toBe('SIGKILL');
      const recovered = value(await recoverWorkspace(workspace, options));
      expect(recovered.conflicts).toEqual([]);
      const tree = snapshot(root);
      const isNew = 'moved' in tree;
      // Empty directories are tidied up after the commit counts.
      expect({...tree, 'dir/': undefined}).toEqual({...(isNew ? AFTER : BEFORE), 'dir/': undefined});
      expect(readdirSync(options.directory)).toEqual([]);
      outcomes.push(isNew ? 'new' : 'old');
    }
    // Locked, journal, five staged, five replaced, two removed; then it counts.
    expect(outcomes).toEqual([...Array(14).fill('old'), 'new']);
    expect(snapshot(root)).toEqual(AFTER);
  });

  test('policy: an exception at any step is taken back at once', {tags: 'stress'}, async () => {
    const here = await place();
    const steps: string[] = [];
    value(await apply(here, step => steps.push(step)));
    for (const stop of steps.slice(0, -1)) {
      fill(here.root);
      await expect(
        apply(here, step => {
          if (step === stop) throw new Error('stopped');
        }),
      ).rejects.toThrow('stopped');
      value(await recoverWorkspace(here.workspace, here.options));
      expect(snapshot(here.root)).toEqual(BEFORE);
    }
  });

  test('policy: a target that becomes a link, or vanishes, in the middle takes everything back', async () => {
    for (const stop of ['replaced a.txt', 'replaced dir/b.txt', 'removed dir/gone.txt']) {
      const here = await place();
      const done = await apply(here, step => {
        if (step !== stop) return;
        rmSync(join(here.root, 'move'));
        symlinkSync('a.txt', join(here.root, 'move'));
      });
      expect(done).toMatchObject({ok: false, error: {code: 'symlink_blocked'}});
      rmSync(join(here.root, 'move'));
      const {move: _, ...rest} = BEFORE;
      expect(snapshot(here.root)).toEqual(rest);
      expect(readdirSync(here.options.directory)).toEqual([]);
    }
  });

  test('policy: a file that was changed after a crash is left alone, and the old bytes are kept', async () => {
    const here = await place();
    const crash = apply(here, step => {
      if (step === 'replaced dir/b.txt') throw new Error('stopped');
    });
    await expect(crash).rejects.toThrow();
    writeFileSync(join(here.root, 'a.txt'), 'mine\n');
    const recovered = value(await recoverWorkspace(here.workspace, here.options));
    expect(recovered).toEqual({undone: 1, files: ['dir/b.txt'], conflicts: ['a.txt']});
    expect(snapshot(here.root)).toEqual({...BEFORE, 'a.txt': 'mine\n'});
    const [kept] = readdirSync(here.options.directory);
    expect(kept).toMatch(/\.conflict$/);
    expect(value(await recoverWorkspace(here.workspace, here.options))).toEqual({
      undone: 0,
      files: [],
      conflicts: [],
    });
  });

  test('policy: the next commit recovers what the one before left', async () => {
    const here = await place();
    await expect(
      apply(here, step => {
        if (step === 'journal') throw new Error('stopped');
      }),
    ).rejects.toThrow();
    value(await apply(here));
    expect(snapshot(here.root)).toEqual(AFTER);
  });

  test('policy: temporary files of others stay', async () => {
    const here = await place();
    const foreign = join(here.root, '.forge-0123456789abcdef.tmp');
    writeFileSync(foreign, 'theirs');
    await expect(
      apply(here, step => {
        if (step === 'staged a.txt') throw new Error('stopped');
      }),
    ).rejects.toThrow();
    value(await recoverWorkspace(here.workspace, here.options));
    expect(existsSync(foreign)).toBe(true);
  });

  test('policy: journal and lock are for the owner only', async () => {
    const here = await place();
    const modes: number[] = [];
    value(
      await apply(here, step => {
        if (step !== 'journal') return;
        const paths = readdirSync(here.options.directory).map(name => join(here.options.directory, name));
        for (const path of [here.options.directory, ...paths]) modes.push(statSync(path).mode & 0o777);
      }),
    );
    expect(modes).toEqual([0o700, 0o600, 0o600]);
  });
});

describe('the workspace lock', () => {
  const lockOf = ({root, options}: Place): string => join(options.directory, `${workspaceKey(root)}.lock`);

  test('policy: two commits at once happen one after the other, and the second sees that it is stale', async () => {
    const here = await place();
    const results = await Promise.all([apply(here), apply(here)]);
    expect(results.map(result => result.ok || result.error.code).sort()).toEqual(['stale_read', true]);
    expect(snapshot(here.root)).toEqual(AFTER);
  });

  test('policy: a live holder is waited for, and named when the wait is over', async () => {
    const here = await place();
    let nested: Result<unknown> | undefined;
    const plan = value(await planPatch(here.workspace, PATCH));
    const outer = apply(here, async step => {
      if (step !== 'locked') return;
      nested = await commitForTest(here.workspace, plan, {...here.options, waitMs: 0});
    });
    await outer;
    await expect
      .poll(() => nested)
      .toMatchObject({ok: false, error: {code: 'io_error', details: {error: 'EBUSY'}}});
  });

  test.each([
    ['of a dead process', {pid: 4_000_000}],
    ['of an earlier process with our number', {started: 'other boot:1'}],
  ])('policy: a lock %s is taken over', async (_, other) => {
    const here = await place();
    mkdirSync(here.options.directory, {mode: 0o700});
    writeFileSync(lockOf(here), JSON.stringify({...ownIdentity(), ...other}));
    const plan = value(await planPatch(here.workspace, PATCH));
    value(await commitForTest(here.workspace, plan, here.options));
    expect(readdirSync(here.options.directory)).toEqual([]);
  });

  test('policy: a directory that cannot be written is a failure, not a crash', async () => {
    const here = await place();
    writeFileSync(here.options.directory, '');
    expect(await apply(here)).toMatchObject({ok: false, error: {code: 'io_error'}});
    expect(await recoverWorkspace(here.workspace, here.options)).toMatchObject({
      ok: false,
      error: {code: 'io_error'},
    });
    chmodSync(here.root, 0o755);
    expect(snapshot(here.root)).toEqual(BEFORE);
  });
});
