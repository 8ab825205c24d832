import type {Failure} from '../../core/failure/failure.ts';
import {type Err, ok, type Result} from '../../core/result.ts';
import {attempt} from '../io-failure.ts';
import type {Workspace} from '../jail/jail.ts';
import type {WritablePath} from '../workspace-path.ts';
import {endIntent, endJournal, findJournals, setJournalAside} from './journal-file.ts';
import {readIntent, readJournal} from './read-journal.ts';
import {clear, rollBack} from './roll-back.ts';

/** What was taken back because a process ended in the middle of it. */
export interface Recovery {
  /** Changes of several files that were interrupted. */
  readonly undone: number;
  /** Files that were changed by that, and are as they were before. */
  readonly files: readonly WritablePath[];
  /** Files that another process changed after the interruption, and that were left alone. */
  readonly conflicts: readonly WritablePath[];
}

/** To be called under the lock of the workspace: takes back what interrupted changes left half done. */
export async function recoverJournals(workspace: Workspace, directory: string): Promise<Result<Recovery>> {
  const found = await attempt(directory, 'list', async () => findJournals(directory, workspace.root));
  if (!found.ok) return found;
  const files: WritablePath[] = [];
  const conflicts: WritablePath[] = [];
  for (const path of found.value.intents) {
    const leftovers = await readIntent(path, workspace);
    const cleared = leftovers === undefined ? ok() : await clear(workspace, leftovers);
    if (!cleared.ok) return keptBy(path, cleared);
    endIntent(path);
  }
  for (const path of found.value.journals) {
    const journal = await readJournal(path, workspace);
    if (!journal.ok) {
      const {kind, failure} = journal.error;
      if (kind !== 'damaged') return failure;
      // It says nothing that could be followed, so it need not stop the next call as well.
      const aside = await attempt(path, 'move away', () => setJournalAside(path, 'damaged'));
      if (!aside.ok) return failure;
      const message = `${failure.error.message} It is kept as ${aside.value}; the next call goes on.`;
      return {ok: false, error: {...failure.error, message}};
    }
    const rolledBack = await rollBack(workspace, journal.value);
    if (!rolledBack.ok) return keptBy(path, rolledBack);
    const put = await attempt<unknown>(path, 'remove', () =>
      rolledBack.value.conflicts.length > 0 ? setJournalAside(path, 'conflict') : endJournal(path),
    );
    if (!put.ok) return put;
    files.push(...rolledBack.value.restored);
    conflicts.push(...rolledBack.value.conflicts);
  }
  return ok({undone: found.value.journals.length, files, conflicts});
}

/** Every later call meets this again, so it says what it was for and how to get past it. */
function keptBy(journal: string, {error}: Err<Failure>): Err<Failure> {
  const message = `${error.message} It has to be done to take back an interrupted change; to go on without that, move ${journal} away.`;
  return {ok: false, error: {...error, message}};
}
