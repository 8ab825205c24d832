import {execFileSync} from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import {dirname, join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {jailedPlace, writeAt} from '../../../test/support/jailed-place.ts';
import {openWorkspaceForTest} from '../../../test/support/open-workspace-for-test.ts';
import {codeOf, unwrap} from '../../../test/support/outcome.ts';
import {needs} from '../../../test/support/parts.ts';
import {pretendDeadline} from '../../../test/support/pretend-deadline.ts';
import {fail} from '../../core/result.ts';
import {contentHash, type Owner} from '../open-file.ts';
import {type HoldEntry, handleByDescriptor, handleByName} from './entry-handle.ts';
import type {StageOptions} from './staged-file.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** What `act` does as user 1001 of group 1001, who is a member of 2002 as well. */
async function asUser<Value>(act: () => Promise<Value>): Promise<Value> {
  const groups = process.getgroups?.() ?? [];
  process.setgroups?.([1001, 2002]);
  process.setegid?.(1001);
  process.seteuid?.(1001);
  try {
    return await act();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
    process.setgroups?.(groups);
  }
}

/** A file `f` of this owner in a workspace of user 1001; what it is after an edit. */
async function editedFile({uid, gid}: Owner, as: 'root' | 'user', options?: StageOptions) {
  // By name: who gives up being root may not look into /proc/self any more.
  const {workspace, root} = await jailedPlace(handleByName);
  chmodSync(dirname(root), 0o755);
  chownSync(root, 1001, 1001);
  const file = join(root, 'f');
  writeFileSync(file, 'old');
  chownSync(file, uid, gid);
  chmodSync(file, 0o660);
  const edit = async () => {
    const staged = await workspace.stage(unwrap(workspace.resolveForWrite('f')), bytes('new'), options);
    return staged.ok ? codeOf(await staged.value.commit()) : staged.error.message;
  };
  expect(await (as === 'root' ? edit() : asUser(edit))).toBe('ok');
  expect(readFileSync(file, 'utf8')).toBe('new');
  const stats = statSync(file);
  return {uid: stats.uid, gid: stats.gid, mode: stats.mode & 0o777};
}

// A thread cannot become another user.
describe('review B7: whose an edited file is', needs('root'), () => {
  test.each([
    ['root keeps owner and group', 'root', {uid: 1001, gid: 3003}, {uid: 1001, gid: 3003}],
    ['root keeps the owner', 'root', {uid: 1001, gid: 0}, {uid: 1001, gid: 0}],
    ['root keeps the group', 'root', {uid: 0, gid: 3003}, {uid: 0, gid: 3003}],
    ['a user keeps a group that they are in', 'user', {uid: 1001, gid: 2002}, {uid: 1001, gid: 2002}],
    ['a group that the user is not in is theirs', 'user', {uid: 1001, gid: 3003}, {uid: 1001, gid: 1001}],
    ['a user has what was theirs', 'user', {uid: 1001, gid: 1001}, {uid: 1001, gid: 1001}],
    ['a user cannot keep another owner', 'user', {uid: 1002, gid: 2002}, {uid: 1001, gid: 2002}],
  ] as const)('review B7: %s', async (_, as, before, after) => {
    expect(await editedFile(before, as)).toEqual({...after, mode: 0o660});
  });

  test('review B7: the owner that is asked for goes before the one that is replaced', async () => {
    const owner = {uid: 1002, gid: 3003};
    expect(await editedFile({uid: 1001, gid: 1001}, 'root', {owner})).toMatchObject(owner);
  });

  test('review B7: a new file belongs to the user who made it', async () => {
    const {workspace, root} = await jailedPlace();
    chownSync(root, 1001, 1001);
    expect(await writeAt(workspace, 'new')).toBe('ok');
    expect(statSync(join(root, 'new'))).toMatchObject({uid: 0, gid: 0});
  });
});

describe('directories of replaced files', () => {
  /** How often each directory is opened to be synchronised; `a` fails as long as `failing` says so. */
  async function countedPlace(failing = false) {
    const {root} = await jailedPlace();
    const opened: string[] = [];
    const holdEntry: HoldEntry = address => {
      const entryHandle = handleByDescriptor(address);
      const name = address.slice(address.lastIndexOf('/') + 1);
      return {
        ...entryHandle,
        reopen: flags => {
          if (entryHandle.stats.isDirectory()) opened.push(name);
          if (failing && name === 'a') throw Object.assign(new Error('EIO'), {code: 'EIO', syscall: 'open'});
          return entryHandle.reopen(flags);
        },
      };
    };
    const workspace = openWorkspaceForTest(root, {holdEntry});
    const replaced = async (path: string) => {
      const staged = unwrap(await workspace.stage(unwrap(workspace.resolveForWrite(path)), bytes('x')));
      expect(codeOf(await staged.replace())).toBe('ok');
      return staged;
    };
    return {root, opened, replaced};
  }

  test('W19: each is synchronised once for all files that share it', async () => {
    const {opened, replaced} = await countedPlace();
    const staged = [await replaced('a/f'), await replaced('a/g'), await replaced('a/b/f')];
    const done = new Set<string>();
    for (const one of staged) expect(await one.synchronise(done)).toBe('durable');
    expect(opened).toEqual(['a', 'b']);
  });

  test('W19: one that could not be synchronised is tried again, and the change is in place only', async () => {
    const {opened, replaced} = await countedPlace(true);
    const staged = [await replaced('a/f'), await replaced('a/g'), await replaced('a/b/f')];
    const done = new Set<string>();
    const found = [];
    for (const one of staged) found.push(await one.synchronise(done));
    expect(found).toEqual(['in_place', 'in_place', 'durable']);
    expect(opened).toEqual(['a', 'a', 'b']);
  });

  test('W6: what was replaced is not taken back by discarding, nor are its directories', async () => {
    const {root, replaced} = await countedPlace();
    const before = readdirSync('/proc/self/fd').length;
    const staged = await replaced('x/y/f');
    unlinkSync(join(root, 'x/y/f'));
    staged.discard();
    staged.discard();
    expect(readdirSync(join(root, 'x'))).toEqual(['y']);
    expect(readdirSync('/proc/self/fd').length).toBe(before);
  });
});

describe('staged files', () => {
  test('ruling W6: a replacement is a new file in one step, with the mode of the old one', async () => {
    const {workspace, root} = await jailedPlace();
    chmodSync(join(root, 'top.txt'), 0o751);
    const inode = statSync(join(root, 'top.txt')).ino;
    expect(await writeAt(workspace, 'top.txt', 'changed\n')).toBe('ok');
    const stats = statSync(join(root, 'top.txt'));
    expect(stats.mode & 0o777).toBe(0o751);
    expect(stats.ino).not.toBe(inode);
    expect(readdirSync(root).sort()).toEqual(['.git', 'a', 'top.txt']);
  });

  test('ruling W11: parents are made; discard leaves nothing, commit all of it', async () => {
    const {workspace, root} = await jailedPlace();
    const path = unwrap(workspace.resolveForWrite('x/y/z.txt'));
    const first = unwrap(await workspace.stage(path, bytes('z')));
    expect(first.created).toEqual(['x', 'x/y']);
    expect(first.path).toMatch(/^x\/y\/\.forge-[0-9a-f]{16}\.tmp$/);
    first.discard();
    expect(readdirSync(root).sort()).toEqual(['.git', 'a', 'top.txt']);
    const second = unwrap(await workspace.stage(path, bytes('z'), {mode: 0o700}));
    expect(codeOf(await second.commit('absent'))).toBe('ok');
    expect(readFileSync(join(root, 'x/y/z.txt'), 'utf8')).toBe('z');
    expect(statSync(join(root, 'x/y/z.txt')).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(root, 'x/y'))).toEqual(['z.txt']);
    await expect(second.commit()).rejects.toThrow(TypeError);
  });

  test('ruling W6: what must be there is checked right before the rename', async () => {
    const {workspace, root} = await jailedPlace();
    const path = unwrap(workspace.resolveForWrite('top.txt'));
    const hash = contentHash(bytes('top\n'));
    const stale = unwrap(await workspace.stage(path, bytes('mine')));
    writeFileSync(join(root, 'top.txt'), 'theirs');
    expect(codeOf(await stale.commit(hash))).toBe('stale_read');
    expect(readFileSync(join(root, 'top.txt'), 'utf8')).toBe('theirs');
    const exists = unwrap(await workspace.stage(path, bytes('mine')));
    expect(codeOf(await exists.commit('absent'))).toBe('stale_read');
    const gone = unwrap(await workspace.stage(unwrap(workspace.resolveForWrite('new')), bytes('mine')));
    expect(codeOf(await gone.commit(hash))).toBe('stale_read');
    expect(codeOf(await workspace.remove(path, hash))).toBe('stale_read');
    expect(codeOf(await workspace.remove(path, contentHash(bytes('theirs'))))).toBe('ok');
    expect(codeOf(await workspace.remove(path))).toBe('file_not_found');
    expect(readdirSync(root).sort()).toEqual(['.git', 'a']);
  });

  test('W19: of two commits onto one file that compare at the same time, one is stale_read', async () => {
    const {workspace, root} = await jailedPlace();
    const old = 'x'.repeat(1_000_000);
    writeFileSync(join(root, 'big.txt'), old);
    const path = unwrap(workspace.resolveForWrite('big.txt'));
    const hash = contentHash(bytes(old));
    for (const other of ['replaced', 'removed']) {
      writeFileSync(join(root, 'big.txt'), old);
      const first = unwrap(await workspace.stage(path, bytes('first')));
      const second = unwrap(await workspace.stage(path, bytes('second')));
      const done = await Promise.all([
        first.commit(hash),
        other === 'replaced' ? second.commit(hash) : workspace.remove(path, hash),
      ]);
      second.discard();
      expect(done.map(codeOf).toSorted()).toEqual(['ok', 'stale_read']);
    }
  });

  test('W19: what an editor saves while the content is compared is not written over', async () => {
    const {workspace, root} = await jailedPlace();
    const old = 'x'.repeat(1_000_000);
    const path = unwrap(workspace.resolveForWrite('big.txt'));
    const hash = contentHash(bytes(old));
    const saved = `theirs${old.slice(6)}`;
    for (const act of ['replace', 'remove']) {
      writeFileSync(join(root, 'big.txt'), old);
      let asked = 0;
      // Asked before each block: at the third one, the first has been compared already.
      const save = pretendDeadline({
        get spent() {
          asked += 1;
          if (asked === 3) {
            writeFileSync(join(root, 'saved'), saved);
            renameSync(join(root, 'saved'), join(root, 'big.txt'));
          }
          return false;
        },
        failure: () => fail('timeout', 'not reached'),
      });
      const staged = unwrap(await workspace.stage(path, bytes('mine')));
      const done =
        act === 'replace' ? await staged.commit(hash, save) : await workspace.remove(path, hash, save);
      staged.discard();
      expect(codeOf(done)).toBe('stale_read');
      expect(readFileSync(join(root, 'big.txt'), 'utf8')).toBe(saved);
    }
  });

  test('policy: the target that became a link in between is refused, and the link stays', async () => {
    const {workspace, root, outside} = await jailedPlace();
    const staged = unwrap(await workspace.stage(unwrap(workspace.resolveForWrite('new.txt')), bytes('mine')));
    symlinkSync(join(outside, 'secret.txt'), join(root, 'new.txt'));
    expect(codeOf(await staged.commit())).toBe('symlink_blocked');
    expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('secret\n');
    expect(readdirSync(root).sort()).toEqual(['.git', 'a', 'new.txt', 'top.txt']);
  });

  test('policy: a directory exchanged after staging does not redirect the commit', async () => {
    const {workspace, root, outside} = await jailedPlace();
    const staged = unwrap(
      await workspace.stage(unwrap(workspace.resolveForWrite('a/b/new.txt')), bytes('mine')),
    );
    execFileSync('mv', [join(root, 'a/b'), join(root, 'moved')]);
    symlinkSync(outside, join(root, 'a/b'));
    expect(codeOf(await staged.commit())).toBe('ok');
    expect(readFileSync(join(root, 'moved/new.txt'), 'utf8')).toBe('mine');
    expect(readdirSync(outside)).toEqual(['secret.txt']);
  });

  test('a directory is removed if it is empty, and only then', async () => {
    const {workspace, root} = await jailedPlace();
    const at = (path: string) => unwrap(workspace.resolveForWrite(path));
    mkdirSync(join(root, 'no/where'), {recursive: true});
    workspace.removeDirectory(at('no/where'));
    workspace.removeDirectory(at('a'));
    expect(readdirSync(join(root, 'no'))).toEqual([]);
    expect(readdirSync(join(root, 'a'))).toEqual(['b']);
  });
});
