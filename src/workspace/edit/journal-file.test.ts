import {chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {unwrap} from '../../../test/support/outcome.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {contentHash} from '../content-hash.ts';
import {openWorkspace, type Workspace} from '../jail/jail.ts';
import {temporaryPath} from '../jail/staged-file.ts';
import {
  endIntent,
  endJournal,
  findJournals,
  type Journal,
  setJournalAside,
  transactionTokens,
  writeIntent,
  writeJournal,
} from './journal-file.ts';
import {readIntent, readJournal} from './read-journal.ts';
import {workspaceKey} from './workspace-key.ts';

function place() {
  const base = temporaryDirectory();
  const [root, directory] = [join(base, 'work'), join(base, 'state')];
  for (const path of [root, directory]) mkdirSync(path, {mode: 0o700});
  const workspace = unwrap(openWorkspace(root));
  return {root, directory, workspace, journal: journalOf(workspace), key: workspaceKey(root)};
}

/** One file that is changed, one that is made with its directory, and one that is removed. */
function journalOf(workspace: Workspace): Journal {
  const tokenOf = transactionTokens();
  const oldOf = (text: string, mode: number) => ({
    bytes: Buffer.from(text),
    hash: contentHash(Buffer.from(text)),
    mode,
    owner: mode === 0o600 ? {uid: 1, gid: 2} : undefined,
  });
  const entryOf = (name: string, at: number, old: ReturnType<typeof oldOf> | undefined, text?: string) => {
    const path = unwrap(workspace.resolveForWrite(name));
    return {
      path,
      temporary: temporaryPath(path, tokenOf(at)),
      old,
      newHash: text === undefined ? undefined : contentHash(Buffer.from(text)),
    };
  };
  return {
    root: workspace.root,
    directories: [unwrap(workspace.resolveForWrite('d'))],
    entries: [
      entryOf('a', 0, oldOf('old a\n', 0o644), 'new a'),
      entryOf('d/n', 1, undefined, 'new n'),
      entryOf('c', 2, oldOf('old c\n', 0o600)),
    ],
  };
}

describe('W19: a journal', () => {
  test('is read back as it was written, whole, and is private', async () => {
    const {workspace, directory, journal, key} = place();
    const path = await writeJournal(directory, journal);
    expect(path).toMatch(new RegExp(`^${directory}/${key}-[0-9a-f]{16}\\.journal$`));
    expect(readdirSync(directory)).toHaveLength(1);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const read = await readJournal(path, workspace);
    expect(read).toEqual({ok: true, value: journal});
    expect(readFileSync(path, 'utf8')).toMatch(/^\{"version":2,.*\}\nold a\nold c\n$/);
  });

  test('that cannot be written leaves nothing, and the failure is thrown', async () => {
    const {directory, journal} = place();
    await expect(writeJournal(join(directory, 'none'), journal)).rejects.toThrow('ENOENT');
    await expect(writeJournal(directory, {...journal, entries: [{} as never]})).rejects.toThrow(TypeError);
    expect(readdirSync(directory)).toEqual([]);
  });

  test('ends once, and what ended it before is no failure', async () => {
    const {directory, journal} = place();
    const path = await writeJournal(directory, journal);
    expect(await endJournal(path)).toBeUndefined();
    expect(readdirSync(directory)).toEqual([]);
    expect(await endJournal(path)).toBeUndefined();
  });

  test('that cannot be removed has not ended', async () => {
    const {directory} = place();
    mkdirSync(join(directory, 'x.journal'));
    await expect(endJournal(join(directory, 'x.journal'))).rejects.toThrow(/EISDIR|EPERM/);
    // Nor has one whose directory is gone, but that cannot be synchronised any more and is no failure.
    expect(await endJournal(join(directory, 'none/x.journal'))).toBeUndefined();
  });

  test('is kept under another name where it cannot be followed', async () => {
    const {directory, journal} = place();
    for (const as of ['conflict', 'damaged'] as const) {
      const path = await writeJournal(directory, journal);
      expect(await setJournalAside(path, as)).toBe(path.replace(/journal$/, as));
    }
    expect(
      readdirSync(directory)
        .map(name => name.replace(/^.*\./, ''))
        .sort(),
    ).toEqual(['conflict', 'damaged']);
  });
});

describe('W19: an intent', () => {
  const leftovers = (workspace: Workspace) => ({
    temporary: temporaryPath(unwrap(workspace.resolveForWrite('d/n')), transactionTokens()(0)),
    directories: [unwrap(workspace.resolveForWrite('d'))],
  });

  test('is read back as it was written, and is private', async () => {
    const {workspace, directory, root, key} = place();
    const path = writeIntent(directory, root, leftovers(workspace));
    expect(path).toMatch(new RegExp(`^${directory}/${key}-[0-9a-f]{16}\\.intent$`));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const {temporary} = JSON.parse(readFileSync(path, 'utf8')) as {temporary: string};
    expect(await readIntent(path, workspace)).toEqual({...leftovers(workspace), temporary});
    endIntent(path);
    expect(readdirSync(directory)).toEqual([]);
  });

  test('that cannot be written leaves nothing, and the failure is thrown', () => {
    const {workspace, directory, root} = place();
    expect(() => writeIntent(join(directory, 'none'), root, leftovers(workspace))).toThrow('ENOENT');
    expect(readdirSync(directory)).toEqual([]);
  });

  test('that is gone, or cannot be removed, has ended all the same', () => {
    const {directory} = place();
    mkdirSync(join(directory, 'x.intent'));
    for (const name of ['none.intent', 'x.intent'])
      expect(() => endIntent(join(directory, name))).not.toThrow();
    expect(() => endIntent(7 as never)).toThrow(TypeError);
  });
});

describe('W19: what lies in the state directory', () => {
  test('journals and intents of this workspace are found, in order, and unfinished ones go', () => {
    const {directory, root, key} = place();
    const names = [`${key}-2.journal`, `${key}-1.journal`, `${key}-3.intent`, `${key}-4.unfinished`];
    const others = [
      `${key}-5.conflict`,
      `${key}-6.damaged`,
      `${key}.lock`,
      'other-1.journal',
      'other-2.unfinished',
    ];
    for (const name of [...names, ...others]) writeFileSync(join(directory, name), '');
    expect(findJournals(directory, root)).toEqual({
      journals: [join(directory, `${key}-1.journal`), join(directory, `${key}-2.journal`)],
      intents: [join(directory, `${key}-3.intent`)],
    });
    expect(readdirSync(directory).sort()).toEqual([...names.slice(0, 3), ...others].sort());
  });

  test('two transactions have different names, and their files in order', () => {
    const [one, other] = [transactionTokens(), transactionTokens()];
    expect(one(0)).toMatch(/^[0-9a-f]{10}000000$/);
    expect(one(255)).toBe(`${one(0).slice(0, 10)}0000ff`);
    expect(one(0)).not.toBe(other(0));
  });

  test('a journal that others can write is not followed', async () => {
    const {workspace, directory, journal} = place();
    const path = await writeJournal(directory, journal);
    chmodSync(path, 0o620);
    expect(await readJournal(path, workspace)).toMatchObject({ok: false, error: {kind: 'foreign'}});
  });
});
