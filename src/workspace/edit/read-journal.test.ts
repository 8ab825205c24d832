import {chmodSync, mkdirSync, readdirSync, readlinkSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {unwrap} from '../../../test/support/outcome.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {ok} from '../../core/result.ts';
import {contentHash} from '../content-hash.ts';
import {openWorkspace} from '../jail/jail.ts';
import type {WritablePath} from '../workspace-path.ts';
import {findJournals, setJournalAside, writeIntent, writeJournal} from './journal-file.ts';
import {readIntent, readJournal} from './read-journal.ts';
import {workspaceKey} from './workspace-key.ts';

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
          old: {bytes: OLD, hash: HASH, mode: 0o755, owner: {uid: 1, gid: 2}},
          newHash: undefined,
        },
        {path: named('d/e/b'), temporary: named(`d/e/.forge-${TOKEN}.tmp`), old: undefined, newHash: HASH},
        {
          path: named('c'),
          temporary: named(`.forge-${'f'.repeat(16)}.tmp`),
          old: {bytes: Buffer.alloc(0), hash: contentHash(Buffer.alloc(0)), mode: 0, owner: undefined},
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

  test.runIf(process.platform === 'linux')('review B5: it is closed, followed or not', async () => {
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
      await readIntent(path, workspace);
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
      const path = writeIntent(directory, workspace.root, leftovers);
      expect(await readIntent(path, workspace)).toEqual(leftovers);
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
    expect(await readIntent(path, workspace)).toBeUndefined();
  });

  test('W19: is nothing where it was cut off, is gone, or others could have written it', async () => {
    const {root, workspace, path} = place();
    expect(await readIntent(path, workspace)).toBeUndefined();
    const text = JSON.stringify({root, temporary: TEMPORARY, directories: []});
    writeFileSync(path, text.slice(0, -1), {mode: 0o600});
    expect(await readIntent(path, workspace)).toBeUndefined();
    writeFileSync(path, text);
    expect(await readIntent(path, workspace)).toBeDefined();
    chmodSync(path, 0o622);
    expect(await readIntent(path, workspace)).toBeUndefined();
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
