import {
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {readEvents} from '../../../test/support/open-test-runtime.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import {createToolbox, type Toolbox} from '../../create-toolbox.ts';
import {contentHash} from '../content-hash.ts';
import {handleByDescriptor} from '../jail/entry-handle.ts';
import {openWorkspace} from '../jail/jail.ts';
import {fileWrites} from '../patch/file-writes.ts';
import {planPatch} from '../patch/plan-patch.ts';
import {changeWorkspace} from './change-workspace.ts';
import {recoverJournals} from './recover-journals.ts';
import {workspaceKey} from './workspace-key.ts';

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

  test.runIf(process.getuid?.() === 0)('review R6: one that another user wrote is not followed', async () => {
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
