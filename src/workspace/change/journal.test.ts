import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {unwrap} from '../../../test/support/outcome.ts';
import {needs} from '../../../test/support/parts.ts';
import {stateOf} from '../../../test/support/state-of.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {ok} from '../../core/result.ts';
import {openWorkspace, type Workspace} from '../jail/jail.ts';
import {temporaryPath} from '../jail/staged-file.ts';
import {contentHash} from '../open-file.ts';
import type {WritablePath} from '../workspace-path.ts';
import {
  endJournal,
  endPending,
  findJournals,
  type Journal,
  readJournal,
  readPending,
  setJournalAside,
  transactionTokens,
  workspaceKey,
  writeJournal,
  writePending,
} from './journal.ts';

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
  const oldOf = (text: string, mode: number) =>
    stateOf(text, mode, mode === 0o600 ? {uid: 1, gid: 2} : undefined);
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
    const path = writePending(directory, root, leftovers(workspace));
    expect(path).toMatch(new RegExp(`^${directory}/${key}-[0-9a-f]{16}\\.intent$`));
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const {temporary} = JSON.parse(readFileSync(path, 'utf8')) as {temporary: string};
    expect(await readPending(path, workspace)).toEqual({...leftovers(workspace), temporary});
    endPending(path);
    expect(readdirSync(directory)).toEqual([]);
  });

  test('that cannot be written leaves nothing, and the failure is thrown', () => {
    const {workspace, directory, root} = place();
    expect(() => writePending(join(directory, 'none'), root, leftovers(workspace))).toThrow('ENOENT');
    expect(readdirSync(directory)).toEqual([]);
  });

  test('that is gone, or cannot be removed, has ended all the same', () => {
    const {directory} = place();
    mkdirSync(join(directory, 'x.intent'));
    for (const name of ['none.intent', 'x.intent'])
      expect(() => endPending(join(directory, name))).not.toThrow();
    expect(() => endPending(7 as never)).toThrow(TypeError);
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

describe('read journal', () => {
  const OLD = Buffer.from('old bytes\n');
  const HASH = contentHash(OLD);
  const TOKEN = '0123456789abcdef';

  function place() {
    const root = temporaryDirectory();
    const directory = temporaryDirectory();
    return {root, directory, workspace: unwrap(openWorkspace(root)), path: join(directory, 'x.journal')};
  }

  type Fields = Readonly<Record<string, unknown>>;
  const OLD_FILE: Fields = {hash: HASH, mode: 0o644, size: OLD.length, owner: {uid: 1, gid: 2}};
  const ENTRY: Fields = {path: 'a', token: TOKEN, old: OLD_FILE, new_hash: HASH};

  /** What is read of a journal whose head has these fields. */
  async function readHead(fields: Fields, behind: Uint8Array = OLD) {
    const {root, workspace, path} = place();
    const head = {version: 2, root, directories: ['d', 'd/e'], entries: [ENTRY], ...fields};
    writeFileSync(path, Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), behind]), {mode: 0o600});
    return readJournal(path, workspace);
  }

  const readEntry = (fields: Fields) => readHead({entries: [{...ENTRY, ...fields}]});
  const readOld = (fields: Fields) => readEntry({old: {...OLD_FILE, ...fields}});

  describe('review B5: a journal is followed if it says all that it takes', () => {
    test('review B5: it is read as it was written', async () => {
      const {root, directory, workspace} = place();
      const named = (path: string): WritablePath => unwrap(workspace.resolveForWrite(path));
      const journal = {
        root: workspace.root,
        directories: [named('d'), named('d/e')],
        entries: [
          {
            path: named('a'),
            temporary: named(`.forge-${TOKEN}.tmp`),
            old: stateOf(OLD, 0o755, {uid: 1, gid: 2}),
            newHash: undefined,
          },
          {path: named('d/e/b'), temporary: named(`d/e/.forge-${TOKEN}.tmp`), old: undefined, newHash: HASH},
          {
            path: named('c'),
            temporary: named(`.forge-${'f'.repeat(16)}.tmp`),
            old: stateOf(Buffer.alloc(0), 0),
            newHash: HASH,
          },
        ],
      };
      const path = await writeJournal(directory, journal);
      expect(path.startsWith(join(directory, `${workspaceKey(root)}-`))).toBe(true);
      expect(findJournals(directory, root).journals).toEqual([path]);
      expect(await readJournal(path, workspace)).toEqual(ok(journal));
    });

    test.each<[string, Fields]>([
      ['a file that was not there before', {old: null}],
      ['a file that is removed', {new_hash: null}],
    ])('review B5: %s', async (_, fields) => {
      const behind = fields['old'] === null ? Buffer.alloc(0) : OLD;
      expect((await readHead({entries: [{...ENTRY, ...fields}]}, behind)).ok).toBe(true);
    });

    test.each<[string, Fields, boolean]>([
      ['all permissions', {mode: 0o777}, true],
      ['no permission', {mode: 0}, true],
      ['no owner', {owner: null}, true],
      ['the first user', {owner: {uid: 0, gid: 0}}, true],
      ['more than permissions', {mode: 0o1000}, false],
      ['less than none', {mode: -1}, false],
      ['permissions in words', {mode: '644'}, false],
      ['a fraction', {mode: 1.5}, false],
      ['a size below nothing', {size: -1}, false],
      ['a size in words', {size: '10'}, false],
      ['a size of less than the bytes', {size: OLD.length - 1}, false],
      ['a size of more than the bytes', {size: OLD.length + 1}, false],
      ['an owner without a group', {owner: {uid: 1}}, false],
      ['an owner without a user', {owner: {gid: 1}}, false],
      ['an owner in words', {owner: {uid: 'root', gid: 1}}, false],
      ['an owner that is undefined', {owner: undefined}, false],
      ['no hash', {hash: undefined}, false],
      ['a hash that is too short', {hash: HASH.slice(1)}, false],
      ['a hash with text before it', {hash: `x${HASH}`}, false],
      ['a hash with text behind it', {hash: `${HASH}0`}, false],
      ['the hash of other bytes', {hash: contentHash(Buffer.from('x'))}, false],
    ])('review B5: an old file with %s', async (_, fields, followed) => {
      expect((await readOld(fields)).ok).toBe(followed);
    });

    test.each<[string, Fields]>([
      ['no path', {path: undefined}],
      ['a path that is a number', {path: 7}],
      ['a path outside', {path: '../a'}],
      ['no token', {token: undefined}],
      ['a token that is a number', {token: 1_234_567_890_123_456}],
      ['a token that is a list', {token: [TOKEN]}],
      ['a token that is too short', {token: TOKEN.slice(1)}],
      ['a token that is too long', {token: `${TOKEN}0`}],
      ['a token with a path in it', {token: '../../0123456789'}],
      ['no new hash', {new_hash: undefined}],
      ['a new hash that is a list', {new_hash: [HASH]}],
      ['a new hash that is none', {new_hash: 'new'}],
      ['a new hash with text before it', {new_hash: `x${HASH}`}],
      ['a new hash with text behind it', {new_hash: `${HASH}0`}],
      ['an old file that is a text', {old: 'old'}],
      ['an old file that is missing', {old: undefined}],
    ])('review B5: an entry with %s is damaged', async (_, fields) => {
      expect(await readEntry(fields)).toMatchObject({ok: false, error: {kind: 'damaged'}});
    });

    test.each<[string, Fields]>([
      ['another version', {version: 1}],
      ['no version', {version: undefined}],
      ['another workspace', {root: '/elsewhere'}],
      ['no entries', {entries: undefined}],
      ['entries that are no list', {entries: {length: 0}}],
      ['an entry that is nothing', {entries: [null]}],
      ['an entry that is a text', {entries: ['a']}],
      ['a good entry and a bad one', {entries: [ENTRY, {}]}],
      ['no directories', {directories: undefined}],
      ['directories that are no list', {directories: 'd'}],
      ['a directory that is a number', {directories: [7]}],
      ['a directory outside', {directories: ['d', '../d']}],
    ])('review B5: a journal with %s is damaged', async (_, fields) => {
      expect(await readHead(fields)).toMatchObject({ok: false, error: {kind: 'damaged'}});
    });

    test('review B5: bytes behind the last file, and a head without its line end, are damage', async () => {
      expect((await readHead({})).ok).toBe(true);
      expect((await readHead({}, Buffer.concat([OLD, OLD]))).ok).toBe(false);
      const {root, workspace, path} = place();
      writeFileSync(path, JSON.stringify({version: 2, root, directories: [], entries: []}), {mode: 0o600});
      expect((await readJournal(path, workspace)).ok).toBe(false);
      writeFileSync(path, `${JSON.stringify({version: 2, root, directories: [], entries: []})}\n`);
      expect((await readJournal(path, workspace)).ok).toBe(true);
    });

    test('review B5: it is said which journal is damaged, and what to do', async () => {
      const {workspace, path} = place();
      writeFileSync(path, 'x', {mode: 0o600});
      expect(await readJournal(path, workspace)).toMatchObject({
        ok: false,
        error: {
          kind: 'damaged',
          failure: {
            ok: false,
            error: {
              code: 'io_error',
              message: `The journal ${path} of an interrupted change is damaged, so the change could not be taken back. Compare the workspace with its version control.`,
              details: {path, error: 'damaged_journal', operation: 'recover'},
            },
          },
        },
      });
    });

    test('review R6: one that others could have written is foreign, and what is no file is neither read nor waited for', async () => {
      const {workspace, directory, path} = place();
      writeFileSync(path, 'x', {mode: 0o600});
      for (const mode of [0o620, 0o602, 0o622]) {
        chmodSync(path, mode);
        expect(await readJournal(path, workspace)).toMatchObject({
          ok: false,
          error: {
            kind: 'foreign',
            failure: {
              error: {
                code: 'io_error',
                message: `The journal ${path} belongs to another user, so it is not followed. Move it away, or let its owner open the workspace once.`,
                details: {path, error: 'foreign_journal', operation: 'recover'},
              },
            },
          },
        });
      }
      chmodSync(path, 0o644);
      expect(await readJournal(path, workspace)).toMatchObject({error: {kind: 'damaged'}});
      mkdirSync(join(directory, 'directory'));
      expect(await readJournal(join(directory, 'directory'), workspace)).toMatchObject({
        error: {kind: 'foreign'},
      });
      symlinkSync(path, join(directory, 'link'));
      expect(await readJournal(join(directory, 'link'), workspace)).toMatchObject({
        error: {kind: 'unreadable'},
      });
      expect(await readJournal(join(directory, 'gone'), workspace)).toMatchObject({
        error: {kind: 'unreadable', failure: {error: {code: 'file_not_found'}}},
      });
      const long = join(directory, 'x'.repeat(256));
      expect(await readJournal(long, workspace)).toMatchObject({
        error: {
          kind: 'unreadable',
          failure: {
            error: {
              message: expect.stringMatching(
                /^Could not read ".+": ENAMETOOLONG\. Check permissions and free space\.$/,
              ),
            },
          },
        },
      });
    });

    test('review B5: it is closed, followed or not', needs('Linux'), async () => {
      const {root, workspace, path} = place();
      const held = (): string[] =>
        readdirSync('/proc/self/fd').filter(name => {
          try {
            return readlinkSync(`/proc/self/fd/${name}`) === path;
          } catch {
            return false;
          }
        });
      for (const text of ['', JSON.stringify({root, temporary: 'x', directories: []})]) {
        writeFileSync(path, text, {mode: 0o600});
        await readJournal(path, workspace);
        await readPending(path, workspace);
        expect(held()).toEqual([]);
      }
    });
  });

  describe('W19: what a single change announces', () => {
    const TEMPORARY = `d/.forge-${TOKEN}.tmp`;

    test('W19: is read as it was written', async () => {
      const {directory, workspace} = place();
      const named = (path: string): WritablePath => unwrap(workspace.resolveForWrite(path));
      for (const name of [`.forge-${TOKEN}.tmp`, TEMPORARY]) {
        const leftovers = {temporary: named(name), directories: [named('d')]};
        const path = writePending(directory, workspace.root, leftovers);
        expect(await readPending(path, workspace)).toEqual(leftovers);
      }
    });

    test.each<[string, unknown]>([
      ['another workspace', {root: '/elsewhere', temporary: TEMPORARY, directories: []}],
      ['a file that is not ours', {temporary: 'd/important', directories: []}],
      ['a name that only ends like ours', {temporary: `x.forge-${TOKEN}.tmp`, directories: []}],
      ['a name that only begins like ours', {temporary: `.forge-${TOKEN}.tmp.txt`, directories: []}],
      ['a token that is too short', {temporary: `.forge-${TOKEN.slice(1)}.tmp`, directories: []}],
      ['a name without a point', {temporary: `.forge-${TOKEN}xtmp`, directories: []}],
      ['a file outside', {temporary: `../.forge-${TOKEN}.tmp`, directories: []}],
      ['no file', {directories: []}],
      ['no directories', {temporary: TEMPORARY}],
      ['a directory outside', {temporary: TEMPORARY, directories: ['..']}],
      ['nothing', null],
      ['a text', 'text'],
    ])('W19: is not followed with %s', async (_, value) => {
      const {root, workspace, path} = place();
      const isPlain = typeof value === 'object' && value !== null;
      writeFileSync(path, JSON.stringify(isPlain ? {root, ...value} : value), {mode: 0o600});
      expect(await readPending(path, workspace)).toBeUndefined();
    });

    test('W19: is nothing where it was cut off, is gone, or others could have written it', async () => {
      const {root, workspace, path} = place();
      expect(await readPending(path, workspace)).toBeUndefined();
      const text = JSON.stringify({root, temporary: TEMPORARY, directories: []});
      writeFileSync(path, text.slice(0, -1), {mode: 0o600});
      expect(await readPending(path, workspace)).toBeUndefined();
      writeFileSync(path, text);
      expect(await readPending(path, workspace)).toBeDefined();
      chmodSync(path, 0o622);
      expect(await readPending(path, workspace)).toBeUndefined();
    });
  });

  describe('W19: the journals of a workspace', () => {
    test('W19: are those under its key, in order; what was never finished is removed', () => {
      const {root, directory} = place();
      const key = workspaceKey(root);
      for (const name of [
        '2.journal',
        '1.journal',
        '3.intent',
        '4.unfinished',
        '5.conflict',
        '6.journal.bak',
      ]) {
        writeFileSync(join(directory, `${key}-${name}`), '');
        writeFileSync(join(directory, `other-${name}`), '');
      }
      const own = (name: string): string => join(directory, `${key}-${name}`);
      const expected = {journals: [own('1.journal'), own('2.journal')], intents: [own('3.intent')]};
      expect(findJournals(directory, root)).toEqual(expected);
      expect(findJournals(directory, root)).toEqual(expected);
      writeFileSync(own('4.unfinished'), '', {flag: 'wx'});
      expect(() => writeFileSync(join(directory, 'other-4.unfinished'), '', {flag: 'wx'})).toThrow('EEXIST');
    });

    test('W19: one that cannot be followed is kept under another name', async () => {
      const {directory} = place();
      for (const as of ['conflict', 'damaged'] as const) {
        const path = join(directory, `journal-${as}.journal`);
        writeFileSync(path, '');
        expect(await setJournalAside(path, as)).toBe(join(directory, `journal-${as}.${as}`));
      }
    });
  });
});
