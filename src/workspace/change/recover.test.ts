import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {readEvents} from '../../../test/support/open-test-runtime.ts';
import {unwrap} from '../../../test/support/outcome.ts';
import {needs} from '../../../test/support/parts.ts';
import {stateOf} from '../../../test/support/state-of.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import {fail, ok} from '../../core/result.ts';
import {createToolbox, type Toolbox} from '../../create-toolbox.ts';
import {type HoldEntry, handleByDescriptor} from '../jail/entry-handle.ts';
import {openWorkspace} from '../jail/jail.ts';
import {temporaryPath} from '../jail/staged-file.ts';
import {contentHash} from '../open-file.ts';
import {planPatch} from '../patch/plan-patch.ts';
import {changeWorkspace} from './change-workspace.ts';
import {fileWrites} from './file-change.ts';
import {transactionTokens, workspaceKey} from './journal.ts';
import {clear, recoverJournals, rollBack} from './recover.ts';

interface Place {
  readonly root: string;
  readonly state: string;
  readonly run: string;
  readonly open: () => Toolbox;
}

/** A tree with two files, and toolboxes over it that share one state directory. */
function place(): Place {
  const base = temporaryDirectory();
  const root = join(base, 'work');
  const run = join(base, 'run');
  const state = join(base, 'xdg/forge-tools/journal');
  mkdirSync(root);
  mkdirSync(state, {recursive: true, mode: 0o700});
  for (const name of ['a', 'b']) writeFileSync(join(root, name), `${name}\n`);
  const environment = {env: {XDG_STATE_HOME: join(base, 'xdg')}, homeDir: base, tempDir: base, cwd: root};
  const config = {tools: {mode: 'enabled'}} as const;
  return {
    root,
    state,
    run,
    open: () => createToolbox({workspace: root, runDirectory: run, environment, config}),
  };
}

const call = async (toolbox: Toolbox) => {
  const {error} = await toolbox.call({tool: 'list_files', params: {}, request_id: 'r'});
  return error?.error_type === undefined ? 'ok' : `${error.error_type}: ${error.message}`;
};

/** Stops a patch of both files after the first was replaced. */
async function interrupt({root, state}: Place): Promise<void> {
  const opened = openWorkspace(root);
  if (!opened.ok) throw new Error(opened.error.message);
  const section = (name: string) => `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-${name}\n+new\n`;
  const plan = await planPatch(opened.value, section('a') + section('b'));
  if (!plan.ok) throw new Error(plan.error.message);
  const onStep = (step: string): void => {
    if (step === 'replaced a') throw new Error('stopped');
  };
  const stopped = changeWorkspace(
    opened.value,
    {directory: state, clock: systemClock, onStep},
    undefined,
    held => held.commit(fileWrites(plan.value.changes)),
  );
  await expect(stopped).rejects.toThrow('stopped');
}

const journalOf = ({root, state}: Place): string =>
  join(state, `${workspaceKey(root)}-0011223344556677.journal`);

describe('review B5: a damaged journal', () => {
  test.each([
    ['half a line', '{"version":2,"root":"/wo'],
    ['half a line that ends', '{"version":2,"root":"/wo\n'],
    ['nothing', ''],
    ['another shape', '{"version":2,"entries":[{"path":7}]}\n'],
    ['a list', '[]\n'],
    ['null', 'null\n'],
  ])('review B5: %s fails one call with the name of the file, and is set aside', async (_, content) => {
    const here = place();
    writeFileSync(journalOf(here), content, {mode: 0o600});
    const toolbox = here.open();
    const answer = await call(toolbox);
    expect(answer).toMatch(/^io_error: /);
    expect(answer).toContain(journalOf(here));
    expect(await call(toolbox)).toBe('ok');
    expect(readdirSync(here.state)).toEqual([
      journalOf(here).split('/').at(-1)?.replace('journal', 'damaged'),
    ]);
    await toolbox.close();
    expect(readFileSync(join(here.root, 'a'), 'utf8')).toBe('a\n');
  });

  test('review B5: one whose old bytes were changed is not followed', async () => {
    const here = place();
    await interrupt(here);
    const [name = ''] = readdirSync(here.state);
    const path = join(here.state, name);
    writeFileSync(path, readFileSync(path, 'utf8').replace(/\na\nb\n$/, '\nX\nb\n'));
    const toolbox = here.open();
    expect(await call(toolbox)).toContain('damaged');
    expect(readFileSync(join(here.root, 'a'), 'utf8')).toBe('new\n');
    await toolbox.close();
  });

  test('review R6: one of another workspace under our name is not followed', async () => {
    const here = place();
    const hash = contentHash(Buffer.from('a\n'));
    const entry = {path: 'a', token: '0'.repeat(16), old: null, new_hash: hash};
    writeFileSync(
      journalOf(here),
      `${JSON.stringify({version: 2, root: '/elsewhere', directories: [], entries: [entry]})}\n`,
      {mode: 0o600},
    );
    const toolbox = here.open();
    expect(await call(toolbox)).toContain('damaged');
    expect(existsSync(join(here.root, 'a'))).toBe(true);
    await toolbox.close();
  });

  test('review R6: one that another user wrote is not followed', needs('root'), async () => {
    const here = place();
    const hash = contentHash(Buffer.from('a\n'));
    const entry = {path: 'a', token: '0'.repeat(16), old: null, new_hash: hash};
    const text = `${JSON.stringify({version: 2, root: here.root, directories: [], entries: [entry]})}\n`;
    writeFileSync(journalOf(here), text, {mode: 0o600});
    chownSync(journalOf(here), 1001, 1001);
    const toolbox = here.open();
    for (let tries = 0; tries < 2; tries += 1) expect(await call(toolbox)).toContain('another user');
    expect(existsSync(join(here.root, 'a'))).toBe(true);
    await toolbox.close();
  });
});

describe('W19: a journal that cannot be followed', () => {
  test('W19: where a changed file has a hard link, the tools go on and the journal is kept aside', async () => {
    const here = place();
    await interrupt(here);
    linkSync(join(here.root, 'a'), `${here.run}-backup`);
    const toolbox = here.open();
    expect(await call(toolbox)).toBe('ok');
    await toolbox.close();
    expect(readdirSync(here.state)).toEqual([expect.stringMatching(/\.conflict$/)]);
    const events = await readEvents(here.run);
    expect(events.find(({event}) => event === 'JOURNAL_RECOVERED')?.payload).toMatchObject({
      files: [],
      conflicts: ['a'],
    });
  });

  test('W19: a file that the system does not let us write is named together with the journal', async () => {
    const here = place();
    await interrupt(here);
    const [journal = ''] = readdirSync(here.state);
    const opened = openWorkspace(here.root, {
      holdEntry: address => {
        if (address.endsWith('/a'))
          throw Object.assign(new Error('refused'), {code: 'EACCES', syscall: 'open'});
        return handleByDescriptor(address);
      },
    });
    if (!opened.ok) throw new Error(opened.error.message);
    const answer = await recoverJournals(opened.value, here.state);
    expect(answer).toMatchObject({ok: false, error: {code: 'io_error'}});
    const message = answer.ok ? '' : answer.error.message;
    expect(message).toMatch(/^Could not reach "a": EACCES\./);
    expect(message).toContain(`move ${join(here.state, journal)} away`);
    expect(readdirSync(here.state)).toEqual([journal]);
  });
});

test('review R6: what was taken back at the start is in the log, with its files', async () => {
  const here = place();
  await interrupt(here);
  expect(readFileSync(join(here.root, 'a'), 'utf8')).toBe('new\n');
  const toolbox = here.open();
  expect(await call(toolbox)).toBe('ok');
  await toolbox.close();
  expect(readFileSync(join(here.root, 'a'), 'utf8')).toBe('a\n');
  const events = await readEvents(here.run);
  expect(events.find(({event}) => event === 'JOURNAL_RECOVERED')?.payload).toEqual({
    undone: 1,
    files: ['a'],
    conflicts: [],
  });
});

test('W19: what a single change left when it was killed is cleared away', async () => {
  const here = place();
  const opened = openWorkspace(here.root);
  if (!opened.ok) throw new Error(opened.error.message);
  const onStep = (step: string): void => {
    if (step.startsWith('staged')) throw new Error('stopped');
  };
  const plan = await planPatch(opened.value, '--- /dev/null\n+++ b/d/e/new\n@@ -0,0 +1 @@\n+x\n');
  if (!plan.ok) throw new Error(plan.error.message);
  const stopped = changeWorkspace(
    opened.value,
    {directory: here.state, clock: systemClock, onStep},
    undefined,
    held => held.commit(fileWrites(plan.value.changes)),
  );
  await expect(stopped).rejects.toThrow('stopped');
  expect(existsSync(join(here.root, 'd/e'))).toBe(true);
  const toolbox = here.open();
  expect(await call(toolbox)).toBe('ok');
  await toolbox.close();
  expect(readdirSync(here.root).sort()).toEqual(['a', 'b']);
  expect(readdirSync(here.state)).toEqual([]);
});

test('policy: scratch files of processes that were killed are removed when they are an hour old', async () => {
  const here = place();
  const old = systemClock.now() / 1000 - 3_601;
  for (const name of ['patch-old', 'patch-new']) {
    mkdirSync(join(here.state, name));
    writeFileSync(join(here.state, name, 'content-0'), 'x');
  }
  for (const name of ['x.lock.old.draft', 'x.lock.new.draft']) writeFileSync(join(here.state, name), '');
  for (const name of ['patch-old', 'x.lock.old.draft']) utimesSync(join(here.state, name), old, old);
  const toolbox = here.open();
  expect(await call(toolbox)).toBe('ok');
  await toolbox.close();
  expect(readdirSync(here.state).sort()).toEqual(['patch-new', 'x.lock.new.draft']);
});

describe('roll back', () => {
  const FILES = Array.from({length: 40}, (_, at) => `d${at % 2}/f${at}`);

  /** A patch of all files, interrupted after the last was replaced. The value is where its journal lies. */
  async function interrupt(root: string): Promise<string> {
    const directory = join(temporaryDirectory(), 'journal');
    for (const name of ['d0', 'd1']) mkdirSync(join(root, name));
    for (const path of FILES) writeFileSync(join(root, path), 'old\n');
    const sections = FILES.map(path => `--- a/${path}\n+++ b/${path}\n@@ -1 +1 @@\n-old\n+new\n`);
    const workspace = unwrap(openWorkspace(root));
    const plan = unwrap(await planPatch(workspace, sections.join('')));
    let left = FILES.length;
    const onStep = (step: string): void => {
      if (step.startsWith('replaced ')) left -= 1;
      if (left === 0) throw new Error('stopped');
    };
    const stopped = changeWorkspace(workspace, {directory, clock: systemClock, onStep}, undefined, held =>
      held.commit(fileWrites(plan.changes)),
    );
    await expect(stopped).rejects.toThrow('stopped');
    workspace.close();
    return directory;
  }

  test('W19: taking back writes several files at a time and synchronises each directory once', async () => {
    const root = temporaryDirectory();
    const directory = await interrupt(root);
    expect(FILES.map(path => readFileSync(join(root, path), 'utf8'))).toEqual(FILES.map(() => 'new\n'));
    let synchronised = 0;
    const holdEntry: HoldEntry = address => {
      const entryHandle = handleByDescriptor(address);
      // A directory is opened to be synchronised, and for nothing else.
      if (!entryHandle.stats.isDirectory()) return entryHandle;
      const reopen: typeof entryHandle.reopen = flags => {
        synchronised += 1;
        return entryHandle.reopen(flags);
      };
      return {...entryHandle, reopen};
    };
    const workspace = unwrap(openWorkspace(root, {holdEntry}));
    let staging = 0;
    let most = 0;
    const stage: typeof workspace.stage = async (...parameters) => {
      staging += 1;
      most = Math.max(most, staging);
      const staged = await workspace.stage(...parameters);
      staging -= 1;
      return staged;
    };
    const recovered = unwrap(await recoverJournals({...workspace, stage}, directory));
    workspace.close();
    expect(recovered.files.toSorted()).toEqual(FILES.toSorted());
    expect(FILES.map(path => readFileSync(join(root, path), 'utf8'))).toEqual(FILES.map(() => 'old\n'));
    expect(readdirSync(directory)).toEqual([]);
    expect({most, synchronised}).toEqual({most: 8, synchronised: 2});
  });

  describe('W19: what a change that was cut off leaves', () => {
    function place() {
      const root = temporaryDirectory();
      const workspace = unwrap(openWorkspace(root));
      const pathOf = (name: string) => unwrap(workspace.resolveForWrite(name));
      const temporaryOf = (name: string, at: number) => temporaryPath(pathOf(name), transactionTokens()(at));
      const textOf = (text: string) => stateOf(text);
      const old = (text: string, mode = 0o644) => stateOf(text, mode);
      return {root, workspace, pathOf, temporaryOf, textOf, old};
    }

    test('temporary files and directories that were made go, innermost first, and others stay', async () => {
      const {root, workspace, pathOf, temporaryOf, textOf} = place();
      mkdirSync(join(root, 'd/e'), {recursive: true});
      mkdirSync(join(root, 'f'));
      writeFileSync(join(root, 'f/mine'), '');
      const names = ['d/e/n', 'f/n'];
      const entries = names.map((name, at) => ({
        path: pathOf(name),
        temporary: temporaryOf(name, at),
        old: undefined,
        newHash: textOf('new').hash,
      }));
      for (const {path, temporary} of entries) {
        writeFileSync(join(root, path), 'new');
        writeFileSync(join(root, temporary), 'ne');
      }
      const directories = ['d', 'd/e', 'f'].map(pathOf);
      const undone = unwrap(await rollBack(workspace, {root, entries, directories}));
      expect(undone).toEqual({restored: names.toReversed().map(pathOf), conflicts: []});
      expect(readdirSync(root, {recursive: true}).sort()).toEqual(['f', 'f/mine']);
      // A second time there is nothing to do, and it does no harm.
      expect(unwrap(await rollBack(workspace, {root, entries, directories}))).toEqual({
        restored: [],
        conflicts: [],
      });
      workspace.close();
    });

    test('what is in neither state is left alone, and a mode that was changed is brought back', async () => {
      const {root, workspace, pathOf, temporaryOf, textOf, old} = place();
      const entryOf = (name: string, at: number, mode: number) => ({
        path: pathOf(name),
        temporary: temporaryOf(name, at),
        old: old('old', mode),
        newHash: textOf('new').hash,
      });
      for (const [name, text] of [
        ['a', 'new'],
        ['b', 'of another'],
        ['c', 'old'],
        ['d', 'old'],
      ] as const) {
        writeFileSync(join(root, name), text);
        chmodSync(join(root, name), 0o644);
      }
      const entries = [
        entryOf('a', 0, 0o600),
        entryOf('b', 1, 0o644),
        entryOf('c', 2, 0o644),
        entryOf('d', 3, 0o600),
      ];
      const undone = unwrap(await rollBack(workspace, {root, entries, directories: []}));
      expect(undone).toEqual({restored: ['d', 'a'].map(pathOf), conflicts: [pathOf('b')]});
      const now = ['a', 'b', 'c', 'd'].map(name => [
        readFileSync(join(root, name), 'utf8'),
        statSync(join(root, name)).mode & 0o777,
      ]);
      expect(now).toEqual([
        ['old', 0o600],
        ['of another', 0o644],
        ['old', 0o644],
        ['old', 0o600],
      ]);
      workspace.close();
    });

    test('a file that was removed comes back, and one that another process made is left alone', async () => {
      const {root, workspace, pathOf, temporaryOf, old} = place();
      writeFileSync(join(root, 'there'), 'of another');
      const entryOf = (name: string, at: number) => ({
        path: pathOf(name),
        temporary: temporaryOf(name, at),
        old: old('old'),
        newHash: undefined,
      });
      const entries = [entryOf('gone', 0), entryOf('there', 1)];
      const undone = unwrap(await rollBack(workspace, {root, entries, directories: []}));
      expect(undone).toEqual({restored: [pathOf('gone')], conflicts: [pathOf('there')]});
      expect(readFileSync(join(root, 'gone'), 'utf8')).toBe('old');
      expect(readdirSync(root).sort()).toEqual(['gone', 'there']);
      workspace.close();
    });

    test('what the system refuses is the answer, and a temporary file that is gone is none', async () => {
      const {root, workspace, pathOf, temporaryOf, textOf, old} = place();
      const failing = fail('io_error', 'No.', {path: 'a'});
      const temporary = temporaryOf('a', 0);
      const entries = [{path: pathOf('a'), temporary, old: undefined, newHash: textOf('new').hash}];
      const journal = {root, entries, directories: []};
      writeFileSync(join(root, 'a'), 'new');
      expect(await rollBack({...workspace, remove: async () => failing}, journal)).toEqual(failing);
      expect(await clear({...workspace, remove: async () => failing}, {temporary, directories: []})).toEqual(
        failing,
      );
      expect(await clear(workspace, {temporary, directories: []})).toEqual({ok: true, value: undefined});
      const openFile = async () => failing;
      expect(await rollBack({...workspace, openFile}, journal)).toEqual(failing);
      const back = {
        root,
        entries: [{path: pathOf('a'), temporary, old: old('old'), newHash: textOf('new').hash}],
        directories: [],
      };
      expect(await rollBack({...workspace, stage: async () => failing}, back)).toEqual(failing);
      const stage: typeof workspace.stage = async (...parameters) => {
        const staged = await workspace.stage(...parameters);
        return staged.ok ? ok({...staged.value, replace: async () => failing}) : staged;
      };
      expect(await rollBack({...workspace, stage}, back)).toEqual(failing);
      expect(readFileSync(join(root, 'a'), 'utf8')).toBe('new');
      const stale = fail('not_a_file', 'A link.', {path: 'a'});
      expect(await rollBack({...workspace, openFile: async () => stale}, journal)).toEqual({
        ok: true,
        value: {restored: [], conflicts: [pathOf('a')]},
      });
      workspace.close();
    });
  });
});
