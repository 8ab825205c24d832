import {execFileSync, spawnSync} from 'node:child_process';
import {chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {commitForTest} from '../../../test/support/commit-for-test.ts';
import {runPatch} from '../../../test/support/run-patch.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import {openWorkspace} from '../jail/jail.ts';
import {planPatch} from './plan-patch.ts';

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
  tags: 'slow',
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
  tags: 'slow',
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
