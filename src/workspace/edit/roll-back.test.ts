import {mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {unwrap} from '../../../test/support/outcome.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import {type HoldEntry, handleByDescriptor} from '../jail/entry-handle.ts';
import {openWorkspace} from '../jail/jail.ts';
import {fileWrites} from '../patch/file-writes.ts';
import {planPatch} from '../patch/plan-patch.ts';
import {changeWorkspace} from './change-workspace.ts';
import {recoverJournals} from './recover-journals.ts';

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
