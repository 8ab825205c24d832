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
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import {describe, expect, test} from 'vitest';
import {compileSources} from '../../../test/support/compile-sources.ts';
import {jailedPlace, writeAt} from '../../../test/support/jailed-place.ts';
import {codeOf, unwrap} from '../../../test/support/outcome.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {fail} from '../../core/failure/fail.ts';
import {contentHash} from '../content-hash.ts';
import type {Deadline} from '../deadline.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Edits `path` below the working directory as user 1001 of group 1001, who is a member of 2002 as well. */
const EDIT_AS_USER = `
const [jail, path] = process.argv.slice(2);
const {openWorkspace} = await import(jail);
process.setgroups([1001, 2002]);
process.setgid(1001);
process.setuid(1001);
const {value: workspace} = openWorkspace('.');
const staged = await workspace.stage(workspace.resolveForWrite(path).value, Buffer.from('new'));
const done = staged.ok ? await staged.value.commit() : staged;
console.log(done.ok ? 'ok' : done.error.message);
`;

describe.runIf(process.getuid?.() === 0)('review B7: for a user who is not root', () => {
  test.each([
    ['a group that the user is in is kept', 2002, 2002],
    ['a group that the user is not in becomes that of the user', 3003, 1001],
  ])('review B7: %s', (_, group, expected) => {
    const compiled = compileSources('src/workspace/jail/jail.ts');
    const child = join(compiled, 'child.mjs');
    writeFileSync(child, EDIT_AS_USER);
    const root = temporaryDirectory();
    chownSync(root, 1001, 1001);
    const file = join(root, 'f');
    writeFileSync(file, 'old');
    chownSync(file, 1001, group);
    chmodSync(file, 0o640);
    const jail = pathToFileURL(join(compiled, 'src/workspace/jail/jail.js')).href;
    expect(execFileSync(process.execPath, [child, jail, 'f'], {cwd: root, encoding: 'utf8'})).toBe('ok\n');
    const {uid, gid, mode} = statSync(file);
    expect({uid, gid, mode: mode & 0o777}).toEqual({uid: 1001, gid: expected, mode: 0o640});
    expect(readFileSync(file, 'utf8')).toBe('new');
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
      const save: Deadline = {
        get spent() {
          asked += 1;
          if (asked === 3) {
            writeFileSync(join(root, 'saved'), saved);
            renameSync(join(root, 'saved'), join(root, 'big.txt'));
          }
          return false;
        },
        failure: () => fail('timeout', 'not reached'),
      };
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
