import {
  chmodSync,
  chownSync,
  existsSync,
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
import {describe, expect, test} from 'vitest';
import {unwrap} from '../../../test/support/outcome.ts';
import {needs} from '../../../test/support/parts.ts';
import {pretendDeadline} from '../../../test/support/pretend-deadline.ts';
import {stateOf} from '../../../test/support/state-of.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import type {Deadline} from '../../core/deadline.ts';
import {fail, ok, type Result} from '../../core/result.ts';
import {ownIdentity} from '../../system/process.ts';
import {openWorkspace, type Workspace} from '../jail/jail.ts';
import {contentHash} from '../open-file.ts';
import {ReadTracker} from '../read-tracker.ts';
import {changeWorkspace, recoverWorkspace, removeLeftovers} from './change-workspace.ts';
import {removeEmptyDirectories} from './commit.ts';
import {type FileChange, readKnownState} from './file-change.ts';
import {workspaceKey} from './journal.ts';
import {recoverJournals} from './recover.ts';

/** A tree with the files `a`, `b` and `c`, each with its name in it. */
function place() {
  const base = temporaryDirectory();
  const root = join(base, 'work');
  const directory = join(base, 'state');
  mkdirSync(root);
  for (const name of ['a', 'b', 'c']) writeFileSync(join(root, name), name);
  const workspace = unwrap(openWorkspace(root));
  const write = (path: string, text: string | undefined, old: string | undefined): FileChange => ({
    path: unwrap(workspace.resolveForWrite(path)),
    old: old === undefined ? undefined : stateOf(Buffer.from(old), 0o644),
    new: text === undefined ? undefined : stateOf(Buffer.from(text)),
  });
  return {
    root,
    directory,
    workspace,
    write,
    commit: (
      writes: readonly FileChange[],
      {
        onStep = () => {},
        over = workspace,
        deadline,
      }: {
        onStep?: (step: string) => void;
        over?: Workspace;
        deadline?: Deadline;
      } = {},
    ) =>
      changeWorkspace(over, {directory, clock: systemClock, onStep, waitMs: 0}, undefined, held =>
        held.commit(writes, deadline),
      ),
    tree: (): Record<string, string> =>
      Object.fromEntries(
        readdirSync(root, {recursive: true, withFileTypes: true})
          .filter(entry => !entry.isDirectory())
          .map(entry => join(entry.parentPath, entry.name))
          .map(path => [path.slice(root.length + 1), readFileSync(path, 'utf8')]),
      ),
  };
}

const BEFORE = {a: 'a', b: 'b', c: 'c'};
const LATE = pretendDeadline({spent: true, failure: () => fail('timeout', 'Too late.', {phase: 'total'})});

describe('W19: one file', () => {
  test.each<[string, string, string | undefined, string | undefined, readonly string[]]>([
    ['is replaced by one rename', 'a', 'A', 'a', ['locked', 'intent', 'staged a', 'replaced a']],
    [
      'is made with its directories',
      'd/e/n',
      'n',
      undefined,
      ['locked', 'intent', 'staged d/e/n', 'replaced d/e/n'],
    ],
    ['is removed', 'a', undefined, 'a', ['locked', 'removed a']],
  ])('W19: %s, without a journal', async (_, path, text, old, steps) => {
    const {commit, write, tree, directory} = place();
    const seen: string[] = [];
    unwrap(await commit([write(path, text, old)], {onStep: step => seen.push(step)}));
    expect(seen).toEqual(steps);
    const expected: Record<string, string> = {...BEFORE, ...(text !== undefined && {[path]: text})};
    if (text === undefined) delete expected[path];
    expect(tree()).toEqual(expected);
    expect(readdirSync(directory)).toEqual([]);
  });

  test('W19: that is no longer what it was is left alone, and nothing else is left', async () => {
    const {commit, write, tree, directory} = place();
    for (const [one, steps] of [
      [write('a', 'A', 'x'), ['locked', 'intent', 'staged a']],
      [write('a', undefined, 'x'), ['locked']],
      [write('b', 'B', undefined), ['locked', 'intent', 'staged b']],
    ] as const) {
      const seen: string[] = [];
      expect(await commit([one], {onStep: step => seen.push(step)})).toMatchObject({
        error: {code: 'stale_read'},
      });
      expect(seen).toEqual(steps);
      expect(tree()).toEqual(BEFORE);
      expect(readdirSync(directory)).toEqual([]);
    }
  });

  test('W19: is not begun behind the deadline', async () => {
    const {commit, write, tree} = place();
    for (const text of ['A', undefined]) {
      expect(await commit([write('a', text, 'a')], {deadline: LATE})).toMatchObject({
        error: {code: 'timeout'},
      });
    }
    expect(tree()).toEqual(BEFORE);
  });

  test('W19: is not begun where what it could leave cannot be announced; what is announced is for the owner only', async () => {
    const {commit, write, tree, directory} = place();
    const lost = await commit([write('a', 'A', 'a')], {
      onStep: step => {
        if (step === 'locked') rmSync(directory, {recursive: true});
      },
    });
    expect(lost).toMatchObject({ok: false, error: {code: 'file_not_found'}});
    expect(tree()).toEqual(BEFORE);
    const modes: number[] = [];
    await commit([write('a', 'A', 'a')], {
      onStep: step => {
        const name = readdirSync(directory).find(one => one.endsWith('.intent'));
        if (step === 'intent' && name !== undefined) modes.push(statSync(join(directory, name)).mode & 0o777);
      },
    });
    expect(modes).toEqual([0o600]);
  });

  test('W19: nothing to write is done at once', async () => {
    const {commit, tree} = place();
    const seen: string[] = [];
    unwrap(await commit([], {onStep: step => seen.push(step)}));
    expect(seen).toEqual(['locked']);
    expect(tree()).toEqual(BEFORE);
  });
});

describe('W19: several files, all or none', () => {
  test('W19: the steps: a journal, all new contents, then the renames and the removals', async () => {
    const {commit, write, tree, directory} = place();
    const seen: string[] = [];
    const writes = [write('a', 'A', 'a'), write('b', undefined, 'b'), write('d/n', 'n', undefined)];
    unwrap(await commit(writes, {onStep: step => seen.push(step)}));
    expect(seen).toEqual([
      ...[
        'locked',
        'journal',
        'staged a',
        'staged d/n',
        'replaced a',
        'replaced d/n',
        'removed b',
        'committed',
      ],
    ]);
    expect(tree()).toEqual({a: 'A', c: 'c', 'd/n': 'n'});
    expect(readdirSync(directory)).toEqual([]);
  });

  test('W19: more than are written at once', async () => {
    const {commit, write, tree} = place();
    const names = Array.from({length: 20}, (_, at) => `n${at}`);
    unwrap(await commit(names.map(name => write(name, name, undefined))));
    expect(tree()).toEqual({...BEFORE, ...Object.fromEntries(names.map(name => [name, name]))});
  });

  test('W19: one that is no longer what it was stops all before the journal', async () => {
    const {commit, write, tree} = place();
    for (const stale of [write('b', 'B', 'x'), write('b', undefined, 'x'), write('b', 'B', undefined)]) {
      const seen: string[] = [];
      const done = await commit([write('a', 'A', 'a'), stale], {onStep: step => seen.push(step)});
      expect(done).toMatchObject({error: {code: 'stale_read', details: {path: 'b'}}});
      expect(seen).toEqual(['locked']);
    }
    expect(tree()).toEqual(BEFORE);
  });

  test('W19: one that cannot be looked at stops all before the journal', async () => {
    const {commit, write, tree, root} = place();
    rmSync(join(root, 'c'));
    symlinkSync('a', join(root, 'c'));
    const seen: string[] = [];
    const done = await commit([write('a', 'A', 'a'), write('c', 'C', 'c')], {
      onStep: step => seen.push(step),
    });
    expect(done).toMatchObject({error: {code: 'symlink_blocked'}});
    expect(seen).toEqual(['locked']);
    expect(tree()).toEqual({a: 'a', b: 'b', c: 'a'});
  });

  test('W19: one that changes while the new contents are written stops all before the first rename', async () => {
    const {commit, write, tree, root, directory} = place();
    const seen: string[] = [];
    const done = await commit([write('a', 'A', 'a'), write('b', 'B', 'b')], {
      onStep: step => {
        seen.push(step);
        if (step === 'staged b') writeFileSync(join(root, 'b'), 'theirs');
      },
    });
    expect(done).toMatchObject({error: {code: 'stale_read', details: {path: 'b'}}});
    expect(seen).toEqual(['locked', 'journal', 'staged a', 'staged b']);
    expect(tree()).toEqual({...BEFORE, b: 'theirs'});
    expect(readdirSync(directory)).toEqual([]);
  });

  test('W19: the deadline is asked up to the first rename', async () => {
    const {commit, write, tree, directory} = place();
    const writes = [write('a', 'A', 'a'), write('b', 'B', 'b')];
    expect(await commit(writes, {deadline: LATE})).toMatchObject({error: {code: 'timeout'}});
    for (const last of ['journal', 'staged b']) {
      let spent = false;
      const deadline = pretendDeadline({
        get spent() {
          return spent;
        },
        failure: LATE.failure,
      });
      const onStep = (step: string): void => {
        spent ||= step === last;
      };
      expect(await commit(writes, {onStep, deadline})).toMatchObject({error: {code: 'timeout'}});
      expect([tree(), readdirSync(directory)]).toEqual([BEFORE, []]);
    }
    let spent = false;
    const deadline = pretendDeadline({
      get spent() {
        return spent;
      },
      failure: LATE.failure,
    });
    const onStep = (step: string): void => {
      spent ||= step === 'replaced a';
    };
    unwrap(await commit(writes, {onStep, deadline}));
    expect(tree()).toEqual({...BEFORE, a: 'A', b: 'B'});
  });

  test('W19: a new content that cannot be written, whichever it is, leaves nothing behind', async () => {
    for (const refused of ['a', 'd/n']) {
      const {commit, write, tree, directory, workspace, root} = place();
      const stage: Workspace['stage'] = async (path, ...rest) =>
        path === refused
          ? fail('io_error', 'No space.', {path, error: 'ENOSPC', operation: 'write'})
          : workspace.stage(path, ...rest);
      const writes = [write('a', 'A', 'a'), write('b', 'B', 'b'), write('d/n', 'n', undefined)];
      expect(await commit(writes, {over: {...workspace, stage}})).toMatchObject({
        error: {code: 'io_error', message: 'No space.'},
      });
      expect([tree(), readdirSync(directory), readdirSync(root).sort()]).toEqual([
        BEFORE,
        [],
        ['a', 'b', 'c'],
      ]);
    }
  });

  test.each(['a rename', 'a removal'])('W19: %s that may not last is taken back, and said', async what => {
    const {commit, write, tree, directory, workspace} = place();
    const stage: Workspace['stage'] = async (...parameters) => {
      const staged = await workspace.stage(...parameters);
      return staged.ok ? ok({...staged.value, synchronise: async () => 'in_place' as const}) : staged;
    };
    let times = 0;
    const remove: Workspace['remove'] = async (...parameters) => {
      const removed = await workspace.remove(...parameters);
      times += 1;
      return removed.ok && times === 1 ? ok('in_place' as const) : removed;
    };
    const over = {...workspace, ...(what === 'a rename' ? {stage} : {remove})};
    const path = what === 'a rename' ? 'a' : 'b';
    expect(await commit([write('a', 'A', 'a'), write('b', undefined, 'b')], {over})).toMatchObject({
      ok: false,
      error: {
        code: 'io_error',
        message: `The directory of "${path}" could not be synchronised. Check the disk.`,
        details: {path, error: 'not_synchronised', operation: 'replace'},
      },
    });
    expect([tree(), readdirSync(directory)]).toEqual([BEFORE, []]);
  });

  test('W19: what another process changed meanwhile is named, and the old bytes are kept', async () => {
    const {commit, write, tree, root, directory} = place();
    const done = await commit([write('a', 'A', 'a'), write('b', 'B', 'b')], {
      onStep: step => {
        if (step !== 'replaced a') return;
        for (const name of ['a', 'b']) writeFileSync(join(root, name), 'theirs');
      },
    });
    const [kept = ''] = readdirSync(directory);
    expect(kept).toMatch(/\.conflict$/);
    const path = join(directory, kept.replace('conflict', 'journal'));
    expect(done).toMatchObject({
      ok: false,
      error: {
        code: 'io_error',
        message: expect.stringMatching(/^"b" changed since .* Not everything could be taken back: a$/),
        details: {path, error: 'stale_read', operation: 'roll_back'},
      },
    });
    expect(tree()).toEqual({a: 'theirs', b: 'theirs', c: 'c'});
  });

  test('W19: a process that is stopped in between leaves no temporary file and no directory', async () => {
    for (const stop of ['journal', 'staged d/n', 'staged e/n9', 'replaced e/n3']) {
      const here = place();
      const names = Array.from({length: 12}, (_, at) => `e/n${at}`);
      const writes = ['d/n', ...names].map(name => here.write(name, name, undefined));
      const onStep = (step: string): void => {
        if (step === stop) throw new Error('stopped');
      };
      await expect(here.commit(writes, {onStep})).rejects.toThrow('stopped');
      unwrap(await recoverWorkspace(here.workspace, {directory: here.directory, clock: systemClock}));
      expect(here.tree()).toEqual(BEFORE);
      expect(readdirSync(here.root).sort()).toEqual(['a', 'b', 'c']);
      expect(readdirSync(here.directory)).toEqual([]);
    }
  });
});

describe('W19: what the state directory does not let happen', () => {
  test('W19: a change that cannot be announced is not begun', async () => {
    for (const names of [['a'], ['a', 'b']]) {
      const {workspace, directory, write, tree} = place();
      const seen: string[] = [];
      const onStep = (step: string): void => void seen.push(step);
      const done = await changeWorkspace(
        workspace,
        {directory, clock: systemClock, onStep},
        undefined,
        async held => {
          rmSync(directory, {recursive: true});
          return held.commit(names.map(name => write(name, name.toUpperCase(), name)));
        },
      );
      expect(done).toMatchObject({ok: false, error: {code: 'file_not_found', details: {path: directory}}});
      expect([seen, tree()]).toEqual([['locked'], BEFORE]);
    }
  });

  test.each<[string, readonly string[], string]>([
    ['removed', ['b'], '" is a directory. Name a regular file.'],
    ['moved away', ['a', 'b'], '": ENOTEMPTY. Check permissions and free space.'],
  ])('W19: a journal that cannot be %s is said', async (_, changed, why) => {
    const {commit, write, tree, root, directory} = place();
    let journal = '';
    const done = await commit([write('a', 'A', 'a'), write('b', 'B', 'b')], {
      onStep: step => {
        if (step !== 'replaced a') return;
        for (const name of changed) writeFileSync(join(root, name), 'theirs');
        journal = join(directory, readdirSync(directory).find(name => name.endsWith('.journal')) ?? '');
        rmSync(journal);
        mkdirSync(journal);
        mkdirSync(journal.replace(/journal$/, 'conflict/x'), {recursive: true});
      },
    });
    expect(tree()).toEqual({...BEFORE, ...Object.fromEntries(changed.map(name => [name, 'theirs']))});
    const could = changed.length === 1 ? '' : 'Could not remove ';
    expect(done).toMatchObject({
      ok: false,
      error: {
        code: 'io_error',
        message: `"b" changed since it was read in this session. Read it again and base the change on that. Not everything could be taken back: ${could}"${journal}${why}`,
        details: {path: journal, error: 'stale_read', operation: 'roll_back'},
      },
    });
  });

  test('W19: what keeps a file from being taken back is said, and its journal stays', async () => {
    const {commit, write, tree, root, directory, workspace} = place();
    let isStuck = false;
    const openFile: Workspace['openFile'] = async path =>
      isStuck && path === 'a' ? fail('io_error', 'No disk.', {path}) : workspace.openFile(path);
    const done = await commit([write('a', 'A', 'a'), write('b', 'B', 'b')], {
      over: {...workspace, openFile},
      onStep: step => {
        if (step !== 'replaced a') return;
        writeFileSync(join(root, 'b'), 'theirs');
        isStuck = true;
      },
    });
    expect(done).toMatchObject({
      ok: false,
      error: {
        code: 'io_error',
        message: expect.stringMatching(/ Not everything could be taken back: No disk\.$/),
      },
    });
    expect(tree()).toEqual({...BEFORE, a: 'A', b: 'theirs'});
    expect(readdirSync(directory)).toEqual([expect.stringMatching(/\.journal$/)]);
  });

  test('W19: the new contents lie where the journal says, and it names the directories that are made', async () => {
    const {commit, write, root, directory} = place();
    const names = ['a', 'b', 'd/n', 'e/f/g/n'];
    mkdirSync(join(root, 'e'));
    let made: readonly string[] = [];
    let announced: readonly string[] = [];
    let there: readonly string[] = [];
    await commit(
      names.map(name => write(name, 'new', name.includes('/') ? undefined : name)),
      {
        onStep: step => {
          if (step !== 'staged e/f/g/n') return;
          const journal = readdirSync(directory).find(name => name.endsWith('.journal')) ?? '';
          const head = readFileSync(join(directory, journal), 'utf8').split('\n', 1)[0] ?? '';
          const {entries, directories} = JSON.parse(head) as {
            entries: {path: string; token: string}[];
            directories: string[];
          };
          made = directories;
          announced = entries.map(({path, token}) => join(dirname(path), `.forge-${token}.tmp`));
          there = (readdirSync(root, {recursive: true}) as string[]).filter(name => name.endsWith('.tmp'));
        },
      },
    );
    expect(made).toEqual(['d', 'e/f', 'e/f/g']);
    expect(there).toHaveLength(4);
    expect(there.toSorted()).toEqual(announced.toSorted());
  });

  test('W19: nothing is announced behind the deadline, though no file has to be read', async () => {
    const {commit, write} = place();
    const seen: string[] = [];
    const writes = [write('d', 'd', undefined), write('e', 'e', undefined)];
    expect(await commit(writes, {deadline: LATE, onStep: step => seen.push(step)})).toMatchObject({
      error: {code: 'timeout'},
    });
    expect(seen).toEqual(['locked']);
  });
});

describe('W19: a call that has to wait says for which process, and none waits for ever', () => {
  test('W19: a holder in another process is named by its lock; when it is gone the next call goes on', async () => {
    const {commit, write, directory, root, tree} = place();
    mkdirSync(directory, {mode: 0o700});
    const path = join(directory, `${workspaceKey(root)}.lock`);
    writeFileSync(path, JSON.stringify(ownIdentity()));
    expect(await commit([write('a', 'A', 'a')])).toMatchObject({
      ok: false,
      error: {
        code: 'io_error',
        message: `Another call is changing the workspace and holds ${path}. Try again in a moment.`,
        details: {path, error: 'EBUSY', operation: 'lock'},
      },
    });
    rmSync(path);
    unwrap(await commit([write('a', 'A', 'a')]));
    expect(tree()).toEqual({...BEFORE, a: 'A'});
  });

  test('W19: the change of another workspace is not waited for', async () => {
    const [one, other] = [place(), place()];
    const options = {directory: one.directory, clock: systemClock, waitMs: 0};
    unwrap(
      await changeWorkspace(one.workspace, options, undefined, () =>
        other.commit([other.write('a', 'A', 'a')]),
      ),
    );
    expect([one.tree(), other.tree()]).toEqual([BEFORE, {...BEFORE, a: 'A'}]);
  });

  test('W19: a lock that cannot be taken is a failure, and does not keep the next call out', async () => {
    const {commit, write, directory, root} = place();
    mkdirSync(directory, {mode: 0o700});
    const path = join(directory, `${workspaceKey(root)}.lock`);
    mkdirSync(path);
    expect((await commit([write('a', 'A', 'a')])).ok).toBe(false);
    rmSync(path, {recursive: true});
    unwrap(await commit([write('a', 'A', 'a')]));
  });

  test('W19: a call whose time is over says so, and not that another one holds the lock', async () => {
    const {directory, root, workspace} = place();
    mkdirSync(directory, {mode: 0o700});
    writeFileSync(join(directory, `${workspaceKey(root)}.lock`), JSON.stringify(ownIdentity()));
    const time = {...LATE, signal: AbortSignal.abort()} as unknown as Parameters<typeof changeWorkspace>[2];
    const done = await changeWorkspace(workspace, {directory, clock: systemClock}, time, async () => ok(1));
    expect(done).toMatchObject({error: {code: 'timeout'}});
  });

  test('review R6: a state directory that is not ours alone is not trusted', needs('root'), async () => {
    const cases: readonly (readonly [string, string, (directory: string) => void])[] = [
      [
        'not_a_directory',
        'is no directory',
        directory => {
          mkdirSync(`${directory}-real`);
          symlinkSync(`${directory}-real`, directory);
        },
      ],
      [
        'other_owner',
        'belongs to another user',
        directory => {
          mkdirSync(directory);
          chownSync(directory, 1001, 1001);
        },
      ],
      [
        'writable_by_others',
        'can be written by other users',
        directory => {
          mkdirSync(directory);
          chmodSync(directory, 0o722);
        },
      ],
    ];
    for (const [error, why, make] of cases) {
      const {commit, write, directory, tree} = place();
      make(directory);
      expect(await commit([write('a', 'A', 'a')])).toMatchObject({
        ok: false,
        error: {
          code: 'io_error',
          message: `The state directory ${directory} ${why}, so its locks and journals are not trusted. Remove it, or set XDG_STATE_HOME to a directory of your own.`,
          details: {path: directory, error, operation: 'lock'},
        },
      });
      expect(tree()).toEqual(BEFORE);
    }
  });

  test('review R6: a state directory that cannot be made is a failure that names it', async () => {
    const {commit, write, directory} = place();
    writeFileSync(directory, '');
    const done = await commit([write('a', 'A', 'a')]);
    expect(done).toMatchObject({
      error: {
        code: 'io_error',
        message: `Could not create ${JSON.stringify(directory)}: EEXIST. Check permissions and free space.`,
      },
    });
  });
});

describe('W19: what cannot be recovered', () => {
  test('W19: a leftover that the system does not let go is named with what announces it, and stays announced', async () => {
    const {workspace, directory, root} = place();
    mkdirSync(directory);
    const intent = join(directory, `${workspaceKey(root)}-00.intent`);
    const temporary = '.forge-0123456789abcdef.tmp';
    writeFileSync(intent, JSON.stringify({root: workspace.root, temporary, directories: []}), {mode: 0o600});
    const remove: Workspace['remove'] = async path =>
      fail('io_error', 'Could not remove it: EIO.', {path, error: 'EIO', operation: 'remove'});
    expect(await recoverJournals({...workspace, remove}, directory)).toMatchObject({
      ok: false,
      error: {
        code: 'io_error',
        message: `Could not remove it: EIO. It has to be done to take back an interrupted change; to go on without that, move ${intent} away.`,
      },
    });
    expect(existsSync(intent)).toBe(true);
    unwrap(await recoverJournals(workspace, directory));
    expect(existsSync(intent)).toBe(false);
  });

  test('review B5: a damaged journal that cannot be moved away is said to be damaged all the same', async () => {
    const {workspace, directory, root} = place();
    mkdirSync(directory);
    const journal = join(directory, `${workspaceKey(root)}-00.journal`);
    writeFileSync(journal, 'damaged', {mode: 0o600});
    mkdirSync(journal.replace(/journal$/, 'damaged'));
    const stuck = await recoverJournals(workspace, directory);
    expect(stuck).toMatchObject({
      error: {message: expect.stringMatching(/Compare the workspace with its version control\.$/)},
    });
    rmSync(journal.replace(/journal$/, 'damaged'), {recursive: true});
    const aside = await recoverJournals(workspace, directory);
    const kept = journal.replace(/journal$/, 'damaged');
    expect(aside).toMatchObject({
      error: {
        message: expect.stringMatching(
          new RegExp(`control\\. It is kept as ${kept}; the next call goes on\\.$`),
        ),
      },
    });
  });

  test('W19: a state directory that cannot be listed is a failure that names it', async () => {
    const {workspace, directory} = place();
    mkdirSync(directory);
    const long = join(directory, 'x'.repeat(256));
    expect(await recoverJournals(workspace, long)).toMatchObject({
      ok: false,
      error: {
        code: 'io_error',
        message: expect.stringMatching(
          /^Could not list ".+": ENAMETOOLONG\. Check permissions and free space\.$/,
        ),
        details: {path: long, error: 'ENAMETOOLONG', operation: 'list'},
      },
    });
  });

  test('policy: only scratch files of ours are removed, and only above an hour', async () => {
    const directory = temporaryDirectory();
    const names = ['patch-1', 'my-patch-1', 'x.draft', 'x.draft.txt', 'draft', 'x.lock'];
    for (const name of names) writeFileSync(join(directory, name), '');
    mkdirSync(join(directory, 'patch-2'));
    writeFileSync(join(directory, 'patch-2', 'content'), '');
    const latest = Math.max(...readdirSync(directory).map(name => statSync(join(directory, name)).mtimeMs));
    const earliest = Math.min(...readdirSync(directory).map(name => statSync(join(directory, name)).mtimeMs));
    const at = (now: number) => ({...systemClock, now: () => now});
    await removeLeftovers(directory, at(earliest + 3_600_000));
    expect(readdirSync(directory)).toHaveLength(7);
    await removeLeftovers(directory, at(latest + 3_600_001));
    expect(readdirSync(directory).sort()).toEqual(['draft', 'my-patch-1', 'x.draft.txt', 'x.lock']);
    await removeLeftovers(join(directory, 'missing'), at(latest));
  });
});

describe('W11: a file that is moved or removed without naming its text', () => {
  const state = async (change: (root: string) => void, known?: string) => {
    const {root, workspace} = place();
    const tracker = new ReadTracker();
    const path = unwrap(workspace.resolveForWrite('a'));
    if (known !== undefined) tracker.record(path, contentHash(Buffer.from(known)));
    change(root);
    return readKnownState(workspace, tracker, path);
  };
  const codeOf = async (pending: Promise<Result<unknown>>) => {
    const done = await pending;
    return done.ok ? 'ok' : done.error.code;
  };

  test('W11: is read with what it takes to bring it back', async () => {
    const {content, hash, mode, owner, bytes} = unwrap(
      await state(root => chmodSync(join(root, 'a'), 0o751)),
    );
    expect([String(content), hash, mode, String(bytes)]).toEqual([
      'a',
      contentHash(Buffer.from('a')),
      0o751,
      'a',
    ]);
    expect(owner).toEqual({uid: process.getuid?.(), gid: process.getgid?.()});
  });

  test('W11: need not have been read, but is not what the session knows as something else', async () => {
    expect(await codeOf(state(() => {}))).toBe('ok');
    expect(await codeOf(state(() => {}, 'a'))).toBe('ok');
    expect(await codeOf(state(() => {}, 'x'))).toBe('stale_read');
  });

  test('W1: is neither missing, nor a link, nor hard-linked, nor a directory', async () => {
    const a = (root: string): string => join(root, 'a');
    expect(await state(root => rmSync(a(root)))).toMatchObject({
      error: {code: 'file_not_found', message: 'There is no "a". Look it up with list_files or glob.'},
    });
    expect(await codeOf(state(root => linkSync(a(root), join(root, 'h'))))).toBe('not_a_file');
    const replaced = (make: (path: string) => void) => (root: string) => {
      rmSync(a(root));
      make(a(root));
    };
    expect(await codeOf(state(replaced(path => symlinkSync('b', path))))).toBe('symlink_blocked');
    expect(await codeOf(state(replaced(path => mkdirSync(path))))).toBe('not_a_file');
  });
});

test('policy: the directories of a file go with their last file, and no further up', () => {
  const {root, workspace} = place();
  mkdirSync(join(root, 'd/e/f'), {recursive: true});
  writeFileSync(join(root, 'd/kept'), '');
  removeEmptyDirectories(workspace, unwrap(workspace.resolveForWrite('d/e/f/gone')));
  expect(readdirSync(join(root, 'd'))).toEqual(['kept']);
  removeEmptyDirectories(workspace, unwrap(workspace.resolveForWrite('gone')));
  expect(existsSync(root)).toBe(true);
});

test('policy: an empty directory in the place of the file, or beside it, is not removed with it', () => {
  const {root, workspace} = place();
  for (const name of ['x/gone', 'y/go', 'gon', 'zo']) mkdirSync(join(root, name), {recursive: true});
  for (const name of ['x/gone', 'y/gone', 'gone', 'zoo/gone'])
    removeEmptyDirectories(workspace, unwrap(workspace.resolveForWrite(name)));
  for (const name of ['x/gone', 'y/go', 'gon', 'zo'])
    expect([name, existsSync(join(root, name))]).toEqual([name, true]);
});
