import {chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {unwrap} from '../../../test/support/outcome.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import {fail} from '../../core/failure/fail.ts';
import {ok} from '../../core/result.ts';
import {contentHash} from '../content-hash.ts';
import {type HoldEntry, handleByDescriptor} from '../jail/entry-handle.ts';
import {openWorkspace} from '../jail/jail.ts';
import {temporaryPath} from '../jail/staged-file.ts';
import {fileWrites} from '../patch/file-writes.ts';
import {planPatch} from '../patch/plan-patch.ts';
import {changeWorkspace} from './change-workspace.ts';
import {transactionTokens} from './journal-file.ts';
import {recoverJournals} from './recover-journals.ts';
import {clear, rollBack} from './roll-back.ts';

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
    const textOf = (text: string) => ({bytes: Buffer.from(text), hash: contentHash(Buffer.from(text))});
    const old = (text: string, mode = 0o644) => ({...textOf(text), mode, owner: undefined});
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
