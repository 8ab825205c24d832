import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, onTestFinished, test} from 'vitest';
import {codeOf, unwrap} from '../../../test/support/outcome.ts';
import {temporaryDirectory} from '../../../test/support/temporary-directory.ts';
import {systemClock} from '../../core/clock.ts';
import {silentLog} from '../../core/log.ts';
import type {GitAccess} from './hold-git.ts';
import {rootIdentity} from './root-identity.ts';
import {WorkspaceGuard} from './workspace-guard.ts';
import {WorkspaceUsers} from './workspace-users.ts';

function guardOf(
  workspace: string,
  protectedPaths: readonly string[] = [],
  git: GitAccess = 'read-only',
  clock = systemClock,
) {
  const root = rootIdentity(workspace);
  const guard = new WorkspaceGuard({
    workspace,
    root,
    git,
    protectedPaths,
    log: silentLog,
    clock,
  });
  onTestFinished(() => guard.close());
  return guard;
}

function repository(): string {
  const workspace = temporaryDirectory();
  for (const name of ['hooks', 'objects', 'refs'])
    mkdirSync(join(workspace, '.git', name), {recursive: true});
  writeFileSync(join(workspace, '.git/HEAD'), 'ref: refs/heads/main\n');
  writeFileSync(join(workspace, '.git/config'), '');
  return workspace;
}

function partsOf(guard: WorkspaceGuard): readonly string[] {
  return unwrap(guard.look()).map(({path, writable}) => `${path || '.'} ${writable ? 'rw' : 'ro'}`);
}

describe('WorkspaceGuard', () => {
  test('W11: .git is one mount for reading, whatever is in it', () => {
    expect(partsOf(guardOf(repository()))).toEqual(['. rw', '.git ro']);
    const elsewhere = temporaryDirectory();
    writeFileSync(join(elsewhere, '.git'), 'gitdir: /elsewhere\n');
    expect(partsOf(guardOf(elsewhere))).toEqual(['. rw', '.git ro']);
  });

  test('W11: with "commit", what is missing is held, and let go at the end', async () => {
    const workspace = repository();
    const guard = guardOf(workspace, [], 'commit');
    expect(partsOf(guard)).toEqual([
      ...[
        '. rw',
        '.git rw',
        '.git/HEAD ro',
        '.git/commondir ro',
        '.git/config ro',
        '.git/config.worktree ro',
      ],
      ...[
        '.git/hooks ro',
        '.git/info ro',
        '.git/modules ro',
        '.git/objects rw',
        '.git/refs rw',
        '.git/worktrees ro',
      ],
    ]);
    const names = ['HEAD', 'commondir', 'config', 'config.worktree', 'hooks', 'info', 'modules'];
    expect(readdirSync(join(workspace, '.git')).sort()).toEqual([...names, 'objects', 'refs', 'worktrees']);
    writeFileSync(join(workspace, '.git/info/exclude'), 'mine');
    await guard.close();
    expect(readdirSync(join(workspace, '.git')).sort()).toEqual([
      'HEAD',
      'config',
      'hooks',
      'info',
      'objects',
      'refs',
    ]);
  });

  test('review R7: a .git that git would pass over, or that a command could change, is refused', () => {
    const make: readonly ((git: string, workspace: string) => void)[] = [
      git => mkdirSync(git),
      git => symlinkSync('/etc', git),
      git => writeFileSync(git, 'gitdir: sub/repository\n'),
      (git, workspace) => writeFileSync(git, `gitdir: ${workspace}/x\n`),
      git => {
        for (const name of ['objects', 'refs']) mkdirSync(join(git, name), {recursive: true});
        writeFileSync(join(git, 'HEAD'), 'nothing');
      },
    ];
    for (const prepare of make) {
      const workspace = temporaryDirectory();
      prepare(join(workspace, '.git'), workspace);
      expect(codeOf(guardOf(workspace).look())).toBe('sandbox_error');
    }
    const linked = repository();
    symlinkSync('/etc', join(linked, '.git/modules'));
    expect(codeOf(guardOf(linked, [], 'commit').look())).toBe('sandbox_error');
  });

  test('policy: with "commit", a .git that its owner may not enter is opened again, by each look and after a command', () => {
    const workspace = repository();
    const parts = ['.git', '.git/objects', '.git/refs'].map(path => join(workspace, path));
    const guard = guardOf(workspace, [], 'commit');
    guard.look();
    for (const mend of [() => guard.look(), () => guard.mend()]) {
      for (const part of parts.toReversed()) chmodSync(part, 0o050);
      mend();
      expect(parts.map(part => statSync(part).mode & 0o777)).toEqual([0o750, 0o750, 0o750]);
    }
  });

  test('W11: a place holder goes at the end, is known again, and stays where somebody has filled it', async () => {
    const workspace = temporaryDirectory();
    const killed = guardOf(workspace);
    expect(partsOf(killed)).toEqual(['. rw', '.git ro']);
    const text = readFileSync(join(workspace, '.git'), 'utf8');
    const next = guardOf(workspace);
    next.look();
    await next.close();
    // The first one still uses it.
    expect(readFileSync(join(workspace, '.git'), 'utf8')).toBe(text);
    await killed.close();
    expect(existsSync(join(workspace, '.git'))).toBe(false);
    const third = guardOf(workspace);
    third.look();
    writeFileSync(join(workspace, '.git'), 'gitdir: /mine\n');
    await third.close();
    expect(readFileSync(join(workspace, '.git'), 'utf8')).toBe('gitdir: /mine\n');
  });

  test('W11: who enters while the last one leaves keeps its place holder', async () => {
    const workspace = temporaryDirectory();
    const [last, next] = [guardOf(workspace), guardOf(workspace)];
    await last.enter();
    last.look();
    await Promise.all([last.close(), next.enter().then(() => next.look())]);
    expect(existsSync(join(workspace, '.git'))).toBe(true);
    await next.close();
    expect(existsSync(join(workspace, '.git'))).toBe(false);
  });

  test('W11: while somebody holds the lock of the sessions, nothing is taken away', async () => {
    const workspace = temporaryDirectory();
    const identity = rootIdentity(workspace);
    if (identity === undefined) throw new Error('Expected a directory.');
    let now = 0;
    const hurried = {...systemClock, monotonic: () => (now += 1000)};
    const guard = guardOf(workspace, [], 'read-only', hurried);
    guard.look();
    const release = await new WorkspaceUsers(identity).lock(systemClock);
    await guard.close();
    expect(existsSync(join(workspace, '.git'))).toBe(true);
    release?.();
  });

  test('review R4: another directory of the same name is another workspace', () => {
    const workspace = repository();
    const guard = guardOf(workspace);
    const before = unwrap(guard.look());
    expect(unwrap(guard.look())).toEqual(before);
    renameSync(workspace, `${workspace}-aside`);
    expect(codeOf(guard.look())).toBe('sandbox_error');
    symlinkSync(`${workspace}-aside`, workspace);
    expect(codeOf(guard.look())).toBe('sandbox_error');
    rmSync(workspace);
    renameSync(`${workspace}-aside`, workspace);
    expect(unwrap(guard.look())).toEqual(before);
    // A mount that was moved away and back is gone from every box.
    renameSync(join(workspace, '.git'), join(workspace, 'x'));
    renameSync(join(workspace, 'x'), join(workspace, '.git'));
    expect(unwrap(guard.look())).not.toEqual(before);
  });

  test('review R9: parents of a protected path are held; one that is missing is closed with its directory', () => {
    const workspace = repository();
    mkdirSync(join(workspace, 'a/b'), {recursive: true});
    writeFileSync(join(workspace, 'a/b/policy'), '');
    expect(partsOf(guardOf(workspace, [join(workspace, 'a/b/policy'), '/etc/passwd']))).toEqual([
      '. rw',
      '.git ro',
      'a rw',
      'a/b rw',
      'a/b/policy ro',
    ]);
    expect(partsOf(guardOf(workspace, [join(workspace, 'a/c/d/policy')]))).toEqual([
      '. rw',
      '.git ro',
      'a rw',
      'a/c rw',
      'a/c/d ro',
    ]);
    expect(existsSync(join(workspace, 'a/c/d/policy'))).toBe(false);
    // Below what is for reading as a whole there is nothing to hold.
    expect(partsOf(guardOf(workspace, [join(workspace, 'a/b/policy'), join(workspace, 'a')]))).toEqual([
      '. rw',
      '.git ro',
      'a ro',
    ]);
    expect(codeOf(guardOf(workspace, [join(workspace, 'missing')]).look())).toBe('sandbox_error');
    symlinkSync('a', join(workspace, 'link'));
    expect(codeOf(guardOf(workspace, [join(workspace, 'link/b/policy')]).look())).toBe('sandbox_error');
  });
});

test('policy: where another user has made the directory of sessions, nobody is taken for the last one', () => {
  const identity = rootIdentity(temporaryDirectory());
  if (identity === undefined) throw new Error('Expected a directory.');
  const open = temporaryDirectory();
  const link = join(temporaryDirectory(), 'link');
  symlinkSync(open, link);
  const users = new WorkspaceUsers(identity, link);
  users.enter();
  expect(users.leave()).toBe(false);
  const own = new WorkspaceUsers(identity, join(open, 'own'));
  own.enter();
  expect(own.leave()).toBe(true);
});
