import {execFileSync} from 'node:child_process';
import {chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {jailedPlace, writeAt} from '../../test/support/jailed-place.ts';
import {codeOf, unwrap} from '../../test/support/outcome.ts';
import {contentHash} from './content-hash.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

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

  test('moving: over a file, to a free name, never a directory or what is missing', async () => {
    const {workspace, root} = await jailedPlace();
    const at = (path: string) => unwrap(workspace.resolveForWrite(path));
    expect(codeOf(await workspace.move(at('top.txt'), at('a/moved.txt')))).toBe('ok');
    expect(codeOf(await workspace.move(at('a/moved.txt'), at('a/b/c/file.txt')))).toBe('ok');
    expect(readFileSync(join(root, 'a/b/c/file.txt'), 'utf8')).toBe('top\n');
    expect(codeOf(await workspace.move(at('none'), at('x')))).toBe('file_not_found');
    expect(codeOf(await workspace.move(at('a'), at('x')))).toBe('not_a_file');
    expect(codeOf(await workspace.move(at('a/b/c/file.txt'), at('no/where')))).toBe('file_not_found');
    expect(unwrap(workspace.makeParents(at('no/where/x')))).toEqual(['no', 'no/where']);
    expect(unwrap(workspace.makeParents(at('no/where/x')))).toEqual([]);
    workspace.removeDirectory(at('no/where'));
    workspace.removeDirectory(at('a'));
    expect(readdirSync(join(root, 'no'))).toEqual([]);
    expect(readdirSync(join(root, 'a'))).toEqual(['b']);
  });
});
