import {existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {codeOf, unwrap} from '../../test/support/outcome.ts';
import {temporaryDirectory} from '../../test/support/temporary-directory.ts';
import {silentLog} from '../core/log.ts';
import {WorkspaceGuard} from './workspace-guard.ts';

function guardOf(workspace: string, ...protectedPaths: string[]): WorkspaceGuard {
  return new WorkspaceGuard({workspace, protectedPaths, log: silentLog});
}

function repository(): string {
  const workspace = temporaryDirectory();
  mkdirSync(join(workspace, '.git/hooks'), {recursive: true});
  for (const name of ['HEAD', 'config']) writeFileSync(join(workspace, '.git', name), 'x');
  return workspace;
}

async function partsOf(guard: WorkspaceGuard): Promise<readonly string[]> {
  const {mounts} = unwrap(await guard.look());
  return mounts.map(({path, writable}) => `${path} ${writable ? 'rw' : 'ro'}`);
}

describe('WorkspaceGuard', () => {
  test('policy: hooks and settings of a repository are for reading, the rest of it is not', async () => {
    const workspace = repository();
    mkdirSync(join(workspace, '.git/worktrees'));
    expect(await partsOf(guardOf(workspace))).toEqual([
      '.git rw',
      '.git/config ro',
      '.git/hooks ro',
      '.git/worktrees ro',
    ]);
  });

  test('policy: a deny rule holds for what does not exist yet, and leaves no trace', async () => {
    const workspace = temporaryDirectory();
    const guard = guardOf(workspace);
    expect(await partsOf(guard)).toEqual(['.git ro']);
    expect(existsSync(join(workspace, '.git'))).toBe(true);
    expect(await partsOf(guard)).toEqual(['.git ro']);
    await guard.close();
    expect(readdirSync(workspace)).toEqual([]);

    mkdirSync(join(workspace, '.git'));
    writeFileSync(join(workspace, '.git/HEAD'), 'x');
    expect(await partsOf(guard)).toEqual(['.git rw', '.git/config ro', '.git/hooks ro']);
    await guard.close();
    expect(readdirSync(join(workspace, '.git'))).toEqual(['HEAD']);
  });

  test('policy: what was replaced is recognised although a removed file gave its number on', async () => {
    const workspace = repository();
    const guard = guardOf(workspace);
    const config = join(workspace, '.git/config');
    const identity = async (): Promise<string | undefined> =>
      unwrap(await guard.look()).mounts.find(({path}) => path === '.git/config')?.identity;
    let before = await identity();
    for (let round = 0; round < 20; round++) {
      rmSync(config);
      writeFileSync(config, 'x');
      const now = await identity();
      expect(now).not.toBe(before);
      before = now;
    }
  });

  test('policy: a place holder that somebody has filled stays', async () => {
    const workspace = temporaryDirectory();
    const guard = guardOf(workspace);
    await guard.look();
    writeFileSync(join(workspace, '.git/HEAD'), 'x');
    await guard.close();
    expect(readdirSync(join(workspace, '.git'))).toEqual(['HEAD']);
  });

  test('policy: what redirects git is removed if it appears during a run, and kept if it was there', async () => {
    const workspace = repository();
    const guard = guardOf(workspace);
    const before = unwrap(await guard.look());
    writeFileSync(join(workspace, '.git/commondir'), '../evil');
    mkdirSync(join(workspace, '.git/config.worktree'));
    await guard.sweep(before);
    expect(readdirSync(join(workspace, '.git')).sort()).toEqual(['HEAD', 'config', 'hooks']);

    writeFileSync(join(workspace, '.git/config.worktree'), 'mine');
    await guard.sweep(unwrap(await guard.look()));
    expect(existsSync(join(workspace, '.git/config.worktree'))).toBe(true);
  });

  test('policy: links cannot be held in place', async () => {
    const linked = repository();
    symlinkSync('/etc', join(linked, '.git/modules'));
    expect(await partsOf(guardOf(linked))).toEqual(['.git ro']);

    const elsewhere = temporaryDirectory();
    symlinkSync(join(linked, '.git'), join(elsewhere, '.git'));
    expect(codeOf(await guardOf(elsewhere).look())).toBe('sandbox_error');
  });

  test('policy: a file that points to a repository elsewhere is for reading', async () => {
    const workspace = temporaryDirectory();
    writeFileSync(join(workspace, '.git'), 'gitdir: /elsewhere');
    expect(await partsOf(guardOf(workspace))).toEqual(['.git ro']);
  });

  test('policy: the parents of a protected file are held, so that it cannot be moved away', async () => {
    const workspace = repository();
    mkdirSync(join(workspace, 'a/b'), {recursive: true});
    writeFileSync(join(workspace, 'a/b/policy'), '');
    expect(await partsOf(guardOf(workspace, join(workspace, 'a/b/policy'), '/etc/passwd'))).toEqual([
      '.git rw',
      '.git/config ro',
      '.git/hooks ro',
      'a rw',
      'a/b rw',
      'a/b/policy ro',
    ]);
    expect(codeOf(await guardOf(workspace, join(workspace, 'none')).look())).toBe('sandbox_error');
  });

  test('policy: what another process has replaced is another mount', async () => {
    const workspace = repository();
    const guard = guardOf(workspace);
    const before = unwrap(await guard.look()).mounts;
    expect(unwrap(await guard.look()).mounts).toEqual(before);
    const {renameSync} = await import('node:fs');
    writeFileSync(join(workspace, '.git/config.lock'), 'new');
    renameSync(join(workspace, '.git/config.lock'), join(workspace, '.git/config'));
    expect(unwrap(await guard.look()).mounts).not.toEqual(before);
  });
});
